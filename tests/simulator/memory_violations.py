"""Violations in memory: what a key amounts to, and the one write that changes rows.

That write reads at one step and commits at another. If somebody wrote in between it is tried
again from the start, as serializable isolation has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from meaning import meanings
from memory_leases import MemoryLeases
from memory_state import Attempt, Broken, ConflictError, Place, Sided, State, Violation
from scheduler import Scheduler

from lakeproof.errors import LakeproofError
from lakeproof.model.standing import KeyTotals
from lakeproof.model.violation import ViolationStatus
from lakeproof.model.weighing import Resolution, Side, WeighKind
from lakeproof.state.store import Batch, Weighed

TRIES_MAX = 6


@dataclass(slots=True)
class MemoryTouched:
    """Keys that a batch touches: what their rules weighed before and weigh after it."""

    totals: dict[str, KeyTotals] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    generations: dict[str, int] = field(default_factory=dict)
    before: dict[str, dict[Sided, int]] = field(default_factory=dict)
    after: dict[str, dict[Sided, int]] = field(default_factory=dict)
    keys: dict[str, set[str]] = field(default_factory=dict)
    gone: set[Place] = field(default_factory=set)
    attempts: dict[str, tuple[Attempt, ...]] = field(default_factory=dict)

    def release(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a violation is to be as of the batch; `occurrences` 0 is none.

    `was_open`: it was, as committed; then it does not come back, whoever resolved it meanwhile.
    `is_stray`: it is written even if nothing is new about it, to carry the stamp of this batch.
    """

    occurrences: int
    resolution: Resolution
    was_open: bool = False
    is_stray: bool = False


def open_totals(one: Weighed, weights: Mapping[Sided, int], key: str) -> KeyTotals:
    """What one key adds to the open violations of a rule."""
    own = weights.get((Side.OWN, key), 0)
    if one.kind is WeighKind.REFERENCE:
        is_open = own > 0 and weights.get((Side.PARENT, key), 0) <= 0
        return KeyTotals(1, own, own) if is_open else KeyTotals()
    if one.kind is WeighKind.ROW or meanings()[one.rule_id].is_bad_by_null(key):
        return KeyTotals(1, own, own) if own > 0 else KeyTotals()
    return KeyTotals(1, own, own - 1) if own > 1 else KeyTotals()


def why_resolved(one: Weighed, touched: MemoryTouched, key: str) -> Resolution:
    """Why a violation is resolved, if it is."""
    if one.is_rebuilt:
        return one.unseen_as
    is_gone = (one.rule_id, key) in touched.gone
    if one.kind is not WeighKind.ROW:
        is_gone = touched.after[one.rule_id].get((Side.OWN, key), 0) <= 0
    return Resolution.DELETED if is_gone else Resolution.FIXED


@dataclass(frozen=True, slots=True)
class Merging:
    """MERGEs into the violations by one driver for one batch."""

    state: State
    scheduler: Scheduler
    leases: MemoryLeases
    batch: Batch
    run_id: str

    def assign(
        self, rule_ids: Sequence[str], wanted: Callable[[], Mapping[Place, Wanted]]
    ) -> dict[str, int]:
        """Rows that are no newer than the batch become what is wanted; gives new hits by rule."""
        retried(self.scheduler, lambda: self._assign(rule_ids, wanted()))
        counts = dict.fromkeys(rule_ids, 0)
        for row in self.state.violations.values():
            if row.rule_id in counts and self.run_id in (row.first_run_id, row.reopened_run_id):
                counts[row.rule_id] += row.status is ViolationStatus.OPEN
        return counts

    def mark_unknown(self, rule_ids: Sequence[str]) -> None:
        retried(self.scheduler, lambda: self._mark_unknown(set(rule_ids)))

    def _assign(self, rule_ids: Sequence[str], wanted: Mapping[Place, Wanted]) -> None:
        version = self._start(f"assign violations of {len(rule_ids)} rules")
        overtaken = {name for name in rule_ids if self._is_overtaken(name)}
        changed: dict[Place, Violation] = {}
        for place, want in wanted.items():
            row = self.state.violations.get(place)
            if place[0] in overtaken or (row is not None and self._is_newer(row)):
                continue
            new = self._assigned(place, row, want)
            if new is not None and new is not row:
                changed[place] = new
        self._commit(version, changed)

    def _is_overtaken(self, rule_id: str) -> bool:
        newest = self.state.newest(rule_id)
        is_later = newest is not None and newest.batch_seq > self.batch.batch_seq
        return is_later and Broken.NO_FENCE not in self.state.broken

    def _is_newer(self, row: Violation) -> bool:
        return row.batch_seq > self.batch.batch_seq and Broken.NO_FENCE not in self.state.broken

    def _mark_unknown(self, rule_ids: set[str]) -> None:
        version = self._start("mark violations unknown")
        seq = self.batch.batch_seq
        changed = {
            place: replace(row, status=ViolationStatus.UNKNOWN, batch_seq=seq)
            for place, row in self.state.violations.items()
            if row.rule_id in rule_ids
            and row.status is ViolationStatus.OPEN
            and not self._is_newer(row)
        }
        self._commit(version, changed)

    def _start(self, what: str) -> int:
        self.scheduler.step(what)
        self.leases.require(self.batch, self.run_id)
        return self.state.versions["violations"]

    def _commit(self, version: int, changed: Mapping[Place, Violation]) -> None:
        if not changed:
            return
        state = self.state
        self.scheduler.step("commit violations")
        if state.versions["violations"] != version and Broken.NO_FENCE not in state.broken:
            raise ConflictError
        for place, row in changed.items():
            is_zero = row.status is ViolationStatus.RESOLVED
            if is_zero and Broken.ZERO_ROWS_DELETED in state.broken:
                state.violations.pop(place, None)
            else:
                state.violations[place] = row
        state.committed("violations")

    def _assigned(self, place: Place, row: Violation | None, want: Wanted) -> Violation | None:
        """The row as of the batch; the same object where nothing has to be written."""
        seq = self.batch.batch_seq
        if not want.occurrences:
            return _resolved(row, want, seq) if row is not None else None
        if row is None:
            position = self.batch.position
            return Violation(
                rule_id=place[0],
                key=place[1],
                status=ViolationStatus.OPEN,
                occurrences=want.occurrences,
                batch_seq=seq,
                first_run_id=self.run_id,
                first_position=position.to_json() if position else "",
                last_run_id=self.run_id,
            )
        known = (row.status, row.occurrences, row.batch_seq)
        if known == (ViolationStatus.OPEN, want.occurrences, seq):
            return row
        if row.status is ViolationStatus.RESOLVED and not want.was_open:
            row = replace(row, reopen_count=row.reopen_count + 1, reopened_run_id=self.run_id)
        return replace(
            row,
            status=ViolationStatus.OPEN,
            occurrences=want.occurrences,
            batch_seq=seq,
            last_run_id=self.run_id,
            resolution=None,
        )


def _resolved(row: Violation, want: Wanted, seq: int) -> Violation:
    if row.status is ViolationStatus.RESOLVED:
        is_due = want.is_stray and row.batch_seq != seq
        return replace(row, batch_seq=seq) if is_due else row
    return replace(
        row, status=ViolationStatus.RESOLVED, batch_seq=seq, resolution=want.resolution.value
    )


def retried(scheduler: Scheduler, attempt: Callable[[], None]) -> None:
    """Try again while others are faster, as often as the real store does."""
    for _ in range(TRIES_MAX):
        try:
            return attempt()
        except ConflictError:
            scheduler.wait(1)
    raise LakeproofError("others were faster each time")
