"""One broken rule is one `error` result; its neighbours have theirs."""

from __future__ import annotations

import time

import pytest

from lakeproof import EngineUnavailableError, QualityCheck, run_check, run_checks
from lakeproof.config import Config, StoreSettings
from lakeproof.gating.policy import exit_code
from spark_settings import WITH_GENERATED_CODE, under

TABLE = "iceberg.isolation.orders"


@pytest.fixture(scope="module")
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.isolation")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS "
        "SELECT id AS order_id, concat('c', id) AS code FROM range(100)"
    )
    return TABLE


def good_rules(table: str, count: int) -> list[QualityCheck]:
    return [
        QualityCheck(
            f"id_up_to_{number}", "range", table, "order_id", {"max_value": number, "min_value": 0}
        )
        for number in range(count)
    ]


def test_three_broken_rules_among_twenty_are_three_errors(spark, orders):
    broken = [
        QualityCheck("dropped_column", "not_null", orders, "no_such_column"),
        QualityCheck(
            "bad_regex",
            "custom_sql",
            orders,
            params={"sql": f"SELECT * FROM {orders} WHERE regexp_like(code, '(unclosed')"},
        ),
        QualityCheck("unknown_type", "not_nul", orders, "code"),
    ]
    rules = good_rules(orders, 17)
    with under(spark, WITH_GENERATED_CODE):  # which names the exception of a pattern
        outcome = run_checks(spark, [*rules[:9], *broken, *rules[9:]])

    assert len(outcome.results) == 20
    errors = {item.check_name: item.details for item in outcome.results if item.status == "error"}
    assert set(errors) == {"dropped_column", "bad_regex", "unknown_type"}
    assert "no column 'no_such_column'" in errors["dropped_column"]
    assert "regex" in errors["bad_regex"].lower()
    assert errors["unknown_type"].startswith("Unknown check type: not_nul")
    assert "not_null" in errors["unknown_type"]
    for number in range(17):
        result = next(r for r in outcome.results if r.check_name == f"id_up_to_{number}")
        assert (result.status, result.failing_rows) == ("failed", 99 - number)
    assert not outcome.ok
    assert exit_code(outcome.results, outcome.gate, "error") == 1


def test_only_errors_give_exit_code_3(spark, orders):
    fine = QualityCheck("fine", "not_null", orders, "code")
    gone = QualityCheck("gone", "not_null", orders, "gone")
    outcome = run_checks(spark, [fine, gone])
    assert [result.status for result in outcome.results] == ["passed", "error"]
    assert exit_code(outcome.results, outcome.gate, "error") == 3


def test_a_filter_that_divides_by_zero_breaks_only_its_rule(spark, orders):
    rules = good_rules(orders, 6)
    rules.insert(3, QualityCheck("zero", "not_null", orders, "code", filter="1 / order_id > 0"))
    outcome = run_checks(spark, rules)
    by_name = {result.check_name: result for result in outcome.results}
    assert by_name["zero"].status == "error"
    assert "DIVIDE_BY_ZERO" in by_name["zero"].details
    assert [by_name[f"id_up_to_{n}"].failing_rows for n in range(6)] == [99, 98, 97, 96, 95, 94]


def test_a_missing_table_is_the_error_of_its_rules_only(spark, orders):
    missing = QualityCheck("missing", "not_null", "iceberg.isolation.nowhere", "x")
    no_catalog = QualityCheck("no_catalog", "not_null", "nocatalog.isolation.nowhere", "x")
    fine = QualityCheck("fine", "not_null", orders, "code")
    results = run_checks(spark, [missing, fine, no_catalog]).results
    assert [result.status for result in results] == ["error", "passed", "error"]
    assert "iceberg.isolation.nowhere does not exist" in results[0].details


