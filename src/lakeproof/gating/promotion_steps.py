"""The steps of a promotion at one target: look, decide, move, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof import faults
from lakeproof.engines.spark.promotion.target import Look, Target
from lakeproof.errors import EngineUnavailableError, PromotionError, short_message
from lakeproof.gating.promotion_audit import AGAIN, Audited
from lakeproof.model.position import Position
from lakeproof.model.promotion import Act, PromotionRecord, is_other_table, standing_promotions
from lakeproof.state.access import TRIES_MAX, pause, spark_errors
from lakeproof.state.statements import table_format


def decide_move(target: Target, audited: Audited, records: Sequence[PromotionRecord]) -> Look:
    """One look; refuses what must not be promoted. What is shown already may be anything."""
    look = target.look(audited.position)
    audited.require_same_table(look.table_id)
    if any(one.run_id == audited.run_id and one.act is Act.ROLLED_BACK for one in records):
        raise PromotionError(
            f"the promotion of run {audited.run_id!r} to {target.name} was rolled back. {AGAIN}"
        )
    if look.refusal and look.present != audited.position and not look.is_newer:
        raise PromotionError(f"{look.refusal}. {AGAIN}")
    return look


def move_target(target: Target, position: Position, number: int) -> bool:
    """Whether the target was moved; False if another commit was faster and a try is left."""
    try:
        target.move(position)
    except spark_errors() as problem:
        is_conflict = table_format(position.kind).is_conflict(problem)
        if number == TRIES_MAX or not is_conflict:
            raise _not_moved(target, problem) from problem
        pause(number)
        return False
    faults.reach("after_promotion_move")
    shown = target.present()
    if shown != position:
        raise PromotionError(
            f"{target.name} was set to {position} and shows {shown}: something else moves it"
        )
    return True


def look_back(target: Target, taken: PromotionRecord) -> Look:
    """One look; refuses if something else than the promotion is to be seen.

    A target that shows nothing is one whose rollback died half-way.
    """
    assert taken.after is not None  # noqa: S101 (a promotion shows something)
    look = target.look(taken.after)
    if is_other_table(look.table_id, taken.table_id):
        raise PromotionError(
            f"{target.checked} was dropped and made again since run {taken.run_id!r} was promoted: "
            f"what {target.name} showed before is gone"
        )
    if look.present not in {taken.after, taken.before, None}:
        raise PromotionError(
            f"{target.name} shows {look.present}, and run {taken.run_id!r} has promoted "
            f"{taken.after}: something else has moved it since, so it is left alone"
        )
    return look


def take_back(target: Target, taken: PromotionRecord) -> Look:
    """Show what was shown before, unless that is so already and only the record is missing."""
    look = look_back(target, taken)
    if look.present != taken.before:
        try:
            target.restore(taken.before)
        except spark_errors() as problem:
            raise _not_moved(target, problem) from problem
        faults.reach("after_promotion_move")
    return look


def shown_before(
    look: Look, records: Sequence[PromotionRecord], audited: Position
) -> Position | None:
    """What the target showed before this promotion.

    By the last record, if a killed promotion has moved it, or taken it away to make it anew.
    """
    if look.present not in {audited, None}:
        return look.present
    own = _of_this_table(look, records)
    last = max(own, key=lambda one: one.order, default=None)
    return last.after if last else None


def _of_this_table(look: Look, records: Sequence[PromotionRecord]) -> list[PromotionRecord]:
    return [one for one in records if not is_other_table(one.table_id, look.table_id)]


def is_recorded(look: Look, records: Sequence[PromotionRecord], audited: Position) -> bool:
    """Whether the target shows the audited position, and a promotion that stands says so."""
    standing = standing_promotions(_of_this_table(look, records))
    return look.present == audited and bool(standing) and standing[-1].after == audited


def _not_moved(target: Target, problem: Exception) -> EngineUnavailableError:
    return EngineUnavailableError(f"{target.name} could not be moved: {short_message(problem)}")
