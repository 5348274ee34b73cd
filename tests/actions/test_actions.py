"""How often a suite reads its table: the promise of fusion, counted by Spark itself."""

from __future__ import annotations

import pytest
from executions import counted_executions

from lakeproof import QualityCheck, run_checks

TABLE = "iceberg.actions.orders"


@pytest.fixture(scope="module")
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.actions")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS "
        "SELECT id AS order_id, CAST(id % 7 AS INT) AS line, concat('c', id) AS code, "
        "CAST(id % 100 + 1 AS DOUBLE) AS amount FROM range(5000)"
    )
    return TABLE


def passing(table: str, count: int) -> list[QualityCheck]:
    """`count` row rules that all pass, and two key sets."""
    rules = [
        QualityCheck(
            f"amount_below_{number}",
            "range",
            table,
            "amount",
            {"min_value": 0, "max_value": 1000 + number},
        )
        for number in range(count - 3)
    ]
    return [
        *rules,
        QualityCheck("code_present", "not_null", table, "code"),
        QualityCheck("amount_positive", "positive", table, "amount"),
        QualityCheck("rows", "row_count_range", table, params={"min_count": 1}),
        QualityCheck("key", "uniqueness", table, ["order_id", "line"]),
        QualityCheck("code_unique", "uniqueness", table, "code"),
    ]


def report(what, counted):
    print(  # noqa: T201 (figures for people who run with -s)
        f"{what}: {len(counted.reading)} actions, {counted.jobs} scheduler jobs, "
        f"{counted.shuffle_bytes} shuffle bytes"
    )


@pytest.mark.parametrize("row_rules", [48, pytest.param(198, marks=pytest.mark.slow)])
def test_any_number_of_passing_rules_reads_the_table_three_times(spark, orders, row_rules):
    checks = passing(orders, row_rules)
    with counted_executions(spark, orders) as counted:
        outcome = run_checks(spark, checks)
    report(f"{len(checks)} passing checks", counted)
    assert outcome.ok, outcome.gate.reasons
    assert len(outcome.results) == row_rules + 2
    assert len(counted.reading) == 3, counted.reading


def test_failing_rules_add_at_most_two_reads(spark, orders):
    checks = [
        *passing(orders, 48),
        QualityCheck("amount_low", "range", orders, "amount", {"max_value": 50}),
        QualityCheck("code_known", "accepted_values", orders, "code", {"accepted": ["c1"]}),
        QualityCheck("line_unique", "uniqueness", orders, "line"),
    ]
    with counted_executions(spark, orders) as counted:
        outcome = run_checks(spark, checks, keys={orders: ["order_id"]})
    report("3 failing of 53 checks, 3 key sets", counted)
    failed = {result.check_name: result.failing_rows for result in outcome.failed}
    assert failed == {"amount_low": 2500, "code_known": 4999, "line_unique": 7}
    assert 4 < len(counted.reading) <= 4 + 2, counted.reading


def test_dense_integer_keys_shuffle_tiles_and_not_rows(spark, orders):
    key = QualityCheck("key", "uniqueness", orders, "order_id")
    with counted_executions(spark, orders) as counted:
        assert run_checks(spark, [key]).ok
    with counted_executions(spark, orders) as by_hand:
        spark.sql(f"SELECT 1 FROM {orders} GROUP BY order_id HAVING count(*) > 1").collect()
    report("one dense key", counted)
    report("the group-by by hand", by_hand)
    assert counted.shuffle_bytes < by_hand.shuffle_bytes / 4


def test_rules_that_all_have_a_filter_push_it_down(spark, orders):
    checks = [
        QualityCheck("a", "not_null", orders, "code", filter="order_id < 10"),
        QualityCheck("b", "positive", orders, "amount", filter="line = 3"),
    ]
    outcome = run_checks(spark, checks)
    assert "WHERE" in outcome.plan.tables[0].scan.sql
    assert [result.total_rows for result in outcome.results] == [10, 714]
    assert {result.table_rows for result in outcome.results} == {5000}
