"""Data files that both sides have are not read; what remains differs as the tables do."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.pairs.shared_files import SharedFiles, without_shared_files
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.planning.tables import PinnedTable

pytestmark = pytest.mark.usefixtures("interpreted")

COLUMNS = "(id BIGINT, part STRING, name STRING)"
THREE_FILES = """
    (1, 'a b/%20', 'one'), (1, 'a b/%20', 'one'), (2, 'a b/%20', NULL),
    (3, NULL, 'three'), (4, NULL, 'four'), (5, 'c', 'five'), (6, 'c', 'six')
"""
PROPERTIES = {
    "iceberg": "'write.update.mode'='copy-on-write', 'write.delete.mode'='merge-on-read'",
    "delta": "'delta.enableDeletionVectors'='true', 'delta.columnMapping.mode'='name'",
}


def pinned(spark, table: str) -> PinnedTable:
    return SparkEngine(spark).pin(TableName.parse(table), ["id"])


def at(table: PinnedTable, value: int) -> PinnedTable:
    relation = f"{table.table.sql} VERSION AS OF {value}"
    return replace(table, position=Position(table.format, value), relation=relation)


def make_table(spark, table: str, kind: str, properties: str) -> None:
    """Three files, one for each partition."""
    spark.sql(
        f"CREATE TABLE {table} {COLUMNS} USING {kind} PARTITIONED BY (part) "
        f"TBLPROPERTIES ({properties})"
    )
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES {THREE_FILES}")


@pytest.fixture(scope="module")
def iceberg(spark):
    """A table at moments of its history: first, a branch of it, rewritten, deleted."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.sharing")
    table = "iceberg.sharing.orders"
    make_table(spark, table, "iceberg", PROPERTIES["iceberg"])
    found = {"first": pinned(spark, table)}

    def moment(reference):
        refs = spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = '{reference}'")
        return at(found["first"], refs.first()["snapshot_id"])

    spark.sql(f"ALTER TABLE {table} CREATE BRANCH audit")
    spark.sql(f"INSERT INTO {table}.branch_audit VALUES (7, 'c', 'seven')")
    found["branch"] = moment("audit")
    spark.sql(f"UPDATE {table} SET name = 'TWO' WHERE id = 2")
    found["rewritten"] = moment("main")
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    found["deleted"] = moment("main")
    return found


@pytest.fixture(scope="module")
def delta(spark):
    """A table at moments of its history: first, longer, deleted; and a clone of it."""
    spark.sql("CREATE DATABASE IF NOT EXISTS sharing")
    table = "spark_catalog.sharing.orders"
    make_table(spark, table, "delta", PROPERTIES["delta"])
    found = {"first": pinned(spark, table)}
    spark.sql(f"CREATE TABLE {table}_clone SHALLOW CLONE {table}")
    found["clone"] = pinned(spark, f"{table}_clone")
    spark.sql(f"INSERT INTO {table} VALUES (7, 'c', 'seven')")
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    found |= {"longer": at(found["first"], 2), "deleted": at(found["first"], 3)}
    return found


def rows(spark, relation: str) -> Counter:
    return Counter(tuple(row) for row in spark.sql(f"SELECT * FROM {relation}").collect())


@contextmanager
def records_read(spark):
    """How many records the tasks of the block read from files."""
    context = spark.sparkContext
    read = SimpleNamespace(records=None)
    context.setJobGroup("records read", "")
    before = context.statusTracker().getJobIdsForGroup("records read")
    yield read
    context._jsc.sc().listenerBus().waitUntilEmpty()
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    jobs = set(tracker.getJobIdsForGroup("records read")) - set(before)
    stages = {stage for job in jobs for stage in tracker.getJobInfo(job).stageIds}
    read.records = sum(store.lastStageAttempt(stage).inputRecords() for stage in stages)
    context._jsc.sc().clearJobGroup()


