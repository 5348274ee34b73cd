"""A run that dies anywhere and is repeated under its id leaves one set of rows."""

from __future__ import annotations

import pytest

from lakeproof import QualityCheck, faults, run_checks
from lakeproof.config import StoreSettings
from lakeproof.state.spark_store import SparkStore

TABLE = "iceberg.crashes.orders"
CHECKS = [
    QualityCheck("code_present", "not_null", TABLE, "code"),
    QualityCheck("code_mostly", "not_null", TABLE, "code", tolerance=0.9, severity="warning"),
    QualityCheck("id_unique", "uniqueness", TABLE, "order_id"),
]
KEYS = {TABLE: ["order_id"]}


@pytest.fixture(scope="module")
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.crashes")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS "
        "SELECT * FROM VALUES (1, 'a'), (2, NULL), (3, NULL), (3, 'b') AS t(order_id, code)"
    )
    return TABLE


def settings_for(store_format: str, name: str) -> StoreSettings:
    catalog = {"iceberg": "iceberg", "delta": "spark_catalog"}[store_format]
    return StoreSettings(format=store_format, catalog=catalog, namespace=f"crash_{name}")


def rows_of(spark, settings: StoreSettings) -> tuple[list, list]:
    """Results and violations without the times, which differ from run to run."""
    prefix = f"{settings.catalog}.{settings.namespace}"
    results = spark.sql(
        "SELECT rule_key, run_id, status, failing_rows, position "
        f"FROM {prefix}._quality_results ORDER BY 1, 2"
    ).collect()
    violations = spark.sql(
        "SELECT hit_id, status, occurrences, reopen_count, first_run_id, last_run_id "
        f"FROM {prefix}._quality_violations ORDER BY 1"
    ).collect()
    return [tuple(row) for row in results], [tuple(row) for row in violations]


@pytest.fixture(scope="module")
def undisturbed(spark, orders):
    """What a run leaves that nobody disturbs."""
    settings = settings_for("iceberg", "none")
    run_checks(spark, CHECKS, store=settings, run_id="the-run", keys=KEYS)
    return rows_of(spark, settings)


def die(*_):
    raise faults.FaultInjectedError


def test_an_undisturbed_run_leaves_a_result_per_rule_and_a_row_per_key(undisturbed):
    results, violations = undisturbed
    assert [row[0] for row in results] == ["code_mostly", "code_present", "id_unique"]
    assert [row[2] for row in results] == ["passed", "failed", "failed"]
    assert len(violations) == 3  # two missing codes (shared by two rules), one repeated id


@pytest.mark.parametrize("store_format", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "point",
    [
        "after_results",
        pytest.param("after_violations", marks=pytest.mark.slow),
        pytest.param("after_lease", marks=pytest.mark.slow),
        pytest.param("after_intent", marks=pytest.mark.slow),
        pytest.param("after_read", marks=pytest.mark.slow),
        pytest.param("after_progress", marks=pytest.mark.slow),
        pytest.param("after_events", marks=pytest.mark.slow),
    ],
)
def test_a_run_killed_and_repeated_leaves_what_an_undisturbed_one_does(
    spark, orders, undisturbed, monkeypatch, point, store_format
):
    settings = settings_for(store_format, point)
    with monkeypatch.context() as killed:
        killed.setattr(
            SparkStore, "release", lambda *_: None
        )  # a killed process gives nothing back
        with faults.armed(point, die), pytest.raises(faults.FaultInjectedError):
            run_checks(spark, CHECKS, store=settings, run_id="the-run", keys=KEYS)

    outcome = run_checks(spark, CHECKS, store=settings, run_id="the-run", keys=KEYS)

    assert rows_of(spark, settings) == undisturbed
    assert {r.rule_key: r.new_violations for r in outcome.results} == {
        "code_present": 2,
        "code_mostly": 2,
        "id_unique": 1,
    }


def test_a_repeated_run_reads_the_positions_of_its_first_try(spark, orders, undisturbed):
    settings = settings_for("iceberg", "moved")
    with faults.armed("after_intent", die), pytest.raises(faults.FaultInjectedError):
        run_checks(spark, CHECKS, store=settings, run_id="the-run", keys=KEYS)
    spark.sql(f"INSERT INTO {orders} VALUES (4, NULL)")
    try:
        run_checks(spark, CHECKS, store=settings, run_id="the-run", keys=KEYS)
        assert rows_of(spark, settings) == undisturbed
        with faults.armed("after_read", die), pytest.raises(faults.FaultInjectedError):
            run_checks(spark, CHECKS, store=settings, run_id="overtaken", keys=KEYS)
        later = run_checks(spark, CHECKS, store=settings, run_id="later", keys=KEYS)
        before = rows_of(spark, settings)[1]
        overtaken = run_checks(spark, CHECKS, store=settings, run_id="overtaken", keys=KEYS)
    finally:
        spark.sql(f"DELETE FROM {orders} WHERE order_id = 4")
    assert later.results[0].failing_rows == 3
    assert later.results[0].new_violations == 1
    assert overtaken.results[0].failing_rows == 3
    assert rows_of(spark, settings)[1] == before, "it writes over nothing that is newer"


def test_the_same_run_id_twice_adds_nothing(spark, orders, undisturbed):
    settings = settings_for("iceberg", "none")
    run_checks(spark, CHECKS, store=settings, run_id="the-run", keys=KEYS)
    assert rows_of(spark, settings) == undisturbed