def test_a_cross_join_past_its_limit_is_one_error_and_is_cancelled(spark, orders):
    cross = f"SELECT a.code FROM {orders} a, {orders} b, {orders} c, {orders} d, {orders} e, "
    cross += f"{orders} f WHERE a.order_id + b.order_id * c.order_id + d.order_id < e.order_id"
    checks = [
        QualityCheck("before", "not_null", orders, "code"),
        QualityCheck("cross_join", "custom_sql", orders, params={"sql": cross}, timeout_seconds=2),
        QualityCheck(
            "after", "custom_sql", orders, params={"sql": f"SELECT * FROM {orders} WHERE 1 = 0"}
        ),
    ]
    started = time.monotonic()
    results = run_checks(spark, checks).results
    assert [result.status for result in results] == ["passed", "error", "passed"]
    assert results[1].details == "timed out after 2 s"
    assert time.monotonic() - started < 120
    assert spark.sparkContext.getLocalProperty("spark.job.interruptOnCancel") != "true"
    assert not spark.sparkContext.getJobTags()


def test_a_run_past_its_limit_still_has_a_result_for_every_rule(spark, orders):
    results = run_checks(spark, good_rules(orders, 4), timeout_seconds=0.001).results
    assert len(results) == 4
    # A scan that beats its cancellation counts; what comes after it is not started any more.
    assert all("timed out after 0.001 s" in result.details for result in results)
    assert {result.status for result in results} <= {"error", "failed"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.files.ignoreCorruptFiles", "true"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
    ],
)
def test_a_setting_that_would_change_answers_is_refused(spark, orders, name, value):
    with under(spark, {name: value}), pytest.raises(EngineUnavailableError, match=name):
        run_checks(spark, good_rules(orders, 1))


def test_an_unreachable_store_raises_before_the_first_rule(spark, orders):
    store = StoreSettings(catalog="no_such_catalog", namespace="nowhere")
    with pytest.raises(EngineUnavailableError):
        run_checks(spark, good_rules(orders, 1), store=store)


def test_hostile_sql_is_an_error_result_and_runs_nothing(spark, orders):
    sql = f"SELECT TRANSFORM(code) USING 'sh -c true' AS x FROM {orders}"
    result = run_check(spark, QualityCheck("hostile", "custom_sql", orders, params={"sql": sql}))
    assert result.status == "error"
    filter_ = QualityCheck("sub", "not_null", orders, "code", filter="reflect('a','b') = 'c'")
    assert run_check(spark, filter_).status == "error"


def test_every_read_of_a_run_is_pinned(spark, orders):
    """A commit between planning and running is not seen, neither by rules nor by queries."""
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE}_moving USING iceberg AS SELECT 1 AS id")
    table = f"{TABLE}_moving"
    checks = [
        QualityCheck("ids", "uniqueness", table, "id"),
        QualityCheck("ones", "range", table, "id", {"max_value": 1}),
        QualityCheck("none", "custom_sql", table, params={"sql": f"SELECT * FROM {table}"}),
    ]

    class Committing:
        """Commits a bad row as soon as the first step of the run is done."""

        done = False

        def __call__(self, step):
            if not self.done:
                self.done = True
                spark.sql(f"INSERT INTO {table} VALUES (1), (2)")

    results = run_checks(spark, checks, listener=Committing()).results
    assert [result.failing_rows for result in results] == [0, 0, 1]
    again = run_checks(spark, checks).results
    assert [result.failing_rows for result in again] == [1, 1, 3]


def test_an_empty_iceberg_table_passes_row_rules_and_fails_row_count(spark):
    spark.sql("CREATE TABLE IF NOT EXISTS iceberg.isolation.empty (id INT) USING iceberg")
    checks = [
        QualityCheck("present", "not_null", "iceberg.isolation.empty", "id"),
        QualityCheck("unique", "uniqueness", "iceberg.isolation.empty", "id"),
        QualityCheck("rows", "row_count_range", "empty", params={"min_count": 1}),
    ]
    config = Config(default_namespace="isolation")
    results = run_checks(spark, checks, config=config).results
    assert [result.status for result in results] == ["passed", "passed", "failed"]
    assert [result.total_rows for result in results] == [0, 0, 0]
