"""A source without history and without the right to write, in another catalog than the store."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lakeproof import QualityCheck, run_checks
from lakeproof.config import Config, StoreSettings, TableSettings, WatermarkSettings
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mode, Readable

SOURCE = "spark_catalog.default.foreign_orders"
CHECKS = [
    QualityCheck("id_known", "not_null", SOURCE, "id"),
    QualityCheck("id_unique", "uniqueness", SOURCE, "id"),
    QualityCheck("amount_in_range", "range", SOURCE, "amount", {"min_value": 0}),
    QualityCheck("enough", "row_count_range", SOURCE, params={"min_count": 1, "max_count": 9}),
]


def digest_of(folder):
    found = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        found.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return found.hexdigest()


def write_elsewhere(spark, folder, ids):
    """What another process leaves in a table's folder: this session is not told of it."""
    files = folder.parent / f"{folder.name}_{ids[0]}"
    spark.createDataFrame([(one,) for one in ids], "id INT").coalesce(1).write.parquet(str(files))
    for file in files.glob("*.parquet"):
        file.replace(folder / file.name)


def told(outcome):
    return {
        one.check_name: (one.status.value, one.failing_rows, one.total_rows)
        for one in outcome.results
    }


@pytest.mark.parametrize(
    "mode", ["watermark", pytest.param("snapshot_diff", marks=pytest.mark.slow)]
)
def test_a_source_that_is_only_read_is_read_by_its_changes_and_left_as_it_is(spark, tmp_path, mode):
    spark.sql(
        f"CREATE TABLE {SOURCE} (id INT, amount DOUBLE, seq BIGINT) USING parquet "
        f"LOCATION '{tmp_path}'"
    )
    settings = TableSettings(
        key=("id", "seq"), mode=mode, watermark=WatermarkSettings("seq", lateness_seconds=10.0)
    )
    config = Config(tables={SOURCE: settings})
    store = StoreSettings(namespace=f"store_of_{mode}")

    def run():
        before = digest_of(tmp_path)
        outcome = run_checks(spark, CHECKS, store=store, config=config)
        assert digest_of(tmp_path) == before
        assert {one.mode for one in outcome.results} == {mode}
        assert told(outcome) == told(run_checks(spark, CHECKS, config=config, mode="snapshot"))
        return outcome

    spark.sql(f"INSERT INTO {SOURCE} VALUES (1, 1D, 1), (2, -1D, 2), (NULL, 1D, 3)")
    assert told(run())["id_known"] == ("failed", 1, 3)
    # A tie at the highest value, a late row, a duplicate of an old one, and new ones.
    spark.sql(f"INSERT INTO {SOURCE} VALUES (3, 1D, 3), (4, -2D, 1), (1, 1D, 9), (5, -3D, 20)")
    second = told(run())
    assert second["id_unique"] == ("failed", 1, 7)
    assert second["amount_in_range"][1] == 3
    assert told(run()) == second, "nothing new"
    spark.sql(f"DROP TABLE {SOURCE}")


@pytest.mark.parametrize("through", ["table", "view"])
def test_rows_that_another_process_wrote_or_replaced_are_what_the_next_run_reads(
    spark, tmp_path, through
):
    """Else Spark reads the files that it has once listed, for as long as the session lasts."""
    folder = tmp_path / "orders"
    folder.mkdir()
    write_elsewhere(spark, folder, [1])
    spark.sql(f"CREATE TABLE {SOURCE} (id INT) USING parquet LOCATION '{folder}'")
    spark.sql(f"CREATE VIEW {SOURCE}_view AS SELECT id FROM {SOURCE}")
    name = TableName.parse(SOURCE if through == "table" else f"{SOURCE}_view")

    def ids():
        pinned = SparkEngine(spark).pin(name, ())
        return sorted(row["id"] for row in spark.sql(f"SELECT id FROM {pinned.relation}").collect())

    assert ids() == [1]
    write_elsewhere(spark, folder, [2, 3])
    assert ids() == [1, 2, 3]
    for file in folder.glob("*.parquet"):
        file.unlink()
    write_elsewhere(spark, folder, [4])
    assert ids() == [4]
    spark.sql(f"DROP VIEW {SOURCE}_view")
    spark.sql(f"DROP TABLE {SOURCE}")


