"""A table's plan for some of its rules only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lakeproof.planning.fuse import narrow
from lakeproof.planning.plan import TablePlan


def part_of(plan: TablePlan, rule_ids: Collection[str], mode: str, reason: str) -> TablePlan:
    """The same plan without the other rules; `mode` and `reason` say how the rest is read."""
    ids = frozenset(rule_ids)
    return replace(
        plan,
        rules=tuple(rule for rule in plan.rules if rule.rule_id in ids),
        scan=narrow(plan, ids),
        keys=tuple(step for step in plan.keys if step.rule_id in ids),
        queries=tuple(step for step in plan.queries if step.rule_id in ids),
        measures=tuple(step for step in plan.measures if step.rule_id in ids),
        values=tuple(step for step in plan.values if step.rule_id in ids),
        calls=tuple(step for step in plan.calls if step.rule_id in ids),
        pairs=tuple(step for step in plan.pairs if step.rule_id in ids),
        mode=mode,
        mode_reason=reason,
    )
