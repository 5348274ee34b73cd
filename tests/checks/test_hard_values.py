"""Texts, names and numbers that break careless SQL, each against the rows it must find."""

from __future__ import annotations

from contextlib import contextmanager
from decimal import Decimal

import pytest

from lakeproof.api import run_checks
from lakeproof.errors import EngineUnavailableError
from lakeproof.model.suite import QualityCheck

TEXTS = [
    *("", " ", "plain", "O'Brien", "''", '"', "back\\slash", "\\", "\\'", "\\n", "line\nbreak"),
    *("\r\n", "\t", "\x00", "${spark.app.name}", "${", "$", "%", "_", "--", "/* */", ";"),
    *("caf\u00e9", "\U0001f600", "\u2028", "\ufffd", "\u202e", "NULL", "x' OR '1'='1"),
]
NAMES = [
    *("select", "order by", "a.b", "a b", "back`tick", "O'Brien", 'say "x"', "ünï", "\U0001f600"),
    *("NULL", "true", "1", "--", "a;b", "a\\b", "%", "(", "rule_0", "table_rows", "scope_0", "n"),
    *("violation_key", "occurrences", "rule", "bits"),
]
TABLE = "iceberg.lakehouse.hard_values"


@contextmanager
def setting(spark, name, value):
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, before)


def write(spark, rows, schema):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.createDataFrame(rows, schema).writeTo(TABLE).using("iceberg").createOrReplace()


def test_each_text_is_accepted_as_itself_and_as_nothing_else(spark):
    write(spark, [(text,) for text in TEXTS], "s STRING")
    suite = [
        QualityCheck(str(at), "accepted_values", "hard_values", "s", {"accepted": [text]})
        for at, text in enumerate(TEXTS)
    ]
    suite.append(QualityCheck("all", "accepted_values", "hard_values", "s", {"accepted": TEXTS}))
    *single, every = run_checks(spark, suite).results
    assert every.status == "passed", every.details
    wrong = {
        TEXTS[int(result.check_name)]: (result.failing_rows, result.details)
        for result in single
        if result.failing_rows != len(TEXTS) - 1
    }
    assert not wrong


def test_a_session_that_reads_escapes_otherwise_is_refused(spark):
    check = QualityCheck("any", "not_null", "hard_values", "s")
    name = "spark.sql.parser.escapedStringLiterals"
    with setting(spark, name, "true"), pytest.raises(EngineUnavailableError, match=name):
        run_checks(spark, [check])


def test_a_column_of_any_name_can_be_checked(spark):
    from pyspark.sql import types as T  # noqa: N812 - PySpark's own custom

    schema = T.StructType([T.StructField(name, T.IntegerType()) for name in NAMES])
    write(spark, [(1,) * len(NAMES), (1,) * len(NAMES), (None,) * len(NAMES)], schema)
    suite = [
        QualityCheck("null", "not_null", "hard_values", for_each_column=NAMES),
        QualityCheck("pair", "uniqueness", "hard_values", NAMES[:2]),
        QualityCheck("wide", "uniqueness", "hard_values", NAMES[:7]),
        *(
            QualityCheck(f"unique {name}", "uniqueness", "hard_values", name)
            for name in ("n", "bits", "a.b", "back`tick")
        ),
        QualityCheck(
            "filtered", "positive", "hard_values", "a.b", filter="`back``tick` = 1 AND `a.b` = 1"
        ),
    ]
    outcome = run_checks(spark, suite, keys={"hard_values": ["a.b", "back`tick"]})
    counts = {result.check_name: result.failing_rows for result in outcome.results}
    details = {result.check_name: result.details for result in outcome.results}
    assert counts == {
        **{f"null:{name}": 1 for name in NAMES},
        "pair": 1,
        "wide": 1,
        "filtered": 0,
        **{f"unique {name}": 1 for name in ("n", "bits", "a.b", "back`tick")},
    }, details
    keys = {row.violation_key for row in outcome.violations().collect()}
    assert '{"a.b":null,"back`tick":null}' in keys


NINES = Decimal(10**38 - 1)


