"""Leases in memory: the steps of the real store around the real `Claimant`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memory_state import Broken, State
from scheduler import LEASE, Scheduler

from lakeproof import faults
from lakeproof.errors import AlreadyRunningError, FencedError
from lakeproof.state.leases import Claim, Claimant, HeadOf, Intent, IntentStatus, withdrawn
from lakeproof.state.store import Batch, TableWork

CLAIMS_MAX = 3
POLLS_MAX = 6


class MemoryLeases:
    """One driver's leases. The log of intents may be appended to by anyone at any time."""

    def __init__(self, state: State, scheduler: Scheduler, owner: str) -> None:
        self._state = state
        self._scheduler = scheduler
        self._owner = owner
        self._held: dict[str, dict[Batch, Intent]] = {}

    def begin(
        self,
        run_id: str,
        works: Sequence[TableWork],
        now: datetime,
        head_of: HeadOf | None = None,
    ) -> list[Batch]:
        if Broken.NO_INTENT in self._state.broken:
            return [self._unclaimed(work) for work in works]
        moment = naive(now)
        claimant = Claimant(run_id, self._owner, moment, moment + LEASE, self._scheduler.is_dead)
        rivals: list[Intent] = []
        for _ in range(CLAIMS_MAX):
            self._scheduler.step("read intents")
            known = self._present()
            claims = claimant.claims(works, known, head_of)
            self._held[run_id] = {claim.batch: claim.intent for claim in claims}
            self._append([row for claim in claims for row in (*claim.ended, claim.intent)])
            faults.reach("after_lease")
            rivals = self._await_rivals(claimant, claims)
            if not rivals:
                return [claim.batch for claim in claims]
            self._append(withdrawn(claims, claimant.now))
            del self._held[run_id]
            self._scheduler.wait(1)
        raise AlreadyRunningError(f"run {run_id!r} lost the lease to {rivals[0].run_id!r}")

    def close(self, run_id: str, batches: Sequence[Batch], now: datetime) -> None:
        """The work is done: whoever comes next need not wait."""
        held = self._held.get(run_id, {})
        intents = {batch: held[batch] for batch in batches if batch in held}
        if intents:
            moment = naive(now)
            self._append(row.closed(IntentStatus.COMMITTED, moment) for row in intents.values())
        for batch in intents:
            del held[batch]

    def release(self, run_id: str, now: datetime) -> None:
        held = self._held.pop(run_id, {})
        if held:
            moment = naive(now)
            self._append(row.closed(IntentStatus.ABANDONED, moment) for row in held.values())

    def is_lost(self, batch: Batch, run_id: str) -> bool:
        """Whether our intent was ended, or adopted by another driver of the same run."""
        if self._state.broken & (Broken.NO_FENCE | Broken.NO_INTENT):
            return False
        table = str(batch.work.table)
        return any(
            row.run_id == run_id
            and row.batch_seq == batch.batch_seq
            and row.table_fqn == table
            and row.group_id == batch.work.group
            and (row.epoch > batch.epoch or (row.epoch == batch.epoch and not row.is_open))
            for row in self._state.intents
        )

    def require(self, batch: Batch, run_id: str) -> None:
        if self.is_lost(batch, run_id):
            raise FencedError(f"run {run_id!r} lost its lease on {batch.work.table}")

    def _unclaimed(self, work: TableWork) -> Batch:
        """Without intents the next number is that of progress."""
        rows = [row for row in self._state.progress if row.move.rule_id in work.rule_ids]
        highest = max((row.batch_seq for row in rows), default=0)
        return Batch(work, highest + 1, work.position, adopted=False)

    def _present(self) -> list[Intent]:
        """The present of each intent: of its last epoch, ended if it was ever ended."""
        newest: dict[tuple[object, ...], Intent] = {}
        for row in self._state.intents:
            place = (row.table_id, row.table_fqn, row.group_id, row.run_id, row.batch_seq)
            held = newest.get(place)
            if held is None or (row.epoch, not row.is_open) > (held.epoch, not held.is_open):
                newest[place] = row
        return list(newest.values())

    def _await_rivals(self, claimant: Claimant, claims: Sequence[Claim]) -> list[Intent]:
        rivals: list[Intent] = []
        for _ in range(POLLS_MAX):
            self._scheduler.step("read intents again")
            rivals = claimant.rivals(claims, self._present())
            if not rivals or claimant.yields_to(rivals):
                break
            self._scheduler.wait(1)
        return rivals

    def _append(self, intents: Iterable[Intent]) -> None:
        rows = list(intents)
        self._scheduler.step("append intents")
        self._state.intents.extend(rows)
        self._state.committed("intents")


def naive(moment: datetime) -> datetime:
    """In UTC, without zone, as the state tables hold moments."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
