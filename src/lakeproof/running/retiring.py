"""Rules that a suite no longer asks for: their violations are resolved, and say why."""

from __future__ import annotations

from collections.abc import Iterable

from lakeproof.model.reading import Mode
from lakeproof.model.weighing import Resolution
from lakeproof.planning.plan import Plan
from lakeproof.state.store import Move, RuleProgress


def retired_rules(plan: Plan, known: Iterable[RuleProgress]) -> dict[str, Resolution]:
    """Why each rule that the suite once had is not there any more.

    A rule whose name is still there has changed its logic. One that was rejected is there.
    """
    ids = {rule.rule_id for rule in plan.rules} | {rule.rule_id for rule in plan.rejected}
    unplanned = {rule.key for rule in plan.rejected}
    keys = {rule.key for rule in plan.rules}
    return {
        one.rule_id: Resolution.RULE_CHANGED if one.rule_key in keys else Resolution.RULE_REMOVED
        for one in known
        if one.rule_id not in ids and one.rule_key not in unplanned
    }


def retiring_moves(known: Iterable[RuleProgress], retired: Iterable[str]) -> list[Move]:
    """Moves that take rules out of their suite; one that comes back is built anew."""
    names = set(retired)
    return [
        Move(
            rule_id=one.rule_id,
            mode=Mode.SNAPSHOT,
            mark=one.mark,
            standing=None,
            generation=one.generation,
            rule_key=one.rule_key,
            previous=one.batch_seq,
        )
        for one in known
        if one.rule_id in names and one.mark is not None
    ]
