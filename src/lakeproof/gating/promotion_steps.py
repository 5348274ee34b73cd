"""The steps of a promotion at one target: look, decide, move, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lakeproof import faults
from lakeproof.engines.spark.promotion.target import Look, Target
from lakeproof.errors import (
    AlreadyRunningError,
    EngineUnavailableError,
    PromotionError,
    short_message,
)
from lakeproof.gating.promotion_audit import AGAIN, Audited
from lakeproof.model.position import Position
from lakeproof.model.promotion import Act, PromotionRecord, is_other_table, last_record, unfinished
from lakeproof.state.access import TRIES_MAX, pause, spark_errors
from lakeproof.state.statements import table_format


def decide_move(target: Target, audited: Audited, records: Sequence[PromotionRecord]) -> Look:
    """One look; refuses what must not be promoted. What is shown already may be anything.

    A position that was taken back stays so, whatever run has read it.
    """
    look = target.look(audited.position)
    audited.require_same_table(look.table_id)
    own = _of_this_table(look, records)
    for one in own:
        if one.act is Act.ROLLED_BACK and one.before == audited.position:
            raise PromotionError(
                f"{audited.position} was promoted to {target.name} by run {one.run_id!r} and "
                f"rolled back. Commit to {target.checked} what is wanted instead, run the checks "
                "and promote that run"
            )
    if look.present == audited.position or look.is_newer:
        return look
    if look.refusal:
        raise PromotionError(f"{look.refusal}. {look.remedy or AGAIN}")
    if look.is_apart and not is_where_left(look, own):
        raise PromotionError(
            f"{target.name} shows {look.present}, with commits that {target.checked} does not "
            f"have, and no promotion has set it there: it is somebody else's. {target.way_out}, or "
            "name another by --branch"
        )
    return look


def is_where_left(look: Look, records: Sequence[PromotionRecord]) -> bool:
    """Whether the target is where the last record of it, or an intention, has left it."""
    last = last_record(_of_this_table(look, records))
    if last is None:
        return look.present is None
    left = {last.after, last.before} if last.act is Act.INTENDED else {last.after}
    return look.present in left


def move_target(target: Target, look: Look, position: Position, number: int) -> bool:
    """Whether the target was moved; False if something else was faster and a try is left."""
    try:
        if target.present() != look.present:
            return _again(target, number)
        target.move(position, look.table_id)
    except spark_errors() as problem:
        if not table_format(position.kind).is_conflict(problem):
            raise _not_moved(target, problem) from problem
        return _again(target, number)
    faults.reach("after_promotion_move")
    shown = target.present()
    if shown != position:
        raise PromotionError(
            f"{target.name} was set to {position} and shows {shown}: something else moves it"
        )
    return True


def _again(target: Target, number: int) -> bool:
    """Whoever is faster now may have ended later: the last try is no final word."""
    if number == TRIES_MAX:
        raise AlreadyRunningError(
            f"{target.name} was not moved: something else was faster {TRIES_MAX} times. Promote "
            "again when it has finished"
        )
    pause(number)
    return False


def look_back(target: Target, taken: PromotionRecord) -> Look:
    """One look; refuses if something else than the promotion is to be seen.

    A target that shows nothing is one whose rollback died half-way.
    """
    assert taken.after is not None  # noqa: S101 (a promotion shows something)
    look = target.look(taken.after)
    if is_other_table(look.table_id, taken.table_id):
        raise PromotionError(
            f"{target.checked} was dropped and made again since run {taken.run_id!r} was promoted: "
            f"what {target.name} showed before is gone. {AGAIN}"
        )
    if look.present not in {taken.after, taken.before, None}:
        raise PromotionError(
            f"{target.name} shows {look.present}, and run {taken.run_id!r} has promoted "
            f"{taken.after}: something else has moved it since, so it is left alone. If that may "
            f"go, set it to {taken.after} again and roll back then"
        )
    return look


def take_back(target: Target, taken: PromotionRecord, fence: Callable[[], None]) -> Look:
    """Show what was shown before, unless that is so already and only the record is missing."""
    look = look_back(target, taken)
    if look.present != taken.before:
        fence()
        try:
            shown = target.present()
            if shown != look.present:
                raise PromotionError(
                    f"{target.name} shows {shown or 'nothing'} and showed {look.present} a moment "
                    "ago: something else moves it, so it is left alone"
                )
            target.restore(taken.before, shown)
        except spark_errors() as problem:
            raise _not_moved(target, problem) from problem
        faults.reach("after_promotion_move")
    return look


def left_half_done(
    records: Sequence[PromotionRecord], shown: Position | None
) -> PromotionRecord | None:
    """The intention that was not recorded as done and has changed what is shown.

    It has moved the target; or has taken it away to make it anew, and died in between.
    """
    last = last_record(records)
    if last is None or last.act is not Act.INTENDED:
        return None
    is_taken_away = shown is None and last.before is not None
    return last if is_taken_away else unfinished(records, shown)


def shown_before(look: Look, records: Sequence[PromotionRecord]) -> Position | None:
    """What the target shows; or did, if a killed promotion has taken it away to make it anew."""
    last = last_record(_of_this_table(look, records))
    if look.present is None and last is not None and last.act is Act.INTENDED:
        return last.before
    return look.present


def _of_this_table(look: Look, records: Sequence[PromotionRecord]) -> list[PromotionRecord]:
    return [one for one in records if not is_other_table(one.table_id, look.table_id)]


def _not_moved(target: Target, problem: Exception) -> EngineUnavailableError:
    return EngineUnavailableError(f"{target.name} could not be moved: {short_message(problem)}")
