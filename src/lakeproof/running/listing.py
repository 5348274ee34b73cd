"""The bad rows of a table's failing rules, listed in one pass and held against the counts."""

from __future__ import annotations

import time

from lakeproof.engines.engine import Engine
from lakeproof.errors import error_text
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.plan import KeyStrategy
from lakeproof.running.findings import TableFindings
from lakeproof.running.progress import Listener, StepDone
from lakeproof.running.time_budget import TimeBudget


def list_bad_rows(
    found: TableFindings, engine: Engine, budget: TimeBudget, listener: Listener
) -> None:
    """One pass for the bad rows of every failing rule; what a hash only suspected, it confirms.

    When the pass breaks, each rule is tried alone, and those that can be listed are listed
    together after all: one broken rule costs the others nothing.
    """
    wanted = frozenset(found.failing) & found.plan.listable
    if not wanted:
        return
    started = time.monotonic()
    try:
        _hold(found, wanted, engine, budget.for_action())
    except Exception as problem:  # noqa: BLE001 (counts stand; whose rows are unknown is found out)
        found.unlisted = {wanted_id: error_text(problem) for wanted_id in wanted}
        if len(wanted) > 1:
            _list_one_by_one(found, engine, budget)
    _cross_check(found)
    hits = sum(summary.hits for summary in found.summaries.values())
    text = f"{found.plan.pinned.table}: listed {hits} bad rows"
    listener(StepDone(text, time.monotonic() - started))


def _hold(
    found: TableFindings, rule_ids: frozenset[str], engine: Engine, limit: float | None
) -> None:
    views = {rule_id: hits.view for rule_id, hits in found.held.items()}
    hits = engine.hold_hits(bad_rows_sql(found.plan, rule_ids, views), limit)
    try:
        found.summaries = hits.summaries()
    except BaseException:
        hits.release()
        raise
    found.hits = hits


def _list_one_by_one(found: TableFindings, engine: Engine, budget: TimeBudget) -> None:
    for rule_id in sorted(found.unlisted):
        try:
            _hold(found, frozenset({rule_id}), engine, budget.for_action())
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


def _let_go(found: TableFindings) -> None:
    if found.hits is not None:
        found.hits.release()
    found.hits, found.summaries = None, {}


def _cross_check(found: TableFindings) -> None:
    """Bad rows are counted twice, by the scan and by the listing; a pinned table gives one answer.

    A query or key whose rows could not be listed has no verdict: its listing is part of it. A
    query that counts its rows itself has one, and goes without rows.
    """
    _drop_rows_that_were_not_counted(found)
    by_listing = {step.rule_id for step in found.plan.own_steps}
    by_listing -= {step.rule_id for step in found.plan.values}
    for rule_id in by_listing & found.unlisted.keys():
        found.errors[rule_id] = found.unlisted[rule_id]
    inexact = {step.rule_id for step in found.plan.keys if step.strategy is KeyStrategy.HASHED}
    elements = {
        tally.rule_id: int(str(found.values.get(tally.elements_alias, 0)))
        for tally in found.plan.scan.tallies
        if tally.elements
    }
    unknown = {*found.errors, *found.unlisted, *inexact}
    for rule_id, rows in found.failing.items():
        if rule_id in unknown or rule_id not in found.plan.listable:
            continue
        summary = found.summaries.get(rule_id)
        listed = summary.excess if summary else 0
        counted = elements.get(rule_id, rows)
        if listed != counted:
            found.errors[rule_id] = (
                f"two counts of its bad rows differ, {counted} and {listed}: "
                "the table has no history to pin, and changed while it was read. Run again"
            )


def _drop_rows_that_were_not_counted(found: TableFindings) -> None:
    """Take back the rows of a counting query where they are not as many as it counted."""
    for step in found.plan.values:
        rule_id = step.rule_id
        counted = found.failing.get(rule_id)
        if counted is None or rule_id in found.unlisted or rule_id not in found.plan.listable:
            continue
        summary = found.summaries.get(rule_id)
        listed = summary.excess if summary else 0
        if listed != counted:
            found.unlisted[rule_id] = f"the query counted {counted}, and {listed} were found"
            found.summaries = {
                known: of for known, of in found.summaries.items() if known != rule_id
            }
