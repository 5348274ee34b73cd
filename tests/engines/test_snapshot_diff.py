"""The difference to the rows that were kept: every change of a table that tells none."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lakeproof.config import TableSettings
from lakeproof.engines.spark.changes.snapshot_diff import KeptChanges
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.errors import ConfigError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Readable
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import PinnedTable

SOURCE = TableName(("spark_catalog", "default", "shared_source"))
COLUMNS = (
    "`id of row` INT, `a.b` STRING, small TINYINT, amount DECIMAL(10,2), ratio DOUBLE, "
    "`when` TIMESTAMP, local TIMESTAMP_NTZ, day DATE, raw BINARY, "
    "parts ARRAY<STRUCT<`x y`: SMALLINT, z: STRING>>, tags MAP<STRING, INT>"
)


def row(number, text="'a'", ratio="0D", tags="map('k', 1, 'l', 2)"):
    return (
        f"({number}, {text}, 1Y, 1.10, {ratio}, TIMESTAMP'2026-03-01 10:00:00.123456', "
        f"TIMESTAMP_NTZ'2026-10-25 02:30:00', DATE'2026-01-31', X'00FF', "
        f"array(named_struct('x y', 1S, 'z', CAST(NULL AS STRING))), {tags})"
    )


def digest_of(folder):
    found = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        found.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return found.hexdigest()


class Reader:
    """Reads a source by what differs, and keeps its rows in a table of another catalog."""

    def __init__(self, spark, folder, kind, kept):
        self.spark = spark
        self.folder = folder
        self.kind = kind
        self.kept = kept
        self.mark = None

    def run(self):
        """What a run reads: by id of the row, how many more there are."""
        before = digest_of(self.folder)
        pinned = SparkEngine(self.spark).pin(SOURCE, ())
        kept = None if self.mark is None else f"SELECT * FROM {self.kept}"
        source = KeptChanges(self.spark, pinned, TableSettings(), kept)
        if self.mark is None:
            rows, write = source.snapshot(), f"CREATE TABLE {self.kept} USING {self.kind} AS"
        else:
            assert source.can_read(self.mark).outcome is Readable.OK
            rows, write = source.changes(self.mark)[0], f"INSERT INTO {self.kept}"
        frame = self.spark.table(rows.relation)
        schema = self.spark.table(SOURCE.sql).schema
        assert frame.drop(WEIGHT).schema.simpleString() == schema.simpleString()
        found = Counter()
        for one in frame.collect():
            found[one["id of row"]] += one[WEIGHT]
        keep = source.to_keep()
        assert keep.is_snapshot == rows.is_snapshot == (self.mark is None)
        self.spark.sql(f"{write} SELECT * FROM {keep.relation}")
        self.mark = source.until
        source.release()
        assert digest_of(self.folder) == before, "nothing is written to the source"
        return dict(found)


def test_a_source_without_history_is_read_by_what_differs_and_left_as_it_is(spark, tmp_path):
    spark.sql(f"CREATE TABLE {SOURCE.sql} ({COLUMNS}) USING parquet LOCATION '{tmp_path}'")
    in_iceberg = Reader(spark, tmp_path, "iceberg", "iceberg.lakehouse.kept_rows")
    in_delta = Reader(spark, tmp_path, "delta", "spark_catalog.default.kept_rows")

    def write(*rows):
        spark.sql(f"INSERT OVERWRITE {SOURCE.sql} VALUES {', '.join(rows)}")

    nan = "double('NaN')"
    write(row(1), row(1), row(2), row("NULL"), row(4, ratio=nan))
    assert in_iceberg.run() == {1: 2, 2: 1, None: 1, 4: 1}
    write(
        row(4, ratio=nan, tags="map('l', 2, 'k', 1)"),
        row("NULL"),
        row(1, "'a'", "-0D"),
        row(2),
        row(1),
    )
    assert in_iceberg.run() == {}, "rows and maps in another order, another sign of nothing"
    assert in_delta.run() == {1: 2, 2: 1, None: 1, 4: 1}
    write(row(1), row(2, text="NULL"), row(3), row(3), row(4, ratio="1D"))
    changed = {1: -1, 2: 0, None: -1, 3: 2, 4: 0}
    assert in_iceberg.run() == changed, "of 2 and 4, which were updated, one went and one came"
    assert in_delta.run() == changed
    assert in_iceberg.run() == {}
    for table in (SOURCE.sql, in_iceberg.kept, in_delta.kept):
        spark.sql(f"DROP TABLE {table}")


def pinned_with(*columns):
    position = Position("iceberg", 7)
    return PinnedTable(SOURCE, "one", "iceberg", position, columns, "no_such_table", (), "")


def test_a_gap_is_told_before_a_row_is_read(spark):
    pinned = pinned_with(Column("id", "int"))
    source = KeptChanges(spark, pinned, TableSettings(), "SELECT 1 AS c0")
    until = source.until
    assert source.can_read(until).outcome is Readable.EMPTY
    assert source.can_read(replace(until, position=Position("iceberg", 1))).outcome is Readable.OK
    assert source.can_read(Mark("another", until.position)).code == "replaced"
    nothing = KeptChanges(spark, pinned, TableSettings(), None)
    assert nothing.can_read(until).code == "schema_changed"
    assert nothing.kept_id == source.kept_id
    more = pinned_with(Column("id", "int"), Column("more", "int"))
    assert KeptChanges(spark, more, TableSettings(), None).kept_id != source.kept_id
    assert source.to_keep() is None, "nothing was read"
    assert source.missed(until, 1) is None


def test_sensitive_columns_are_not_kept_in_plain():
    pinned = replace(pinned_with(Column("id", "int"), Column("ssn", "string")), sensitive={"ssn"})
    with pytest.raises(ConfigError, match=r"must not show those of ssn\. Use mode = .snapshot"):
        KeptChanges(None, pinned, TableSettings(), None)


@pytest.mark.parametrize(
    "column",
    [
        Column("v", "variant"),
        Column("v", "string collate UTF8_LCASE"),
        Column("v", "struct<a:interval day>", fields=(Column("a", "interval day to second"),)),
        Column("v", "array<variant>", element=Column("element", "variant")),
    ],
)
def test_a_type_that_cannot_be_compared_or_kept_is_refused(column):
    with pytest.raises(ConfigError, match=r"snapshot_diff cannot keep column v of type .*snapshot"):
        KeptChanges(None, pinned_with(column), TableSettings(), None)
