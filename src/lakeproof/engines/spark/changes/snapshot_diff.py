"""Changes of a table that tells none: the difference to the rows that the last run kept.

The whole table is read, and what is not in both is fed as weights: for sources without history or
without the right to switch a feed on. Every column is kept, in plain values, in the store's
catalog; nothing is written to the source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeproof.config import TableSettings
from lakeproof.engines.spark.changes.held_rows import HeldRows, Hold
from lakeproof.engines.spark.columns import exact_type
from lakeproof.errors import ConfigError
from lakeproof.model.column import Column
from lakeproof.model.names import quote
from lakeproof.model.reading import Mark, Mode, Readable, Reading
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_KEPT_TYPES = {"byte": "INT", "short": "INT", "char": "STRING", "varchar": "STRING"}
"""What another format than the source's may not have, as what both have."""


class KeptChanges:
    """The difference of a pinned table to the rows under `kept`, SQL of what `to_keep` gave.

    Nothing is read when it is made.
    """

    mode = Mode.SNAPSHOT_DIFF

    def __init__(
        self, spark: SparkSession, pinned: PinnedTable, settings: TableSettings, kept: str | None
    ) -> None:
        del settings
        _refuse_sensitive(pinned)
        for column in pinned.columns:
            _refuse_unkept(pinned, column)
        self._spark = spark
        self._pinned = pinned
        self._kept = kept
        self._changes: HeldRows | None = None
        self._snapshot: HeldRows | None = None
        self._held: list[HeldRows] = []

    @property
    def kept_id(self) -> str:
        """One for the table and its columns: rows of other columns cannot be compared."""
        columns = [(one.name, one.type_text) for one in self._pinned.columns]
        facts = (self.mode.value, self._pinned.table_id, columns)
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    @property
    def until(self) -> Mark:
        return Mark(self._pinned.table_id, self._pinned.position)

    def can_read(self, since: Mark) -> Reading:
        if since.table_id != self._pinned.table_id:
            return Reading(Readable.GAP, "replaced", "the table was dropped and made again")
        if self._kept is None:
            told = "no rows with the present columns are kept from the last run"
            return Reading(Readable.GAP, "schema_changed", told)
        if since.position is not None and since.position == self._pinned.position:
            return Reading(Readable.EMPTY)
        return Reading(Readable.OK)

    def changes(self, since: Mark) -> Sequence[HeldRows]:
        del since  # the rows that are kept are those of that mark
        if self._changes is None:
            self._changes = self._hold(self._difference_sql())
        return [self._changes]

    def snapshot(self) -> HeldRows:
        """Every row. Those of a table without history are held: the difference is theirs too.

        A row that comes between two reads would be in one of both, and be counted twice later.
        """
        if self._snapshot is None:
            hold = Hold.ROWS if self._pinned.position is None else Hold.NOTHING
            sql = f"SELECT *, 1L AS {WEIGHT} FROM {self._pinned.relation}"
            self._snapshot = self._hold(sql, is_snapshot=True, hold=hold)
        return self._snapshot

    def present(self) -> HeldRows:
        return self.snapshot()

    def to_keep(self) -> HeldRows | None:
        """The difference again, or all rows if only they were read, under names of ours."""
        rows = self._changes or self._snapshot
        if rows is None:
            return None
        fields = self._spark.sql(f"SELECT * FROM {self._pinned.relation}").schema.fields
        columns = ", ".join(
            f"CAST({quote(field.name)} AS {_kept_type(field.dataType)}) AS {_kept_name(number)}"
            for number, field in enumerate(fields)
        )
        sql = f"SELECT {columns}, {WEIGHT} FROM {rows.relation}"
        return self._hold(sql, is_snapshot=rows.is_snapshot, hold=Hold.NOTHING)

    def missed(self, since: Mark, rows_counted: int) -> int | None:
        """It sees everything."""
        del since, rows_counted
        return None

    def release(self) -> None:
        for rows in self._held:
            rows.release()
        self._held.clear()
        self._changes = self._snapshot = None

    def _hold(self, sql: str, *, is_snapshot: bool = False, hold: Hold = Hold.RESULT) -> HeldRows:
        rows = HeldRows(self._spark, sql, is_snapshot=is_snapshot, hold=hold)
        self._held.append(rows)
        return rows

    def _difference_sql(self) -> str:
        """Rows whose number differs, each with by how much."""
        fields = self._spark.sql(f"SELECT * FROM {self._pinned.relation}").schema.fields
        names = ", ".join(quote(field.name) for field in fields)
        kept = ", ".join(
            f"CAST({_kept_name(number)} AS {exact_type(field.dataType)}) AS {quote(field.name)}"
            for number, field in enumerate(fields)
        )
        return (
            f"SELECT {names}, sum({WEIGHT}) AS {WEIGHT} FROM ("
            f"SELECT {names}, {WEIGHT} FROM {self.snapshot().relation} UNION ALL "
            f"SELECT {kept}, -{WEIGHT} AS {WEIGHT} FROM (\n{self._kept}\n)) "
            f"GROUP BY {names} HAVING sum({WEIGHT}) <> 0"
        )


def _kept_name(number: int) -> str:
    """A name that every format takes, whatever the column is called."""
    return f"c{number}"


def _refuse_sensitive(pinned: PinnedTable) -> None:
    if pinned.sensitive:
        raise ConfigError(
            f"{pinned.table}: mode snapshot_diff keeps the values of every column in the store, "
            f"but must not show those of {', '.join(sorted(pinned.sensitive))}. Use "
            'mode = "snapshot" or a watermark, or check a view without such columns'
        )


def _refuse_unkept(pinned: PinnedTable, column: Column) -> None:
    for part in _leaves(column):
        if part.family.value == "other" or part.is_collated:
            raise ConfigError(
                f"{pinned.table}: mode snapshot_diff cannot keep column {column.name} of type "
                f'{column.type_text.upper()}. Use mode = "snapshot", or a view without it'
            )


def _leaves(column: Column) -> Iterator[Column]:
    inner = [*column.fields, *(one for one in (column.element, column.map_key) if one is not None)]
    if not inner:
        yield column
    for part in inner:
        yield from _leaves(part)


def _kept_type(data_type: DataType) -> str:
    """The type as it is kept: names inside it are ours, for a format may refuse the user's."""
    part: Any = data_type
    match part.typeName():
        case "struct":
            inner = [_kept_type(field.dataType) for field in part.fields]
            fields = ", ".join(f"{_kept_name(number)}: {one}" for number, one in enumerate(inner))
            return f"STRUCT<{fields}>"
        case "array":
            return f"ARRAY<{_kept_type(part.elementType)}>"
        case "map":
            return f"MAP<{_kept_type(part.keyType)}, {_kept_type(part.valueType)}>"
        case name:
            return _KEPT_TYPES.get(name) or str(part.simpleString())
