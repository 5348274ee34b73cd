"""Promotion: a trusted layer shows exactly what a run has read and passed.

    kept results -> gate -> look at every table -> for each: lease, look, move, record

Nothing here spans tables atomically, so each step is safe to repeat and their order makes a kill
between two of them harmless:

- The gate is decided from what is kept of the run, and every table is looked at, before anything
  moves.
- One promoter at a time works on a target, under the lease that runs use too. A repeated call takes
  over the lease of its own run at once; another waits for it, or for the end of a dead holder.
- The move is one commit of the table format. It comes before the record, so that a record is never
  of what did not happen. Killed between the two, a repeated call finds the target where it wanted
  it and the record missing, and adds it: what was shown before is then what the last record says,
  because every earlier move has one.
- A rollback does the same the other way round: move back, then record. Killed between, the target
  shows what was before a promotion that still stands in the record: only the record is added.

So whatever was killed, the same call again ends as if it had not been, and one record is there.
A target that shows something newer than the run has read is left alone. Records are rows of the
results table, of type `promotion` and under the run's id; questions about results leave them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from lakeproof import faults
from lakeproof.engines.spark.promotion.target import Look, Target
from lakeproof.errors import NothingSelectedError, PromotionError
from lakeproof.gating.promotion_audit import Audit, Audited
from lakeproof.gating.promotion_outcome import Promotion, PromotionOutcome, PromotionStatus
from lakeproof.gating.promotion_steps import (
    decide_move,
    is_recorded,
    look_back,
    move_target,
    shown_before,
    take_back,
)
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.printable import counted
from lakeproof.model.promotion import (
    PROMOTION,
    Act,
    PromotionRecord,
    move_text,
    next_order,
    standing_promotions,
)
from lakeproof.state import literals
from lakeproof.state.access import TRIES_MAX
from lakeproof.state.kept_runs import promotions_to
from lakeproof.state.reading import StateReader
from lakeproof.state.store import Store, TableWork


@dataclass(frozen=True, slots=True)
class Place:
    """A table and the target that shows its trusted rows."""

    table: TableName
    target: Target


@dataclass(frozen=True, slots=True)
class Promoter:
    """`reader` reads what `store` keeps; `clock` must be the real one, for leases."""

    store: Store
    reader: StateReader
    clock: Callable[[], datetime]
    dag_run_id: str = ""

    def promote(self, places: Sequence[Place], audit: Audit) -> PromotionOutcome:
        """Move every target to what the run has read, if its gate is open."""
        for place in places:
            audit.require_table(place.target.checked)
        if not audit.gate.is_open:
            left = [_refused(place, audit.run_id) for place in places]
            return PromotionOutcome(audit.run_id, audit.gate, tuple(left), audit.results)
        read = [audit.read_at(place.target.checked) for place in places]
        if len(places) > 1:  # one alone is decided where it moves
            for place, audited in zip(places, read, strict=True):
                decide_move(place.target, audited, self._records(place.target))
        moved = [self._promote(place, audited) for place, audited in zip(places, read, strict=True)]
        return PromotionOutcome(audit.run_id, audit.gate, tuple(moved), audit.results)

    def rollback(self, places: Sequence[Place], run_id: str = "") -> PromotionOutcome:
        """Take the last promotion to each target back, or that of the run."""
        if len(places) > 1:
            for place in places:
                taken = self._to_take_back(place.target, run_id)
                if taken is not None:
                    look_back(place.target, taken)
        moved = [self._roll_back(place, run_id) for place in places]
        return PromotionOutcome(run_id or moved[0].run_id, None, tuple(moved))

    def _promote(self, place: Place, audited: Audited) -> Promotion:
        target, run_id, position = place.target, audited.run_id, audited.position
        self.store.prepare()
        with self._holding(target, f"promotion-of-{run_id}", position):
            records = self._records(target)
            first = look = decide_move(target, audited, records)
            if look.is_newer or is_recorded(look, records, position):
                return _left_alone(place, audited, look, records)
            for number in range(1, TRIES_MAX + 1):
                if look.present == position or move_target(target, position, number):
                    break
                look = decide_move(target, audited, records)
            before = shown_before(first, records, position)
            self._record(place, run_id, Act.PROMOTED, (before, position), look, records)
        return Promotion(
            table=str(place.table),
            target=str(target.name),
            run_id=run_id,
            status=PromotionStatus.PROMOTED,
            details=move_text(before, position) + _behind(place, look),
            audited=position,
            before=before,
            after=position,
            head=look.head,
            newer_commits=look.newer_commits,
        )

    def _roll_back(self, place: Place, run_id: str) -> Promotion:
        target = place.target
        taken = self._to_take_back(target, run_id)
        if taken is None:
            return _shown(place, run_id, PromotionStatus.UNCHANGED, "was rolled back before")
        self.store.prepare()
        with self._holding(target, f"rollback-of-{taken.run_id}", taken.after):
            taken = self._to_take_back(target, taken.run_id)
            if taken is None:
                return _shown(place, run_id, PromotionStatus.UNCHANGED, "was rolled back before")
            look = take_back(target, taken)
            moved = (taken.after, taken.before)
            records = self._records(target)
            self._record(place, taken.run_id, Act.ROLLED_BACK, moved, look, records)
        return Promotion(
            table=str(place.table),
            target=str(target.name),
            run_id=taken.run_id,
            status=PromotionStatus.ROLLED_BACK,
            details=f"{move_text(taken.after, taken.before)}, the promotion of run "
            f"{taken.run_id} is taken back",
            before=taken.after,
            after=taken.before,
        )

    def _to_take_back(self, target: Target, run_id: str) -> PromotionRecord | None:
        """The promotion to undo; None if it is undone. Refuses one that another lies upon."""
        records = self._records(target)
        standing = standing_promotions(records)
        if not run_id:
            if not standing:
                raise NothingSelectedError(f"no promotion to {target.name} is kept that stands")
            return standing[-1]
        if standing and standing[-1].run_id == run_id:
            return standing[-1]
        own = [one for one in records if one.run_id == run_id]
        if not own:
            raise NothingSelectedError(f"run {run_id!r} was never promoted to {target.name}")
        if all(one.run_id != run_id for one in standing):
            return None
        raise PromotionError(
            f"run {standing[-1].run_id!r} was promoted to {target.name} after run {run_id!r}. Roll "
            "that one back first"
        )

    def _records(self, target: Target) -> list[PromotionRecord]:
        return promotions_to(self.reader, str(target.name))

    def _record(
        self,
        place: Place,
        run_id: str,
        act: Act,
        moved: tuple[Position | None, Position | None],
        look: Look,
        records: Sequence[PromotionRecord],
    ) -> None:
        record = PromotionRecord(
            run_id=run_id,
            table=place.table,
            target=str(place.target.name),
            act=act,
            order=next_order(records),
            before=moved[0],
            after=moved[1],
            executed_at=literals.moment_text(self.clock()),
            table_id=look.table_id,
            dag_run_id=self.dag_run_id,
        )
        self.store.record_results([record.to_result()])
        faults.reach("after_promotion_record")

    @contextmanager
    def _holding(self, target: Target, holder: str, position: Position | None) -> Iterator[None]:
        """The lease on the target: no other promoter moves it or records a move meanwhile."""
        work = TableWork(target.name, "", PROMOTION, (), position)
        try:
            batches = self.store.begin(holder, [work], self.clock())
            faults.reach("after_promotion_lease")
            yield
            self.store.commit(batches, holder, [], self.clock())
        finally:
            self.store.release(holder, self.clock())


def _left_alone(
    place: Place, audited: Audited, look: Look, records: Sequence[PromotionRecord]
) -> Promotion:
    standing = standing_promotions(records)
    by = next((one.run_id for one in reversed(standing) if one.after == look.present), "")
    whose = f", promoted by run {by}" if by else ""
    if look.is_newer:
        status = PromotionStatus.SUPERSEDED
        details = (
            f"shows {look.present}{whose}, which is newer than {audited.position}; left as it is"
        )
    else:
        status = PromotionStatus.UNCHANGED
        details = f"shows {look.present} already{whose}" + _behind(place, look)
    return Promotion(
        table=str(place.table),
        target=str(place.target.name),
        run_id=audited.run_id,
        status=status,
        details=details,
        audited=audited.position,
        before=look.present,
        after=look.present,
        head=look.head,
        newer_commits=look.newer_commits,
    )


def _behind(place: Place, look: Look) -> str:
    """A writer between audit and promotion is told of: what it wrote is not promoted."""
    if not look.newer_commits:
        return ""
    told = counted(look.newer_commits, "commit")
    return f"; {place.target.checked} has {told} since the audit, not promoted"


def _refused(place: Place, run_id: str) -> Promotion:
    return _shown(place, run_id, PromotionStatus.REFUSED, "the gate is closed")


def _shown(place: Place, run_id: str, status: PromotionStatus, why: str) -> Promotion:
    """The target as it is."""
    shown = place.target.present()
    return Promotion(
        table=str(place.table),
        target=str(place.target.name),
        run_id=run_id,
        status=status,
        details=f"{why}; shows {shown or 'nothing'} as before",
        before=shown,
        after=shown,
    )
