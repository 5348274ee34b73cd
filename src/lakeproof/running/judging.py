"""From what was found to each rule's verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import (
    Facts,
    KeyCheck,
    KeyCounts,
    MeasureCheck,
    PairCheck,
    QueryCheck,
    RelatedCheck,
    RowCheck,
    Verdict,
)
from lakeproof.checks.plug_in import PlugInCheck
from lakeproof.errors import LakeproofError, error_text
from lakeproof.model.comparison import Value
from lakeproof.model.printable import counted
from lakeproof.model.rule import Rule
from lakeproof.model.violation import HitSummary
from lakeproof.planning.places import find_place
from lakeproof.running.findings import TableFindings


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One rule's answer: a verdict, or the reason why there is none."""

    verdict: Verdict | None
    error: str = ""
    seconds: float = 0.0
    hits: HitSummary | None = None


def evaluation_of(rule: Rule, found: TableFindings) -> Evaluation:
    """The answer to one rule, judged by its check."""
    seconds = found.seconds.get(rule.rule_id, 0.0)
    if rule.rule_id in found.errors:
        return Evaluation(None, found.errors[rule.rule_id], seconds)
    total = 0 if rule.rule_id in found.compared else _rows_in_scope(rule, found)
    if total is None:
        return Evaluation(None, "the scan of its table gave no row count", seconds)
    hits = found.summaries.get(rule.rule_id)
    try:
        verdict = _judge(rule, found, total, hits)
    except Exception as problem:  # noqa: BLE001 (a plug-in's judge may raise anything)
        return Evaluation(None, error_text(problem), seconds)
    return Evaluation(verdict, "", seconds, hits)


def _rows_in_scope(rule: Rule, found: TableFindings) -> int | None:
    if not rule.filter:
        return found.table_rows
    scopes = found.plan.scan.scopes
    alias = next(scope.alias for scope in scopes if rule.rule_id in scope.rule_ids)
    rows = found.values.get(alias)
    return None if rows is None else int(str(rows))


def _judge(  # noqa: PLR0911 (one for each shape of check)
    rule: Rule, found: TableFindings, total: int, hits: HitSummary | None
) -> Verdict:
    check = find_check(rule.check).for_arguments(rule.arguments)
    if isinstance(check, PairCheck):
        return check.judge(found.compared[rule.rule_id], rule.threshold, rule.arguments)
    failing = found.failing.get(rule.rule_id, 0)
    if isinstance(check, RowCheck):
        verdict = check.judge(failing, total, rule.column_label, rule.arguments)
        return _with_elements(verdict, rule, found)
    if isinstance(check, KeyCheck):
        return check.judge(_key_counts(hits), total, rule.columns, rule.arguments)
    if isinstance(check, RelatedCheck):
        keys = hits.hits if hits else 0
        return check.judge(failing, total, keys, rule.column_label, rule.arguments)
    if isinstance(check, QueryCheck):
        return check.judge(failing, total)
    if isinstance(check, MeasureCheck):
        taken = {
            item.name: found.values[item.alias]
            for item in found.plan.measurements
            if item.rule_id == rule.rule_id
        }
        verdict = check.judge(taken, rule.arguments, _facts(rule, found, total))
        # A query that counted bad rows: its number is theirs.
        return replace(verdict, failing=failing, number=None) if failing else verdict
    if isinstance(check, PlugInCheck):
        value = _called_value(rule, found)
        if value is not None:
            return check.judge_value(value, total)
        return check.judge_rows(failing, total, rule.arguments)
    raise LakeproofError(f"check {rule.check!r} has a shape that cannot be judged")


def _called_value(rule: Rule, found: TableFindings) -> Value | None:
    """What a user's function returned, unless it was rows."""
    aliases = [step.value_alias for step in found.plan.calls if step.rule_id == rule.rule_id]
    value = found.values.get(aliases[0])
    return value if isinstance(value, (bool, int, float, Decimal, str)) else None


def _with_elements(verdict: Verdict, rule: Rule, found: TableFindings) -> Verdict:
    """The verdict with the number of bad elements, where the rule looks at elements."""
    for tally in found.plan.scan.tallies:
        if tally.rule_id == rule.rule_id and tally.elements:
            elements = int(str(found.values[tally.elements_alias]))
            told = f", {counted(elements, 'element')}" if elements else ""
            return replace(verdict, details=verdict.details + told, measures={"elements": elements})
    return verdict


def _facts(rule: Rule, found: TableFindings, total: int) -> Facts:
    pinned = found.plan.pinned
    return Facts(
        total=total,
        now=found.now,
        columns=tuple(find_place(pinned, name).column for name in rule.columns),
        table_columns=pinned.columns,
        previous=found.previous.get(rule.rule_id),
    )


def _key_counts(hits: HitSummary | None) -> KeyCounts:
    if hits is None:  # none, or only hashes that met by chance: the listing has the last word
        return KeyCounts(0, 0, 0)
    return KeyCounts(
        duplicated_values=hits.hits,
        surplus_rows=hits.excess,
        rows_involved=hits.occurrences,
    )


def needs_previous(rule: Rule) -> bool:
    """Whether the rule compares with its own last run."""
    check = find_check(rule.check)
    return isinstance(check, MeasureCheck) and check.needs_previous(rule.arguments)
