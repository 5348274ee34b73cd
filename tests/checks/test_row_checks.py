"""What the everyday row checks refuse, and the traps that generated data would seldom meet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from golden_sample import array_of, map_of

from lakeproof import QualityCheck, run_checks
from lakeproof.checks.catalogue import find_check
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.column import Column

NOW = datetime(2024, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("check", "columns", "params", "reason"),
    [
        ("matches_pattern", ["c"], {}, "needs parameter 'pattern'"),
        ("matches_pattern", ["c"], {"pattern": ""}, "is empty"),
        ("not_matches_pattern", ["c"], {"pattern": ""}, "is empty"),
        ("not_matches_pattern", ["c"], {"pattern": "a", "full": 1}, "must be bool"),
        ("not_empty", ["c"], {"trim": "yes"}, "must be bool"),
        ("length_range", ["c"], {}, "needs min_length, max_length or both"),
        ("length_range", ["c"], {"min_length": -1}, "no length is below 0"),
        ("length_range", ["c"], {"min_length": 3, "max_length": 2}, "above max_length"),
        ("length_range", ["c"], {"min_length": True}, "must be int"),
        ("row_expression", ["c"], {"expression": "c > 0"}, "takes no column_name"),
        ("row_expression", [], {}, "needs parameter 'expression'"),
        ("row_expression", [], {"expression": "a >"}, "line 1:3: not one Spark SQL"),
        ("row_expression", [], {"expression": "a IN (SELECT 1)"}, "line 1:7: "),
        ("row_expression", [], {"expression": "sum(a) > 1"}, "sum() needs more than one"),
        ("row_expression", [], {"expression": "java_method('a', 'b') = 1"}, "java_method"),
        ("column_pair", ["a"], {"operator": "<"}, "needs 2 columns"),
        ("column_pair", ["a", "b", "c"], {"operator": "<"}, "at most 2 columns"),
        ("column_pair", ["a", "b"], {"operator": "<>"}, "not one of < <= = != >= >"),
        ("column_pair", ["a", "A"], {"operator": "<"}, "with itself"),
        ("format", ["c"], {"kind": "phone"}, "Known: uuid"),
    ],
)
def test_a_wrong_definition_is_refused_with_what_is_wrong(check, columns, params, reason):
    with pytest.raises(LakeproofError) as refused:
        find_check(check).read(columns, params)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("check", "params", "column", "reason"),
    [
        ("not_empty", {"trim": False}, Column("c", "int"), "a text, array or map column"),
        ("not_empty", {"trim": False}, Column("c", "binary"), "a text, array or map column"),
        ("not_empty", {"trim": True}, array_of("string"), "a text column to trim"),
        ("matches_pattern", {"pattern": "a", "full": False}, Column("c", "int"), "a text column"),
        ("format", {"kind": "date"}, Column("c", "date"), "a text column"),
        ("format", {"kind": "json"}, map_of("string", "int"), "a text column"),
        ("length_range", {"min_length": 1, "max_length": None}, Column("c", "int"), "text, binary"),
    ],
)
def test_a_column_of_another_type_is_refused_with_its_type(check, params, column, reason):
    with pytest.raises(CheckDefinitionError) as refused:
        find_check(check).violates(column, params, NOW)
    assert reason in str(refused.value)
    assert column.type_text.upper() in str(refused.value)


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("bigint", "double", "only up to 2**53"),
        ("float", "bigint", "only up to 2**53"),
        ("decimal(10,2)", "double", "no exact floating-point form"),
        ("decimal(38,38)", "int", "more than 38 digits"),
        ("decimal(38,0)", "decimal(38,1)", "more than 38 digits"),
        ("date", "timestamp", "not alike"),
        ("timestamp_ntz", "timestamp", "not alike"),
        ("string", "int", "not alike"),
        ("boolean", "int", "not alike"),
        ("array<int>", "array<int>", "an order"),
        ("string collate UTF8_LCASE", "string", "collations differ"),
    ],
)
def test_a_pair_that_would_be_rounded_or_cast_is_refused(left, right, reason):
    columns = [Column("a", left), Column("b", right)]
    with pytest.raises(CheckDefinitionError) as refused:
        find_check("column_pair").row_violates(columns, {"operator": "<"}, NOW)
    assert reason in str(refused.value)
    assert left.upper() in str(refused.value)
    assert right.upper() in str(refused.value)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("bigint", "tinyint"),
        ("int", "double"),
        ("smallint", "float"),
        ("decimal(18,18)", "bigint"),
        ("string", "varchar(3)"),
        ("binary", "binary"),
        ("string collate UTF8_LCASE", "string collate UTF8_LCASE"),
    ],
)
def test_a_pair_that_compares_exactly_is_accepted(left, right):
    columns = [Column("a", left), Column("b", right)]
    assert find_check("column_pair").row_violates(columns, {"operator": "<"}, NOW).sql("spark")


def run_one(spark, rows: str, check: QualityCheck):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.lakehouse.row_traps USING iceberg AS {rows}")
    return run_checks(spark, [check], clock=lambda: NOW)


def test_a_row_expression_finds_nan_that_file_statistics_hide(spark):
    rows = "SELECT * FROM VALUES (1, CAST('NaN' AS DOUBLE)), (2, 5D) AS t(id, x)"
    check = QualityCheck("x", "row_expression", "row_traps", params={"expression": "x < 10"})
    outcome = run_one(spark, rows, check)
    assert outcome.results[0].failing_rows == 1
    assert outcome.violations().count() == 1


def test_a_pattern_cannot_break_out_of_full(spark):
    rows = "SELECT 'axx' AS code"
    params = {"pattern": "a)|(?:b", "full": True}
    outcome = run_one(
        spark, rows, QualityCheck("c", "matches_pattern", "row_traps", "code", params)
    )
    assert outcome.results[0].status.value == "error"
    assert "a)|(?:b" in outcome.results[0].details


def test_integers_beside_floats_are_compared_as_doubles(spark):
    rows = "SELECT 16777217 AS n, CAST(16777216 AS FLOAT) AS f"
    params = {"operator": "!="}
    outcome = run_one(
        spark, rows, QualityCheck("c", "column_pair", "row_traps", ["n", "f"], params)
    )
    assert outcome.results[0].failing_rows == 0


def test_a_missing_array_has_no_length_even_where_the_legacy_says_minus_one(spark):
    rows = "SELECT CAST(NULL AS ARRAY<INT>) AS a UNION ALL SELECT array()"
    before = {name: spark.conf.get(name) for name in ("spark.sql.ansi.enabled",)}
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.conf.set("spark.sql.legacy.sizeOfNull", "true")
    try:
        params = {"min_length": 1}
        check = QualityCheck("c", "length_range", "row_traps", "a", params)
        assert run_one(spark, rows, check).results[0].failing_rows == 1
    finally:
        spark.conf.unset("spark.sql.legacy.sizeOfNull")
        for name, value in before.items():
            spark.conf.set(name, value)


def test_a_collation_does_not_change_what_a_pattern_or_a_format_finds(spark):
    check, column = find_check("matches_pattern"), Column("c", "string collate UTF8_LCASE")
    pattern = check.violates(column, {"pattern": "A", "full": False}, NOW).sql("spark")
    blank = find_check("not_empty").violates(
        Column("c", "string collate UTF8_BINARY_RTRIM"), {"trim": False}, NOW
    )
    sql = (
        f"SELECT {pattern} AS no_match, "
        f"(SELECT {blank.sql('spark')} "
        "FROM VALUES (' ' COLLATE UTF8_BINARY_RTRIM) AS t(c)) AS empty "
        "FROM VALUES ('a' COLLATE UTF8_LCASE) AS t(c)"
    )
    assert spark.sql(sql).collect() == [(True, False)]
