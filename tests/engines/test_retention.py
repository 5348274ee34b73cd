"""How far a mark is behind its table, by the metadata of real tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lakeproof.engines.spark.pinning import read_head
from lakeproof.engines.spark.retention import _interval, distance_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode

WITH_FEED = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"


@pytest.fixture(scope="module")
def made(spark):
    """Make a table with three commits; gives its name and the mark before the last two."""
    for catalog in ("spark_catalog", "iceberg"):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.retention")

    def make(kind, name, properties=""):
        catalog = "iceberg" if kind == "iceberg" else "spark_catalog"
        table = TableName((catalog, "retention", name))
        spark.sql(f"CREATE TABLE {table.sql} (a BIGINT) USING {kind} {properties}")
        spark.sql(f"INSERT INTO {table.sql} VALUES (1)")
        head = read_head(spark, table)
        for number in (2, 3):
            spark.sql(f"INSERT INTO {table.sql} VALUES ({number})")
        return table, Mark(head.table_id, head.position)

    return make


def test_a_delta_table_keeps_changes_as_long_as_its_files_and_log(spark, made):
    table, mark = made("delta", "of_delta", WITH_FEED)
    found = distance_of(spark, table, mark, Mode.CDF)
    assert (found.problem, found.commits, found.kept_for) == ("", 2, timedelta(days=7))
    assert found.used(datetime.now(UTC)) < 0.01
    head = Mark(mark.table_id, found.head)
    assert distance_of(spark, table, head, Mode.CDF).commits == 0
    assert distance_of(spark, table, head, Mode.CDF).used(datetime.now(UTC)) is None
    beyond = Mark(mark.table_id, Position("delta", found.head.value + 1))
    assert distance_of(spark, table, beyond, Mode.CDF).problem == "it is at version 3, before 4"
    other = Mark("another", mark.position)
    assert distance_of(spark, table, other, Mode.CDF).problem == "the table was replaced since"
    whole = distance_of(spark, table, mark, Mode.WATERMARK)
    assert (whole.problem, whole.commits, whole.kept_for) == ("", 2, None)
    kept = "delta.deletedFileRetentionDuration = 'interval 36 hours'"
    spark.sql(f"ALTER TABLE {table.sql} SET TBLPROPERTIES ({kept})")
    assert distance_of(spark, table, mark, Mode.CDF).kept_for == timedelta(hours=36)


@pytest.mark.slow
def test_what_vacuum_removed_is_gone_however_young_it_is(spark, made):
    table, mark = made("delta", "vacuumed", WITH_FEED)
    spark.sql(f"INSERT INTO {table.sql} SELECT id FROM range(10, 20)")
    spark.sql(f"UPDATE {table.sql} SET a = a + 100 WHERE a = 12")
    assert distance_of(spark, table, mark, Mode.CDF).problem == ""
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(check, "false")
    try:
        spark.sql(f"VACUUM {table.sql} RETAIN 0 HOURS")
    finally:
        spark.conf.unset(check)
    found = distance_of(spark, table, mark, Mode.CDF)
    assert found.problem == "VACUUM removed files with changes after version 1"
    assert found.used(datetime.now(UTC)) is None
    assert distance_of(spark, table, mark, Mode.SNAPSHOT).problem == ""


def test_a_table_that_was_dropped_is_told_as_such(spark, made):
    table, mark = made("delta", "dropped")
    spark.sql(f"DROP TABLE {table.sql}")
    with pytest.raises(CheckDefinitionError, match=r"retention\.dropped does not exist"):
        distance_of(spark, table, mark, Mode.CDF)


def test_an_iceberg_table_keeps_changes_as_long_as_the_snapshot_they_begin_at(spark, made):
    age = "TBLPROPERTIES ('history.expire.max-snapshot-age-ms' = '3600000')"
    table, mark = made("iceberg", "of_iceberg", age)
    found = distance_of(spark, table, mark, Mode.CDF)
    assert (found.problem, found.commits, found.kept_for) == ("", 2, timedelta(hours=1))
    spark.sql(f"ALTER TABLE {table.sql} ADD COLUMN more INT")
    spark.sql(f"INSERT INTO {table.sql} VALUES (4, NULL)")
    assert distance_of(spark, table, mark, Mode.CDF).problem == "", "no rule there has read it"
    spark.sql(f"ALTER TABLE {table.sql} DROP COLUMN more")
    spark.sql(f"ALTER TABLE {table.sql} RENAME COLUMN a TO b")
    spark.sql(f"INSERT INTO {table.sql} VALUES (5)")
    altered = distance_of(spark, table, mark, Mode.CDF)
    told = f"its columns changed after snapshot {mark.position.value}"
    assert altered.problem == f"{told}, which rules that read a cannot follow"
    assert (altered.commits, altered.kept_for) == (4, timedelta(hours=1))
    spark.sql(f"ALTER TABLE {table.sql} RENAME COLUMN b TO a")
    spark.sql(f"CALL iceberg.system.rollback_to_snapshot('{table}', {mark.position.value})")
    head = Mark(mark.table_id, found.head)
    rolled_back = distance_of(spark, table, head, Mode.CDF).problem
    assert rolled_back.startswith("it was rolled back or replaced")
    assert distance_of(spark, table, head, Mode.WATERMARK).problem == ""
    spark.sql(f"INSERT INTO {table.sql} VALUES (4)")
    spark.sql(
        f"CALL iceberg.system.expire_snapshots(table => '{table}', "
        f"snapshot_ids => ARRAY({mark.position.value}L))"
    )
    expired = f"snapshot {mark.position.value} has expired"
    assert distance_of(spark, table, mark, Mode.CDF).problem == expired
    nowhere = Mark(mark.table_id, Position("delta", 1))
    assert distance_of(spark, table, nowhere, Mode.CDF).problem == "the table is iceberg now"


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("interval 1 week", timedelta(days=7)),
        ("interval 36 hours", timedelta(hours=36)),
        ("interval 1 day 12 hours", timedelta(hours=36)),
        ("INTERVAL 30 DAYS", timedelta(days=30)),
        ("", None),
        ("forever", None),
    ],
)
def test_intervals_are_read_as_delta_writes_them(text, length):
    assert _interval(text) == length
