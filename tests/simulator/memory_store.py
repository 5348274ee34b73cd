"""The store over state in memory: the steps of the real one, each of them a scheduling point.

Reads see what is committed, appends never conflict, and progress is compared and set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from memory_leases import MemoryLeases, naive
from memory_state import Advance, Attempt, Broken, ConflictError, Place, Sided, State, summed
from memory_violations import (
    MemoryTouched,
    Merging,
    Wanted,
    open_totals,
    retried,
    why_resolved,
)
from scheduler import Scheduler

from lakeproof import faults
from lakeproof.errors import FencedError
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.standing import KeyTotals
from lakeproof.model.weighing import Resolution
from lakeproof.state.leases import HeadOf
from lakeproof.state.store import Batch, Move, RuleProgress, TableWork, Weighed


class MemoryStore:
    """One driver's way to the state; `owner` is the driver.

    A driver builds on the progress that it has read last, whatever others commit meanwhile.
    """

    description = "tables in memory"

    def __init__(
        self,
        state: State,
        scheduler: Scheduler,
        owner: str,
        on_recorded: Callable[[Iterable[Place]], None],
    ) -> None:
        self._state = state
        self._on_recorded = on_recorded
        self._scheduler = scheduler
        self._owner = owner
        self._leases = MemoryLeases(state, scheduler, owner)
        self._base: dict[str, Advance | None] = {}
        self._attempts: dict[str, tuple[Attempt, ...]] = {}

    @property
    def max_hits(self) -> None:
        return None

    def exists(self) -> bool:
        return True

    def prepare(self) -> None:
        pass

    def begin(
        self,
        run_id: str,
        works: Sequence[TableWork],
        now: datetime,
        head_of: HeadOf | None = None,
    ) -> list[Batch]:
        return self._leases.begin(run_id, works, now, head_of)

    def release(self, run_id: str, now: datetime) -> None:
        self._leases.release(run_id, now)

    # ---------------------------------------------------------------------------------- progress

    def progress(self, rule_ids: Sequence[str]) -> Mapping[str, RuleProgress]:
        self._scheduler.step("read progress")
        found = {name: self._state.newest(name) for name in rule_ids}
        self._base.update(found)
        return {name: row.public for name, row in found.items() if row is not None}

    def progress_of_suite(self, suite: str, table: TableName) -> Sequence[RuleProgress]:
        self._scheduler.step("read progress of suite")
        names = dict.fromkeys(row.move.rule_id for row in self._state.progress)
        newest = [self._state.newest(name) for name in names]
        return [
            row.public
            for row in newest
            if row is not None and row.move.suite == suite and row.table == str(table)
        ]

    def commit(
        self, batches: Sequence[Batch], run_id: str, moves: Sequence[Move], now: datetime
    ) -> None:
        if not batches:
            return
        rows = [self._row(move, batches[0], run_id, naive(now)) for move in moves]
        if rows:
            retried(self._scheduler, lambda: self._advance(rows, batches, run_id))
        faults.reach("after_progress")
        self._scheduler.step("look at progress and intents")
        named = {(row.move.rule_id, row.batch_seq) for row in self._state.progress}
        if any((row.move.rule_id, row.batch_seq) not in named for row in rows):
            raise FencedError(f"run {run_id!r} was overtaken")
        for batch in batches:
            self._leases.require(batch, run_id)
        self._leases.close(run_id, batches, now)

    def _row(self, move: Move, batch: Batch, run_id: str, now: datetime) -> Advance:
        """The checked table is the first of a run; rules that are gone move with its batch."""
        base = self._base.get(move.rule_id)
        attempts = self._attempts.get(move.rule_id, base.attempts if base else ())
        table = str(batch.work.table)
        return Advance(move, table, batch.batch_seq, batch.epoch, run_id, now, attempts)

    def _advance(self, rows: Sequence[Advance], batches: Sequence[Batch], run_id: str) -> None:
        """Compare and set: a rule that was moved since gets no row, nor does a lost lease."""
        state = self._state
        self._scheduler.step("compare progress")
        version = state.versions["progress"]
        is_lost = any(self._leases.is_lost(batch, run_id) for batch in batches)
        wanted = [row for row in rows if not is_lost and self._may_move(row)]
        self._scheduler.step("set progress")
        if Broken.NO_COMPARE_AND_SET in state.broken:
            wanted = list(rows)
        elif state.versions["progress"] != version:
            raise ConflictError
        if wanted:
            state.progress.extend(wanted)
            state.committed("progress")

    def _may_move(self, row: Advance) -> bool:
        newest = self._state.newest(row.move.rule_id)
        reached = newest.batch_seq if newest else 0
        return reached <= min(row.move.previous, row.batch_seq - 1)

    # --------------------------------------------------------------------- kept rows, key index

    def kept(self, kept_id: str) -> str | None:
        self._scheduler.step("read what was kept")
        base = self._base[kept_id] = self._state.newest(kept_id)
        if base is None or not base.attempts:
            return None
        parts = self._state.kept[kept_id]
        return self._state.new_relation(summed(parts[attempt] for attempt in base.attempts))

    def keep(self, batch: Batch, kept_id: str, relation: str, *, is_rebuilt: bool) -> None:
        self._scheduler.step("keep rows")
        base = self._base.get(kept_id)
        known = () if is_rebuilt or base is None else base.attempts
        attempt = self._attempt(batch)
        self._state.kept[kept_id][attempt] = self._state.relations[relation]
        self._attempts[kept_id] = (*known, attempt)
        self._state.committed("kept")

    def add_weights(
        self, batch: Batch, run_id: str, weighed: Sequence[Weighed], views: Sequence[str]
    ) -> MemoryTouched:
        state = self._state
        self._scheduler.step("read key index")
        touched = MemoryTouched()
        bases = [self._base.get(one.rule_id) for one in weighed]
        if any(base is not None and base.batch_seq >= batch.batch_seq for base in bases):
            raise FencedError(f"run {run_id!r} was overtaken")
        adding = {one.rule_id: self._weigh(batch, one, views, touched) for one in weighed}
        self._scheduler.step("append key index")
        attempt = self._attempt(batch)
        for rule_id, weights in adding.items():
            part = state.index[rule_id]
            part[attempt] = summed([part.get(attempt, {}), weights])
        state.committed("key_index")
        return touched

    def _weigh(
        self, batch: Batch, one: Weighed, views: Sequence[str], touched: MemoryTouched
    ) -> dict[Sided, int]:
        """What one rule's keys weigh after the batch; gives what of it is to be written."""
        state, name = self._state, one.rule_id
        base = self._base.get(name)
        known = () if one.is_rebuilt or base is None else base.attempts
        rows = [row for view in views for row in state.views[view] if row.rule_id == name]
        added = summed({(row.side, row.key): row.weight} for row in rows)
        before = state.weights(name, known)
        after = summed([before, added])
        touched.before[name], touched.after[name] = before, after
        touched.keys[name] = {row.key for row in rows}
        present: dict[str, int] = defaultdict(int)
        for row in rows:
            present[row.key] += row.present
        touched.gone |= {(name, key) for key, change in present.items() if change < 0}
        grown = KeyTotals()
        for key in touched.keys[name]:
            was, now = open_totals(one, before, key), open_totals(one, after, key)
            grown += now
            grown += KeyTotals(-was.hits, -was.occurrences, -was.excess)
        touched.totals[name] = grown
        touched.generations[name] = one.generation
        below_zero = [key for key in added if after[key] < 0]
        if below_zero:
            touched.problems[name] = f"{len(below_zero)} keys of its index below zero"
        if len(known) >= state.attempts_max:  # the log is long: this attempt writes it anew
            known, added = (), {key: weight for key, weight in after.items() if weight}
        self._attempts[name] = (*known, self._attempt(batch))
        return added

    def _attempt(self, batch: Batch) -> Attempt:
        if Broken.NO_FENCE in self._state.broken:
            return (batch.batch_seq, 0, "")
        return (batch.batch_seq, batch.epoch, self._owner)

    # -------------------------------------------------------------------------------- violations

    def strays(self, rule_ids: Sequence[str]) -> frozenset[str]:
        self._scheduler.step("look for strays")
        return frozenset(name for name in rule_ids if self._state.strays(name))

    def assign_touched(
        self,
        batch: Batch,
        run_id: str,
        weighed: Sequence[Weighed],
        touched: MemoryTouched,
        now: datetime,
    ) -> Mapping[str, int]:
        ids = [one.rule_id for one in weighed]
        return self._merging(batch, run_id).assign(ids, lambda: self._wanted(weighed, touched))

    def _wanted(self, weighed: Sequence[Weighed], touched: MemoryTouched) -> dict[Place, Wanted]:
        self._scheduler.step("read violations")
        found: dict[Place, Wanted] = {}
        for one in weighed:
            name = one.rule_id
            strays = self._strays(name)
            keys = touched.keys[name] | strays
            if one.is_rebuilt:
                keys |= self._state.keys_of(name)
            for key in keys:
                was = open_totals(one, touched.before[name], key)
                now = open_totals(one, touched.after[name], key)
                if was == now and key not in strays and not one.is_rebuilt:
                    continue
                why = why_resolved(one, touched, key)
                found[name, key] = Wanted(now.occurrences, why, bool(was.hits), key in strays)
        return found

    def apply_hits(
        self,
        batch: Batch,
        run_id: str,
        rule_ids: Sequence[str],
        hits_view: str | None,
        now: datetime,
    ) -> Mapping[str, int]:
        def wanted() -> dict[Place, Wanted]:
            self._scheduler.step("read violations")
            found = self._all(dict.fromkeys(rule_ids, Resolution.GONE))
            for row in self._state.views[hits_view] if hits_view else ():
                if row.rule_id in rule_ids:
                    found[row.rule_id, row.key] = Wanted(row.weight, Resolution.GONE)
            return found

        return self._merging(batch, run_id).assign(rule_ids, wanted) if rule_ids else {}

    def retire(
        self, batch: Batch, run_id: str, rules: Mapping[str, Resolution], now: datetime
    ) -> None:
        def wanted() -> dict[Place, Wanted]:
            self._scheduler.step("read violations")
            return self._all(rules)

        self._merging(batch, run_id).assign(list(rules), wanted)

    def _all(self, rules: Mapping[str, Resolution]) -> dict[Place, Wanted]:
        """Every stored violation of these rules, as one that is not seen."""
        return {
            (name, key): Wanted(0, why, is_stray=key in strays)
            for name, why in rules.items()
            for strays in [self._strays(name)]
            for key in self._state.keys_of(name)
        }

    def mark_unknown(
        self, batch: Batch, run_id: str, rule_ids: Sequence[str], now: datetime
    ) -> None:
        self._merging(batch, run_id).mark_unknown(rule_ids)

    def _strays(self, rule_id: str) -> set[str]:
        base = self._base.get(rule_id)
        return self._state.strays(rule_id, base.batch_seq if base else 0)

    def _merging(self, batch: Batch, run_id: str) -> Merging:
        return Merging(self._state, self._scheduler, self._leases, batch, run_id)

    def known_keys(self, weighed: Sequence[Weighed], besides: Sequence[str]) -> str:
        raise NotImplementedError("no table of the simulator is read by watermark")

    def suppressed(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, KeyTotals]:
        return {}

    def suppressed_hits(self, rule_ids: Sequence[str], now: datetime) -> str:
        raise NotImplementedError("nobody suppresses in the simulator")

    def sample_keys(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, tuple[str, ...]]:
        return {}

    # ----------------------------------------------------------------------------------- results

    def has_begun(self, run_id: str) -> bool:
        self._scheduler.step("read intents")
        return any(intent.run_id == run_id for intent in self._state.intents)

    def recorded_results(self, run_id: str) -> Mapping[str, CheckResult]:
        self._scheduler.step("read results")
        rows = self._state.results.items()
        return {key: row for (run, key), row in rows if run == run_id}

    def previous_measures(
        self, rule_ids: Sequence[str], run_id: str, *, is_repeated: bool
    ) -> Mapping[str, float]:
        return {}

    def record_results(self, results: Sequence[CheckResult]) -> int:
        self._scheduler.step("append results")
        rows = self._state.results
        new = {(row.run_id, row.rule_key): row for row in results}
        added = {place: row for place, row in new.items() if place not in rows}
        rows.update(added)
        self._on_recorded(added)
        self._state.committed("results")
        return len(added)
