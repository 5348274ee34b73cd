"""One statement that lists the bad rows of every failing rule of a table, keyed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.model.names import quote
from lakeproof.planning.fuse import within
from lakeproof.planning.pairs.steps import AggregateStep, CompareStep
from lakeproof.planning.plan import CallStep, QueryStep, TablePlan, Tally

_ByView = QueryStep | CallStep | CompareStep | AggregateStep

_COLUMNS = "rule_id, violation_key, occurrences, excess, observed"


def bad_rows_sql(
    plan: TablePlan, rule_ids: frozenset[str], held: Mapping[str, str] | None = None
) -> str:
    """Rows (rule_id, violation_key, occurrences, excess, observed) of these rules; '' if none.

    Row rules share one pass over the table; key and query rules add a branch each. Bad rows
    with one key are one row here, counted in `occurrences`. `held` names views that have the
    rows of a rule already. Rules that the plan does not list have no rows here.
    """
    views = held or {}
    branches: list[str] = []
    rule_ids &= plan.listable
    tallies = [tally for tally in plan.scan.tallies if tally.rule_id in rule_ids]
    if tallies:
        branches.append(_row_branch(plan, tallies))
    branches += [
        branch_sql(step.rule_id, step.hits_sql) for step in plan.keys if step.rule_id in rule_ids
    ]
    queries: tuple[_ByView, ...] = (*plan.queries, *plan.calls, *plan.listing_pairs)
    branches += [
        f"SELECT {_COLUMNS} FROM {quote(views[step.rule_id])}"
        if step.rule_id in views
        else branch_sql(step.rule_id, step.sql)
        for step in queries
        if step.rule_id in rule_ids
    ]
    branches += [
        branch_sql(step.rule_id, step.rows_sql)
        for step in plan.values
        if step.rule_id in rule_ids and step.rows_sql
    ]
    return "\nUNION ALL\n".join(branches)


def _row_branch(plan: TablePlan, tallies: Sequence[Tally]) -> str:
    conditions = [within(tally.scope, tally.violates) for tally in tallies]
    broken = ",\n".join(
        f"CASE WHEN {condition} THEN {_found(tally, number)} END"
        for number, (tally, condition) in enumerate(zip(tallies, conditions, strict=True), start=1)
    )
    ids = ", ".join(f"'{tally.rule_id}'" for tally in tallies)
    where = "\n   OR ".join(f"({condition})" for condition in conditions)
    key = "row_key"
    if any(tally.elements for tally in tallies):
        key = f"CASE WHEN hit.at IS NULL THEN row_key ELSE {plan.element_key_sql} END"
    return (
        f"SELECT element_at(array({ids}), rule) AS rule_id, violation_key, "
        "occurrences, occurrences AS excess, observed\n"
        "FROM (SELECT rule, violation_key, count(*) AS occurrences, min(observed) AS observed\n"
        f"FROM (SELECT hit.rule AS rule, {key} AS violation_key, hit.observed AS observed\n"
        f"FROM (SELECT explode(flatten(array_compact(array({broken})))) AS hit,\n"
        f"{plan.pinned.key_sql} AS row_key\n"
        f"FROM {plan.scan.relation}\nWHERE {where}))\n"
        "GROUP BY rule, violation_key)"
    )


def _found(tally: Tally, number: int) -> str:
    """What one rule has against a row: one entry, or one for each bad element."""
    if not tally.elements:
        return (
            f"array(named_struct('rule', {number}, 'at', CAST(NULL AS STRING), "
            f"'observed', {tally.observed}))"
        )
    return (
        f"transform({tally.elements}, _lakeproof_hit -> named_struct('rule', {number}, "
        "'at', _lakeproof_hit.at, 'observed', _lakeproof_hit.observed))"
    )


def branch_sql(rule_id: str, hits_sql: str) -> str:
    """The rows of one rule that has a statement of its own."""
    return (
        f"SELECT '{rule_id}' AS rule_id, violation_key, occurrences, excess, observed\n"
        f"FROM (\n{hits_sql}\n)"
    )
