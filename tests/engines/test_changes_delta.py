"""Changes of real Delta tables: exact where they can be read, and a gap where they cannot."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from urllib.parse import urlparse

import pytest
from changed_rows import abilities_of, differences, since, source_of, told, weights

from lakeproof.engines.spark.changes import delta_parts
from lakeproof.engines.spark.changes.sources import change_source
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.statistics.stated import NoStatisticsError
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode, Readable
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import NOTHING_DECLARED

NAMESPACE = "spark_catalog.delta_changes"
WITH_FEED = "delta.enableChangeDataFeed = true"
MAPPED = "delta.columnMapping.mode = 'name'"
WIDENED = "delta.enableTypeWidening = true"
COMMITS = (
    "INSERT INTO {table} SELECT id, 'more', named_struct('n', 0.5) FROM range(2, 6)",
    "UPDATE {table} SET `a-b` = 'changed' WHERE id % 3 = 0",
    "UPDATE {table} SET `a-b` = `a-b` WHERE id = 2",
    "DELETE FROM {table} WHERE id = 4",
    (
        "MERGE INTO {table} t USING (SELECT id + 3 AS id FROM range(8)) s ON t.id = s.id "
        "WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET `a-b` = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, `a-b`) VALUES (s.id, NULL)"
    ),
    "INSERT OVERWRITE {table} SELECT id % 3, `a-b`, pair FROM {table}",
    "OPTIMIZE {table}",
    "RESTORE TABLE {table} TO VERSION AS OF 2",
)


@pytest.fixture(scope="module")
def new_table(spark):
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {NAMESPACE}")

    def create(name, columns="id BIGINT, v STRING", properties=WITH_FEED):
        table = f"{NAMESPACE}.{name}"
        spark.sql(f"CREATE TABLE {table} ({columns}) USING delta TBLPROPERTIES ({properties})")
        return table

    return create


def commit(spark, *statements):
    for statement in statements:
        spark.sql(statement)


def folder(spark, table):
    location = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    return Path(urlparse(location).path)


@pytest.mark.parametrize(
    ("name", "also"),
    [
        ("mapped", "delta.enableDeletionVectors = true, delta.columnMapping.mode = 'name'"),
        pytest.param("plain", "delta.enableDeletionVectors = false", marks=pytest.mark.slow),
    ],
)
def test_changes_weigh_what_two_versions_differ_by(spark, new_table, name, also):
    table = new_table(
        name, "id BIGINT, `a-b` STRING, pair STRUCT<n: DOUBLE>", f"{WITH_FEED}, {also}"
    )
    first = "INSERT INTO {table} SELECT id, 'first', named_struct('n', double('NaN')) FROM range(5)"
    chance = random.Random(name)  # noqa: S311 (a history to repeat)
    history = [first, *COMMITS[:2], *chance.sample(COMMITS[2:], len(COMMITS) - 2)]
    commit(spark, *(statement.format(table=table) for statement in history))
    newest = source_of(spark, table).until.position.value
    assert newest >= len(history) - 2, "only a commit that has nothing to do may be left out"
    ranges = [(0, newest), (1, newest - 1), (newest - 3, newest)]
    assert weights(spark, table, ranges) == differences(spark, table, ranges)


def test_a_range_without_feed_or_with_other_columns_is_a_gap(spark, new_table):
    table = new_table("feed_off")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'told')",
        f"ALTER TABLE {table} SET TBLPROPERTIES (delta.enableChangeDataFeed = false)",
        f"INSERT INTO {table} VALUES (2, 'untold')",
    )
    ability = abilities_of(spark, table)
    assert (ability.has_feed, ability.no_feed) == (False, "its change data feed is off")
    commit(spark, ability.advice, f"INSERT INTO {table} VALUES (3, 'told again')")
    ability = abilities_of(spark, table)
    assert (ability.has_feed, ability.asked_for, ability.advice) == (True, True, "")
    source = source_of(spark, table)
    assert [told(source, at) for at in range(7)] == [
        *("feed_off", "feed_off", "before_feed", "before_feed", "ok", "empty", "not_ancestor")
    ]
    assert source.can_read(Mark("another", Position("delta", 4))).code == "replaced"

    table = new_table("columns", properties=f"{WITH_FEED}, delta.columnMapping.mode = 'name'")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'a')",
        f"ALTER TABLE {table} ADD COLUMN more INT",
        f"INSERT INTO {table} VALUES (2, 'b', 2)",
    )
    assert told(source_of(spark, table), 1) == "ok"
    commit(
        spark,
        f"ALTER TABLE {table} DROP COLUMN v",
        f"DELETE FROM {table} WHERE id = 1",
        f"ALTER TABLE {table} ADD COLUMN v STRING AFTER id",
    )
    # The columns of versions 3 and 6 have the same names, and row 1 had another v when it came.
    assert split_of(spark, table, 3) == ((4,), {"v"}, set(), set())
    commit(
        spark,
        f"ALTER TABLE {table} RENAME COLUMN v TO w",
        f"INSERT INTO {table} VALUES (3, 'c', 3)",
    )
    assert split_of(spark, table, 6) == ((7,), {"v"}, set(), {"w"})


def split_of(spark, table, at):
    """Where the range from a version on is cut, and what has become of columns."""
    source = source_of(spark, table)
    reading = source.can_read(since(source, at))
    assert reading.outcome is Readable.SPLIT, reading
    return reading.at, set(reading.altered), set(reading.widened), set(reading.added)


def weighed_in_parts(spark, table, at):
    """The rows that came, less those that went, since a version, by the present columns."""
    source = source_of(spark, table)
    found = Counter()
    for part in source.changes(since(source, at)):
        for row in spark.sql(f"SELECT * FROM {part.relation}").collect():
            values = row.asDict()
            weight = values.pop(WEIGHT)
            found[tuple(values.values())] += weight
    source.release()
    return {row: weight for row, weight in found.items() if weight}


def test_a_range_is_read_in_parts_by_the_columns_of_each_and_given_the_present_ones(
    spark, new_table
):
    table = new_table("parts", "id INT, v STRING, n INT", f"{WITH_FEED}, {WIDENED}, {MAPPED}")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
        f"UPDATE {table} SET v = 'A' WHERE id = 1",  # 2
        f"ALTER TABLE {table} RENAME COLUMN v TO w",
        f"DELETE FROM {table} WHERE id = 2",
        f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT",  # 5
        f"INSERT INTO {table} VALUES (5000000000, 'z', 9)",
        f"ALTER TABLE {table} DROP COLUMN n",
        f"ALTER TABLE {table} ADD COLUMN n INT",  # 8
        f"UPDATE {table} SET n = 7 WHERE id = 3",
        f"ALTER TABLE {table} RENAME COLUMN w TO v",
    )
    assert split_of(spark, table, 1) == ((3, 5, 7, 10), {"n"}, {"id"}, set())
    assert weighed_in_parts(spark, table, 1) == {
        (1, "a", None): -1,
        (1, "A", None): 1,
        (2, "b", None): -1,
        (5000000000, "z", None): 1,
        (3, "c", None): -1,
        (3, "c", 7): 1,
    }
    assert split_of(spark, table, 4) == ((5, 7, 10), {"n", "w"}, {"id"}, {"v"})
    assert split_of(spark, table, 9) == ((10,), {"w"}, set(), {"v"})
    assert weighed_in_parts(spark, table, 9) == {}
    assert told(source_of(spark, table), 10) == "empty"
    reading = source_of(spark, table).can_read(since(source_of(spark, table), 5))
    assert reading.reason == "its columns changed at versions 7 and 10"


def test_parts_are_of_columns_whatever_lies_inside_of_them(spark, new_table):
    table = new_table(
        "nested",
        "id INT, pair STRUCT<a: INT, `b-c`: INT>, list ARRAY<INT>",
        f"{WITH_FEED}, {MAPPED}",
    )
    row = "named_struct('a', 1, 'b-c', 2), array(1)"
    commit(
        spark,
        f"INSERT INTO {table} SELECT 1, {row}",
        f"INSERT INTO {table} SELECT 2, {row}",
        f"ALTER TABLE {table} DROP COLUMN pair.a",
        f"DELETE FROM {table} WHERE id = 1",
    )
    assert split_of(spark, table, 1) == ((3,), {"pair"}, set(), set())
    source = source_of(spark, table)
    rows = [
        (one["id"], one["list"], one[WEIGHT])
        for part in source.changes(since(source, 1))
        for one in spark.sql(f"SELECT * FROM {part.relation}").collect()
    ]
    assert sorted(rows) == [(1, [1], -1), (2, [1], 1)]
    source.release()


def test_what_cannot_be_read_in_parts_is_a_gap(spark, new_table, monkeypatch):
    table = new_table("unmapped", "id INT, v STRING", f"{WITH_FEED}, {WIDENED}")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'a')",
        f"INSERT INTO {table} VALUES (2, 'b')",
        f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT",
        f"INSERT INTO {table} VALUES (5000000000, 'c')",
    )
    # Without column mapping Delta reads every commit by the columns of today.
    assert told(source_of(spark, table), 1) == "schema_changed"
    assert split_of(spark, table, 2) == ((3,), set(), {"id"}, set())
    assert weighed_in_parts(spark, table, 2) == {(5000000000, "c"): 1}

    table = new_table("restored", properties=f"{WITH_FEED}, {MAPPED}")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'a')",
        f"ALTER TABLE {table} RENAME COLUMN v TO w",
        f"INSERT INTO {table} VALUES (2, 'b')",
        f"RESTORE TABLE {table} TO VERSION AS OF 1",  # alters columns and takes rows away
    )
    assert told(source_of(spark, table), 1) == "schema_changed"
    commit(spark, f"ALTER TABLE {table} RENAME COLUMN v TO w")
    assert split_of(spark, table, 4)[0] == (5,)

    def unreadable(*_):
        raise NoStatisticsError("its Delta log cannot be read from outside of Delta")

    monkeypatch.setattr(delta_parts, "read_log", unreadable)
    assert told(source_of(spark, table), 4) == "schema_changed"


def test_columns_that_may_be_null_from_now_on_are_read_in_one_range(spark, new_table):
    table = new_table("nullable", "id INT NOT NULL, v STRING", f"{WITH_FEED}, {MAPPED}")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'a')",
        f"ALTER TABLE {table} ALTER COLUMN id DROP NOT NULL",
        f"INSERT INTO {table} VALUES (NULL, 'b')",
    )
    assert told(source_of(spark, table), 1) == "ok"
    commit(spark, f"ALTER TABLE {table} RENAME COLUMN v TO w", f"DELETE FROM {table} WHERE id = 1")
    assert split_of(spark, table, 1)[1:] == ({"v"}, set(), {"w"})
    assert weighed_in_parts(spark, table, 1) == {(None, "b"): 1, (1, "a"): -1}


def test_commits_that_change_no_row_are_nothing_new(spark, new_table):
    table = new_table("quiet")
    commit(
        spark,
        f"INSERT INTO {table} VALUES (1, 'a')",
        f"INSERT INTO {table} VALUES (2, 'b')",
        f"OPTIMIZE {table}",
        f"ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'sales')",
    )
    quiet = source_of(spark, table)
    assert told(quiet, 2) == "empty"
    commit(
        spark,
        f"ALTER TABLE {table} ALTER COLUMN v COMMENT 'a word'",
        f"MERGE INTO {table} t USING (SELECT 9L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    )
    assert told(source_of(spark, table), 2) == "empty"
    commit(spark, f"INSERT INTO {table} VALUES (3, 'later')")
    assert told(source_of(spark, table), 2) == "ok"
    assert told(quiet, 1) == "ok"
    assert weights(spark, table, [(1, 4)])[1, 4].total() == 1


def test_what_was_removed_is_a_gap_before_it_is_read(spark, new_table):
    table = new_table("vacuumed")
    commit(
        spark,
        f"INSERT INTO {table} SELECT id, 'a' FROM range(4)",
        f"UPDATE {table} SET v = 'b' WHERE id = 1",
        f"INSERT INTO {table} VALUES (9, 'z')",
    )
    source = source_of(spark, table)
    assert told(source, 1) == "ok"
    for file in (folder(spark, table) / "_change_data").iterdir():
        file.unlink()
    source = source_of(spark, table)
    assert [told(source, at) for at in (0, 1, 2)] == ["vacuumed", "vacuumed", "ok"]
    commit(
        spark,
        f"ALTER TABLE {table} SET TBLPROPERTIES "
        "('delta.deletedFileRetentionDuration' = 'interval 0 seconds')",
        f"INSERT INTO {table} VALUES (10, 'z')",
    )
    assert told(source_of(spark, table), 2) == "too_old"

    table = new_table("cleaned", properties=f"{WITH_FEED}, delta.checkpointInterval = 3")
    commit(spark, *(f"INSERT INTO {table} VALUES ({number}, 'a')" for number in range(5)))
    for file in (folder(spark, table) / "_delta_log").iterdir():
        if file.name.lstrip(".")[:20] in {f"{version:020}" for version in (0, 1, 2)}:
            file.unlink()
    source = source_of(spark, table)
    assert [told(source, at) for at in (0, 1, 3)] == ["log_cleaned", "log_cleaned", "ok"]


def test_a_table_without_feed_is_read_whole_each_time(spark, tmp_path):
    spark.range(2).write.parquet(str(tmp_path / "files"))
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {NAMESPACE}")
    table = f"{NAMESPACE}.files"
    spark.sql(f"CREATE TABLE {table} USING parquet LOCATION '{tmp_path / 'files'}'")
    ability = abilities_of(spark, table)
    assert (ability.has_feed, ability.is_pinned) == (False, False)
    assert ability.no_feed == "a parquet table has no change feed"
    pinned = SparkEngine(spark).pin(TableName.parse(table), ())
    with pytest.raises(ConfigError, match=r"files: mode cdf: a parquet table has no change feed"):
        change_source(spark, pinned, Mode.CDF, NOTHING_DECLARED, None)
    source = change_source(spark, pinned, Mode.SNAPSHOT, NOTHING_DECLARED, None)
    assert source.can_read(source.until).code == "snapshot"
    assert (source.mode, source.kept_id, source.to_keep()) == (Mode.SNAPSHOT, "", None)
    rows = spark.sql(f"SELECT * FROM {source.snapshot().relation}").collect()
    assert sorted(tuple(row) for row in rows) == [(0, 1), (1, 1)]
