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
    unlisted: dict[str, str] = field(default_factory=dict)

    @property
    def table_rows(self) -> int | None:
        rows = self.values.get("table_rows")
        return None if rows is None else int(str(rows))

    @property
    def evaluated(self) -> tuple[str, ...]:
        """Rules whose violations are known: neither in error nor with bad rows unlisted."""
        ids = dict.fromkeys(rule.rule_id for rule in self.plan.rules)
        unknown = {*self.errors, *self.unlisted}
        return tuple(name for name in ids if name not in unknown)


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
    """One pass for the bad rows of every failing rule; what a hash only suspected, it confirms.

    When the pass breaks, each rule is tried alone under its own time limit, and those that can be
    listed are listed together after all: one broken query costs the others nothing.
    """
    if not found.failing:
        return
    started = time.monotonic()
    limits = {step.rule_id: step.timeout_seconds for step in found.plan.queries}
    wanted = frozenset(found.failing) & found.plan.listable
    own = [limit for rule_id, limit in limits.items() if rule_id in wanted and limit is not None]
    try:
        _hold(found, wanted, engine, budget.for_action(min(own, default=None)))
    except Exception as problem:  # noqa: BLE001 (counts stand; whose rows are unknown is found out)
        found.unlisted = {wanted_id: error_text(problem) for wanted_id in wanted}
        if len(wanted) > 1:
            _list_one_by_one(found, limits, engine, budget)
    _cross_check(found)
    hits = sum(summary.hits for summary in found.summaries.values())
    text = f"{found.plan.pinned.table}: listed {hits} bad rows"
    listener(StepDone(text, time.monotonic() - started))


def _hold(
    found: TableEvaluation, rule_ids: frozenset[str], engine: Engine, limit: float | None
) -> None:
    hits = engine.hold_hits(bad_rows_sql(found.plan, rule_ids), limit)
    try:
        found.summaries = hits.summaries()
    except BaseException:
        hits.release()
        raise
    found.hits = hits


def _list_one_by_one(
    found: TableEvaluation,
    limits: Mapping[str, float | None],
    engine: Engine,
    budget: TimeBudget,
) -> None:
    for rule_id in sorted(found.unlisted):
        try:
            _hold(found, frozenset({rule_id}), engine, budget.for_action(limits.get(rule_id)))
        except Exception as problem:  # noqa: BLE001 (this rule's rows stay unknown)
            found.unlisted[rule_id] = error_text(problem)
        else:
            del found.unlisted[rule_id]
            _let_go(found)
    good = (frozenset(found.failing) & found.plan.listable) - frozenset(found.unlisted)
    if good:
        try:
            _hold(found, good, engine, budget.for_action())
        except Exception as problem:  # noqa: BLE001 (each alone went well, together they do not)
            found.unlisted.update(dict.fromkeys(good, error_text(problem)))


def _let_go(found: TableEvaluation) -> None:
    if found.hits is not None:
        found.hits.release()
    found.hits, found.summaries = None, {}


def _cross_check(found: TableEvaluation) -> None:
    """Bad rows are counted twice, by the scan and by the listing; a pinned table gives one answer.

    A query or key whose rows could not be listed has no verdict: its listing is part of it.
    """
    own_actions: list[KeyStep | QueryStep] = [*found.plan.keys, *found.plan.queries]
    for step in own_actions:
        if step.rule_id in found.unlisted:
            found.errors[step.rule_id] = found.unlisted[step.rule_id]
    inexact = {step.rule_id for step in found.plan.keys if step.strategy is KeyStrategy.HASHED}
    keys = {step.rule_id for step in found.plan.keys}
    for rule_id, counted in found.failing.items():
        if rule_id in found.errors or rule_id in found.unlisted or rule_id in inexact:
            continue
        summary = found.summaries.get(rule_id)
        listed = summary.occurrences if summary else 0
        if summary and rule_id in keys:
            listed -= summary.hits
        if listed != counted:
            found.errors[rule_id] = (
                f"two counts of its bad rows differ, {counted} and {listed}: "
                "the table has no history to pin, and changed while it was read. Run again"
            )


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
        return check.judge(_key_counts(hits), total, rule.columns)
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


def _key_counts(hits: HitSummary | None) -> KeyCounts:
    if hits is None:  # none, or only hashes that met by chance: the listing has the last word
        return KeyCounts(0, 0, 0)
    return KeyCounts(
        duplicated_values=hits.hits,
        surplus_rows=hits.occurrences - hits.hits,
        rows_involved=hits.occurrences,
    )


def error_text(problem: BaseException) -> str:
    """An exception as a result shows it; `Error:` marks what is not in our own words."""
    text = short_message(problem)
    return text if isinstance(problem, LakeproofError) else f"Error: {text}"
