"""The changelog of an Iceberg table.

Read raw from the table's `changes`: files that a commit rewrote come as rows that went and the
same rows that came, which as weights is nothing. `create_changelog_view` removes them by a window
over the rows, which costs several times as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeproof.engines.engine import Rows
from lakeproof.engines.spark.changes.iceberg_columns import columns_since
from lakeproof.engines.spark.changes.pinned_source import (
    EMPTY,
    KEEP_ROWS,
    READABLE,
    PinnedSource,
    gap,
)
from lakeproof.engines.spark.pinning import TableHead, pinned_relation, table_of
from lakeproof.errors import short_message
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mark, Readable, Reading
from lakeproof.planning.read_mode import Abilities
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CAME = "_change_type = 'INSERT'"
_OWN_COLUMNS = frozenset({"_change_type", "_change_ordinal", "_commit_snapshot_id"})
_REWRITE = "replace"
"""The operation of a commit that moves rows to other files and changes none."""

_DELETE_FILES = "it has delete files (merge-on-read), which Iceberg's changelog cannot read"
_ALTERED = "its columns were altered after its last snapshot"


def iceberg_abilities(spark: SparkSession, pinned: PinnedTable) -> Abilities:
    """What the pinned snapshot says: copy-on-write tables have a changelog."""
    if pinned.position is None:
        if _is_empty(pinned):
            return Abilities(has_feed=True, size_bytes=0)
        return Abilities(has_feed=False, no_feed=_ALTERED, is_pinned=False)
    table = table_of(pinned)
    rows = spark.sql(
        "SELECT summary['total-files-size'] AS size, summary['total-delete-files'] AS deletes "
        f"FROM {table}.snapshots WHERE snapshot_id = {pinned.position.value}"
    ).collect()
    summary = rows[0].asDict() if rows else {}
    size_bytes = int(summary["size"]) if summary.get("size") else None
    names = [column.name for column in pinned.columns if column.name.lower() in _OWN_COLUMNS]
    if names:
        reason = f"its column {names[0]} has a name that Iceberg's changelog uses itself"
        return Abilities(has_feed=False, no_feed=reason, advice=KEEP_ROWS, size_bytes=size_bytes)
    if int(summary.get("deletes") or 0):
        advice = _copy_on_write(TableName.parse(table))
        return Abilities(
            has_feed=False, no_feed=_DELETE_FILES, advice=advice, size_bytes=size_bytes
        )
    return Abilities(has_feed=True, size_bytes=size_bytes)


def _copy_on_write(table: TableName) -> str:
    """How a table comes by a changelog: write no more delete files, and apply those it has."""
    modes = ", ".join(
        f"'write.{verb}.mode' = 'copy-on-write'" for verb in ("delete", "update", "merge")
    )
    name = TableName(table.parts[1:])
    return (
        f"ALTER TABLE {table} SET TBLPROPERTIES ({modes}); "
        f"CALL {TableName(table.parts[:1])}.system.rewrite_data_files(table => '{name}', "
        "options => map('delete-file-threshold', '1', 'remove-dangling-deletes', 'true'))"
    )


def _is_empty(pinned: PinnedTable) -> bool:
    """Whether it is pinned before its first snapshot, not merely at no position."""
    before_all = TableHead(pinned.format, pinned.table_id, None, empty=True)
    return pinned.relation == pinned_relation(pinned.table, before_all)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A commit: what it did, and how many rows the files have that it added and removed."""

    parent: int | None
    operation: str
    rows: int


class IcebergChanges(PinnedSource):
    """Rows of the files that came and went; snapshots go by their ids and parents alone.

    A table before its first snapshot has no position: everything since then is in the snapshot.
    """

    def changes(self, since: Mark) -> Sequence[Rows]:
        if since.position is None:  # changes like others, though all of them came
            return (replace(self.snapshot(), is_snapshot=False),)
        return (self._rows_of(since, self._changelog(since.position.value)),)

    def _changelog(self, start: int) -> str:
        assert self.until.position is not None  # noqa: S101 (can_read has looked)
        between = (
            f"'start-snapshot-id' = '{start}', 'end-snapshot-id' = '{self.until.position.value}'"
        )
        return self._weighted(f"{table_of(self._pinned)}.changes WITH ({between})", _CAME)

    def _look(self, since: Mark) -> Reading:
        known = self._by_marks(since)
        if known is not None:
            return known
        assert since.position is not None and self.until.position is not None  # noqa: S101, PT018
        start, end = since.position.value, self.until.position.value
        told = self._by_snapshots(since, start, end)
        if told is not None and told.outcome is not Readable.SPLIT:
            return told
        planned = self._by_plan(start)
        return planned if told is None or planned.outcome is Readable.GAP else told

    def _by_marks(self, since: Mark) -> Reading | None:
        start, end = since.position, self.until.position
        if _are_two(since.table_id, self.until.table_id):
            return gap("replaced", "another table has its name now")
        if end is None and not _is_empty(self._pinned):
            return gap("schema_changed", _ALTERED)
        if start == end:
            return EMPTY
        if end is None:
            return gap("not_ancestor", "it has no snapshot any more")
        return READABLE if start is None else None

    def _by_snapshots(self, since: Mark, start: int, end: int) -> Reading | None:
        snapshots = self._snapshots()
        if start not in snapshots:
            return gap("expired", f"snapshot {start} has expired")
        path: list[_Snapshot] = []
        step: int | None = end
        while step is not None and step != start:
            if step not in snapshots:
                return gap("expired", f"snapshot {step}, which came after {start}, has expired")
            path.append(snapshots[step])
            step = path[-1].parent
        if step is None:
            return gap("not_ancestor", f"it was rolled back or replaced: {start} is not part of it")
        changing = [snapshot for snapshot in path if snapshot.operation != _REWRITE]
        self._rows_changed[since] = sum(snapshot.rows for snapshot in changing)
        columns = columns_since(self._spark, self._pinned, start)
        if columns.outcome is not Readable.OK:
            return columns
        return None if changing else EMPTY

    def _snapshots(self) -> Mapping[int, _Snapshot]:
        counts = " + ".join(
            f"CAST(coalesce(summary['{which}-records'], '0') AS BIGINT)"
            for which in ("added", "deleted")
        )
        rows = self._spark.sql(
            f"SELECT snapshot_id, parent_id, operation, {counts} AS rows "
            f"FROM {table_of(self._pinned)}.snapshots"
        ).collect()
        return {
            row["snapshot_id"]: _Snapshot(row["parent_id"], row["operation"], row["rows"])
            for row in rows
        }

    def _by_plan(self, start: int) -> Reading:
        refused = self._why_unplanned(self._changelog(start))
        if not refused:
            return READABLE
        if "Delete files" in refused:
            return gap("delete_files", _DELETE_FILES)
        return gap("unreadable", short_message(RuntimeError(refused)))


def _are_two(ours: str, theirs: str) -> bool:
    """Whether two ids are of two tables; on Connect there is no id but the name."""
    return ours != theirs and not any(one.startswith("name:") for one in (ours, theirs))
