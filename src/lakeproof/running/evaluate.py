"""Everything over one table: the scan, the key sets, the queries, then the bad rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import (
    KeyCheck,
    KeyCounts,
    MeasureCheck,
    QueryCheck,
    RowCheck,
    Verdict,
)
from lakeproof.engines.engine import Engine, Hits
from lakeproof.errors import LakeproofError, RuleTimeoutError, short_message
from lakeproof.model.rule import Rule
from lakeproof.model.violation import HitSummary
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.fuse import narrow
from lakeproof.planning.plan import KeyStep, KeyStrategy, QueryStep, TablePlan
from lakeproof.running.progress import Listener, StepDone
from lakeproof.running.time_budget import TimeBudget


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One rule's answer: a verdict, or the reason why there is none."""

    verdict: Verdict | None
    error: str = ""
    seconds: float = 0.0
    hits: HitSummary | None = None


@dataclass(slots=True)
class TableEvaluation:
    """What is known of one table so far; `hits` stay with the engine until released."""

    plan: TablePlan
    values: dict[str, object] = field(default_factory=dict)
    failing: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    hits: Hits | None = None
    summaries: Mapping[str, HitSummary] = field(default_factory=dict)
    unlisted: str = ""

    @property
    def table_rows(self) -> int | None:
        rows = self.values.get("table_rows")
        return None if rows is None else int(str(rows))

    @property
    def evaluated(self) -> tuple[str, ...]:
        """Rules whose violations are known: neither in error nor with bad rows unlisted."""
        ids = dict.fromkeys(rule.rule_id for rule in self.plan.rules)
        unlisted = set(self.failing) if self.unlisted else set()
        return tuple(name for name in ids if name not in self.errors and name not in unlisted)


def evaluate_table(
    plan: TablePlan, engine: Engine, budget: TimeBudget, listener: Listener
) -> TableEvaluation:
    """Run the table's steps. A rule that breaks is that rule's error; its neighbours go on."""
    found = TableEvaluation(plan)
    _run_scan(found, engine, budget, listener)
    for key in plan.keys:
        _run_own_action(found, key, partial(_surplus, key, engine, budget), listener)
    for query in plan.queries:
        _run_own_action(found, query, partial(_returned, query, engine, budget), listener)
    _list_bad_rows(found, engine, budget, listener)
    return found


def _run_scan(
    found: TableEvaluation, engine: Engine, budget: TimeBudget, listener: Listener
) -> None:
    """The fused action; when it breaks, halves of it, until the breaking rules stand alone."""
    started = time.monotonic()
    ids = tuple(dict.fromkeys(rule.rule_id for rule in found.plan.rules))
    pending = [ids]
    while pending:
        part = pending.pop(0)
        step = narrow(found.plan, frozenset(part)) if part != ids else found.plan.scan
        try:
            found.values.update(engine.fetch_row(step.sql, budget.for_action()))
        except RuleTimeoutError:
            # Halves of what was too slow would only be slow again.
            reason = budget.describe(None, None)
            found.errors.update(dict.fromkeys(part, reason))
        except Exception as problem:  # noqa: BLE001 (whatever one rule raises is its own error)
            if len(part) == 1:
                found.errors[part[0]] = error_text(problem)
            else:
                middle = len(part) // 2
                pending += [part[:middle], part[middle:]]
    seconds = time.monotonic() - started
    found.seconds.update(dict.fromkeys(ids, seconds))
    for tally in found.plan.scan.tallies:
        count = int(str(found.values.get(tally.alias, 0)))
        if count and tally.rule_id not in found.errors:
            found.failing[tally.rule_id] = count
    named = found.plan.pinned.table
    listener(StepDone(f"{named}: scanned {found.table_rows} rows for {len(ids)} rules", seconds))


def _run_own_action(
    found: TableEvaluation,
    step: KeyStep | QueryStep,
    count: Callable[[], int],
    listener: Listener,
) -> None:
    if step.rule_id in found.errors:  # its filter broke the scan already
        return
    started = time.monotonic()
    try:
        failing = count()
    except Exception as problem:  # noqa: BLE001 (whatever one rule raises is its own error)
        found.errors[step.rule_id] = error_text(problem)
    else:
        if failing:
            found.failing[step.rule_id] = failing
    seconds = time.monotonic() - started
    found.seconds[step.rule_id] = seconds
    what = f"key ({', '.join(step.columns)})" if isinstance(step, KeyStep) else "query"
    listener(StepDone(f"{found.plan.pinned.table}: {what}", seconds))


