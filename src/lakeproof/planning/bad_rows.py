"""One statement that lists the bad rows of every failing rule of a table, keyed."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.planning.fuse import within
from lakeproof.planning.plan import TablePlan, Tally


def bad_rows_sql(plan: TablePlan, rule_ids: frozenset[str]) -> str:
    """Rows (rule_id, violation_key, occurrences) of these rules; '' if none of them has any.

    Row rules share one pass over the table; key and query rules add a branch each. Bad rows
    with one key are one row here, counted in `occurrences`.
    """
    branches: list[str] = []
    tallies = [tally for tally in plan.scan.tallies if tally.rule_id in rule_ids]
    if tallies:
        branches.append(_row_branch(plan, tallies))
    branches += [
        _branch(step.rule_id, step.hits_sql) for step in plan.keys if step.rule_id in rule_ids
    ]
    branches += [
        _branch(step.rule_id, step.hits_sql) for step in plan.queries if step.rule_id in rule_ids
    ]
    return "\nUNION ALL\n".join(branches)


def _row_branch(plan: TablePlan, tallies: Sequence[Tally]) -> str:
    conditions = [within(tally.scope, tally.violates) for tally in tallies]
    broken = ", ".join(
        f"CASE WHEN {condition} THEN {number} END"
        for number, condition in enumerate(conditions, start=1)
    )
    ids = ", ".join(f"'{tally.rule_id}'" for tally in tallies)
    where = "\n   OR ".join(f"({condition})" for condition in conditions)
    return (
        f"SELECT element_at(array({ids}), rule) AS rule_id, violation_key, occurrences\n"
        "FROM (SELECT rule, violation_key, count(*) AS occurrences\n"
        f"FROM (SELECT explode(array_compact(array({broken}))) AS rule,\n"
        f"{plan.pinned.key_sql} AS violation_key\n"
        f"FROM {plan.pinned.relation}\nWHERE {where})\n"
        "GROUP BY rule, violation_key)"
    )


def _branch(rule_id: str, hits_sql: str) -> str:
    return f"SELECT '{rule_id}' AS rule_id, violation_key, occurrences\nFROM (\n{hits_sql}\n)"
