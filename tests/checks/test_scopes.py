"""What a rule says depends on its own filter and tolerance, not on the rules beside it."""

from __future__ import annotations

from collections import Counter

import pytest

from lakeproof.api import run_checks
from lakeproof.config import StoreSettings
from lakeproof.model.suite import QualityCheck

FLOAT_FILTERS = {
    # rows are 0.0, -0.0, NaN and 7.0, a file each; NaN is above every number, as Spark has it
    "x = 0": 2,
    "x > 5": 2,
    "NOT (x <= 5 OR x = 7)": 1,
}
BESIDE = QualityCheck("beside", "not_null", "floats", "n")


@pytest.fixture(scope="module")
def floats(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql("CREATE OR REPLACE TABLE iceberg.lakehouse.floats (x DOUBLE, n INT) USING iceberg")
    for value in ("0D", "-0D", "double('NaN')", "7D"):
        spark.sql(f"INSERT INTO iceberg.lakehouse.floats VALUES ({value}, NULL)")
    yield "floats"
    spark.sql("DROP TABLE iceberg.lakehouse.floats")


@pytest.mark.parametrize("neighbours", [[], [BESIDE]], ids=["alone", "beside an unfiltered rule"])
def test_a_filter_on_doubles_means_the_same_alone_and_beside_others(spark, floats, neighbours):
    """Iceberg's file statistics know neither -0.0 = 0.0 nor NaN > 5; Spark's rows do."""
    suite = [QualityCheck(text, "not_null", floats, "n", filter=text) for text in FLOAT_FILTERS]
    found = {}
    for check in suite:
        outcome = run_checks(spark, [check, *neighbours])
        listed = sum(
            row.occurrences
            for row in outcome.violations().collect()
            if row.rule_id == outcome.results[0].rule_id
        )
        found[check.name] = (outcome.results[0].total_rows, listed)
    assert found == {text: (rows, rows) for text, rows in FLOAT_FILTERS.items()}


def test_warn_at_one_share_and_fail_at_another_are_two_results_over_one_set_of_hits(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.lakehouse.three_percent USING iceberg AS "
        "SELECT id, IF(id < 3, NULL, 'x') AS name FROM range(100)"
    )
    suite = [
        QualityCheck(
            "warn_1", "not_null", "three_percent", "name", tolerance=0.01, severity="warning"
        ),
        QualityCheck("fail_5", "not_null", "three_percent", "name", tolerance=0.05),
        QualityCheck("fail_2", "not_null", "three_percent", "name", absolute_tolerance=2),
    ]
    store = StoreSettings(namespace="two_thresholds")
    outcome = run_checks(spark, suite, keys={"three_percent": ["id"]}, store=store)
    assert [result.status.value for result in outcome.results] == ["warned", "passed", "failed"]
    assert {result.failing_rows for result in outcome.results} == {3}
    assert len({result.rule_id for result in outcome.results}) == 1
    kept = spark.table("iceberg.two_thresholds._quality_violations").collect()
    keys = [f'{{"id":["i","{number}"]}}' for number in range(3)]
    assert sorted(row.violation_key for row in kept) == keys
    listed = Counter(row.violation_key for row in outcome.violations().collect())
    assert listed == Counter(keys)
    assert spark.table("iceberg.two_thresholds._quality_results").count() == 3