def _surplus(step: KeyStep, engine: Engine, budget: TimeBudget) -> int:
    limit = budget.for_action()
    try:
        return int(str(engine.fetch_row(step.sql, limit)["surplus_rows"]))
    except RuleTimeoutError as problem:
        raise RuleTimeoutError(budget.describe(None, limit)) from problem


def _returned(step: QueryStep, engine: Engine, budget: TimeBudget) -> int:
    limit = budget.for_action(step.timeout_seconds)
    try:
        return int(str(engine.fetch_row(step.sql, limit)["failing_rows"]))
    except RuleTimeoutError as problem:
        raise RuleTimeoutError(budget.describe(step.timeout_seconds, limit)) from problem


def _list_bad_rows(
    found: TableEvaluation, engine: Engine, budget: TimeBudget, listener: Listener
) -> None:
    """One pass for the bad rows of every failing rule; what a hash only suspected, it confirms."""
    if not found.failing:
        return
    started = time.monotonic()
    sql = bad_rows_sql(found.plan, frozenset(found.failing))
    try:
        found.hits = engine.hold_hits(sql, budget.for_action())
        found.summaries = found.hits.summaries()
    except Exception as problem:  # noqa: BLE001 (counts stand, the rows behind them are unknown)
        found.unlisted = error_text(problem)
        if found.hits is not None:
            found.hits.release()
            found.hits = None
        for key in found.plan.keys:
            if key.rule_id in found.failing:
                found.errors[key.rule_id] = f"duplicates were not listed: {found.unlisted}"
    hits = sum(summary.hits for summary in found.summaries.values())
    text = f"{found.plan.pinned.table}: listed {hits} bad rows"
    listener(StepDone(text, time.monotonic() - started))


def evaluation_of(rule: Rule, found: TableEvaluation) -> Evaluation:
    """The answer to one rule, judged by its check."""
    seconds = found.seconds.get(rule.rule_id, 0.0)
    if rule.rule_id in found.errors:
        return Evaluation(None, found.errors[rule.rule_id], seconds)
    total = _rows_in_scope(rule, found)
    if total is None:
        return Evaluation(None, "the scan of its table gave no row count", seconds)
    hits = found.summaries.get(rule.rule_id)
    try:
        verdict = _judge(rule, found, total, hits)
    except Exception as problem:  # noqa: BLE001 (a plug-in's judge may raise anything)
        return Evaluation(None, error_text(problem), seconds)
    return Evaluation(verdict, "", seconds, hits)


def _rows_in_scope(rule: Rule, found: TableEvaluation) -> int | None:
    if not rule.filter:
        return found.table_rows
    scopes = found.plan.scan.scopes
    alias = next(scope.alias for scope in scopes if rule.rule_id in scope.rule_ids)
    rows = found.values.get(alias)
    return None if rows is None else int(str(rows))


def _judge(rule: Rule, found: TableEvaluation, total: int, hits: HitSummary | None) -> Verdict:
    check = find_check(rule.check)
    failing = found.failing.get(rule.rule_id, 0)
    if isinstance(check, RowCheck):
        return check.judge(failing, total, rule.column_label, rule.arguments)
    if isinstance(check, KeyCheck):
        return check.judge(_key_counts(rule, found, failing, hits), total, rule.columns)
    if isinstance(check, QueryCheck):
        return check.judge(failing, total)
    if isinstance(check, MeasureCheck):
        taken = {
            item.name: found.values[item.alias]
            for item in found.plan.scan.measurements
            if item.rule_id == rule.rule_id
        }
        return check.judge(taken, total, rule.arguments)
    raise LakeproofError(f"check {rule.check!r} has a shape that cannot be judged")


def _key_counts(
    rule: Rule, found: TableEvaluation, surplus: int, hits: HitSummary | None
) -> KeyCounts:
    if surplus == 0 or hits is None:  # none, or only hashes that met by chance
        return KeyCounts(0, 0, 0)
    counts = KeyCounts(
        duplicated_values=hits.hits,
        surplus_rows=hits.occurrences - hits.hits,
        rows_involved=hits.occurrences,
    )
    step = next(key for key in found.plan.keys if key.rule_id == rule.rule_id)
    if step.strategy is not KeyStrategy.HASHED and counts.surplus_rows != surplus:
        raise LakeproofError(
            f"two counts of surplus rows differ: {surplus} and {counts.surplus_rows}; "
            "was the table changed without a new position?"
        )
    return counts


def error_text(problem: BaseException) -> str:
    """An exception as a result shows it; `Error:` marks what is not in our own words."""
    text = short_message(problem)
    return text if isinstance(problem, LakeproofError) else f"Error: {text}"
