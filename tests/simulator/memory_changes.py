"""Where changed rows come from: the feed of a table in memory, or what the last run kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_state import Broken, State
from memory_table import Commit, History, Kind, Row
from scheduler import Scheduler

from lakeproof.model.reading import Mark, Mode, Readable, Reading


@dataclass(frozen=True, slots=True)
class MemoryRows:
    weights: Mapping[Row, int]
    is_snapshot: bool
    relation: str = "rows"

    def release(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """The feed of a table in memory."""

    life: History
    until: Mark
    scheduler: Scheduler
    broken: Broken
    mode: Mode = Mode.CDF
    kept_id: str = ""

    @property
    def _head(self) -> int:
        assert self.until.position is not None
        return self.until.position.value

    def _path(self, since: Mark) -> list[Commit] | None:
        assert since.position is not None
        return self.life.path(since.position.value, self._head)

    def can_read(self, since: Mark) -> Reading:
        if since.table_id != self.life.table_id:
            return Reading(Readable.GAP, "replaced", "the table was made again")
        path = self._path(since)
        if path is None:
            return Reading(Readable.GAP, "not_ancestor", "the table was rolled back")
        if any(not commit.is_recorded for commit in path):
            return Reading(Readable.GAP, "feed_off", "the feed was off")
        if any(commit.number < self.life.readable_from for commit in path):
            return Reading(Readable.GAP, "expired", "the feed is gone")
        changed = any(commit.feed is not None for commit in path)
        return Reading(Readable.OK if changed else Readable.EMPTY)

    def changes(self, since: Mark) -> Sequence[MemoryRows]:
        self.scheduler.step(f"read changes of {self.life.table_id}")
        assert self.can_read(since).outcome in {Readable.OK, Readable.EMPTY}
        parts = []
        for commit in self._path(since) or ():
            weights: dict[Row, int] = defaultdict(int)
            for change in commit.feed or ():
                if change.kind is Kind.BEFORE and Broken.PRE_IMAGES_SKIPPED in self.broken:
                    continue
                weights[change.row] += change.kind.weight
            parts.append(MemoryRows(weights, is_snapshot=False))
        self.scheduler.random.shuffle(parts)  # I5: in whatever order
        return parts

    def snapshot(self) -> MemoryRows:
        self.scheduler.step(f"read all of {self.life.table_id}")
        return MemoryRows(self.life.commits[self._head].rows, is_snapshot=True)

    def to_keep(self) -> None:
        return None

    def missed(self, since: Mark, rows_counted: int) -> int | None:
        return None

    def release(self) -> None:
        pass


@dataclass(slots=True)
class MemoryDifference:
    """What differs from the rows that the last run kept, for a table that tells no changes."""

    life: History
    until: Mark
    scheduler: Scheduler
    state: State
    kept: Mapping[Row, int] | None
    mode: Mode = Mode.SNAPSHOT_DIFF
    read: MemoryRows | None = None

    @property
    def kept_id(self) -> str:
        return f"kept {self.life.table_id}"

    @property
    def _rows(self) -> Mapping[Row, int]:
        assert self.until.position is not None
        return self.life.commits[self.until.position.value].rows

    def can_read(self, since: Mark) -> Reading:
        if since.table_id != self.life.table_id:
            return Reading(Readable.GAP, "replaced", "the table was made again")
        if self.kept is None:
            return Reading(Readable.GAP, "schema_changed", "nothing was kept")
        return Reading(Readable.EMPTY if since == self.until else Readable.OK)

    def changes(self, since: Mark) -> Sequence[MemoryRows]:
        self.scheduler.step(f"compare {self.life.table_id} with what was kept")
        assert self.kept is not None
        if self.read is None or self.read.is_snapshot:
            weights = dict(self._rows)
            for row, count in self.kept.items():
                weights[row] = weights.get(row, 0) - count
            self.read = MemoryRows({row: n for row, n in weights.items() if n}, False)
        return [self.read]

    def snapshot(self) -> MemoryRows:
        self.scheduler.step(f"read all of {self.life.table_id}")
        rows = MemoryRows(self._rows, is_snapshot=True)
        self.read = self.read or rows
        return rows

    def to_keep(self) -> MemoryRows | None:
        """The difference if it was asked for, else all rows."""
        if self.read is None:
            return None
        relation = self.state.new_relation(self.read.weights)
        return MemoryRows(self.read.weights, self.read.is_snapshot, relation)

    def missed(self, since: Mark, rows_counted: int) -> int | None:
        return None

    def release(self) -> None:
        pass