def compared(spark, source: PinnedTable, target: PinnedTable) -> tuple[SharedFiles, int]:
    """What is left, and the records that reading it takes; it differs as the tables do."""
    left = without_shared_files(spark, source, target)
    with records_read(spark) as read:
        some = rows(spark, left.source_relation), rows(spark, left.target_relation)
    every = rows(spark, source.relation), rows(spark, target.relation)
    assert some[0] - some[1] == every[0] - every[1]
    assert some[1] - some[0] == every[1] - every[0]
    for few, many in zip(some, every, strict=True):
        assert few.total() + left.shared_rows == many.total()
    return left, read.records


def test_a_branch_is_read_only_in_the_files_of_its_own(spark, iceberg):
    settings = spark.sql("SET").collect()

    left, records = compared(spark, iceberg["first"], iceberg["branch"])

    assert (left.shared_files, left.shared_rows, left.everything_is_shared) == (3, 7, False)
    assert left.reason == "3 data files with 7 rows on both sides"
    assert records == 1
    left.release()
    views = [row.viewName for row in spark.sql("SHOW VIEWS LIKE '_lakeproof_files*'").collect()]
    jvm = spark._jvm.org.apache.iceberg.spark
    table = jvm.Spark3Util.loadIcebergTable(spark._jsparkSession, "iceberg.sharing.orders")
    assert views == []
    assert jvm.ScanTaskSetManager.get().fetchSetIds(table).isEmpty()
    assert spark.sql("SET").collect() == settings


def test_of_consecutive_snapshots_only_the_rewritten_file_is_read_on_both_sides(spark, iceberg):
    left, records = compared(spark, iceberg["first"], iceberg["rewritten"])

    assert (left.shared_files, left.shared_rows, records) == (2, 4, 6)
    left.release()


def test_of_consecutive_versions_only_the_new_file_is_read(spark, delta):
    left, records = compared(spark, delta["first"], delta["longer"])

    assert (left.shared_files, left.shared_rows, records) == (3, 7, 1)
    left.release()


def test_a_file_with_deleted_rows_is_compared_although_both_sides_have_it(spark, iceberg, delta):
    table = "iceberg.sharing.with_vectors"
    make_table(spark, table, "iceberg", f"'format-version'='3', {PROPERTIES['iceberg']}")
    before = pinned(spark, table)
    spark.sql(f"DELETE FROM {table} WHERE id = 2")

    for source, target in (
        (iceberg["rewritten"], iceberg["deleted"]),
        (before, pinned(spark, table)),
        (delta["longer"], delta["deleted"]),
    ):
        left, _ = compared(spark, source, target)
        shared = left.shared_files
        left.release()
        same = without_shared_files(spark, target, target)
        same.release()

        assert shared == same.shared_files == (3 if source.format == "delta" else 2)
        assert not same.everything_is_shared


def test_a_clone_shares_everything_and_no_row_of_it_is_read(spark, iceberg, delta):
    log = spark.sql(
        "SELECT file FROM iceberg.sharing.orders.metadata_log_entries WHERE latest_snapshot_id = "
        f"{iceberg['first'].position.value} ORDER BY timestamp"
    )
    spark.sql(
        "CALL iceberg.system.register_table(table => 'sharing.orders_clone', "
        f"metadata_file => '{log.first()['file']}')"
    )
    registered = pinned(spark, "iceberg.sharing.orders_clone")

    for table, clone in ((iceberg["first"], registered), (delta["first"], delta["clone"])):
        left, records = compared(spark, table, clone)

        assert left.everything_is_shared
        assert (left.shared_files, left.shared_rows, records) == (3, 7, 0)