@pytest.mark.parametrize("mode", [Mode.WATERMARK, Mode.SNAPSHOT_DIFF])
def test_a_row_that_comes_during_a_run_is_left_to_the_next_one(spark, tmp_path, mode):
    """Else a rule that is built anew has it, and gets it once more by the next changes."""
    spark.sql(f"CREATE TABLE {SOURCE} (id INT, seq BIGINT) USING parquet LOCATION '{tmp_path}'")
    settings = TableSettings(watermark=WatermarkSettings("seq"))
    kept = []

    def source():
        pinned = SparkEngine(spark).pin(TableName.parse(SOURCE), ())
        sql = " UNION ALL ".join(f"SELECT * FROM {view}" for view in kept) or None
        return SparkEngine(spark).change_source(pinned, mode, settings, sql)

    def ids(rows):
        return sorted(row["id"] for row in spark.table(rows.relation).collect())

    def keep(rows):
        if rows.is_snapshot:
            kept.clear()
        kept.append(f"kept_{rows.relation}")
        spark.table(rows.relation).localCheckpoint().createOrReplaceTempView(kept[-1])

    spark.sql(f"INSERT INTO {SOURCE} VALUES (1, 1), (2, 2)")
    first = source()
    assert ids(first.snapshot()) == [1, 2]
    keep(first.to_keep())
    spark.sql(f"INSERT INTO {SOURCE} VALUES (3, 2)")
    second = source()
    assert second.can_read(first.until).outcome is Readable.OK
    assert ids(second.changes(first.until)[0]) == [3]
    spark.sql(f"INSERT INTO {SOURCE} VALUES (4, 2)")
    assert ids(second.changes(first.until)[0]) == [3]
    assert ids(second.present()) == ids(second.snapshot()) == [1, 2, 3]
    keep(second.to_keep())
    third = source()
    assert third.can_read(second.until).outcome is Readable.OK
    assert ids(third.changes(second.until)[0]) == [4]
    for one in (first, second, third):
        one.release()
    spark.sql(f"DROP TABLE {SOURCE}")


@pytest.mark.slow
def test_a_row_that_is_updated_under_a_watermark_does_not_break_a_unique_key(spark):
    table = "iceberg.lakehouse.updated_rows"
    spark.sql(f"CREATE TABLE {table} (id INT, name STRING, updated BIGINT) USING iceberg")
    checks = [
        QualityCheck("id_unique", "uniqueness", table, "id"),
        QualityCheck("name_known", "not_null", table, "name"),
    ]
    watermark = WatermarkSettings("updated", nulls="exclude")
    config = Config(tables={table: TableSettings(("id",), mode="watermark", watermark=watermark)})
    store = StoreSettings(namespace="store_of_updates")

    def failing():
        outcome = run_checks(spark, checks, store=store, config=config)
        assert {one.mode for one in outcome.results} == {"watermark"}
        return {one.check_name: one.failing_rows for one in outcome.results}

    spark.sql(f"INSERT INTO {table} VALUES (1, 'a', 1), (2, 'b', 2), (2, NULL, NULL)")
    assert failing() == {"id_unique": 0, "name_known": 0}
    spark.sql(f"UPDATE {table} SET name = NULL, updated = 3 WHERE id = 1")
    assert failing() == {"id_unique": 0, "name_known": 1}
    spark.sql(f"UPDATE {table} SET name = 'c', updated = 4 WHERE id = 1")
    spark.sql(f"INSERT INTO {table} VALUES (2, NULL, 5)")
    assert failing() == {"id_unique": 1, "name_known": 1}, "a row without date is not counted"
    spark.sql(f"DROP TABLE {table}")
