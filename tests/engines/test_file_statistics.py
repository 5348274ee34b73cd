"""What the metadata say of a file holds for the rows in it, on both formats."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from lakeproof.engines.spark.chosen_files import NotPossibleError
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.pinning import read_head
from lakeproof.engines.spark.statistics import delta_log, iceberg, iceberg_names
from lakeproof.engines.spark.statistics.facts import NoStatisticsError, file_facts
from lakeproof.engines.spark.stored_relation import require_stored
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from spark_settings import WITH_GENERATED_CODE, under

FORMATS = ("iceberg", "delta")
LONG = "z" * 70
MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')"


@pytest.fixture(scope="module")
def spark(spark):
    """Without generated code Spark gives NULL for bounds that Iceberg has."""
    with under(spark, WITH_GENERATED_CODE):
        yield spark


@pytest.fixture(scope="module")
def lake(spark):
    for catalog in ("spark_catalog", "iceberg"):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.stated")
    return Lake(spark)


class Lake:
    def __init__(self, spark):
        self.spark = spark

    def make(self, kind, name, columns, *inserts, behind=""):
        """A table with one file for each insert."""
        catalog = "iceberg" if kind == "iceberg" else "spark_catalog"
        table = TableName((catalog, "stated", name))
        self.spark.sql(f"CREATE TABLE {table.sql} ({columns}) USING {kind} {behind}")
        for values in inserts:
            self.insert(table, values)
        return table

    def insert(self, table, values):
        self.spark.sql(f"INSERT INTO {table.sql} SELECT /*+ COALESCE(1) */ * FROM VALUES {values}")

    def alter(self, table, *changes):
        for change in changes:
            self.spark.sql(f"ALTER TABLE {table.sql} {change}")

    def head(self, table):
        return read_head(self.spark, table).position

    def pinned(self, table, position=None):
        return SparkEngine(self.spark).pin(table, (), position)

    def facts(self, table, *paths, position=None):
        """The facts with one mapping per file, from the names of ColumnFacts to values."""
        pinned = self.pinned(table, position)
        held = file_facts(self.spark, pinned, paths)
        rows = self.spark.table(held.facts.relation.strip("`")).collect()
        held.release()
        return held.facts, {row["_lakeproof_path"]: row.asDict() for row in rows}

    def checked(self, table, *paths, position=None):
        """The facts of each column, after a look at every row of every file."""
        facts, files = self.facts(table, *paths, position=position)
        read = self.rows(table, facts, position)
        if all(file["_lakeproof_live_rows"] is not None for file in files.values()):
            live = {Path(path).name for path, file in files.items() if file["_lakeproof_live_rows"]}
            assert live == set(read)
        return facts, {
            path: [self.column(facts, path, file, read, name) for name, file in files.items()]
            for path in facts.columns
        }

    def column(self, facts, path, file, read, name):
        of, values = facts.columns[path], read.get(Path(name).name, {}).get(path, [])
        stated = {
            fact: file[getattr(of, fact).strip("`")]
            for fact in ("nulls", "nans", "low", "high", "is_exact")
        }
        live = file["_lakeproof_live_rows"]
        assert live in {None, len(values)}
        check_column(stated, values, is_whole=live == file["_lakeproof_rows"])
        return stated

    def rows(self, table, facts, position=None):
        """The values of each column by the name of the file they are in."""
        relation = self.pinned(table, position).relation
        file = "_file" if table.catalog == "iceberg" else "_metadata.file_path"
        of = {path: ".".join(f"`{part}`" for part in path) for path in facts.columns}
        named = ", ".join(f"{sql} AS c{at}" for at, sql in enumerate(of.values()))
        read = {}
        for row in self.spark.sql(f"SELECT {file} AS file, {named} FROM {relation}").collect():
            found = read.setdefault(Path(row["file"]).name, {path: [] for path in of})
            for at, path in enumerate(of):
                found[path].append(row[f"c{at}"])
        return read


def check_column(stated, values, *, is_whole):
    there = [value for value in values if value is not None]
    nans = [value for value in there if isinstance(value, float) and math.isnan(value)]
    others = [value for value in there if value not in nans and value == value]  # noqa: PLR0124
    if stated["nulls"] is not None:
        count = len(values) - len(there)
        assert stated["nulls"] == count if is_whole else stated["nulls"] >= count
    if stated["nans"] == 0:
        assert not nans
    if is_whole and stated["nans"] is not None:
        assert bool(stated["nans"]) == bool(nans)
    for bound in ("low", "high"):
        assert not (isinstance(stated[bound], float) and math.isnan(stated[bound]))
    assert stated["low"] is None or all(stated["low"] <= value for value in others)
    assert stated["high"] is None or all(stated["high"] >= value for value in others)
    if is_whole and stated["is_exact"]:
        assert {stated["low"], stated["high"]} <= set(others)


EVERY_TYPE = """id INT, big BIGINT, st STRUCT<a: INT, b: STRUCT<c: STRING>>, `we.ird` INT, f FLOAT,
    d DOUBLE, s STRING, dc DECIMAL(38, 10), ts TIMESTAMP, n TIMESTAMP_NTZ, da DATE, b BOOLEAN,
    arr ARRAY<INT>, nothing STRING"""
EVERY_PATH = [
    *[("id",), ("BIG",), ("st", "A"), ("st", "b", "c"), ("we.ird",), ("f",), ("d",), ("s",)],
    *[("dc",), ("ts",), ("n",), ("da",), ("b",), ("arr",), ("nothing",), ("st",), ("no",)],
]
PLAIN = f"""(1, 9000000000, named_struct('a', 1, 'b', named_struct('c', 'x')), 5, 0.1F, -0.0D,
    'b', 1234567890123456789012345678.0123456789, TIMESTAMP '2020-01-01 00:00:00.123456',
    TIMESTAMP_NTZ '2020-01-01 00:00:00.123456', DATE '2020-01-01', true, array(1, null), NULL),
  (2, -5, named_struct('a', 7, 'b', named_struct('c', 'é')), 6, 1e-30F, 0.0D, '{LONG}', -0.5,
    TIMESTAMP '2020-01-01 00:00:00.123999', TIMESTAMP_NTZ '0099-01-01 00:00:00.999999',
    DATE '0099-12-31', false, array(), NULL)"""
WITH_NAN = """(3, NULL, NULL, NULL, float('NaN'), double('NaN'), NULL, NULL,
    TIMESTAMP '9998-12-31 23:59:59.999999', NULL, NULL, NULL, NULL, NULL),
  (4, NULL, named_struct('a', NULL, 'b', NULL), NULL, 1.5F, double('-Infinity'), '', NULL,
    TIMESTAMP '1850-06-01 12:00:00.000001', NULL, NULL, NULL, NULL, NULL)"""
NAN_ONLY = """(NULL, NULL, NULL, NULL, float('NaN'), NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL)"""


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_stated_holds_for_every_type(lake, kind):
    table = lake.make(kind, "every_type", EVERY_TYPE, PLAIN, WITH_NAN, NAN_ONLY)
    facts, found = lake.checked(table, *EVERY_PATH)
    assert ("st",) not in facts.columns
    assert ("no",) not in facts.columns
    assert (("arr",) in facts.columns) == (kind == "delta")
    assert facts.columns["st", "b", "c"].column.path == ("st", "b", "c")
    assert facts.columns["big",].column.type_text == "bigint"
    for path, files in found.items():
        assert all(file["nulls"] is not None for file in files), path
    for path in [("id",), ("big",), ("st", "a"), ("st", "b", "c"), ("dc",), ("ts",), ("n",)]:
        assert sum(file["low"] is not None and file["high"] is not None for file in found[path])
    (plain,) = [at for at, file in enumerate(found["id",]) if file["low"] == 1]
    assert found["big",][plain]["is_exact"]
    assert found["ts",][plain]["is_exact"] == (kind == "iceberg")
    assert not found["s",][plain]["is_exact"]
    assert (found["s",][plain]["high"] is None) == (kind == "delta")
    assert found["id",][plain]["nans"] == 0
    # A maximum of a Delta file that is no NaN does not say that the file has none.
    assert found["f",][plain]["nans"] == (0 if kind == "iceberg" else None)
    assert [file["nans"] for file in found["f",]].count(1) == 2
    assert all(file["low"] is file["high"] is None for file in found["b",])
    assert all(file["low"] is file["high"] is None for file in found["nothing",])
    for names in (["ID", "we.ird", "st", "no"], []):
        require_stored(lake.spark, lake.pinned(table), names)


def test_a_struct_that_is_named_like_its_table_has_no_fields_that_a_rule_could_name(lake):
    table = lake.make("delta", "twice", "twice STRUCT<x: INT>, x INT", "(named_struct('x', 1), 2)")
    facts, _ = lake.facts(table, ("twice", "x"), ("x",))
    assert lake.spark.sql(f"SELECT twice.x FROM {table.sql}").collect() == [(2,)]
    assert set(facts.columns) == {("x",)}


def test_a_moment_before_whole_minutes_is_between_its_bounds_in_any_zone(lake):
    zone = "spark.sql.session.timeZone"
    with under(lake.spark, {zone: "Europe/Berlin"}):
        table = lake.make("delta", "old_zone", "ts TIMESTAMP", "(TIMESTAMP '1850-06-01 12:00:00')")
    with under(lake.spark, {zone: "America/New_York"}):
        _, found = lake.checked(table, ("ts",))
    assert found["ts",][0]["low"] is not None


def test_a_moment_keeps_its_zone_whatever_a_timestamp_is_in_the_session(lake):
    with under(lake.spark, {"spark.sql.session.timeZone": "America/Los_Angeles"}):
        table = lake.make("delta", "zoned", "ts TIMESTAMP", "(TIMESTAMP '2024-06-01 12:00:00')")
        with under(lake.spark, {"spark.sql.timestampType": "TIMESTAMP_NTZ"}):
            _, found = lake.checked(table, ("ts",))
    assert found["ts",][0]["low"] is not None


@pytest.mark.parametrize("kind", FORMATS)
def test_columns_that_change_are_decided_by_their_own_values_or_unknown(lake, kind, monkeypatch):
    monkeypatch.setattr(iceberg, "is_connect", lambda _: True)
    columns = "keeps INT, old STRING, gone INT, grows INT, wide FLOAT"
    behind = MAPPED if kind == "delta" else ""
    table = lake.make(kind, "changing", columns, "(1, 'a', 1, 1, 0.1F)", behind=behind)
    before = lake.head(table)
    lake.alter(
        table,
        "RENAME COLUMN old TO new",
        "DROP COLUMN gone",
        "ADD COLUMN gone INT",
        "ALTER COLUMN grows TYPE BIGINT",
        "ALTER COLUMN wide TYPE DOUBLE",
        "ADD COLUMN later STRING",
    )
    lake.insert(table, "(NULL, 'b', 9000000000, 0.1D, 7, 'late')")
    names = [("keeps",), ("old",), ("new",), ("gone",), ("grows",), ("wide",), ("later",)]
    _, found = lake.checked(table, *names)
    assert ("old",) not in found
    assert {file["low"] for file in found["new",]} == {"a", "b"}
    assert {file["low"] for file in found["grows",]} == {1, 9000000000}
    for name, value in (("gone", 7), ("later", "late")):
        assert {(file["nulls"], file["low"]) for file in found[name,]} == {(None, None), (0, value)}
    if kind == "delta":  # 0.1F is no 0.1D
        assert all(file["low"] is file["nans"] is None for file in found["wide",])
    facts, then = lake.checked(table, *names, position=before)
    assert ("new",) not in then
    assert {file["low"] for file in then["keeps",]} == {1}
    if kind == "iceberg":  # by the columns of now: what was another column is left out
        assert set(facts.columns) == {("keeps",)}
    else:
        assert {file["low"] for file in then["gone",]} == {1}


def test_a_name_that_meant_another_column_in_the_snapshot_is_left_out(lake, monkeypatch):
    table = lake.make("iceberg", "renamed", "a INT, b INT, c INT", "(1, 2, 3)")
    before = lake.head(table)
    lake.alter(table, "SET TBLPROPERTIES ('comment' = 'metadata alone')")
    with monkeypatch.context() as unread:
        unread.setattr(iceberg_names, "_ids", None)  # no metadata file is looked into
        facts, _ = lake.checked(table, ("a",), ("b",), ("c",))
    assert set(facts.columns) == {("a",), ("b",), ("c",)}
    lake.alter(table, "DROP COLUMN a", "RENAME COLUMN b TO a", "ADD COLUMN b INT AFTER a")
    with pytest.raises(NotPossibleError, match="have changed since"):
        SparkEngine(lake.spark).file_statistics(lake.pinned(table, before), [("a",)])
    monkeypatch.setattr(iceberg, "is_connect", lambda _: True)
    facts, found = lake.checked(table, ("a",), ("b",), ("c",), position=before)
    assert set(facts.columns) == {("c",)}
    assert found["c",][0]["low"] == 3
    with pytest.raises(NoStatisticsError, match=r"gone\.metadata\.json does not say how"):
        iceberg_names._ids(lake.spark, "gone.metadata.json", 1)


def test_rows_in_deletion_vectors_are_not_live(lake):
    vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    merged = "TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"
    for kind, behind in (("delta", vectors), ("iceberg", merged)):
        rows = "(1, 'a'), (2, NULL), (3, 'c')"
        table = lake.make(kind, "vectors", "id INT, s STRING", rows, "(9, 'z')", behind=behind)
        before = lake.head(table)
        lake.spark.sql(f"DELETE FROM {table.sql} WHERE id = 1")
        lake.spark.sql(f"DELETE FROM {table.sql} WHERE id = 3")  # another vector of the file
        _, files = lake.facts(table, ("id",))
        counts = {
            (file["_lakeproof_rows"], file["_lakeproof_live_rows"]) for file in files.values()
        }
        assert counts == {(3, 1), (1, 1)}
        lake.checked(table, ("id",), ("s",))
        _, files = lake.facts(table, ("id",), position=before)
        assert {file["_lakeproof_live_rows"] for file in files.values()} == {3, 1}


def test_iceberg_deletes_by_position_leave_the_live_rows_of_their_files_unknown(lake):
    for granularity, known in (("file", {None, 1}), ("partition", {None})):
        table = lake.make(
            "iceberg",
            f"positions_by_{granularity}",
            "id INT, s STRING",
            *("(1, 'a'), (2, 'b')", "(3, 'c'), (4, 'd')", "(9, 'z')"),
            behind="TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', "
            f"'write.delete.granularity' = '{granularity}')",
        )
        lake.spark.sql(f"DELETE FROM {table.sql} WHERE id IN (1, 3)")
        _, files = lake.facts(table, ("id",))
        assert {file["_lakeproof_live_rows"] for file in files.values()} == known
        assert {file["_lakeproof_rows"] for file in files.values()} == {1, 2}
        lake.checked(table, ("id",), ("s",))


PARTITIONED = "p STRING, k INT, ts TIMESTAMP, id INT"
PARTITION_ROWS = [
    "('a b/ü=%', 1, TIMESTAMP '2020-01-01 10:00:00', 1), ('a b/ü=%', 1, NULL, 2)",
    "(NULL, 2, TIMESTAMP '2020-01-02 10:00:00', 3)",
    f"('{LONG}', NULL, NULL, 4)",
]


def test_partition_columns_of_delta_have_their_value_as_bounds(lake):
    table = lake.make(
        "delta", "parted", PARTITIONED, *PARTITION_ROWS, behind="PARTITIONED BY (p, k, ts)"
    )
    facts, found = lake.checked(table, ("P",), ("k",), ("ts",), ("id",))
    assert facts.partitions == {"p", "k"}
    assert set(facts.columns) == {("p",), ("k",), ("id",)}
    assert {file["low"] for file in found["p",]} == {"a b/ü=%", None, LONG}
    assert all(file["low"] == file["high"] for file in found["p",])
    assert all(file["is_exact"] == (file["low"] is not None) for file in found["p",])
    _, files = lake.facts(table, ("p",))
    assert {file["p"] for file in files.values()} == {"a b/ü=%", None, LONG}


def test_identity_partitions_of_iceberg_are_columns_if_each_file_is_sure(lake, monkeypatch):
    table = lake.make(
        "iceberg",
        "parted",
        PARTITIONED,
        *PARTITION_ROWS[:2],
        behind="PARTITIONED BY (p, k, days(ts), bucket(4, id))",
    )
    facts, files = lake.facts(table, ("p",), ("k",), ("ts",), ("id",))
    assert facts.partitions == {"p", "k"}
    assert {(file["p"], file["k"]) for file in files.values()} == {("a b/ü=%", 1), (None, 2)}
    lake.insert(table, PARTITION_ROWS[2])
    facts, files = lake.facts(table, ("p",), ("k",), ("ts",), ("id",))
    assert facts.partitions == {"p", "k"}
    assert {file["p"] for file in files.values()} == {"a b/ü=%", None, LONG}
    with monkeypatch.context() as connected:
        connected.setattr(iceberg, "is_connect", lambda _: True)
        facts, _ = lake.checked(table, ("p",), ("k",), ("ts",), ("id",))
    assert facts.partitions == {"k"}  # a long text is cut
    lake.alter(table, "DROP PARTITION FIELD k")
    lake.insert(table, "('b', 1, NULL, 5), ('b', 2, NULL, 5)")
    facts, _ = lake.checked(table, ("k",))
    assert not facts.partitions


def test_a_branch_is_stated_at_its_own_head(lake):
    table = lake.make("iceberg", "branched", "id INT", "(1)")
    lake.alter(table, "CREATE BRANCH audit")
    lake.insert(table, "(2)")
    branch = TableName((*table.parts, "branch_audit"))
    lake.spark.sql(f"INSERT INTO {branch.sql} VALUES (3)")
    _, found = lake.checked(table, ("id",))
    assert {file["low"] for file in found["id",]} == {1, 2}
    _, files = lake.facts(branch, ("id",))
    assert {file["_lakeproof_low_0"] for file in files.values()} == {1, 3}


def test_files_without_statistics_are_unknown(lake):
    columns = ", ".join(f"c{number} INT" for number in range(34))
    values = ", ".join(str(number) for number in range(34))
    table = lake.make("delta", "many_columns", columns, f"({values})")
    _, found = lake.checked(table, ("c31",), ("c33",))
    assert found["c31",][0]["low"] == 31
    assert found["c33",] == [
        {"nulls": None, "nans": 0, "low": None, "high": None, "is_exact": False}
    ]
    lake.spark.conf.set("spark.databricks.delta.stats.collect", "false")
    try:
        lake.insert(table, f"({values})")
    finally:
        lake.spark.conf.unset("spark.databricks.delta.stats.collect")
    _, files = lake.facts(table, ("c1",))
    assert {file["_lakeproof_rows"] for file in files.values()} == {1, None}
    assert {file["_lakeproof_live_rows"] for file in files.values()} == {1, None}
    behind = "TBLPROPERTIES ('write.metadata.metrics.default' = 'none')"
    table = lake.make("iceberg", "no_metrics", "id INT", "(1)", behind=behind)
    _, found = lake.checked(table, ("id",))
    assert found["id",][0]["nulls"] is found["id",][0]["low"] is None


def test_char_is_compared_with_blanks_and_has_no_bounds(lake):
    table = lake.make("delta", "chars", "c CHAR(5), v VARCHAR(5)", "('c', 'v')")
    _, found = lake.checked(table, ("c",), ("v",))
    with pytest.raises(NotPossibleError, match="not read as it is stored"):
        require_stored(lake.spark, lake.pinned(table), ["v"])  # blanks are put behind c
    assert found["c",][0]["low"] is found["c",][0]["high"] is None
    assert (found["v",][0]["low"], found["v",][0]["nulls"], found["c",][0]["nulls"]) == ("v", 0, 0)


CHECKPOINTS = {
    "classic": ("", {}),
    "in_parts": ("", {"spark.databricks.delta.checkpoint.partSize": "2"}),
    "v2_parquet": (", 'delta.checkpointPolicy' = 'v2'", {}),
    "v2_json": (
        ", 'delta.checkpointPolicy' = 'v2'",
        {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"},
    ),
    "parsed_only": (", 'delta.checkpoint.writeStatsAsJson' = 'false'", {}),
}


@pytest.mark.parametrize(
    "way",
    [way if way == "classic" else pytest.param(way, marks=pytest.mark.slow) for way in CHECKPOINTS],
)
def test_a_delta_log_is_read_at_every_version_from_its_checkpoints(lake, way):
    properties, settings = CHECKPOINTS[way]
    behind = f"TBLPROPERTIES ('delta.checkpointInterval' = '3'{properties})"
    for name, value in settings.items():
        lake.spark.conf.set(name, value)
    try:
        table = lake.make("delta", f"log_{way}", "id INT, s STRING", "(1, 'a')", behind=behind)
        lake.insert(table, "(2, 'b'), (2, NULL)")
        lake.insert(table, "(3, 'c')")
        lake.spark.sql(f"DELETE FROM {table.sql} WHERE id = 1")
        lake.insert(table, "(5, NULL)")
    finally:
        for name in settings:
            lake.spark.conf.unset(name)
    log = log_of(lake, table)
    assert list(log.glob("*.checkpoint*"))
    lows = {}
    for version in (0, 3, 5):
        _, found = lake.checked(table, ("id",), ("s",), position=Position("delta", version))
        lows[version] = {file["low"] for file in found["id",]}
    assert lows == {0: set(), 3: {1, 2, 3}, 5: {2, 3, 5}}
    pinned = lake.pinned(table)
    (log / f"{4:020d}.json").unlink()
    with pytest.raises(NoStatisticsError, match="cannot be read"):
        file_facts(lake.spark, pinned, [("id",)])


def log_of(lake, table):
    location = lake.spark.sql(f"DESCRIBE DETAIL {table.sql}").collect()[0]["location"]
    return Path(location.removeprefix("file:")) / "_delta_log"


def test_a_log_that_cannot_be_read_is_told_in_words(lake, monkeypatch):
    table = lake.make("delta", "unreadable", "id INT", "(1)")
    monkeypatch.setattr(delta_log, "MOST_COMMITS", 1)
    with pytest.raises(NoStatisticsError, match="2 commits after a checkpoint"):
        lake.facts(table, ("id",))
    monkeypatch.undo()
    with pytest.raises(NoStatisticsError, match="cannot be read"):
        file_facts(lake.spark, replace(lake.pinned(table), position=Position("delta", 7)), [])
    monkeypatch.setattr(delta_log, "_KNOWN_FEATURES", frozenset())
    behind = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    other = lake.make("delta", "other_kind", "id INT", "(1)", behind=behind)
    with pytest.raises(NoStatisticsError, match="not known here: deletionVectors"):
        lake.facts(other, ("id",))


def test_the_folder_of_a_delta_table_may_have_any_name(lake, tmp_path):
    for folder in ("blank %20 ü", "pattern[1]"):
        place = tmp_path / folder
        name = TableName(("spark_catalog", "stated", f"at_{len(folder)}"))
        lake.spark.sql(f"CREATE TABLE {name.sql} (id INT) USING delta LOCATION '{place}'")
        lake.insert(name, "(1)")
        if "[" in folder:
            with pytest.raises(NoStatisticsError, match="as a pattern"):
                lake.facts(name, ("id",))
        else:
            _, found = lake.checked(name, ("id",))
            assert found["id",][0]["low"] == 1


def test_released_facts_leave_no_view(lake):
    table = lake.make("delta", "released", "id INT", "(1)")
    held = file_facts(lake.spark, lake.pinned(table), [("id",)])
    view = held.facts.relation.strip("`")
    assert lake.spark.catalog.tableExists(view)
    held.release()
    assert not lake.spark.catalog.tableExists(view)