@pytest.mark.parametrize(
    ("column", "check", "params", "failing"),
    [
        # DECIMAL(38,0) rows are 0, 1 and 38 nines; bounds lie between two of them
        ("whole", "range", {"max_value": Decimal("0.5")}, 2),
        ("whole", "range", {"min_value": Decimal("0.5")}, 1),
        ("whole", "range", {"min_value": Decimal("1E-30")}, 1),
        ("whole", "range", {"max_value": NINES}, 0),
        ("whole", "range", {"max_value": Decimal(10**38 - 2)}, 1),
        ("whole", "range", {"max_value": Decimal("99999999999999999999999999999999999998.5")}, 1),
        ("whole", "range", {"max_value": 10**38}, 0),
        ("whole", "accepted_values", {"accepted": [Decimal("0.5"), NINES]}, 2),
        ("whole", "accepted_values", {"accepted": [0, 1, NINES]}, 0),
        ("whole", "accepted_values", {"accepted": [0, 1, Decimal("1E-30"), NINES]}, 0),
        # DECIMAL(38,38) rows are 0, 1E-38 and 38 nines after the point
        ("part", "range", {"min_value": 0, "max_value": 10**37}, 0),
        ("part", "range", {"max_value": Decimal("0.5")}, 1),
        ("part", "range", {"min_value": Decimal("1E-38"), "max_value": 1}, 1),
        ("part", "accepted_values", {"accepted": [0, Decimal("1E-38"), 10**37]}, 1),
        ("part", "positive", {}, 1),
        # BIGINT rows are the smallest, 0 and the largest
        ("big", "range", {"min_value": -(2**63), "max_value": 2**63 - 1}, 0),
        ("big", "range", {"min_value": -(2**63) + 1, "max_value": 2**63 - 2}, 2),
        ("big", "range", {"min_value": Decimal("-0.5"), "max_value": Decimal("1E-35")}, 2),
        ("big", "range", {"min_value": -(10**40), "max_value": 10**40}, 0),
        ("big", "accepted_values", {"accepted": [0, 2**63 - 1, -(2**63)]}, 0),
        ("big", "accepted_values", {"accepted": [Decimal("1E-35")]}, 3),
        ("big", "accepted_values", {"accepted": [0.0, 2**63]}, 2),
    ],
)
def test_numbers_of_38_digits_compare_exactly(spark, extremes, column, check, params, failing):
    (result,) = run_checks(spark, [QualityCheck("x", check, extremes, column, params)]).results
    assert (result.status == "error", result.failing_rows) == (False, failing), result.details


@pytest.fixture(scope="module")
def extremes(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    rows = [
        (Decimal(0), Decimal(0), -(2**63)),
        (Decimal(1), Decimal("1E-38"), 0),
        (NINES, Decimal(f"0.{'9' * 38}"), 2**63 - 1),
    ]
    frame = spark.createDataFrame(rows, "whole DECIMAL(38,0), part DECIMAL(38,38), big BIGINT")
    frame.writeTo("iceberg.lakehouse.extremes").using("iceberg").createOrReplace()
    yield "extremes"
    spark.sql("DROP TABLE iceberg.lakehouse.extremes")


@pytest.mark.parametrize("name", ["caf\u00e9", "cafe\u0301"], ids=["composed", "decomposed"])
def test_a_column_is_found_by_the_name_that_the_table_gives_it(spark, name):
    from pyspark.sql import types as T  # noqa: N812 - PySpark's own custom

    write(spark, [(1,), (None,)], T.StructType([T.StructField(name, T.IntegerType())]))
    suite = [
        QualityCheck("one", "not_null", "hard_values", name),
        QualityCheck("each", "not_null", "hard_values", for_each_column=[name]),
    ]
    found = run_checks(spark, suite).results
    assert [(result.failing_rows, result.status.value) for result in found] == [
        (1, "failed"),
        (1, "failed"),
    ], found[0].details


def test_null_is_within_every_range_even_one_that_no_value_can_be_in(spark):
    """Spark takes `x < 1e37` on an integer column for true, NULL or not, before it looks."""
    write(
        spark, [(1, 1, Decimal(1), 1.0), (None,) * 4], "i INT, b BIGINT, d DECIMAL(5,2), x DOUBLE"
    )
    bounds = [{"min_value": 2**63}, {"max_value": -(10**37)}, {"min_value": Decimal("1E30")}]
    suite = [
        QualityCheck(f"{column} {bound}", "range", "hard_values", column, bound)
        for column in ("i", "b", "d", "x")
        for bound in bounds
    ]
    outcome = run_checks(spark, suite)
    wrong = {
        result.check_name: result.details for result in outcome.results if result.failing_rows != 1
    }
    assert not wrong
