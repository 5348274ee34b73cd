"""Promotion: a trusted layer shows exactly what a run has read and passed.

    kept results -> gate -> look at every table -> for each: lease, look, move, record

Nothing here spans tables atomically, so each step is safe to repeat and their order makes a kill
between two of them harmless:

- The gate is decided from what is kept of the run, and every table is looked at, before anything
  moves.
- One promoter at a time works on a target, under the lease that runs use too. A repeated call takes
  over the lease of its own run at once, any call that of a dead holder; while another promoter is
  at work it ends with AlreadyRunningError. The lease is looked at once more right before the move:
  a promoter that slept until another took it over moves nothing. What it sleeps through between
  that look and the commit is not fenced.
- What is to be moved from where to where is recorded as intended, then moved, by one commit of the
  table format, then recorded as promoted. Killed before the last, the next call finds the target
  where the intention wanted it, and adds the record. A target that is there without an intention
  was moved by something else: it is left alone, and nothing is recorded.
- A rollback does the same the other way round: move back, then record. Killed between, the target
  shows what was before a promotion that still stands in the record: only the record is added.
  What a killed promotion has moved, or taken away to make it anew, is taken back like one that was
  recorded; a target that its run has intended to move, and has not, is left out.

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
    left_half_done,
    look_back,
    move_target,
    shown_before,
    take_back,
)
from lakeproof.gating.promotion_telling import (
    Route,
    as_it_is,
    behind_text,
    found_text,
    left_alone,
    refused,
)
from lakeproof.model.position import Position
from lakeproof.model.promotion import (
    PROMOTION,
    Act,
    PromotionRecord,
    last_record,
    move_text,
    next_order,
    standing_promotions,
    unfinished,
)
from lakeproof.state import literals
from lakeproof.state.access import TRIES_MAX
from lakeproof.state.kept_runs import promotions_to
from lakeproof.state.reading import StateReader
from lakeproof.state.store import Store, TableWork


@dataclass(frozen=True, slots=True)
class Promoter:
    """`reader` reads what `store` keeps; `clock` must be the real one, for leases."""

    store: Store
    reader: StateReader
    clock: Callable[[], datetime]
    dag_run_id: str = ""

    def promote(self, routes: Sequence[Route], audit: Audit) -> PromotionOutcome:
        """Move every target to what the run has read, if its gate is open."""
        for route in routes:
            audit.require_table(route.target.checked)
        if not audit.gate.is_open:
            left = [refused(route, audit.run_id) for route in routes]
            return PromotionOutcome(audit.run_id, audit.gate, tuple(left), audit.results)
        read = [audit.read_at(route.target.checked) for route in routes]
        if len(routes) > 1:  # one alone is decided where it moves
            for route, audited in zip(routes, read, strict=True):
                decide_move(route.target, audited, self._records(route.target))
        moved = [self._promote(route, audited) for route, audited in zip(routes, read, strict=True)]
        return PromotionOutcome(audit.run_id, audit.gate, tuple(moved), audit.results)

    def rollback(self, routes: Sequence[Route], run_id: str = "") -> PromotionOutcome:
        """Take the last promotion to each target back, or that of the run."""
        if len(routes) > 1:
            routes = [one for one in routes if not self._is_untouched(one.target, run_id)] or routes
            for route in routes:
                taken = self._to_take_back(route.target, run_id)
                if taken is not None:
                    look_back(route.target, taken)
        moved = [self._roll_back(route, run_id) for route in routes]
        return PromotionOutcome(run_id or moved[0].run_id, None, tuple(moved))

    def _promote(self, route: Route, audited: Audited) -> Promotion:
        target, run_id, position = route.target, audited.run_id, audited.position
        self.store.prepare()
        with self._holding(target, f"promotion-of-{run_id}", position) as fence:
            records = self._records(target)
            for number in range(1, TRIES_MAX + 1):
                look = decide_move(target, audited, records)
                found = found_text(route, look, records)
                intended = self._left_by(run_id, look, records)
                if intended is not None:
                    break
                if look.is_newer or look.present == position:
                    return left_alone(route, audited, look, records)
                intended = self._intend(route, audited, look, records)
                fence()
                if move_target(target, look, position, number):
                    break
            assert intended is not None  # noqa: S101 (the last try moves or raises)
            self._keep(records, intended.done())
            faults.reach("after_promotion_record")
        return Promotion(
            table=str(route.table),
            target=str(target.name),
            run_id=run_id,
            status=PromotionStatus.PROMOTED,
            details=move_text(intended.before, position) + found + behind_text(route, look),
            audited=position,
            before=intended.before,
            after=position,
            head=look.head,
            newer_commits=look.newer_commits,
        )

    def _roll_back(self, route: Route, run_id: str) -> Promotion:
        target = route.target
        taken = self._to_take_back(target, run_id)
        if taken is None:
            return as_it_is(route, run_id, PromotionStatus.UNCHANGED, "was rolled back before")
        self.store.prepare()
        with self._holding(target, f"rollback-of-{taken.run_id}", taken.after) as fence:
            taken = self._to_take_back(target, taken.run_id)
            if taken is None:
                return as_it_is(route, run_id, PromotionStatus.UNCHANGED, "was rolled back before")
            look = take_back(target, taken, fence)
            records = [*self._records(target), taken]
            moved = (taken.after, taken.before)
            undone = self._record(route, taken.run_id, Act.ROLLED_BACK, moved, look, records)
            self._keep(records, taken, undone)  # both: the promotion may have died unrecorded
            faults.reach("after_promotion_record")
        return Promotion(
            table=str(route.table),
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
        left = left_half_done(records, target.present())
        if left is not None:
            records.append(left.done())
        standing = standing_promotions(records)
        if not run_id:
            if not standing:
                raise NothingSelectedError(f"no promotion to {target.name} is kept that stands")
            return standing[-1]
        if standing and standing[-1].run_id == run_id:
            return standing[-1]
        own = [one for one in records if one.run_id == run_id and one.act is not Act.INTENDED]
        if not own:
            raise NothingSelectedError(f"run {run_id!r} was never promoted to {target.name}")
        if all(one.run_id != run_id for one in standing):
            return None
        raise PromotionError(
            f"run {standing[-1].run_id!r} was promoted to {target.name} after run {run_id!r}. Roll "
            "that one back first"
        )

    def _is_untouched(self, target: Target, run_id: str) -> bool:
        """Whether the run has intended to move it, and died or was refused before it could."""
        records = self._records(target)
        own = [one for one in records if one.run_id == run_id]
        if not own or any(one.act is not Act.INTENDED for one in own):
            return False
        left = left_half_done(records, target.present())
        return left is None or left.run_id != run_id

    def _records(self, target: Target) -> list[PromotionRecord]:
        return promotions_to(self.reader, str(target.name))

    def _left_by(
        self, run_id: str, look: Look, records: list[PromotionRecord]
    ) -> PromotionRecord | None:
        """What this run has moved and not recorded; that of another run is recorded for it."""
        left = unfinished(records, look.present)
        if left is not None and left.run_id != run_id:
            self._keep(records, left.done())
            return None
        return left

    def _intend(
        self, route: Route, audited: Audited, look: Look, records: list[PromotionRecord]
    ) -> PromotionRecord:
        moved = (shown_before(look, records), audited.position)
        last = last_record(records)
        if last is not None and last.is_intention_of(audited.run_id, *moved):
            return last
        intended = self._record(route, audited.run_id, Act.INTENDED, moved, look, records)
        self._keep(records, intended)
        return intended

    def _keep(self, records: list[PromotionRecord], *added: PromotionRecord) -> None:
        self.store.record_results([one.to_result() for one in added])
        records.extend(added)

    def _record(
        self,
        route: Route,
        run_id: str,
        act: Act,
        moved: tuple[Position | None, Position | None],
        look: Look,
        records: Sequence[PromotionRecord],
    ) -> PromotionRecord:
        return PromotionRecord(
            run_id=run_id,
            table=route.table,
            target=str(route.target.name),
            act=act,
            order=next_order(records),
            before=moved[0],
            after=moved[1],
            executed_at=literals.moment_text(self.clock()),
            table_id=look.table_id,
            dag_run_id=self.dag_run_id,
        )

    @contextmanager
    def _holding(
        self, target: Target, holder: str, position: Position | None
    ) -> Iterator[Callable[[], None]]:
        """The lease on the target; gives what raises FencedError once it is lost."""
        work = TableWork(target.name, "", PROMOTION, (), position)
        try:
            batches = self.store.begin(holder, [work], self.clock())
            faults.reach("after_promotion_lease")
            yield lambda: self.store.require_leases(batches, holder)
            self.store.commit(batches, holder, [], self.clock())
        finally:
            self.store.release(holder, self.clock())
