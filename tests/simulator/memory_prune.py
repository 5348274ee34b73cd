"""Upkeep in memory, step by step as the real store does it: under the lease of every rule."""

from __future__ import annotations

from datetime import datetime

from memory_leases import MemoryLeases
from memory_state import Advance, Attempt, ConflictError, State
from memory_violations import Merging, Wanted, retried
from scheduler import Scheduler

from lakeproof import faults
from lakeproof.errors import FencedError
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.violation import ViolationStatus
from lakeproof.model.weighing import Resolution
from lakeproof.state.store import Batch, Move, TableWork


class MemoryPruner:
    """Takes out what no run will look at again; never what the two newest batches name."""

    def __init__(self, state: State, scheduler: Scheduler, owner: str, table: TableName) -> None:
        self._state = state
        self._scheduler = scheduler
        self._leases = MemoryLeases(state, scheduler, owner)
        self._table = table

    def prune(self, run_id: str, now: datetime, *, drops_resolved: bool) -> None:
        self._scheduler.step("read what may be pruned")
        rule_ids = self._rules() | self._ghosts()
        newest = [row for name in rule_ids if (row := self._state.newest(name)) is not None]
        table_id = newest[0].move.mark.table_id if newest else ""
        work = TableWork(self._table, table_id, "prune", tuple(sorted(rule_ids)), None)
        batches = self._leases.begin(run_id, [work], now)
        try:
            self._prune(batches[0], run_id, drops_resolved=drops_resolved)
        finally:
            self._leases.release(run_id, now)

    def _prune(self, batch: Batch, run_id: str, *, drops_resolved: bool) -> None:
        self._scheduler.step("read what to prune")
        leased = set(batch.work.rule_ids)
        ghosts = self._ghosts() & leased
        unnamed = {name: self._unnamed(name) for name in self._rules() & leased}
        if ghosts:
            self._lay(ghosts, batch, run_id)
        self._scheduler.step("delete from key index")
        for name in ghosts:
            part = self._state.index[name]
            unnamed[name] = [attempt for attempt in part if attempt[0] <= batch.batch_seq]
        for name, attempts in unnamed.items():
            for attempt in attempts:
                self._state.index[name].pop(attempt, None)
        self._state.committed("key_index")
        faults.reach("during_prune")
        self._scheduler.step("delete what was kept")
        for name, attempts in unnamed.items():
            for attempt in attempts:
                self._state.kept[name].pop(attempt, None)
        if drops_resolved:
            self._scheduler.step("delete resolved violations")
            self._drop_resolved()

    def _lay(self, ghosts: set[str], batch: Batch, run_id: str) -> None:
        """Commit that they are gone before anything of them is: from then on nobody can commit
        what older attempts have left, and newer ones are not touched."""
        retried(self._scheduler, lambda: self._advance(ghosts, batch, run_id))
        self._resolve(ghosts, batch, run_id)

    def _advance(self, ghosts: set[str], batch: Batch, run_id: str) -> None:
        self._scheduler.step("compare progress of ghosts")
        self._leases.require(batch, run_id)
        version = self._state.versions["progress"]
        if ghosts & self._rules():
            raise FencedError(f"{run_id} was overtaken")
        self._scheduler.step("set progress of ghosts")
        if self._state.versions["progress"] != version:
            raise ConflictError
        now, table = self._scheduler.now, str(self._table)
        mark = Mark(batch.work.table_id, None)
        for name in sorted(ghosts):
            move = Move(name, Mode.SNAPSHOT, mark, None)
            row = Advance(move, table, batch.batch_seq, batch.epoch, run_id, now)
            self._state.progress.append(row)
        self._state.committed("progress")

    def _rules(self) -> set[str]:
        return {row.move.rule_id for row in self._state.progress}

    def _ghosts(self) -> set[str]:
        """Rules that left rows behind and never were committed."""
        rows = self._state.violations.values()
        left = {row.rule_id for row in rows if row.status is not ViolationStatus.RESOLVED}
        left |= {name for name, part in self._state.index.items() if part}
        return left - self._rules()

    def _resolve(self, ghosts: set[str], batch: Batch, run_id: str) -> None:
        def wanted() -> dict[tuple[str, str], Wanted]:
            self._scheduler.step("read violations")
            return {
                (name, key): Wanted(0, Resolution.RULE_REMOVED)
                for name in ghosts
                for key in self._state.keys_of(name)
            }

        merging = Merging(self._state, self._scheduler, self._leases, batch, run_id)
        merging.assign(sorted(ghosts), wanted)

    def _two_newest(self, rule_id: str) -> list[tuple[int, tuple[Attempt, ...]]]:
        rows = [row for row in self._state.progress if row.move.rule_id == rule_id]
        rows.sort(key=lambda row: (row.batch_seq, row.epoch))
        return [(row.batch_seq, row.attempts) for row in rows[-2:]]

    def _unnamed(self, rule_id: str) -> list[Attempt]:
        newest = self._two_newest(rule_id)
        oldest = min(batch_seq for batch_seq, _ in newest)
        named = {attempt for _, attempts in newest for attempt in attempts}
        known = {*self._state.index[rule_id], *self._state.kept[rule_id]}
        return [one for one in known if one[0] < oldest and one not in named]

    def _drop_resolved(self) -> None:
        oldest = {name: self._two_newest(name)[0][0] for name in self._rules()}
        gone = [
            place
            for place, row in self._state.violations.items()
            if row.status is ViolationStatus.RESOLVED and row.batch_seq < oldest.get(row.rule_id, 0)
        ]
        for place in gone:
            del self._state.violations[place]
        self._state.dropped.update(gone)
        if gone:
            self._state.committed("violations")
