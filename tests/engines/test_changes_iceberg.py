"""Changes of real Iceberg tables: exact where they can be read, and a gap where they cannot."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from changed_rows import abilities_of, differences, since, source_of, told, weights

from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Readable
from lakeproof.model.weighing import WEIGHT

NAMESPACE = "iceberg.iceberg_changes"
MERGE_ON_READ = "'write.delete.mode' = 'merge-on-read', 'format-version' = '{version}'"
COMMITS = (
    "UPDATE {table} SET `a b` = 'changed' WHERE id % 3 = 0",
    "UPDATE {table} SET `a b` = `a b` WHERE id = 2",
    "DELETE FROM {table} WHERE id = 4",
    (
        "MERGE INTO {table} t USING (SELECT id + 3 AS id FROM range(8)) s ON t.id = s.id "
        "WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET `a b` = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, `a b`, pair) VALUES (s.id, NULL, NULL)"
    ),
    "INSERT OVERWRITE {table} SELECT id % 3, `a b`, pair FROM {table}",
    (
        "CALL iceberg.system.rewrite_data_files(table => '{table}', "
        "options => map('rewrite-all', 'true'))"
    ),
    "INSERT INTO {table} SELECT id, 'more', named_struct('n', 0.5) FROM range(2, 6)",
)


@pytest.fixture(scope="module")
def new_table(spark):
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")

    def create(name, columns="id BIGINT, v STRING", properties="'format-version' = '2'"):
        table = f"{NAMESPACE}.{name}"
        spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg TBLPROPERTIES ({properties})")
        return table

    return create


def commit(spark, *statements):
    for statement in statements:
        spark.sql(statement)


def head(spark, table):
    return source_of(spark, table).until.position.value


def insert(spark, table, *values):
    """Commit rows one by one; gives the snapshots."""
    found = []
    for value in values:
        spark.sql(f"INSERT INTO {table} VALUES {value}")
        found.append(head(spark, table))
    return found


@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_changes_weigh_what_two_snapshots_differ_by(spark, new_table, version):
    table = new_table(
        f"history_{version}",
        "id BIGINT, `a b` STRING, pair STRUCT<n: DOUBLE>",
        f"'format-version' = '{version}'",
    )
    first = "INSERT INTO {table} SELECT id, 'first', named_struct('n', double('NaN')) FROM range(5)"
    chance = random.Random(version)  # noqa: S311 (a history to repeat)
    places = []
    for statement in (first, *chance.sample(COMMITS, len(COMMITS))):
        spark.sql(statement.format(table=table))
        places.append(head(spark, table))
    ranges = [(places[0], places[-1]), *itertools.pairwise(places)]
    found, wanted = weights(spark, table, ranges), differences(spark, table, ranges)
    assert found == wanted
    assert sum(map(bool, wanted.values())) > len(ranges) // 2


def test_an_empty_table_a_branch_and_a_rewrite(spark, new_table):
    table = new_table("`odd name`")
    empty = source_of(spark, table)
    assert empty.until == Mark(empty.until.table_id, None)
    assert empty.can_read(empty.until).outcome is Readable.EMPTY
    assert abilities_of(spark, table).has_feed
    first, second = insert(spark, table, "(1, 'a')", "(2, 'b')")
    assert empty.can_read(Mark(empty.until.table_id, Position("iceberg", first))).code
    source = source_of(spark, table)
    assert source.can_read(empty.until).outcome is Readable.OK
    (rows,) = source.changes(empty.until)
    found = spark.sql(f"SELECT * FROM {rows.relation}").collect()
    assert sorted(tuple(row) for row in found) == [(1, "a", 1), (2, "b", 1)]

    commit(spark, f"ALTER TABLE {table} CREATE BRANCH audit")
    branch = f"{table}.branch_audit"
    commit(spark, f"INSERT INTO {branch} VALUES (3, 'on the branch')")
    insert(spark, table, "(4, 'on main')")
    staged = source_of(spark, branch)
    assert told(staged, second) == "ok"
    (rows,) = staged.changes(since(staged, second))
    found = spark.sql(f"SELECT * FROM {rows.relation}").collect()
    assert [tuple(row) for row in found] == [(3, "on the branch", 1)]
    assert told(source_of(spark, table), staged.until.position.value) == "not_ancestor"

    before = head(spark, table)
    commit(
        spark,
        "CALL iceberg.system.rewrite_data_files(table => 'iceberg_changes.`odd name`', "
        "options => map('rewrite-all', 'true'))",
    )
    source = source_of(spark, table)
    assert source.until.position.value != before
    assert [told(source, at) for at in (first, before)] == ["ok", "empty"]
    size = abilities_of(spark, table).size_bytes
    assert size is not None
    assert 0 < size < 10_000


def test_what_was_rolled_back_expired_or_replaced_is_a_gap(spark, new_table):
    table = new_table("rolled_back")
    places = insert(spark, table, *(f"({number}, 'a')" for number in range(4)))
    commit(
        spark,
        f"CALL iceberg.system.rollback_to_snapshot('iceberg_changes.rolled_back', {places[1]})",
    )
    source = source_of(spark, table)
    assert [told(source, at) for at in places] == ["ok", "empty", "not_ancestor", "not_ancestor"]
    insert(spark, table, "(9, 'after')")
    source = source_of(spark, table)
    assert [told(source, at) for at in places] == ["ok", "ok", "not_ancestor", "not_ancestor"]
    assert source.can_read(Mark("another", Position("iceberg", places[0]))).code == "replaced"
    commit(
        spark,
        "CALL iceberg.system.expire_snapshots(table => 'iceberg_changes.rolled_back', "
        "older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1)",
    )
    source = source_of(spark, table)
    assert {told(source, at) for at in places} == {"expired"}
    before = source.until.position.value
    commit(spark, f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT 1L AS id, 'a' AS v")
    assert told(source_of(spark, table), before) == "not_ancestor"
    old = source_of(spark, table).until
    commit(spark, f"DROP TABLE {table}")
    new_table("rolled_back")
    insert(spark, table, "(1, 'a')")
    assert source_of(spark, table).can_read(old).code == "replaced"


def test_other_columns_are_told_by_their_ids_once_there_is_a_snapshot_of_them(spark, new_table):
    table = new_table("columns")
    (first,) = insert(spark, table, "(1, 'a')")
    commit(spark, f"ALTER TABLE {table} ADD COLUMN more INT")
    altered = source_of(spark, table)
    assert altered.can_read(Mark(altered.until.table_id, Position("iceberg", first))).code == (
        "schema_changed"
    )
    ability = abilities_of(spark, table)
    assert (ability.has_feed, ability.is_pinned) == (False, False)
    (second,) = insert(spark, table, "(2, 'b', 2)")
    assert split_of(spark, table, first) == (set(), set(), {"more"})
    (third,) = insert(spark, table, "(3, 'c', 3)")
    assert told(source_of(spark, table), second) == "ok"
    commit(
        spark,
        f"ALTER TABLE {table} DROP COLUMN more",
        f"ALTER TABLE {table} ADD COLUMN more INT",
    )
    # The names are the same again, and the changelog would show the new column for the old one.
    assert told(source_of(spark, table), second) == "schema_changed"
    insert(spark, table, "(4, 'd', 4)")
    assert split_of(spark, table, third) == ({"more"}, set(), set())

    table = new_table("own_columns", "id BIGINT, _change_type STRING")
    insert(spark, table, "(1, 'a')")
    assert "_change_type has a name" in abilities_of(spark, table).no_feed


def split_of(spark, table, at):
    """What has become of columns since a snapshot: altered, widened, added."""
    source = source_of(spark, table)
    reading = source.can_read(since(source, at))
    assert reading.outcome is Readable.SPLIT, reading
    return set(reading.altered), set(reading.widened), set(reading.added)


def test_the_changelog_has_the_values_of_altered_columns_by_their_ids(spark, new_table):
    table = new_table("altered", "id INT, v STRING, n INT, pair STRUCT<a: INT, b: INT>")
    pair = "named_struct('a', 1, 'b', 2)"
    (first,) = insert(spark, table, f"(1, 'a', 1, {pair}), (2, 'b', 2, {pair}), (3, 'c', 3, NULL)")
    commit(
        spark,
        f"UPDATE {table} SET v = 'A' WHERE id = 1",
        f"ALTER TABLE {table} RENAME COLUMN v TO w",
        f"DELETE FROM {table} WHERE id = 2",
        f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT",
        f"ALTER TABLE {table} DROP COLUMN pair.a",
        f"INSERT INTO {table} VALUES (5000000000, 'z', 9, NULL)",
        f"ALTER TABLE {table} DROP COLUMN n",
        f"ALTER TABLE {table} ADD COLUMN n INT",
        f"UPDATE {table} SET n = 7 WHERE id = 3",
    )
    middle = head(spark, table)
    assert split_of(spark, table, first) == ({"v", "n", "pair"}, {"id"}, {"w"})
    commit(spark, f"ALTER TABLE {table} RENAME COLUMN w TO v")
    insert(spark, table, "(6, 'y', NULL, 8)")
    assert split_of(spark, table, first) == ({"n", "pair"}, {"id"}, set())
    source = source_of(spark, table)
    (rows,) = source.changes(since(source, first))
    found = Counter()
    for row in spark.sql(f"SELECT id, v, n, {WEIGHT} FROM {rows.relation}").collect():
        found[tuple(row)[:3]] += row[WEIGHT]
    source.release()
    assert {row: weight for row, weight in found.items() if weight} == {
        (1, "a", None): -1,
        (1, "A", None): 1,
        (2, "b", None): -1,
        (5000000000, "z", None): 1,
        (3, "c", None): -1,
        (3, "c", 7): 1,
        (6, "y", 8): 1,
    }
    assert split_of(spark, table, middle) == ({"w"}, set(), {"v"})
    commit(
        spark,
        f"ALTER TABLE {table} ALTER COLUMN v COMMENT 'a word'",
        "CALL iceberg.system.rewrite_data_files(table => 'iceberg_changes.altered', "
        "options => map('rewrite-all', 'true'))",
    )
    assert split_of(spark, table, source.until.position.value) == (set(), set(), set())
    # Files without ids are read by names, and these go from one column to another.
    commit(spark, f"ALTER TABLE {table} SET TBLPROPERTIES ('schema.name-mapping.default' = '[]')")
    assert told(source_of(spark, table), first) == "schema_changed"


@pytest.mark.parametrize("version", [2, 3])
def test_delete_files_are_a_gap_until_they_are_applied(spark, new_table, version):
    table = new_table(f"merge_on_read_{version}", properties=MERGE_ON_READ.format(version=version))
    commit(spark, f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, 'a' FROM range(9)")
    start = head(spark, table)
    assert abilities_of(spark, table).has_feed
    commit(spark, f"DELETE FROM {table} WHERE id = 3")
    assert told(source_of(spark, table), start) == "delete_files"
    ability = abilities_of(spark, table)
    assert not ability.has_feed
    assert "delete files" in ability.no_feed
    commit(spark, *ability.advice.split("; "))
    assert abilities_of(spark, table).has_feed
    start = head(spark, table)
    commit(spark, f"DELETE FROM {table} WHERE id = 4")
    end = head(spark, table)
    assert weights(spark, table, [(start, end)])[start, end].total() == -1
