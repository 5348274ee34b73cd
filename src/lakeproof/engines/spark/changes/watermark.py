"""New rows by a column that grows: those at or above the last value that are not counted yet.

Rows of one value may come in several runs, and rows may come late. So the window is closed at both
ends and reaches back by the allowed lateness; what of it was counted before is known by a hash of
each row, kept from run to run. Exact for inserts: updates and deletes go unseen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof.config import TableSettings
from lakeproof.engines.spark.canonical_sql import row_key_expression
from lakeproof.engines.spark.changes.held_rows import HeldRows, Hold
from lakeproof.engines.spark.changes.watermark_axis import Value, watermark_axis
from lakeproof.engines.spark.pinning import table_of
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.model.names import quote
from lakeproof.model.position import Position
from lakeproof.model.printable import counted
from lakeproof.model.reading import Mark, Mode, Readable, Reading, Watermark
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HASH = "row_hash"
_MARK = "mark"
_ROW = "_lakeproof_row"
_PLACE = "_lakeproof_place"
_KNOWN_ROW = "_lakeproof_known_row"
_COUNTED = "_lakeproof_counted"


@dataclass(frozen=True, slots=True)
class _Top:
    """What the table holds: its highest value, the highest that is to be read, rows without."""

    highest: Value | None
    complete: Value | None
    nulls: int


class WatermarkChanges:
    """The rows of a pinned table that a watermark tells for new.

    `kept` is SQL of what `to_keep` gave in the run before. Nothing is read when it is made.
    """

    mode = Mode.WATERMARK

    def __init__(
        self, spark: SparkSession, pinned: PinnedTable, settings: TableSettings, kept: str | None
    ) -> None:
        if settings.watermark is None:
            raise ConfigError(f"{pinned.table}: mode watermark needs a watermark for the table")
        self._spark = spark
        self._pinned = pinned
        self._settings = settings.watermark
        self._axis = watermark_axis(pinned, settings.watermark)
        self._kept = kept
        self._top: _Top | None = None
        self._until: Mark | None = None
        self._commit: int | None = None
        self._snapshot: HeldRows | None = None
        self._changes: HeldRows | None = None
        self._recent: HeldRows | None = None
        self._lowest: Value | None = None
        self._since: Mark | None = None
        self._held: list[HeldRows] = []

    @property
    def kept_id(self) -> str:
        """One for the table, its columns and the watermark's settings.

        Rows that were kept under others would be taken for new ones.
        """
        columns = [(one.name, one.type_text) for one in self._pinned.columns]
        facts = (self.mode.value, self._pinned.table_id, columns, self._settings)
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    @property
    def until(self) -> Mark:
        """The table's position and its highest value; read from it where no `can_read` did."""
        if self._until is None:
            self._until = self._mark(self._look(None).complete)
        return self._until

    def can_read(self, since: Mark) -> Reading:
        reading = self._refused(since)
        if reading is not None:
            return reading
        if since.position is not None and since.position == self._pinned.position:
            self._until = self._until or since
            return Reading(Readable.EMPTY)
        last = self._value(since)
        top = self._look(last)
        if last is not None and (top.highest is None or top.highest < last):
            told = f"{self._axis.column.name} has moved back: rows with its last value are gone"
            return Reading(Readable.GAP, "backwards", told)
        # Rows may all be too young; what was read before stays read.
        complete = max((one for one in (top.complete, last) if one is not None), default=None)
        self._until = self._until or self._mark(complete)
        return Reading(Readable.OK)

    def _refused(self, since: Mark) -> Reading | None:
        """A gap that shows without a look at the table."""
        if since.table_id != self._pinned.table_id:
            return Reading(Readable.GAP, "replaced", "the table was dropped and made again")
        if since.watermark is None:
            return None
        if since.watermark.type != self._axis.type or self._kept is None:
            told = "columns of the table, or settings of its watermark, have changed"
            return Reading(Readable.GAP, "schema_changed", told)
        return None

    def changes(self, since: Mark) -> Sequence[HeldRows]:
        self._refuse_nulls()
        if self._changes is not None and since == self._since:
            return [self._changes]
        last, upper = self._value(since), self._value(self.until)
        relation = self._recent_rows(since)
        parts = []
        if upper is not None:
            above = f"{self._axis.sql} <= {self._axis.literal(upper)}"
            if last is not None:
                above += f" AND {self._axis.sql} > {self._axis.literal(last)}"
            parts.append(self._plain_sql(above, relation))
        again = self._again(last)
        if again:
            parts.append(self._uncounted_sql(again, relation))
        parts = parts or [self._plain_sql("false", relation)]
        self._since = since
        self._changes = self._hold(" UNION ALL ".join(parts))
        return [self._changes]

    def snapshot(self) -> HeldRows:
        """Every row up to `until`; a table without history is held, for it may move meanwhile."""
        self._refuse_nulls()
        if self._snapshot is None:
            hold = Hold.ROWS if self._pinned.position is None else Hold.NOTHING
            self._snapshot = self._hold(self._whole_sql(), is_snapshot=True, hold=hold)
        return self._snapshot

    def present(self) -> HeldRows:
        return self._snapshot or self._hold(self._whole_sql(), is_snapshot=True, hold=Hold.NOTHING)

    def to_keep(self) -> HeldRows | None:
        """The rows that a later run may meet again, all of them: `is_snapshot`."""
        rows = self._changes or self._snapshot
        if rows is None:
            return None
        upper = self._value(self.until)
        lower = None if upper is None else self._axis.lower(upper)
        inside = self._window(lower, None)
        number = f"CAST({self._axis.number_sql} AS STRING)"
        sql = (
            f"SELECT {self._row_hash()} AS {_HASH}, {number} AS {_MARK}, {WEIGHT} "
            f"FROM {rows.relation} WHERE {inside}"
        )
        if self._changes is not None and self._kept is not None:
            at = self._axis.number_of(_MARK)
            number_min = "" if lower is None else self._axis.number_of(f"'{lower}'")
            still = f"{at} >= {number_min} OR {_MARK} IS NULL" if number_min else "true"
            sql += (
                f" UNION ALL SELECT {_HASH}, {_MARK}, {WEIGHT} FROM (\n{self._kept}\n) "
                f"WHERE {still}"
            )
        return self._hold(sql, is_snapshot=True, hold=Hold.NOTHING)

    def missed(self, since: Mark, rows_counted: int) -> int | None:
        """By how many rows the table differs from what was counted.

        At least so many came too late, or were deleted.
        """
        del since
        # Without condition a table with history answers by its metadata.
        relation = f"({self._whole_sql()})" if self._leaves_rows_out else self._pinned.relation
        rows = self._spark.sql(f"SELECT count(*) AS rows FROM {relation}").collect()
        return abs(int(rows[0]["rows"]) - rows_counted)

    def release(self) -> None:
        for rows in self._held:
            rows.release()
        self._held.clear()
        self._snapshot = self._changes = self._recent = None

    def _hold(self, sql: str, *, is_snapshot: bool = False, hold: Hold = Hold.RESULT) -> HeldRows:
        rows = HeldRows(self._spark, sql, is_snapshot=is_snapshot, hold=hold)
        self._held.append(rows)
        return rows

    def _mark(self, value: Value | None) -> Mark:
        watermark = None if value is None else Watermark(self._axis.type, self._axis.text_of(value))
        return Mark(self._pinned.table_id, self._pinned.position, watermark)

    def _value(self, mark: Mark) -> Value | None:
        return None if mark.watermark is None else self._axis.value_of(mark.watermark.value)

    def _look(self, last: Value | None) -> _Top:
        """The table's highest value; looked for where it should be, then everywhere, once."""
        if self._top is None:
            self._top = self._look_at(last)
            if last is not None and self._top.highest is None:
                self._top = self._look_at(None)
        return self._top

    def _look_at(self, lowest: Value | None) -> _Top:
        number, column = self._axis.number_sql, self._axis.sql
        complete = f"max({number})"
        if self._settings.skew_seconds:
            bound = self._axis.literal(self._axis.bound(self._commit_micros()))
            complete = f"max(CASE WHEN {column} <= {bound} THEN {number} END)"
        where = ""
        if lowest is not None:
            where = f" WHERE {column} >= {self._axis.literal(lowest)} OR {column} IS NULL"
        row = self._spark.sql(
            f"SELECT CAST(max({number}) AS STRING) AS highest, CAST({complete} AS STRING) "
            f"AS complete, count_if({column} IS NULL) AS nulls FROM {self._pinned.relation}{where}"
        ).collect()[0]
        highest, ready = (
            None if row[name] is None else self._axis.value_of(row[name])
            for name in ("highest", "complete")
        )
        return _Top(highest, ready, int(row["nulls"]))

    def _commit_micros(self) -> int:
        """When the table was last written; now, if it does not tell."""
        if self._commit is None:
            self._commit = commit_micros(self._spark, self._pinned)
        return self._commit

    def _refuse_nulls(self) -> None:
        if self._settings.nulls != "error" or not self._axis.column.nullable:
            return
        nulls = self._look(None).nulls
        if nulls:
            raise CheckDefinitionError(
                f"{counted(nulls, 'row')} of {self._pinned.table} without "
                f"{self._axis.column.name}, its watermark: whether they are new cannot be told. "
                'Mend them, or say nulls = "include" or "exclude" in the watermark\'s settings'
            )

    @property
    def _leaves_rows_out(self) -> bool:
        """Whether rows of the table are not to be counted yet, or never."""
        return (
            self._settings.nulls == "exclude"
            or bool(self._settings.skew_seconds)
            or self._pinned.position is None
        )

    def _recent_rows(self, since: Mark) -> str:
        """What to read the rows from that may be new.

        Without history they are held: what is weighed, what is kept and what a new rule is built
        from must be the same rows. All rules stand at one mark then, where rows were kept.
        """
        if self._pinned.position is not None:
            return self._pinned.relation
        if self._snapshot is not None:
            return self._snapshot.relation
        if self._recent is None:
            last, upper = self._value(since), self._value(self.until)
            if last is not None and upper is not None:
                self._lowest = min(self._axis.lower(last), self._axis.lower(upper))
            inside = self._counted(self._lowest)
            self._recent = self._hold(self._plain_sql(inside), hold=Hold.ROWS)
        return self._recent.relation

    def _whole_sql(self) -> str:
        """All rows that count; recent ones that are held in place of what is there by now."""
        if self._recent is None:
            return self._plain_sql(self._counted())
        held = f"SELECT {self._columns}, {WEIGHT} FROM {self._recent.relation}"
        if self._lowest is None:
            return held
        older = f"{self._axis.sql} < {self._axis.literal(self._lowest)}"
        return f"{held} UNION ALL {self._plain_sql(older)}"

    def _counted(self, lowest: Value | None = None) -> str:
        """Where all rows lie that count up to `until`, or those of them from a value on."""
        upper = self._value(self.until)
        if upper is not None:
            return self._window(lowest, upper)
        return f"{self._axis.sql} IS NULL" if self._settings.nulls == "include" else "false"

    def _again(self, last: Value | None) -> str:
        """Where rows lie that may have been counted before; '' if nowhere."""
        if last is None:
            return f"{self._axis.sql} IS NULL" if self._settings.nulls == "include" else ""
        return self._window(self._axis.lower(last), last)

    def _window(self, lowest: Value | None, highest: Value | None) -> str:
        """A condition: from one value to the other, both ends in it.

        Rows without value are inside as well, if they count.
        """
        column = self._axis.sql
        bounds = [f"{column} IS NOT NULL"]
        bounds += [] if lowest is None else [f"{column} >= {self._axis.literal(lowest)}"]
        bounds += [] if highest is None else [f"{column} <= {self._axis.literal(highest)}"]
        inside = " AND ".join(bounds)
        return f"({inside} OR {column} IS NULL)" if self._settings.nulls == "include" else inside

    @property
    def _columns(self) -> str:
        return ", ".join(quote(column.name) for column in self._pinned.columns)

    def _plain_sql(self, inside: str, relation: str = "") -> str:
        rows = relation or self._pinned.relation
        return f"SELECT {self._columns}, 1L AS {WEIGHT} FROM {rows} WHERE {inside}"

    def _uncounted_sql(self, inside: str, relation: str) -> str:
        """Of equal rows in the window those beyond as many as were counted; they are all one."""
        if self._kept is None:
            return self._plain_sql(inside, relation)
        numbered = (
            f"SELECT *, row_number() OVER (PARTITION BY {_ROW} ORDER BY {_ROW}) AS {_PLACE} FROM "
            f"(SELECT {self._columns}, {self._row_hash()} AS {_ROW} "
            f"FROM {relation} WHERE {inside})"
        )
        known = (
            f"SELECT {_HASH} AS {_KNOWN_ROW}, sum({WEIGHT}) AS {_COUNTED} "
            f"FROM (\n{self._kept}\n) GROUP BY {_HASH}"
        )
        return (
            f"SELECT {self._columns}, 1L AS {WEIGHT} FROM ({numbered}) AS present "
            f"LEFT JOIN ({known}) AS known ON {_ROW} = {_KNOWN_ROW} "
            f"WHERE {_PLACE} > coalesce({_COUNTED}, 0)"
        )

    def _row_hash(self) -> str:
        schema = self._spark.sql(f"SELECT * FROM {self._pinned.relation}").schema
        return row_key_expression(schema.fields)


def commit_micros(spark: SparkSession, pinned: PinnedTable) -> int:
    """When the table's position was committed, in microseconds since 1970; now, if it has none."""
    position = pinned.position
    if position is None:
        sql = "SELECT unix_micros(current_timestamp()) AS at"
        return int(spark.sql(sql).collect()[0]["at"])
    return _committed(spark, table_of(pinned), position)


def _committed(spark: SparkSession, table: str, position: Position) -> int:
    if position.kind == "delta":
        history = spark.sql(f"DESCRIBE HISTORY {table}").where(f"version = {position.value}")
        rows = history.selectExpr("unix_micros(timestamp) AS at").collect()
    else:
        rows = spark.sql(
            f"SELECT unix_micros(committed_at) AS at FROM {table}.snapshots "
            f"WHERE snapshot_id = {position.value}"
        ).collect()
    return int(rows[0]["at"])
