"""A verdict held against what the rule allows: a tolerance, or the comparison of a contract.

What was suppressed stays in every number that is reported, and is taken off only for the answer to
whether it passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import KeyCheck, NullPolicy, Verdict
from lakeproof.model.comparison import Comparison, Unit, Value, shown
from lakeproof.model.rule import Rule
from lakeproof.model.standing import KeyTotals

_DUPLICATES = {"values": "duplicated_values", "rows": "rows_involved", "surplus": "surplus_rows"}
"""Which number of a key is meant, and what its check calls it."""
_NOTHING = KeyTotals()


@dataclass(frozen=True, slots=True)
class Held:
    """Whether it passed, in words, and what is reported as failing.

    `measure` is the number that was compared; None where there is none, as percent of no rows.
    `suppressed` are those of the failing that were not held against the rule.
    """

    passed: bool
    details: str
    failing: int
    measure: float | None = None
    skipped: bool = False
    suppressed: int = 0


@dataclass(frozen=True, slots=True)
class _Relief:
    """What suppression takes off.

    Of the failing as they are reported, of the rows that are too many, and of all rows behind them.
    """

    failing: int = 0
    excess: int = 0
    rows: int = 0

    def __str__(self) -> str:
        return f", {self.failing:,} suppressed" if self.failing else ""


def held_against(rule: Rule, verdict: Verdict, suppressed: KeyTotals = _NOTHING) -> Held:
    """The verdict in the light of the rule's tolerance or comparison.

    `suppressed` are open violations that somebody has answered for.
    """
    if verdict.skipped:
        return Held(
            passed=True,
            details=verdict.details,
            failing=0,
            measure=verdict.measure,
            skipped=True,
        )
    relief = _relief(rule, verdict, suppressed)
    if rule.comparison is None:
        passed = verdict.passed
        if passed is None:
            excess = verdict.excess - relief.excess
            passed = rule.threshold.allows(excess, _share_of(excess, verdict))
        elif relief.failing:  # its tolerance is not ours to hold: all of them, or none
            passed = passed or relief.failing == verdict.failing
        details = f"{verdict.details}{relief}"
        return Held(passed, details, verdict.failing, verdict.measure, suppressed=relief.failing)
    return _compared(rule.comparison, verdict, relief)


def _relief(rule: Rule, verdict: Verdict, suppressed: KeyTotals) -> _Relief:
    """How much of the verdict is suppressed.

    Nothing where no bad rows are counted: a measure has none, in a range they are not bad, and
    what is faulty has failed for more than rows.
    """
    counts_bad = rule.comparison is None or rule.comparison.bounds_above
    if verdict.number is not None or verdict.is_faulty or not counts_bad:
        return _Relief()
    if verdict.passed is not None:
        keys = min(suppressed.hits, verdict.failing)
        return _Relief(keys, keys, suppressed.occurrences)
    check = find_check(rule.check).for_arguments(rule.arguments)
    if isinstance(check, KeyCheck):
        surplus = suppressed.occurrences - suppressed.hits
        if check.nulls(rule.arguments) is NullPolicy.FORBID:
            surplus = suppressed.excess
        return _Relief(
            min(suppressed.hits, verdict.failing),
            min(surplus, verdict.excess),
            suppressed.occurrences,
        )
    rows = suppressed.occurrences
    if "elements" in verdict.measures:
        # A row is bad as long as one of its elements is. How they spread over rows is not known
        # here, so each element that is left counts for a row.
        left = int(verdict.measures["elements"]) - suppressed.occurrences
        rows = verdict.failing - min(verdict.failing, max(left, 0))
    rows = min(rows, verdict.failing)
    return _Relief(rows, rows, rows)


def _share_of(excess: int, verdict: Verdict) -> float:
    """The share that so many rows are; that of the verdict where nothing was taken off."""
    if excess == verdict.excess or not verdict.total:
        return verdict.share
    return excess / verdict.total


def _compared(comparison: Comparison, verdict: Verdict, relief: _Relief) -> Held:
    is_percent = comparison.unit is Unit.PERCENT
    if is_percent and not verdict.total:
        told = "no rows in scope, so there is no percentage"
        return Held(passed=True, details=told, failing=0, skipped=not comparison.empty_passes)
    number = _number(comparison, verdict)
    if number is None:
        return Held(passed=False, details=verdict.details, failing=1, measure=verdict.measure)
    found = _in_unit(comparison, verdict, number)
    held = found
    if relief.failing and isinstance(number, int):
        held = _in_unit(comparison, verdict, number - _taken_off(comparison, verdict, relief))
    passed = comparison.holds(held)
    value = _value_text(comparison, verdict, found)
    told = f"{verdict.details}{value}{relief}, must be {comparison}"
    failing = verdict.failing if comparison.bounds_above else 0
    if verdict.number is not None:  # a measure, which is as asked or not
        failing = 0 if passed else max(failing, 1)
    measure = verdict.measure if isinstance(found, str) else float(found)
    return Held(passed, told, failing, measure, suppressed=relief.failing)


def _in_unit(comparison: Comparison, verdict: Verdict, number: Value) -> Value:
    if comparison.unit is Unit.PERCENT:
        return Fraction(100 * Fraction(str(number)), verdict.total)
    if comparison.unit.seconds > 1:
        return Fraction(str(number)) / comparison.unit.seconds
    return number


def _taken_off(comparison: Comparison, verdict: Verdict, relief: _Relief) -> int:
    """What is suppressed of the number that is compared, as `_number` gives it."""
    if "duplicated_values" not in verdict.measures:
        return relief.rows
    of_number = {"values": relief.failing, "rows": relief.rows, "surplus": relief.excess}
    return of_number[comparison.duplicates]


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
