"""How each rule of a table follows changes, or why it needs the whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.model.weighing import WeighKind

if TYPE_CHECKING:
    from lakeproof.planning.plan import TablePlan

BY_CLOCK = "its answer changes with the clock"
NOT_ADDED_UP = "what it measures cannot be added up from changes"
BY_QUERY = "a query of the user"
BY_FUNCTION = "a function of the user"
BY_COMPARING = "it compares two tables"


def ways_of(plan: TablePlan) -> dict[str, WeighKind | str]:
    """The kind of weights that a rule takes, by rule_id, or the reason why it takes none.

    What is here is decided by the shape of its step; a rule without one is judged by row counts.
    """
    ways: dict[str, WeighKind | str] = {rule.rule_id: WeighKind.COUNT for rule in plan.rules}
    listed = plan.counting_bad
    for tally in plan.scan.tallies:
        ways[tally.rule_id] = WeighKind.ROW if tally.rule_id in listed else WeighKind.COUNT
    ways |= dict.fromkeys((step.rule_id for step in plan.keys), WeighKind.UNIQUE)
    for query in plan.queries:
        ways[query.rule_id] = WeighKind.REFERENCE if query.parent else query.why_whole
    not_added = [taken.rule_id for taken in plan.scan.measurements if not taken.weighted]
    not_added += [step.rule_id for step in plan.measures]
    ways |= dict.fromkeys(not_added, NOT_ADDED_UP)
    ways |= dict.fromkeys((step.rule_id for step in plan.values), BY_QUERY)
    ways |= dict.fromkeys((step.rule_id for step in plan.calls), BY_FUNCTION)
    ways |= dict.fromkeys((step.rule_id for step in plan.pairs), BY_COMPARING)
    ways |= dict.fromkeys(plan.clocked & ways.keys(), BY_CLOCK)
    return ways
