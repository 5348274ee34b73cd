"""Everything over one table: the scan, the steps beside it, then the bad rows."""

from __future__ import annotations

import time

from lakeproof.engines.engine import Engine
from lakeproof.errors import RuleTimeoutError, error_text
from lakeproof.model.printable import counted
from lakeproof.planning.bad_rows import branch_sql
from lakeproof.planning.fuse import narrow
from lakeproof.planning.pairs.steps import CountStep, PairStep
from lakeproof.planning.plan import CallStep, KeyStep, MeasureStep, OwnStep, QueryStep, ValueStep
from lakeproof.running.findings import TableFindings
from lakeproof.running.listing import list_bad_rows
from lakeproof.running.progress import Listener, StepDone
from lakeproof.running.reads import Wanted
from lakeproof.running.time_budget import TimeBudget


def evaluate_table(
    found: TableFindings,
    engine: Engine,
    budget: TimeBudget,
    listener: Listener,
    wanted: Wanted,
) -> TableFindings:
    """Run the table's steps. A rule that breaks is that rule's error; its neighbours go on."""
    if found.plan.needs_scan:
        _ask_statistics(found, engine, budget, listener, wanted)
        _run_scan(found, engine, budget, listener)
    for step in found.plan.own_steps:
        _run_own_action(found, step, engine, budget, listener)
    list_bad_rows(found, engine, budget, listener)
    return found


def _ask_statistics(
    found: TableFindings,
    engine: Engine,
    budget: TimeBudget,
    listener: Listener,
    wanted: Wanted,
) -> None:
    """Take from the statistics what they decide; the plan then reads what is left."""
    started = time.monotonic()
    proof = wanted.prover(engine, listener).prove(found.plan, budget.for_action())
    if proof is None:
        return
    found.proof = proof
    found.values.update(proof.decided.values)
    found.errors.update(proof.errors)
    found.plan = proof.left(found.plan)
    seconds = time.monotonic() - started
    found.seconds.update(dict.fromkeys(proof.proven, seconds))
    listener(StepDone(f"{found.plan.pinned.table}: {proof.told(found.plan)}", seconds))


def _run_scan(found: TableFindings, engine: Engine, budget: TimeBudget, listener: Listener) -> None:
    """The fused action; when it breaks, halves of it, until the breaking rules stand alone."""
    started = time.monotonic()
    proven = found.proof.proven if found.proof is not None else frozenset()
    every = tuple(dict.fromkeys(rule.rule_id for rule in found.plan.rules))
    ids = tuple(name for name in every if name not in proven)
    if not ids:
        return
    pending = [ids]
    while pending:
        part = pending.pop(0)
        step = narrow(found.plan, frozenset(part)) if part != every else found.plan.scan
        try:
            row = engine.fetch_row(step.sql, budget.for_action())
            found.values.update(found.proof.completed(row) if found.proof is not None else row)
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
    what = "the rows that are left" if found.proof is not None else f"{found.table_rows} rows"
    listener(StepDone(f"{named}: scanned {what} for {counted(len(ids), 'rule')}", seconds))


def _run_own_action(
    found: TableFindings,
    step: OwnStep,
    engine: Engine,
    budget: TimeBudget,
    listener: Listener,
) -> None:
    if step.rule_id in found.errors:  # its filter broke the scan already
        return
    started = time.monotonic()
    own = None if isinstance(step, KeyStep) else step.timeout_seconds
    limit = budget.for_action(own)
    try:
        _take(found, step, engine, limit)
    except RuleTimeoutError:
        found.errors[step.rule_id] = budget.describe(own, limit)
    except Exception as problem:  # noqa: BLE001 (whatever one rule raises is its own error)
        found.errors[step.rule_id] = error_text(problem)
    seconds = time.monotonic() - started
    found.seconds[step.rule_id] = seconds
    listener(StepDone(f"{found.plan.pinned.table}: {_what(step)}", seconds))


def _take(found: TableFindings, step: OwnStep, engine: Engine, limit: float | None) -> None:
    """Run the step. A query runs once: its rows are held until all bad rows are listed."""
    if isinstance(step, MeasureStep):
        found.values.update(engine.fetch_row(step.sql, limit))
        return
    if isinstance(step, ValueStep):
        found.values.update(engine.fetch_row(step.sql, limit))
        _note_counted_rows(found, step)
        return
    if isinstance(step, CallStep):
        value = engine.call(step, found.plan.pinned, found.now, limit)
        if value is not None:
            found.values[step.value_alias] = value
            return
    if isinstance(step, PairStep):
        _compare(found, step, engine, limit)
        return
    if isinstance(step, KeyStep):
        failing = int(str(engine.fetch_row(step.sql, limit)["surplus_rows"]))
    else:
        hits = engine.hold_hits(branch_sql(step.rule_id, step.sql), limit)
        found.held[step.rule_id] = hits
        summary = hits.summaries().get(step.rule_id)
        failing = summary.excess if summary else 0
    if failing:
        found.failing[step.rule_id] = failing


def _compare(found: TableFindings, step: PairStep, engine: Engine, limit: float | None) -> None:
    """Hold both tables against each other; what differs is held like the rows of a query."""
    compared = engine.compare(step, limit)
    found.compared[step.rule_id] = compared  # without a verdict too: it says how that came
    if compared.error:
        found.errors[step.rule_id] = compared.error
        return
    if isinstance(step, CountStep) or not compared.mismatches:
        return
    found.held[step.rule_id] = engine.hold_hits(branch_sql(step.rule_id, step.sql), limit)
    found.failing[step.rule_id] = compared.mismatches


def _note_counted_rows(found: TableFindings, step: ValueStep) -> None:
    """Remember how many rows were counted, if they are bad ones that can be listed."""
    count = step.taken(found.values)["value"]
    if step.rule_id in found.plan.listable and isinstance(count, int) and count:
        found.failing[step.rule_id] = count


def _what(step: OwnStep) -> str:
    if isinstance(step, KeyStep):
        return f"key ({', '.join(step.columns)})"
    if isinstance(step, QueryStep):
        return step.what
    if isinstance(step, PairStep):
        return f"compared with {step.what}"
    if isinstance(step, CallStep):
        return f"function of engine {step.rule.arguments['engine']}"
    return "measure" if isinstance(step, MeasureStep) else "value"
