"""Bad rows written aside: in full, under their hits, once however often the run is repeated."""

from __future__ import annotations

import pytest

from lakeproof import ConfigError, QualityCheck, faults, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.faults import FaultInjectedError

TABLE = "iceberg.aside.orders"
CONFIG = Config(tables={TABLE: TableSettings(key=("id",))})
CHECKS = [
    QualityCheck("amount", "positive", TABLE, "amount"),
    QualityCheck("items", "positive", TABLE, "items[]"),
    QualityCheck("unique", "uniqueness", TABLE, "id"),
    QualityCheck("known", "foreign_key", TABLE, "c", {"references": "iceberg.aside.customers"}),
    QualityCheck("rows", "row_count_range", TABLE, params={"max_count": 1}),
    QualityCheck("fine", "not_null", TABLE, "id"),
]


@pytest.fixture(autouse=True)
def tables(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.aside")
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.aside")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS SELECT * FROM VALUES "
        "(1, 5D, array(1, -2, -3), 'x'), (2, -1D, array(), 'x'), (3, 1D, NULL, 'y'), "
        "(3, 2D, array(4), 'x'), (4, 4D, array(4), 'x') AS t(id, amount, items, c)"
    )
    spark.sql("CREATE OR REPLACE TABLE iceberg.aside.customers USING iceberg AS SELECT 'x' AS c")


def aside(spark, target):
    rows = spark.table(target).orderBy("id", "amount").collect()
    return [
        (row["id"], row["amount"], row["_lakeproof_rules"], len(row["_lakeproof_hit_ids"]))
        for row in rows
    ]


EXPECTED = [
    (1, 5.0, ["items"], 2),
    (2, -1.0, ["amount"], 1),
    (3, 1.0, ["unique", "known"], 2),
    (3, 2.0, ["unique"], 1),
]


@pytest.mark.parametrize("target", ["iceberg.aside.bad", "spark_catalog.aside.bad"])
def test_bad_rows_stand_aside_once_however_often_a_run_is_repeated(spark, target):
    spark.sql(f"DROP TABLE IF EXISTS {target}")
    for _ in range(2):
        outcome = run_checks(spark, CHECKS, config=CONFIG, run_id="again", quarantine=target)
        assert aside(spark, target) == EXPECTED
    hits = {row["hit_id"] for row in outcome.violations().collect()}
    kept = spark.table(target)
    assert {one for row in kept.collect() for one in row["_lakeproof_hit_ids"]} == hits
    assert {row["_lakeproof_run_id"] for row in kept.collect()} == {"again"}
    run_checks(spark, CHECKS, config=CONFIG, run_id="another", quarantine=target)
    assert kept.sparkSession.table(target).count() == 2 * len(EXPECTED)


def test_a_killed_run_that_is_repeated_leaves_its_rows_once(spark):
    target = "iceberg.aside.killed"

    def die():
        raise FaultInjectedError

    store = Config(default_namespace="aside").store_in("iceberg")
    with faults.armed("after_quarantine", die), pytest.raises(FaultInjectedError):
        run_checks(spark, CHECKS, config=CONFIG, store=store, run_id="dies", quarantine=target)
    assert len(aside(spark, target)) == len(EXPECTED)
    outcome = run_checks(
        spark, CHECKS, config=CONFIG, store=store, run_id="dies", quarantine=target
    )
    assert not outcome.ok
    assert aside(spark, target) == EXPECTED


def test_a_clean_table_leaves_an_empty_quarantine(spark):
    outcome = run_checks(
        spark, [CHECKS[-1]], config=CONFIG, quarantine={TABLE: "iceberg.aside.clean"}
    )
    assert outcome.ok
    assert aside(spark, "iceberg.aside.clean") == []


def test_a_table_that_cannot_take_the_rows_is_refused_before_anything_is_read(spark):
    spark.sql("CREATE OR REPLACE TABLE iceberg.aside.other USING iceberg AS SELECT 'a' AS id")
    with pytest.raises(ConfigError, match="column 'id' is INT, there it is STRING"):
        run_checks(spark, CHECKS, config=CONFIG, quarantine="iceberg.aside.other")


def test_several_tables_need_a_quarantine_each(spark):
    more = [*CHECKS, QualityCheck("c", "not_null", "iceberg.aside.customers", "c")]
    with pytest.raises(ConfigError, match="2 tables are checked"):
        run_checks(spark, more, config=CONFIG, quarantine="iceberg.aside.bad")
    with pytest.raises(ConfigError, match="no rule is on that table"):
        run_checks(spark, more, config=CONFIG, quarantine={"iceberg.aside.typo": "iceberg.aside.b"})
