"""New rows by a watermark: none lost within the lateness, none twice, and every gap is told.

Each step of a story is a table as it stands then; `Story.step` gives the ids of the rows that the
run reads as new, or the cause of a gap.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from lakeproof.config import TableSettings, WatermarkSettings
from lakeproof.engines.spark.changes import watermark
from lakeproof.engines.spark.changes.watermark import WatermarkChanges, commit_micros
from lakeproof.engines.spark.changes.watermark_axis import watermark_axis
from lakeproof.engines.spark.columns import columns_of
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Readable, Watermark
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import PinnedTable

TABLE = TableName(("iceberg", "lakehouse", "watched"))
HOUR = 3_600_000_000
_numbers = itertools.count(1)


def pinned_at(spark, relation, *, table_id="one", is_pinned=True):
    return PinnedTable(
        table=TABLE,
        table_id=table_id,
        format="iceberg",
        position=Position("iceberg", next(_numbers)) if is_pinned else None,
        columns=columns_of(spark.sql(f"SELECT * FROM {relation}").schema),
        relation=relation,
        key_columns=(),
        key_sql="",
    )


class Story:
    """A table that changes from step to step, read by one watermark."""

    def __init__(self, spark, of_type, **settings):
        self.spark = spark
        self.of_type = of_type
        self.settings = TableSettings(watermark=WatermarkSettings("w", **settings))
        self.mark = None
        self.kept = None
        self.rows_counted = 0
        self.source = None

    def pinned(self, rows, *, is_pinned=True):
        view = f"watched_{next(_numbers)}"
        values = ", ".join(f"({number}, CAST({value} AS {self.of_type}))" for number, value in rows)
        self.spark.sql(
            f"SELECT * FROM VALUES {values or '(0, NULL)'} AS t(id, w)"
            + ("" if rows else " WHERE false")
        ).selectExpr("id", f"CAST(w AS {self.of_type}) AS w").createOrReplaceTempView(view)
        return pinned_at(self.spark, view, is_pinned=is_pinned)

    def step(self, *rows, is_pinned=True):
        return self.read(self.pinned(rows, is_pinned=is_pinned))

    def read(self, pinned):
        source = WatermarkChanges(self.spark, pinned, self.settings, self.kept)
        if self.mark is None:
            found = [source.snapshot()]
        else:
            reading = source.can_read(self.mark)
            if reading.outcome is Readable.GAP:
                return reading.code
            assert reading.outcome is Readable.OK
            found = source.changes(self.mark)
        rows = [row for one in found for row in self.spark.table(one.relation).collect()]
        assert {row[WEIGHT] for row in rows} <= {1}
        self.rows_counted += len(rows)
        self._keep(source.to_keep())
        self.mark = Mark.from_json(source.until.to_json())
        source.release()
        self.source = source
        return sorted(row["id"] for row in rows)

    @property
    def missed(self):
        return self.source.missed(self.mark, self.rows_counted)

    def _keep(self, rows):
        assert rows.is_snapshot
        name = f"kept_{next(_numbers)}"
        frame = self.spark.table(rows.relation).localCheckpoint()
        frame.createOrReplaceTempView(name)
        self.kept = f"SELECT * FROM {name}"


def at(text):
    return f"TIMESTAMP'{text}'"


def test_rows_of_the_highest_value_that_come_later_are_read_once_each(spark):
    story = Story(spark, "BIGINT")
    assert story.step((1, 9), (2, 10), (3, 10)) == [1, 2, 3]
    assert story.mark.watermark == Watermark("bigint", "10")
    first = [(1, 9), (2, 10), (3, 10)]
    assert story.step(*first, (4, 10), (3, 10)) == [3, 4], "an equal row is one more row"
    assert story.step(*first, (4, 10), (3, 10)) == []
    assert story.step(*first, (4, 10), (3, 10), (5, 100), (5, 100)) == [5, 5], "100 is above 9"
    assert story.mark.watermark == Watermark("bigint", "100")
    assert story.missed == 0


def test_late_rows_within_the_lateness_are_read_and_those_beyond_are_counted_as_missed(spark):
    story = Story(spark, "TIMESTAMP", lateness_seconds=7200.0)
    first = [(1, at("2026-03-01 12:00:00.123456Z")), (2, at("2026-03-01 10:30:00Z"))]
    assert story.step(*first) == [1, 2]
    micros = 1_772_366_400_123_456
    assert story.mark.watermark == Watermark("timestamp", str(micros)), "microseconds are kept"
    late = [(3, at("2026-03-01 10:00:00.123456Z")), (4, at("2026-03-01 10:00:00.123455Z"))]
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        assert story.step(*first, *late) == [3], "exactly at the lateness, in any session's zone"
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert story.missed == 1, "row 4 came too late"
    newer = [(5, at("2026-03-01 13:00:00Z")), (6, at("2026-03-01 11:30:00Z"))]
    assert story.step(*first, *late, *newer) == [5, 6]
    # The window has moved on: what was kept below it is forgotten, what is in it is not.
    assert spark.sql(f"SELECT count(*) AS n FROM ({story.kept})").collect()[0]["n"] == 3
    assert story.step(*first, *late, *newer) == []


@pytest.mark.parametrize(
    ("nulls", "reads"), [("include", [[1, 2], [3, 4], []]), ("exclude", [[1], [4], []])]
)
def test_rows_without_value_are_read_once_or_never_and_never_move_the_mark(spark, nulls, reads):
    story = Story(spark, "INT", nulls=nulls)
    assert story.step((1, 5), (2, "NULL")) == reads[0]
    assert story.step((1, 5), (2, "NULL"), (3, "NULL"), (4, 6)) == reads[1]
    assert story.step((1, 5), (2, "NULL"), (3, "NULL"), (4, 6)) == reads[2]
    assert (story.mark.watermark, story.missed) == (Watermark("int", "6"), 0)


def test_rows_without_value_are_an_error_unless_it_is_said_what_they_are(spark):
    story = Story(spark, "INT")
    assert story.step((1, 5)) == [1]
    for _ in range(2):
        with pytest.raises(CheckDefinitionError, match=r"1 row of .* without w, its watermark"):
            story.step((1, 5), (2, "NULL"), (3, 6))
    assert story.step((1, 5), (3, 6)) == [3], "nothing was lost meanwhile"
    story.mark = None
    with pytest.raises(CheckDefinitionError, match=r'2 rows .* nulls = "include"'):
        story.step((1, "NULL"), (2, "NULL"))


def test_an_empty_table_has_no_mark_and_its_first_rows_are_new(spark):
    story = Story(spark, "DATE", nulls="include")
    assert story.step() == []
    assert story.mark.watermark is None
    assert story.step((1, "NULL")) == [1]
    assert story.mark.watermark is None, "a row without value is no highest value"
    assert story.step((1, "NULL"), (2, "DATE'2026-01-31'")) == [2]
    assert story.mark.watermark == Watermark("date", "20484")
    assert story.step((1, "NULL"), (2, "DATE'2026-01-31'"), (3, "DATE'2026-01-31'")) == [3]


def test_decimals_are_compared_by_value_whatever_their_digits(spark):
    story = Story(spark, "DECIMAL(10,2)", lateness_seconds=0.5)
    assert story.step((1, "9.90"), (2, "10.1")) == [1, 2]
    assert story.mark.watermark == Watermark("decimal(10,2)", "10.10")
    rows = [(1, "9.90"), (2, "10.1"), (3, "9.60"), (4, "9.59"), (5, "100")]
    assert story.step(*rows) == [3, 5]
    assert story.mark.watermark.value == "100.00"
    assert story.missed == 1


def test_a_clock_that_is_put_back_loses_no_row(spark):
    """On 25 October 2026 the hour from 02:00 to 03:00 is shown twice in Berlin."""
    story = Story(spark, "TIMESTAMP_NTZ", timezone="Europe/Berlin")

    def local(text):
        return f"TIMESTAMP_NTZ'2026-10-{text}'"

    first = [(1, local("25 01:30:00")), (2, local("25 02:59:00"))]
    assert story.step(*first) == [1, 2]
    assert story.mark.watermark.type == "timestamp_ntz Europe/Berlin"
    once_more = (3, local("25 02:01:00"))
    assert story.step(*first, once_more) == [3]
    day_after = (4, local("27 12:00:00"))
    assert story.step(*first, once_more, day_after) == [4]
    assert story.step(*first, once_more, day_after, (5, local("27 11:59:59"))) == []
    assert story.missed == 1, "on an ordinary day a row below the mark is late"


def test_a_value_that_moves_back_is_a_gap(spark):
    story = Story(spark, "INT", lateness_seconds=5.0)
    assert story.step((1, 5), (2, 9)) == [1, 2]
    assert story.step((1, 5)) == "backwards"
    assert story.step() == "backwards"
    assert story.step((1, 5), (3, 9)) == [3], "a row in place of the other: the mark stands"
    assert story.missed == 1, "row 2 is gone"


def test_rows_younger_than_the_skew_are_left_to_a_later_run(spark, monkeypatch):
    story = Story(spark, "TIMESTAMP", skew_seconds=600.0)
    noon = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp() * 1_000_000)
    monkeypatch.setattr(watermark, "commit_micros", lambda _spark, _pinned: noon)
    rows = [(1, at("2026-03-01 11:50:00Z")), (2, at("2026-03-01 11:50:01Z"))]
    assert story.step(*rows) == [1]
    assert story.step(*rows, (3, at("2026-03-01 11:49:00Z"))) == []
    assert story.missed == 1, "row 3 is late; row 2 is not missed, it waits"
    later = (4, at("2026-03-01 11:59:00Z"))
    monkeypatch.setattr(watermark, "commit_micros", lambda _spark, _pinned: noon + HOUR)
    assert story.step(*rows, later) == [2, 4]


def test_only_a_look_at_the_same_table_with_the_same_columns_and_settings_goes_on(spark):
    story = Story(spark, "INT")
    assert story.step((1, 5)) == [1]
    same = story.pinned([(1, 5), (2, 6)])

    def reading(pinned=same, settings=story.settings, kept=story.kept, mark=story.mark):
        source = WatermarkChanges(spark, pinned, settings, kept)
        return source.can_read(mark)

    def kept_id(pinned=same, settings=story.settings):
        return WatermarkChanges(spark, pinned, settings, None).kept_id

    assert reading().outcome is Readable.OK
    assert reading(replace(same, table_id="two")).code == "replaced"
    assert reading(kept=None).code == "schema_changed", "rows are kept under another id"
    texts = replace(story.mark, watermark=Watermark("bigint", "5"))
    assert reading(mark=texts).code == "schema_changed"
    assert kept_id() == kept_id(replace(same, relation="elsewhere"))
    others = [
        kept_id(replace(same, table_id="two")),
        kept_id(replace(same, columns=(*same.columns, Column("more", "int")))),
        kept_id(settings=TableSettings(watermark=WatermarkSettings("w", 60.0))),
        kept_id(settings=TableSettings(watermark=WatermarkSettings("w", nulls="include"))),
    ]
    assert len({kept_id(), *others}) == 5
    unread = replace(same, position=story.mark.position, relation="no_such_table")
    source = WatermarkChanges(spark, unread, story.settings, story.kept)
    assert source.can_read(story.mark).outcome is Readable.EMPTY
    assert source.until == story.mark, "without a look at the table"


def test_a_table_without_history_is_read_all_the_same(spark):
    story = Story(spark, "INT")
    assert story.step((1, 5), is_pinned=False) == [1]
    assert story.step((1, 5), (2, 5), is_pinned=False) == [2]
    assert story.step((1, 5), (2, 5), is_pinned=False) == []


@pytest.mark.parametrize(
    ("type_text", "settings", "message"),
    [
        ("string", {}, "STRING; a watermark needs a whole number, a decimal"),
        ("double", {}, "DOUBLE; a watermark needs"),
        ("struct<a:int>", {}, "a watermark needs"),
        ("timestamp_ntz", {}, "TIMESTAMP_NTZ, without zone. Add timezone"),
        ("int", {"skew_seconds": 1.0}, "skew is for dates and timestamps"),
    ],
)
def test_a_column_that_has_no_order_of_its_own_is_refused(type_text, settings, message):
    pinned = PinnedTable(TABLE, "", "x", None, (Column("w", type_text),), "x", (), "")
    with pytest.raises(ConfigError, match=message):
        watermark_axis(pinned, WatermarkSettings("w", **settings))
    with pytest.raises(ConfigError, match=r"no column 'ww'. Nearest: w\."):
        watermark_axis(pinned, WatermarkSettings("ww"))
    secret = replace(pinned, columns=(Column("w", "date"),), sensitive={"w"})
    with pytest.raises(ConfigError, match="column w is sensitive"):
        watermark_axis(secret, WatermarkSettings("w"))


@pytest.mark.parametrize(
    ("type_text", "value", "lateness", "lower"),
    [
        ("int", 5, 2.0, 3),
        ("int", 5, 1.5, 3),
        ("bigint", -(2**63) + 1, 60.0, -(2**63)),
        ("decimal(10,2)", Decimal("10.10"), 0.005, Decimal("10.09")),
        ("decimal(38,0)", Decimal(10**37), 1.0, Decimal(10**37 - 1)),
        ("date", 20_000, 0.0, 20_000),
        ("date", 20_000, 1.0, 19_999),
        ("date", 20_000, 86_400.0, 19_999),
        ("timestamp", 10 * HOUR, 3600.0, 9 * HOUR),
        ("timestamp", 0, 0.0000001, -1),
        ("timestamp_ntz", 0, 1.0, -1_000_000),
        ("timestamp_ntz", 10**18, 1.0, 10**18 - 1_000_000),
    ],
)
def test_lateness_is_counted_in_the_columns_own_unit(type_text, value, lateness, lower):
    pinned = PinnedTable(TABLE, "", "x", None, (Column("w", type_text),), "x", (), "")
    settings = WatermarkSettings("w", lateness, timezone="Etc/UTC")
    assert watermark_axis(pinned, settings).lower(value) == lower


@pytest.mark.parametrize("catalog", ["iceberg.lakehouse", "spark_catalog.default"])
def test_a_real_table_is_read_where_it_is_pinned(spark, catalog):
    kind = "iceberg" if catalog.startswith("iceberg") else "delta"
    table = TableName.parse(f"{catalog}.watermark_{kind}")
    spark.sql(f"CREATE TABLE {table.sql} (`a-b` INT, `w` TIMESTAMP) USING {kind}")
    settings = TableSettings(watermark=WatermarkSettings("W", 3600.0))
    engine = SparkEngine(spark)
    spark.sql(f"INSERT INTO {table.sql} VALUES (1, TIMESTAMP'2026-03-01 10:00:00')")
    first = WatermarkChanges(spark, engine.pin(table, ()), settings, None)
    spark.sql(f"INSERT INTO {table.sql} VALUES (2, TIMESTAMP'2026-03-01 11:00:00')")
    assert [row["a-b"] for row in spark.table(first.snapshot().relation).collect()] == [1]
    spark.table(first.to_keep().relation).localCheckpoint().createOrReplaceTempView("kept_real")
    pinned = engine.pin(table, ())
    second = WatermarkChanges(spark, pinned, settings, "SELECT * FROM kept_real")
    spark.sql(f"INSERT INTO {table.sql} VALUES (3, TIMESTAMP'2026-03-01 12:00:00')")
    assert second.can_read(first.until).outcome is Readable.OK
    assert [
        row["a-b"] for row in spark.table(second.changes(first.until)[0].relation).collect()
    ] == [2]
    assert second.until.position == pinned.position
    seconds = commit_micros(spark, pinned) / 1_000_000
    now = datetime.now(UTC).timestamp()
    assert now - 600 < seconds < now + 1
    for source in (first, second):
        source.release()
    spark.sql(f"DROP TABLE {table.sql}")
