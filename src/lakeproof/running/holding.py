"""A verdict held against what the rule allows: a tolerance, or the comparison of a contract."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lakeproof.checks.kinds import Verdict
from lakeproof.model.comparison import Comparison, Unit, Value, shown
from lakeproof.model.rule import Rule

_DUPLICATES = {"values": "duplicated_values", "rows": "rows_involved", "surplus": "surplus_rows"}
"""Which number of a key is meant, and what its check calls it."""


@dataclass(frozen=True, slots=True)
class Held:
    """Whether it passed, in words, and what is reported as failing.

    `measure` is the number that was compared; None where there is none, as percent of no rows.
    """

    passed: bool
    details: str
    failing: int
    measure: float | None = None
    skipped: bool = False


def held_against(rule: Rule, verdict: Verdict) -> Held:
    """The verdict in the light of the rule's tolerance or comparison."""
    if verdict.skipped:
        return Held(
            passed=True,
            details=verdict.details,
            failing=0,
            measure=verdict.measure,
            skipped=True,
        )
    if rule.comparison is None:
        passed = verdict.passed
        if passed is None:
            passed = rule.threshold.allows(verdict.excess, verdict.share)
        return Held(passed, verdict.details, verdict.failing, verdict.measure)
    return _compared(rule.comparison, verdict)


def _compared(comparison: Comparison, verdict: Verdict) -> Held:
    is_percent = comparison.unit is Unit.PERCENT
    if is_percent and not verdict.total:
        told = "no rows in scope, so there is no percentage"
        return Held(passed=True, details=told, failing=0, skipped=not comparison.empty_passes)
    found = _number(comparison, verdict)
    if found is None:
        return Held(passed=False, details=verdict.details, failing=1, measure=verdict.measure)
    if is_percent:
        found = Fraction(100 * Fraction(str(found)), verdict.total)
    elif comparison.unit.seconds > 1:
        found = Fraction(str(found)) / comparison.unit.seconds
    passed = comparison.holds(found)
    told = f"{verdict.details}{_value_text(comparison, verdict, found)}, must be {comparison}"
    failing = verdict.failing if comparison.bounds_above else 0
    if verdict.number is not None:  # a measure, which is as asked or not
        failing = 0 if passed else max(failing, 1)
    measure = verdict.measure if isinstance(found, str) else float(found)
    return Held(passed, told, failing, measure)


def _number(comparison: Comparison, verdict: Verdict) -> Value | None:
    """What is compared: the check's measure, its duplicates, or its bad rows."""
    if verdict.number is not None:
        return verdict.number
    if "duplicated_values" in verdict.measures:
        return int(verdict.measures[_DUPLICATES[comparison.duplicates]])
    if verdict.measure is None:
        return None
    return verdict.failing


def _value_text(comparison: Comparison, verdict: Verdict, found: Value) -> str:
    """The number that was compared, where the details do not begin with it."""
    if comparison.unit is Unit.PERCENT:
        return f": {shown(found)} %"
    if comparison.unit.seconds > 1:
        return f": {shown(found)} {comparison.unit}"
    if "duplicated_values" in verdict.measures and comparison.duplicates != "values":
        return f": {shown(found)} {_DUPLICATES[comparison.duplicates].replace('_', ' ')}"
    return ""
