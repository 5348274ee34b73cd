"""What is told of a target that a promotion has moved, or left as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeproof.engines.spark.promotion.target import Look, Target
from lakeproof.gating.promotion_audit import Audited
from lakeproof.gating.promotion_outcome import Promotion, PromotionStatus
from lakeproof.gating.promotion_steps import is_where_left
from lakeproof.model.names import TableName
from lakeproof.model.printable import counted
from lakeproof.model.promotion import PromotionRecord, standing_promotions


@dataclass(frozen=True, slots=True)
class Route:
    """From a table to the target that shows its trusted rows."""

    table: TableName
    target: Target


def left_alone(
    route: Route, audited: Audited, look: Look, records: Sequence[PromotionRecord]
) -> Promotion:
    standing = standing_promotions(records)
    by = next((one.run_id for one in reversed(standing) if one.after == look.present), "")
    whose = f", promoted by run {by}" if by else ", by no promotion that is kept"
    if look.is_newer:
        status = PromotionStatus.SUPERSEDED
        details = (
            f"shows {look.present}{whose}, which is newer than {audited.position}; left as it is"
        )
    else:
        status = PromotionStatus.UNCHANGED
        details = f"shows {look.present} already{whose}" + behind_text(route, look)
    return Promotion(
        table=str(route.table),
        target=str(route.target.name),
        run_id=audited.run_id,
        status=status,
        details=details,
        audited=audited.position,
        before=look.present,
        after=look.present,
        head=look.head,
        newer_commits=look.newer_commits,
        promoted_by=by,
    )


def found_text(route: Route, look: Look, records: Sequence[PromotionRecord]) -> str:
    """A branch that something else has set is told of; nothing is lost, for main has it all."""
    is_main = route.target.name == route.table
    if look.present is None or is_main or is_where_left(look, records):
        return ""
    return f"; no promotion had set it to {look.present}"


def behind_text(route: Route, look: Look) -> str:
    """A writer between audit and promotion is told of: what it wrote is not promoted."""
    if not look.newer_commits:
        return ""
    told = counted(look.newer_commits, "commit")
    return f"; {route.target.checked} has {told} since the audit, not promoted"


def refused(route: Route, run_id: str) -> Promotion:
    return as_it_is(route, run_id, PromotionStatus.REFUSED, "the gate is closed")


def as_it_is(route: Route, run_id: str, status: PromotionStatus, why: str) -> Promotion:
    shown = route.target.present()
    return Promotion(
        table=str(route.table),
        target=str(route.target.name),
        run_id=run_id,
        status=status,
        details=f"{why}; shows {shown or 'nothing'} as before",
        before=shown,
        after=shown,
    )
