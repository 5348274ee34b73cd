"""Row counts and aggregates of two tables, computed by Spark."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.pairs.aggregates import (
    compare_aggregates,
    compare_counts,
    release_aggregates,
)
from lakeproof.errors import CheckDefinitionError, UnsafeSqlError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.pairing import ColumnMatch, ColumnTolerance, Sample
from lakeproof.model.rule import Logic, Rule
from lakeproof.planning.pairs.aggregates import bind_aggregates, bind_counts
from lakeproof.planning.pairs.scopes import PairScopes
from lakeproof.planning.pairs.tolerances import equal_numbers_sql

pytestmark = pytest.mark.usefixtures("interpreted")

SOURCE = TableName.parse("frame.pair.source")
TARGET = TableName.parse("frame.pair.target")
NO_SCOPES = PairScopes()


def bound(spark, source, target, bind, scopes=NO_SCOPES, sensitive=(), **arguments):
    """A step over two queries."""
    frames = {SOURCE: spark.sql(source), TARGET: spark.sql(target)}
    engine = SparkEngine(spark, frames)
    logic = Logic(TARGET, "multi_aggregate_consistency", 1, (), {})
    rule = Rule("r", "id", logic, TARGET, "target", (), arguments)
    pinned = [engine.pin(table, ()) for table in (TARGET, SOURCE)]
    hidden = [
        replace(table, sensitive=frozenset(sensitive) & {column.name for column in table.columns})
        for table in pinned
    ]
    return bind(rule, *hidden, engine, scopes)


def rows(names, *values):
    return f"SELECT * FROM VALUES {', '.join(values)} AS t({names})"


def wanted(*aggregates):
    keys = ("name", "expression", "target_column", "target_expression")
    return [dict(zip(keys, aggregate, strict=False)) for aggregate in aggregates]


def found_in(spark, source, target, aggregates, **arguments):
    step = bound(spark, source, target, bind_aggregates, aggregates=aggregates, **arguments)
    found = compare_aggregates(spark, step, None)
    release_aggregates(spark, step)
    return found


TOTAL_AND_COUNT = wanted(("total", "SUM(v)", "total"), ("n", "COUNT(*)", "n"))


def test_null_groups_match_and_each_row_of_a_repeated_group_is_compared(spark):
    source = rows("g, v", "(NULL, 5)", "('a', 4)", "('a', 6)")
    target = rows("g, total, n", "(NULL, 5, 1)", "('a', 12, 3)", "('a', 11, 2)")
    step = bound(spark, source, target, bind_aggregates, aggregates=TOTAL_AND_COUNT, group_by=["g"])
    found = compare_aggregates(spark, step, None)
    assert found.error == ""
    assert found.numbers == {"mismatches": 3, "total_checked": 6}
    assert (found.mismatches, found.total) == (3, 6)
    assert found.metadata["samples"] == [
        {"group_key": {"g": "a"}, "aggregate": "total", "target": "11", "source": "10"},
        {"group_key": {"g": "a"}, "aggregate": "total", "target": "12", "source": "10"},
        {"group_key": {"g": "a"}, "aggregate": "n", "target": "3", "source": "2"},
    ]
    assert found.samples[1] == Sample(
        "group", {"g": "a"}, ("total", "n"), {"total": "10", "n": "2"}, {"total": "12", "n": "3"}
    )
    assert found.columns == (ColumnMatch("total", 2, 3), ColumnMatch("n", 1, 3))
    (violation,) = spark.sql(step.sql).collect()
    assert json.loads(violation["violation_key"]) == {"g": ["s", "a"]}
    assert (violation["occurrences"], violation["excess"]) == (2, 3)
    assert violation["observed"] == "total: 10 -> 11"
    held = len(spark.sparkContext._jsc.getPersistentRDDs())
    release_aggregates(spark, step)
    assert spark.sql(step.sql).count() == 1, "the view outlives what was held for it"
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == held - 1


def test_a_missing_group_is_no_zero_on_either_side(spark):
    aggregates = wanted(("total", "SUM(v)", "total"))
    step = bound(
        spark,
        rows("g, v", "('matched', 4)", "('extra', 0)"),
        rows("g, total", "('missing', 0)", "('matched', 4)"),
        bind_aggregates,
        aggregates=aggregates,
        group_by=["g"],
        absolute_tolerance=100,
    )
    found = compare_aggregates(spark, step, None)
    assert found.numbers == {"mismatches": 2, "total_checked": 3}
    assert found.total == 3
    assert found.metadata["samples"] == [
        {"group_key": {"g": "missing"}, "aggregate": "total", "reason": "missing_in_source"},
        {"group_key": {"g": "extra"}, "aggregate": "total", "reason": "missing_in_target"},
    ]
    assert [(one.kind, one.source, one.target) for one in found.samples] == [
        ("missing_in_source", {}, {"total": "0"}),
        ("missing_in_target", {"total": "0"}, {}),
    ]
    listed = {row["observed"]: row["excess"] for row in spark.sql(step.sql).collect()}
    assert listed == {"missing in source": 1, "missing in target": 1}
    release_aggregates(spark, step)


def test_groups_of_any_value_find_each_other(spark):
    values = "double('NaN'), double('NaN')", "0.0D, 0D", "double('Infinity'), 1D", "NULL, NULL"
    source = rows("G, h, v", *[f"({value.split(', ')[0]}, 1, 1)" for value in values])
    target = rows("g, h, n", *[f"({value.split(', ')[0]}, 1L, 1)" for value in values])
    found = found_in(spark, source, target, wanted(("n", "COUNT(*)", "n")), group_by=["g", "h"])
    assert (found.mismatches, found.total) == (0, 4)
    assert found.metadata["empty"] is False


def test_many_differing_groups_stay_with_spark(spark):
    step = bound(
        spark,
        "SELECT id % 10000 AS g, id AS v FROM range(20000)",
        "SELECT id AS g, id AS total FROM range(5000, 15000)",
        bind_aggregates,
        aggregates=wanted(("total", "SUM(v)", "total")),
        group_by=["g"],
    )
    found = compare_aggregates(spark, step, None)
    assert (found.mismatches, found.total) == (15000, 15000)
    assert len(found.samples) == len(found.metadata["samples"]) == 10
    assert [one.key["g"] for one in found.samples[:2]] == ["5000", "5001"]
    summed = spark.sql(f"SELECT count(*), sum(excess) FROM ({step.sql})").collect()[0]
    assert tuple(summed) == (15000, 15000)
    release_aggregates(spark, step)


WHOLE = {
    "a sum is held against a sum": ("SUM(v)", "x", "(10), (20), (30)", {}, 0),
    "a count is held against a sum": ("COUNT(*)", "x", "(1), (2)", {}, 0),
    "one row is taken as it is": ("AVG(v)", "x", "(20.0)", {}, 0),
    "a target expression": ("AVG(v)", "x", "(10), (20), (30)", {"target_expression": "avg(x)"}, 0),
    "another value": ("MAX(v)", "x", "(31)", {}, 1),
    "NULL is not zero": ("SUM(v) FILTER (WHERE v > 99)", "x", "(0)", {}, 1),
    "NULL is NULL": ("SUM(v) FILTER (WHERE v > 99)", "x", "(CAST(NULL AS INT))", {}, 0),
    "no count is not zero": ("COUNT_IF(v > 99)", "x", "(CAST(NULL AS INT))", {}, 1),
    "a text": ("MAX(CAST(v AS STRING))", "x", "('30')", {}, 0),
    "another text": ("MAX(CAST(v AS STRING))", "x", "('30 ')", {"tolerance": 0.5}, 1),
    "a tolerance": ("SUM(v)", "x", "(57)", {"tolerance": 0.05}, 0),
    "beyond a tolerance": ("SUM(v)", "x", "(56)", {"tolerance": 0.05, "absolute_tolerance": 3}, 1),
}


@pytest.mark.parametrize("case", WHOLE)
def test_without_groups_the_whole_target_is_one_value(spark, case):
    expression, column, values, options, mismatches = WHOLE[case]
    step = bound(
        spark,
        rows("v", "(10), (20), (30)"),
        rows(column, values),
        bind_aggregates,
        aggregate_column=column,
        source_expression=expression,
        **options,
    )
    found = compare_aggregates(spark, step, None)
    assert found.error == ""
    assert found.numbers == {"mismatches": mismatches, "total_checked": 1}, found.samples
    release_aggregates(spark, step)


def test_without_groups_a_violation_is_known_by_its_aggregate(spark):
    aggregates = wanted(("total", "SUM(v)", "x"), ("n", "COUNT(*)", "n"), ("top", "MAX(v)", "x"))
    step = bound(
        spark, rows("v", "(10), (20)"), rows("x, n", "(31, 2)"), bind_aggregates,
        aggregates=aggregates,
    )  # fmt: skip
    found = compare_aggregates(spark, step, None)
    listed = [tuple(row) for row in spark.sql(f"{step.sql} ORDER BY 1").collect()]
    assert listed == [
        ('{"aggregate":["s","top"]}', 1, 1, "top: 20 -> 31"),
        ('{"aggregate":["s","total"]}', 1, 1, "total: 30 -> 31"),
    ]
    assert found.metadata["samples"][0] == {
        "group_key": {}, "aggregate": "total", "target": "31", "source": "30",
    }  # fmt: skip
    release_aggregates(spark, step)


def test_two_rows_that_do_not_add_up_are_an_error_with_both_ways_out(spark):
    source, aggregates = rows("v", "(10)"), wanted(("mean", "AVG(v)", "x"))
    found = found_in(spark, source, rows("x", "(10), (10)"), aggregates)
    assert "has 2 rows" in found.error
    assert "mean" in found.error
    assert "exactly one row" in found.error
    assert "target_expression" in found.error
    nothing = found_in(spark, source, f"{rows('x', '(10)')} WHERE x > 10", aggregates)
    assert "has 0 rows" in nothing.error


def test_nothing_on_both_sides_agrees_and_is_said(spark):
    none = f"{rows('g, v, total, n', '(1, 1, 1, 1)')} WHERE g > 1"
    for groups in ([], ["g"]):
        found = found_in(spark, none, none, TOTAL_AND_COUNT, group_by=groups)
        assert (found.error, found.mismatches, found.metadata["empty"]) == ("", 0, True)
    lost = found_in(spark, rows("g, v", "(1, 1)"), none, TOTAL_AND_COUNT, group_by=["g"])
    assert (lost.mismatches, lost.total, lost.metadata["empty"]) == (2, 2, False)


def test_sensitive_values_are_not_shown(spark):
    step = bound(
        spark,
        rows("g, v", "('anna', 5)"),
        rows("g, total", "('anna', 6)"),
        bind_aggregates,
        aggregates=wanted(("total", "SUM(v)", "total"), ("n", "COUNT(v)", "total")),
        group_by=["g"],
        sensitive=("g", "v"),
    )
    found = compare_aggregates(spark, step, None)
    (violation,) = spark.sql(step.sql).collect()
    assert "anna" not in violation["violation_key"]
    assert violation["observed"] == "total: *** -> ***; n: 1 -> 6"
    assert found.samples[0].key == {"g": "***"}
    assert found.samples[0].target == {"total": "***", "n": "6"}
    release_aggregates(spark, step)


def test_a_side_that_breaks_is_named_without_quoting_a_row(spark):
    bad, good = rows("v", "('secret')"), rows("x", "(1)")
    aggregates = wanted(("total", "SUM(CAST(v AS INT))", "x"))
    of_source = found_in(spark, bad, good, aggregates)
    assert of_source.error.startswith("Failed to query source table frame.pair.source: ")
    assert "CAST_INVALID_INPUT" in of_source.error
    assert "secret" not in of_source.error
    scope = PairScopes(target="CAST(v AS INT) > 1")
    step = bound(spark, rows("v", "('1')"), bad, bind_counts, scope)
    of_target = compare_counts(spark, step, None)
    assert of_target.error.startswith("Failed to query target table frame.pair.target: ")
    assert "secret" not in of_target.error


def test_rows_are_counted_within_their_scopes(spark):
    scopes = PairScopes(source="v > 1", target="v > 2")
    three = rows("v", "(1), (2), (3)")
    step = bound(spark, three, three, bind_counts, scopes, partition_column="v", partition=3)
    found = compare_counts(spark, step, None)
    assert found.numbers == {"source_count": 2, "target_count": 1}
    assert (found.mismatches, found.total, found.error) == (1, 2, "")
    assert found.metadata["source_sql"] == step.source.sql
    assert found.metadata["partition_scope"] == "v=3"
    assert found.metadata["empty"] is False


def test_spark_too_refuses_what_is_no_aggregate(spark):
    for expression in ("SUM(v) OVER ()", "v", "SUM(java_method('a', 'b'))", "any_value(rand())"):
        with pytest.raises(UnsafeSqlError):
            found_in(spark, rows("v", "(1)"), rows("x", "(1)"), wanted(("t", expression, "x")))
    for expression in (
        "any_value(v)",
        "first(v)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY v)",
    ):
        found = found_in(spark, rows("v", "(1)"), rows("x", "(1)"), wanted(("t", expression, "x")))
        assert (found.error, found.mismatches) == ("", 0)
    with pytest.raises(CheckDefinitionError, match="Failed to query source table"):
        found_in(spark, rows("v, w", "(1, 2)"), rows("x", "(1)"), wanted(("t", "SUM(v) + w", "x")))


NINES = "9" * 37
TOLERATED = [
    # source, target, their types, absolute, relative, whether they agree
    ("100", "95", "bigint", "", "0.05", True),
    ("100", "94", "bigint", "", "0.05", False),
    ("-100", "-95", "bigint", "", "0.05", True),
    ("100", "71", "double", "", "0.29", True),
    ("100", "98", "int", "2", "", True),
    ("100", "97", "int", "2", "", False),
    ("100", "97", "int", "2.9", "", False),
    ("100", "97", "int", "1e30", "", True),
    ("0", "1", "bigint", "", "1", False),
    ("0", "0", "bigint", "", "1", True),
    ("0", "1", "bigint", "1", "0.5", True),
    ("0.3", "0.4", "decimal(10,2)", "0.1", "", True),
    ("1.10", "1.1", "decimal(10,4)", "", "", True),
    ("1.1000000000", "1.1000000001", "decimal(38,10)", "", "", False),
    ("1.1000000000", "1.1000000001", "decimal(38,10)", "0.0000000001", "", True),
    ("9223372036854775807", "9223372036854775806", "bigint", "", "", False),
    ("9223372036854775807", "9223372036854775806", "bigint", "1", "", True),
    ("9223372036854775807", "9223372036854775805", "bigint", "1", "", False),
    ("9223372036854775807", "-9223372036854775808", "bigint", "", "0.5", False),
    (f"1{NINES}", f"2{NINES}", "decimal(38,0)", "", "", False),
    (f"1{NINES}", f"2{NINES}", "decimal(38,0)", "", "0.5", False),
    (f"1{NINES}", f"1{NINES}", "decimal(38,0)", "", "0.5", True),
    (f"2{NINES}", f"1{NINES}", "decimal(38,0)", "", "0.5", True),
    ("NaN", "NaN", "double", "", "", True),
    ("NaN", "1", "double", "", "0.5", False),
    ("1", "NaN", "double", "5", "0.5", False),
    ("Infinity", "Infinity", "double", "", "", True),
    ("Infinity", "-Infinity", "double", "5", "0.5", False),
    ("Infinity", "1", "double", "5", "1", False),
    ("1e308", "1.5e308", "double", "", "0.05", False),
    ("1e308", "-1e308", "double", "", "1", False),
    ("-0.0", "0.0", "double", "", "", True),
    ("0.1", "0.1", "float", "", "", True),
]


def test_a_tolerance_is_exact_and_inclusive(spark):
    items = [
        "("
        + equal_numbers_sql(
            Column("s", type_text), Column("t", type_text), ColumnTolerance(absolute, relative)
        ).format(
            source=f"CAST('{source}' AS {type_text})", target=f"CAST('{target}' AS {type_text})"
        )
        + f") AS case_{number}"
        for number, (source, target, type_text, absolute, relative, _) in enumerate(TOLERATED)
    ]
    answers = spark.sql(f"SELECT {', '.join(items)}").collect()[0]
    wrong = [case for case, answer in zip(TOLERATED, answers, strict=True) if case[5] is not answer]
    assert wrong == []


MIXED = [
    # source and target with their types, relative, whether they agree
    ("1.5", "decimal(38,20)", "1", "bigint", "", False),
    ("1.00000000000000000000", "decimal(38,20)", "1", "tinyint", "", True),
    ("1.0", "decimal(38,37)", f"1{NINES}", "decimal(38,0)", "", False),
    ("1.0", "decimal(38,37)", f"1{NINES}", "decimal(38,0)", "1", False),
    ("100.00", "decimal(12,2)", "95", "int", "0.05", True),
    ("100.00", "decimal(12,2)", "94.99", "double", "0.05", False),
    ("100", "float", "95.00", "decimal(12,2)", "0.05", True),
]


def test_numbers_of_two_types_are_compared_by_value_and_null_is_no_number(spark):
    answers = []
    for source, source_type, target, target_type, relative, _ in MIXED:
        template = equal_numbers_sql(
            Column("s", source_type), Column("t", target_type), ColumnTolerance("", relative)
        )
        values = [f"CAST('{source}' AS {source_type})", f"CAST('{target}' AS {target_type})"]
        nulls = [f"CAST(NULL AS {source_type})", f"CAST(NULL AS {target_type})"]
        answers += [
            template.format(source=values[0], target=values[1]),
            template.format(source=nulls[0], target=values[1]),
            template.format(source=values[0], target=nulls[1]),
            template.format(source=nulls[0], target=nulls[1]),
        ]
    found = list(spark.sql(f"SELECT {', '.join(f'({sql})' for sql in answers)}").collect()[0])
    assert found[0::4] == [case[5] for case in MIXED]
    assert set(found[1::4]) == set(found[2::4]) == {False}
    assert set(found[3::4]) == {True}


def test_sums_that_could_overflow_without_a_word_are_an_error(spark):
    """Without ANSI mode the sum would be -2, as the target has it."""
    largest = rows("v", "(9223372036854775807L)", "(9223372036854775807L)")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        found = found_in(spark, largest, "SELECT -2L AS total", wanted(("t", "sum(v)", "total")))
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")
    assert found.error == (
        "spark.sql.ansi.enabled is off, so that sums could overflow without a word. "
        "Turn it on: spark.conf.set('spark.sql.ansi.enabled', 'true')"
    )
    assert found.numbers == {}
