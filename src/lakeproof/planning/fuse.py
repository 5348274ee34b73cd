"""Many rules, one scan: the SQL of a table's fused action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lakeproof.planning.plan import Measurement, ScanStep, Scope, TablePlan, Tally
from lakeproof.planning.tables import PinnedTable

WHOLE_TABLE = ""


def within(scope: str, condition: str = "") -> str:
    """The condition inside a filter's scope.

    User text stands on a line of its own: a `--` comment at its end cannot swallow our bracket.
    """
    if not scope:
        return condition
    return f"(\n{scope}\n) AND ({condition})" if condition else f"(\n{scope}\n)"


def not_pushed_down(condition: str) -> str:
    """The condition as Spark must evaluate it itself, row by row.

    Pushed down, Iceberg's file statistics would drop NaN, and -0.0 where 0.0 is asked for; so
    would those of rows that Spark holds in memory drop NaN. An array is never pushed down.
    (greatest() would be, and breaks Spark on AND.)
    """
    return f"array_contains(array(\n{condition}\n), true)"


def fuse(
    pinned: PinnedTable,
    scopes: Mapping[str, str],
    tallies: Sequence[Tally],
    measurements: Sequence[Measurement],
) -> ScanStep:
    """One statement that counts the table, each distinct scope and each rule's bad rows.

    `scopes` gives each rule's filter by rule_id; WHOLE_TABLE is none.
    `sum(CASE ...)` on purpose: measured faster than count_if and than bit masks.
    """
    step = ScanStep(
        relation=pinned.relation,
        scopes=tuple(
            Scope(
                alias=f"scope_{number}",
                filter=text,
                rule_ids=frozenset(rule_id for rule_id, own in scopes.items() if own == text),
            )
            for number, text in enumerate(dict.fromkeys(scopes.values()))
            if text != WHOLE_TABLE
        ),
        tallies=tuple(tallies),
        measurements=tuple(measurements),
        sql="",
    )
    return replace(step, sql=scan_sql(step))


def narrow(plan: TablePlan, rule_ids: frozenset[str]) -> ScanStep:
    """The plan's scan for some of its rules only: what is tried when the whole breaks."""
    step = replace(
        plan.scan,
        scopes=tuple(scope for scope in plan.scan.scopes if scope.rule_ids & rule_ids),
        tallies=tuple(tally for tally in plan.scan.tallies if tally.rule_id in rule_ids),
        measurements=tuple(taken for taken in plan.scan.measurements if taken.rule_id in rule_ids),
    )
    return replace(step, sql=scan_sql(step))


def scan_sql(step: ScanStep) -> str:
    """The statement of a scan.

    When every rule has a filter, rows outside all of them need not be read: the filters'
    disjunction goes into WHERE, and the table's rows are counted from its metadata beside.
    """
    filtered = [tally.scope for tally in step.tallies]
    push_down = bool(filtered) and WHOLE_TABLE not in filtered and not step.measurements
    total = f"(SELECT count(*) FROM {step.relation})" if push_down else "count(*)"
    items = [f"{total} AS table_rows"]
    items += [_count(within(scope.filter), scope.alias) for scope in step.scopes]
    items += [_count(within(tally.scope, tally.violates), tally.alias) for tally in step.tallies]
    items += [_count_elements(tally) for tally in step.tallies if tally.elements]
    items += [f"{taken.sql} AS {taken.alias}" for taken in step.measurements]
    where = ""
    if push_down:
        every = [within(scope.filter) for scope in step.scopes]
        where = "\nWHERE " + "\n   OR ".join(every)
    return "SELECT " + ",\n       ".join(items) + f"\nFROM {step.relation}{where}"


def _count(condition: str, alias: str) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0) AS {alias}"


def _count_elements(tally: Tally) -> str:
    condition = within(tally.scope, tally.violates)
    counted = f"CASE WHEN {condition} THEN size({tally.elements}) ELSE 0 END"
    return f"coalesce(sum({counted}), 0) AS {tally.elements_alias}"
