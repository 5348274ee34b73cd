"""Who may check a table now: decided on values, without Spark.

An intent is one run's hold on some rules of one table: a pinned range under a batch number. The
table of intents is a log that anyone may append to, so taking a lease is: read, append, read again.
Whoever sees no rival after its own append has the lease. Two cannot both see none: the one that
appended later reads later, and finds the other's row. If two see each other, the run whose id
sorts first waits for the other to withdraw; the other withdraws. No clock takes part in this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from lakeproof.errors import AlreadyRunningError, TableMovedError
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.state.store import Batch, TableWork

HeadOf = Callable[[TableName], Position | None]


class IntentStatus(StrEnum):
    OPEN = "open"
    COMMITTED = "committed"
    ABANDONED = "abandoned"
    """Ended without moving progress; a repeat of its run takes it up again."""
    WITHDRAWN = "withdrawn"
    """Lost the race for the lease before anything was read; as if it had never been."""


@dataclass(frozen=True, slots=True)
class Intent:
    """The present of one intent, or one row of its log; fields are the table's columns."""

    table_id: str
    table_fqn: str
    group_id: str
    batch_seq: int
    run_id: str
    from_position: str | None
    to_position: str | None
    rule_ids: tuple[str, ...]
    epoch: int
    owner: str
    lease_until: datetime
    status: str
    created_at: datetime
    updated_at: datetime

    def concerns(self, work: TableWork) -> bool:
        """Same table: by its uuid, or by its name if it was dropped and made again.

        Violations are keyed by rules, and rules by names: numbers must go on growing there.
        """
        same_uuid = bool(work.table_id) and self.table_id == work.table_id
        return same_uuid or self.table_fqn == str(work.table)

    def shares(self, work: TableWork) -> bool:
        """Same group, or a rule in common: what is kept of a rule has one writer at a time."""
        return self.group_id == work.group or not set(self.rule_ids).isdisjoint(work.rule_ids)

    @property
    def is_open(self) -> bool:
        return self.status == IntentStatus.OPEN

    def closed(self, status: IntentStatus, now: datetime) -> Intent:
        return replace(self, status=status.value, updated_at=now)


@dataclass(frozen=True, slots=True)
class Claim:
    """What to append for one table: our own open intent, and ends of those we take over."""

    batch: Batch
    intent: Intent
    ended: tuple[Intent, ...]


