"""What a contract asks of a number: its operators, all of which must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from operator import ge, gt, le, lt

Value = bool | int | float | Decimal | Fraction | str


class Operator(StrEnum):
    """The eight operators of the standard, in its own words."""

    MUST_BE = "mustBe"
    MUST_NOT_BE = "mustNotBe"
    GREATER = "mustBeGreaterThan"
    GREATER_OR_EQUAL = "mustBeGreaterOrEqualTo"
    LESS = "mustBeLessThan"
    LESS_OR_EQUAL = "mustBeLessOrEqualTo"
    BETWEEN = "mustBeBetween"
    NOT_BETWEEN = "mustNotBeBetween"


class Unit(StrEnum):
    """What the number counts. A share is told in percent, an age in days, hours or minutes."""

    ROWS = "rows"
    PERCENT = "percent"
    DAYS = "days"
    HOURS = "hours"
    MINUTES = "minutes"
    NONE = ""

    @property
    def seconds(self) -> int:
        """How many seconds make one of it; 1 where it is no time."""
        return {Unit.DAYS: 86_400, Unit.HOURS: 3_600, Unit.MINUTES: 60}.get(self, 1)


@dataclass(frozen=True, slots=True)
class Term:
    """One operator with its value; `high` is the second one of a range."""

    operator: Operator
    value: Value
    high: Value | None = None

    def __str__(self) -> str:
        """As people say it after "must be": `0`, `not 5`, `<= 5`, `between 1 and 3`."""
        if self.high is not None:
            negated = "not " if self.operator is Operator.NOT_BETWEEN else ""
            return f"{negated}between {shown(self.value)} and {shown(self.high)}"
        sign = {
            Operator.MUST_BE: "",
            Operator.MUST_NOT_BE: "not",
            Operator.GREATER: ">",
            Operator.GREATER_OR_EQUAL: ">=",
            Operator.LESS: "<",
            Operator.LESS_OR_EQUAL: "<=",
        }[self.operator]
        return f"{sign} {shown(self.value)}".strip()


_ORDERED: Mapping[Operator, Callable[[Fraction, Fraction], bool]] = {
    Operator.GREATER: gt,
    Operator.GREATER_OR_EQUAL: ge,
    Operator.LESS: lt,
    Operator.LESS_OR_EQUAL: le,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Terms that must all hold. Without any, the number must be true: neither zero nor false.

    `between` ranges hold their ends unless `open_ranges`. `duplicates` says which number of a
    key is meant: repeated `values`, `rows` that share one, or `surplus` rows. `empty_passes`
    says what percent of no rows is: fine, or nothing to judge by.
    """

    terms: tuple[Term, ...] = ()
    unit: Unit = Unit.NONE
    open_ranges: bool = False
    duplicates: str = "values"
    empty_passes: bool = False

    def holds(self, found: Value) -> bool:
        """Whether what was found is as it must be."""
        if not self.terms:
            return _is_true(found)
        return all(self._holds(term, found) for term in self.terms)

    def _holds(self, term: Term, found: Value) -> bool:
        if term.operator in {Operator.MUST_BE, Operator.MUST_NOT_BE}:
            return _equal(found, term.value) is (term.operator is Operator.MUST_BE)
        number, low, high = _number(found), _number(term.value), _number(term.high)
        if number is None or low is None:
            return False
        if term.operator in _ORDERED:
            return _ORDERED[term.operator](number, low)
        if high is None:
            return False
        inside = low < number < high if self.open_ranges else low <= number <= high
        return inside is (term.operator is Operator.BETWEEN)

    @property
    def bounds_above(self) -> bool:
        """Whether the number counts what is bad: the fewer the better, and none is best.

        Then what it counts are failing rows. With a lower bound or a range they are not.
        """
        return bool(self.terms) and all(
            term.operator in {Operator.LESS, Operator.LESS_OR_EQUAL}
            or (term.operator is Operator.MUST_BE and _number(term.value) == 0)
            for term in self.terms
        )

    def __str__(self) -> str:
        told = " and ".join(map(str, self.terms)) or "true"
        if any(term.high is not None for term in self.terms) and self.open_ranges:
            told += " (ends excluded)"
        unit = {Unit.NONE: "", Unit.PERCENT: " %"}.get(self.unit, f" {self.unit}")
        return f"{told}{unit}"


def shown(value: Value) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else f"{float(value):g}"
    return str(value)


def _number(value: Value | None) -> Fraction | None:
    """The number exactly, a float as it is written; None if it is none, or not finite."""
    if isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def _equal(found: Value, wanted: Value) -> bool:
    """Whether both are one value; what is written as text may be a number or a truth value."""
    if isinstance(found, bool) and isinstance(wanted, str):
        return wanted.strip().lower() == shown(found)
    if isinstance(wanted, str) or isinstance(found, str):
        numbers = _number(found), _number(wanted)
        is_text = None in numbers or isinstance(wanted, bool)
        return shown(found) == shown(wanted) if is_text else numbers[0] == numbers[1]
    if isinstance(wanted, bool) and not isinstance(found, bool):
        return _is_true(found) is wanted
    return _number(found) == _number(wanted)


def _is_true(found: Value) -> bool:
    if isinstance(found, str):
        return found.strip().lower() == "true"
    number = _number(found)
    return number is not None and number != 0
