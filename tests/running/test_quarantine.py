"""Bad rows written aside: in full, under their hits, once however often the run is repeated."""

from __future__ import annotations

import pytest

from lakeproof import ConfigError, EngineUnavailableError, QualityCheck, faults, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.faults import FaultInjectedError
from lakeproof.state.quarantine import SparkQuarantine

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


@pytest.mark.parametrize(
    "target",
    ["iceberg.aside.bad", pytest.param("spark_catalog.aside.bad", marks=pytest.mark.slow)],
)
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_second_driver_of_the_same_run_adds_no_row(spark, monkeypatch):
    """Driver A stops just before it writes; B writes the same rows; then A goes on."""
    target = "iceberg.aside.twice"
    spark.sql(f"DROP TABLE IF EXISTS {target}")
    write = SparkQuarantine._merge
    states = []

    def stop_before_writing(self, *arguments):
        if not states:
            states.append("stopped")
            run_checks(spark, CHECKS, config=CONFIG, run_id="two", quarantine=target)
        write(self, *arguments)

    monkeypatch.setattr(SparkQuarantine, "_merge", stop_before_writing)
    run_checks(spark, CHECKS, config=CONFIG, run_id="two", quarantine=target)
    assert states == ["stopped"]
    assert aside(spark, target) == EXPECTED


def test_rows_that_are_bad_no_more_leave_the_quarantine_of_a_repeated_run(spark):
    plain = "spark_catalog.aside.plain"  # without history, so a repeat reads it as it is now
    spark.sql(f"DROP TABLE IF EXISTS {plain}")
    spark.sql(f"CREATE TABLE {plain} USING parquet AS SELECT 1 AS id, -1 AS v")
    check = [QualityCheck("v", "positive", plain, "v")]
    target = "iceberg.aside.moving"
    run_checks(spark, check, run_id="moves", quarantine=target)
    assert spark.table(target).count() == 1
    spark.sql(f"INSERT OVERWRITE {plain} SELECT 1, 1")
    run_checks(spark, check, run_id="moves", quarantine=target)
    assert spark.table(target).count() == 0


@pytest.mark.parametrize(
    "target",
    ["iceberg.aside.odd", "spark_catalog.aside.odd"],
)
@pytest.mark.slow
def test_rows_of_awkward_types_and_names_stand_aside(spark, target):
    odd = "spark_catalog.aside.odd_rows"
    for name in (odd, target):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(
        f"CREATE TABLE {odd} (tiny TINYINT, m MAP<STRING, INT>, s STRUCT<`a b`: INT>) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(f"INSERT INTO {odd} SELECT 1, map('a', 1), named_struct('a b', 1)")
    spark.sql(f"INSERT INTO {odd} SELECT 2, map('a', 1), NULL")
    checks = [QualityCheck("map_key", "unique_key", odd, "m")]
    for number in range(2):
        run_checks(spark, checks, run_id=f"odd-{number}", quarantine=target)
    assert spark.table(target).count() == 4


def test_a_table_that_must_have_more_is_refused_before_anything_is_read(spark):
    target = "iceberg.aside.stricter"
    spark.sql(f"DROP TABLE IF EXISTS {target}")
    run_checks(spark, CHECKS, config=CONFIG, quarantine=target)
    rows = spark.table(target)
    spark.sql(f"CREATE OR REPLACE TABLE {target} (more STRING NOT NULL, "
              + ", ".join(f"`{field.name}` {field.dataType.simpleString()}"
                          for field in rows.schema.fields) + ") USING iceberg")  # fmt: skip
    with pytest.raises(ConfigError, match="'more' must not be NULL"):
        run_checks(spark, CHECKS, config=CONFIG, quarantine=target)


def test_results_are_kept_though_the_rows_cannot_be_written(spark, monkeypatch):
    def fail(self, *arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(SparkQuarantine, "_merge", fail)
    store = Config(default_namespace="aside").store_in("iceberg")
    with pytest.raises(EngineUnavailableError, match=r"disk is full.*results are kept; repeat run"):
        run_checks(spark, CHECKS, config=CONFIG, store=store, run_id="full",
                   quarantine="iceberg.aside.full")  # fmt: skip
    kept = spark.table("iceberg.lakehouse._quality_results").where("run_id = 'full'")
    assert kept.count() == len(CHECKS)