@dataclass(frozen=True, slots=True)
class Claimant:
    """The run that asks: its id, process, time, and until when it wants the lease."""

    run_id: str
    owner: str
    now: datetime
    lease_until: datetime
    is_dead: Callable[[str], bool]

    def claims(
        self, works: Sequence[TableWork], known: Sequence[Intent], head_of: HeadOf | None = None
    ) -> list[Claim]:
        """A claim for each table; all are taken up again, or all begin anew.

        Else rules of a new number would be told by a table as it was long ago. What begins anew
        must stand at the heads. They are asked for after the intents were read and before ours is
        appended: whoever has a lower number has planned before that, so no older finding gets a
        higher number than a newer one. Whoever comes in between has the same number.
        """
        claims = [self.claim(work, known) for work in works]
        if all(claim.batch.adopted for claim in claims):
            return claims
        for work in works:
            if head_of is None or work.position is None:
                continue
            if head_of(work.table) != work.position:
                raise TableMovedError(
                    f"{work.table} was written to between planning and the lease. Run again"
                )
        return [self._claim(work, known, ()) for work in works]

    def claim(self, work: TableWork, known: Iterable[Intent]) -> Claim:
        """The intent to append, given the present ones; refuses if another run is at work."""
        related = [intent for intent in known if intent.concerns(work)]
        own = [
            intent
            for intent in related
            if intent.shares(work)
            and intent.run_id == self.run_id
            and intent.group_id == work.group
            and intent.table_id == work.table_id
            and intent.status != IntentStatus.WITHDRAWN
            and not self._is_contested(intent, related)
        ]
        return self._claim(work, related, own)

    def _claim(self, work: TableWork, known: Iterable[Intent], own: Sequence[Intent]) -> Claim:
        """The claim that takes up one of `own`, or begins anew if there is none."""
        related = [intent for intent in known if intent.concerns(work)]
        peers = [intent for intent in related if intent.shares(work)]
        ended = [self._end(intent) for intent in peers if intent.is_open and intent not in own]
        if own:
            batch = _adopted(work, max(own, key=lambda intent: intent.batch_seq))
        else:
            batch = Batch(
                work=work,
                batch_seq=1 + max((intent.batch_seq for intent in related), default=0),
                position=work.position,
                adopted=False,
                epoch=1 + max((intent.epoch for intent in ended), default=0),
            )
        return Claim(batch, self.intent(batch), tuple(ended))

    def rivals(self, claims: Sequence[Claim], known: Iterable[Intent]) -> list[Intent]:
        """Intents of other runs that share a lease or a batch number with one of ours."""
        known = list(known)
        return [
            intent
            for claim in claims
            for intent in known
            if intent.run_id != self.run_id
            and intent.concerns(claim.batch.work)
            and (
                (intent.is_open and intent.shares(claim.batch.work))
                or (
                    intent.batch_seq == claim.batch.batch_seq
                    and intent.status != IntentStatus.WITHDRAWN
                    and not claim.batch.adopted
                )
            )
        ]

    def _is_contested(self, own: Intent, related: Iterable[Intent]) -> bool:
        """Whether another run has claimed the same number, and ours is not known to count.

        One of the two died before it could see the other. Nothing tells which of them had the
        lease, so neither number is taken up again; a run that has committed had it.
        """
        return own.status != IntentStatus.COMMITTED and any(
            other.run_id != self.run_id
            and other.batch_seq == own.batch_seq
            and other.status != IntentStatus.WITHDRAWN
            for other in related
        )

    def yields_to(self, rivals: Iterable[Intent]) -> bool:
        return any(rival.run_id < self.run_id for rival in rivals)

    def _end(self, other: Intent) -> Intent:
        """An open intent that stands in the way, ended.

        Only if its lease is over, its driver dead, or it is this run's own, on a table that was
        dropped and made again since.
        """
        is_live = other.lease_until >= self.now and not self.is_dead(other.owner)
        if is_live and other.run_id != self.run_id:
            raise AlreadyRunningError(
                f"{other.table_fqn} is being checked by run {other.run_id!r} ({other.owner}); its "
                f"lease lasts until {other.lease_until:%Y-%m-%d %H:%M:%S} UTC. Wait for it to "
                "finish, or, if it is known to be gone, run again with its run id to take over "
                "its work; after the lease any run may start"
            )
        return other.closed(IntentStatus.ABANDONED, self.now)

    def intent(self, batch: Batch) -> Intent:
        return Intent(
            table_id=batch.work.table_id,
            table_fqn=str(batch.work.table),
            group_id=batch.work.group,
            batch_seq=batch.batch_seq,
            run_id=self.run_id,
            from_position=None,
            to_position=batch.position.to_json() if batch.position else None,
            rule_ids=batch.work.rule_ids,
            epoch=batch.epoch,
            owner=self.owner,
            lease_until=self.lease_until,
            status=IntentStatus.OPEN.value,
            created_at=self.now,
            updated_at=self.now,
        )


def _adopted(work: TableWork, own: Intent) -> Batch:
    """The same run again: its number and position as they were, under a new epoch."""
    return Batch(
        work=work,
        batch_seq=own.batch_seq,
        position=Position.from_json(own.to_position) if own.to_position else None,
        adopted=True,
        epoch=own.epoch + 1,
    )


def withdrawn(claims: Iterable[Claim], now: datetime) -> list[Intent]:
    """Our own claims taken back. An adopted one has a history to keep: it is only abandoned."""
    return [
        claim.intent.closed(
            IntentStatus.ABANDONED if claim.batch.adopted else IntentStatus.WITHDRAWN, now
        )
        for claim in claims
    ]