def test_files_added_to_two_tables_are_shared_once_and_only_under_the_same_columns(spark, tmp_path):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.sharing")
    spark.range(5).selectExpr("id", "string(id) AS name").write.parquet(str(tmp_path / "files"))

    def added(name, columns, times=1):
        table = f"iceberg.sharing.{name}"
        spark.sql(f"CREATE TABLE {table} {columns} USING iceberg")
        for _ in range(times):
            spark.sql(
                f"CALL iceberg.system.add_files(table => 'sharing.{name}', source_table => "
                f"'`parquet`.`{tmp_path / 'files'}`', check_duplicate_files => false)"
            ).collect()
        return pinned(spark, table)

    once, again = (added(name, "(id BIGINT, name STRING)") for name in ("once", "again"))
    twice = added("twice", "(id BIGINT, name STRING)", times=2)
    turned = added("turned", "(name STRING, id BIGINT)")

    assert compared(spark, once, again)[0].everything_is_shared
    assert compared(spark, once, twice)[0].reason == "no data file is on both sides"
    assert without_shared_files(spark, once, turned) == SharedFiles(
        once.relation,
        turned.relation,
        "their columns, column ids or partitions are not the same",
    )


def test_tables_whose_columns_changed_in_between_are_compared_in_full(spark, iceberg, delta):
    table = "iceberg.sharing.changed"
    make_table(spark, table, "iceberg", PROPERTIES["iceberg"])

    for before, why in (
        (pinned(spark, table), f"the columns of {table} have changed since snapshot "),
        (delta["deleted"], "their columns, column ids or partitions are not the same"),
    ):
        # Name and type are as before, but the files' values belong to the column that is gone.
        spark.sql(f"ALTER TABLE {before.table.sql} DROP COLUMN name")
        spark.sql(f"ALTER TABLE {before.table.sql} ADD COLUMN name STRING")
        spark.sql(f"INSERT INTO {before.table.sql} VALUES (8, 'c', 'eight')")
        after = pinned(spark, str(before.table))

        left = without_shared_files(spark, before, after)

        assert rows(spark, before.relation) - rows(spark, after.relation)
        assert (left.source_relation, left.target_relation) == (before.relation, after.relation)
        assert (left.shared_files, left.shared_rows) == (0, 0)
        assert left.reason.startswith(why)


def test_files_without_a_row_count_and_padded_columns_are_compared_in_full(spark, delta):
    padded, uncounted = (f"spark_catalog.sharing.{name}" for name in ("padded", "uncounted"))
    spark.sql(f"CREATE TABLE {padded} (id BIGINT, code CHAR(5)) USING delta")
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    spark.sql(f"CREATE TABLE {uncounted} USING delta AS SELECT 1 AS id")
    spark.conf.unset("spark.databricks.delta.stats.collect")

    reasons = [
        without_shared_files(spark, table, table).reason
        for table in (pinned(spark, padded), pinned(spark, uncounted))
    ]

    assert reasons == [f"{padded} is not read as it is stored", "no data file is on both sides"]


def made_up(kind: str, position: Position | None) -> PinnedTable:
    table = TableName(("c", "n", kind))
    return PinnedTable(table, "id", kind, position, (), table.sql, (), "")


ICEBERG, DELTA = made_up("iceberg", Position("iceberg", 1)), made_up("delta", Position("delta", 1))
CLASSIC = SimpleNamespace(_jsparkSession=object())


@pytest.mark.parametrize(
    ("session", "source", "target", "reason"),
    [
        (SimpleNamespace(), DELTA, DELTA, "Spark Connect cannot read chosen files of a table"),
        (CLASSIC, ICEBERG, DELTA, "they are of different formats, iceberg and delta"),
        (CLASSIC, DELTA, made_up("view", None), "c.n.view is no Iceberg or Delta table"),
        (CLASSIC, made_up("delta", None), DELTA, "c.n.delta is no Iceberg or Delta table"),
        (CLASSIC, DELTA, DELTA, "their files cannot be told apart here: "),
    ],
)
def test_where_it_is_not_possible_the_relations_are_the_tables_and_the_reason_is_said(
    session, source, target, reason
):
    left = without_shared_files(session, source, target)

    assert (left.source_relation, left.target_relation) == (source.relation, target.relation)
    assert left.reason.startswith(reason)
    left.release()
