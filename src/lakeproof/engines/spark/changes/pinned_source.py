"""What sources have in common that keep nothing of their own: the table remembers itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeproof.engines.engine import Rows
from lakeproof.engines.spark.changes.held_rows import HeldRows, Hold
from lakeproof.engines.spark.changes.rows import WeightedRows, snapshot_rows
from lakeproof.model.names import quote
from lakeproof.model.reading import Mark, Mode, Readable, Reading
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEEP_ROWS = 'mode = "snapshot_diff" under its [tables] entry'
"""What makes a table incremental that has no changes to tell."""

EMPTY = Reading(Readable.EMPTY)
READABLE = Reading(Readable.OK)
_HELD_ROWS_MAX = 2_000_000
"""Up to here changes are read once and held for all rules; more are read by each statement."""

_REFUSED = "Error occurred during query planning:"


def gap(code: str, reason: str) -> Reading:
    """That changes are not to be had; the reason follows `the whole table, rebuilt:`."""
    return Reading(Readable.GAP, code, reason)


class PinnedSource(ABC):
    """The changes of a table up to where it is pinned.

    A reading is looked up once: the range it is about is pinned at both ends.
    """

    mode = Mode.CDF
    kept_id = ""

    def __init__(self, spark: SparkSession, pinned: PinnedTable) -> None:
        self._spark = spark
        self._pinned = pinned
        self._until = Mark(pinned.table_id, pinned.position)
        self._readings: dict[Mark, Reading] = {}
        self._held: list[Rows] = []
        self._rows_changed: dict[Mark, int] = {}

    @property
    def until(self) -> Mark:
        return self._until

    def can_read(self, since: Mark) -> Reading:
        if since not in self._readings:
            self._readings[since] = self._look(since)
        return self._readings[since]

    @abstractmethod
    def _look(self, since: Mark) -> Reading: ...

    @abstractmethod
    def changes(self, since: Mark) -> Sequence[Rows]: ...

    def present(self) -> WeightedRows:
        return self.snapshot()

    def snapshot(self) -> WeightedRows:
        return snapshot_rows(self._pinned)

    def to_keep(self) -> None:
        return None

    def missed(self, since: Mark, rows_counted: int) -> None:
        return None

    def release(self) -> None:
        for rows in self._held:
            rows.release()
        self._held.clear()

    def _weighted(self, feed: str, came: str) -> str:
        """A statement for the rows of a feed; `came` says of a row that it weighs +1."""
        columns = ", ".join(quote(column.name) for column in self._pinned.columns)
        return f"SELECT {columns}, CASE WHEN {came} THEN 1L ELSE -1L END AS {WEIGHT} FROM {feed}"

    def _rows_of(self, since: Mark, statement: str) -> Rows:
        """The rows of a statement under a name of their own.

        Spark looks a table up once in a statement: of two ranges of one feed, written out in one
        statement, the second would have the rows of the first.
        """
        is_few = self._rows_changed.get(since, _HELD_ROWS_MAX) < _HELD_ROWS_MAX
        hold = Hold.RESULT if is_few else Hold.NOTHING
        rows = HeldRows(self._spark, statement, hold=hold)
        self._held.append(rows)
        return rows

    def _why_unplanned(self, statement: str) -> str:
        """What keeps a statement from being planned, in the format's words; '' if nothing does.

        To plan is to read metadata: Delta's log, Iceberg's manifests. EXPLAIN does not raise what
        it meets there, it prints it.
        """
        try:
            lines = self._spark.sql(f"EXPLAIN {statement}").collect()
        except Exception as problem:  # noqa: BLE001 (whatever it is, it is told)
            return str(problem)
        told = "\n".join(str(line[0]) for line in lines)
        return told.removeprefix(_REFUSED).strip() if told.startswith(_REFUSED) else ""
