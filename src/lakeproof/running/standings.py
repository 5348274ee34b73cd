"""Between a standing and what a verdict is made of: full and incremental runs judge alike."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from lakeproof.model.standing import KeyTotals, Measured, Standing
from lakeproof.model.violation import HitSummary
from lakeproof.planning.plan import TablePlan
from lakeproof.running.findings import TableFindings


def standing_findings(
    plan: TablePlan,
    now: datetime,
    standings: Mapping[str, Standing],
    samples: Mapping[str, tuple[str, ...]],
    previous: Mapping[str, float],
) -> TableFindings:
    """What a run that had read the whole table would know, out of standings."""
    found = TableFindings(plan, now, previous)
    for standing in standings.values():
        found.values["table_rows"] = standing.rows
    for scope in plan.scan.scopes:
        for rule_id in scope.rule_ids & standings.keys():
            found.values[scope.alias] = standings[rule_id].scope
    for tally in plan.scan.tallies:
        if tally.rule_id in standings:
            found.values[tally.alias] = standings[tally.rule_id].bad
            found.values[tally.elements_alias] = standings[tally.rule_id].elements
    for taken in plan.measurements:
        if taken.rule_id in standings:
            found.values[taken.alias] = taken.found(standings[taken.rule_id].measures)
    found.failing = {name: failing for name, of in standings.items() if (failing := _failing(of))}
    found.summaries = {
        name: HitSummary(
            rule_id=name,
            hits=of.keys.hits,
            occurrences=of.keys.occurrences,
            excess=of.keys.excess,
            sample_keys=samples.get(name, ()),
        )
        for name, of in standings.items()
        if of.keys.hits
    }
    return found


def _failing(standing: Standing) -> int:
    """Bad rows: as they were counted, else those behind the open keys."""
    return standing.bad or standing.keys.excess


def standings_of(found: TableFindings) -> dict[str, Standing | None]:
    """The standings of rules that were evaluated over the whole table; None if not to be kept."""
    scopes = {name: scope for scope in found.plan.scan.scopes for name in scope.rule_ids}
    elements = {tally.rule_id: tally for tally in found.plan.scan.tallies if tally.elements}
    rows = found.table_rows or 0
    standings: dict[str, Standing | None] = {}
    for name in found.evaluated:
        measures = {
            taken.name: found.values.get(taken.alias)
            for taken in found.plan.measurements
            if taken.rule_id == name
        }
        if not all(_can_be_kept(value) for value in measures.values()):
            standings[name] = None
            continue
        scope = scopes.get(name)
        summary = found.summaries.get(name)
        standings[name] = Standing(
            rows=rows,
            scope=_whole(found.values.get(scope.alias)) if scope else rows,
            bad=found.failing.get(name, 0),
            elements=_whole(found.values.get(elements[name].elements_alias))
            if name in elements
            else 0,
            measures={taken: _kept(value) for taken, value in measures.items()},
            keys=KeyTotals(summary.hits, summary.occurrences, summary.excess)
            if summary
            else KeyTotals(),
        )
    return standings


def _whole(value: object) -> int:
    return 0 if value is None else int(str(value))


def _can_be_kept(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | Decimal | date)


def _kept(value: object) -> Measured:
    assert _can_be_kept(value)  # noqa: S101 (asked before)
    return value  # type: ignore[return-value]
