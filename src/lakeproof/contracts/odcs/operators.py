"""The operators of a rule, in every spelling, as one comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from lakeproof.config import ContractSettings
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit, Value
from lakeproof.model.nearest import nearest

_OTHER_SPELLINGS: Mapping[Operator, tuple[str, ...]] = {
    Operator.MUST_BE: ("must_be",),
    Operator.MUST_NOT_BE: ("must_not_be",),
    Operator.GREATER: ("must_be_greater_than",),
    Operator.GREATER_OR_EQUAL: (
        "must_be_greater_than_or_equal_to",
        "must_be_greater_than_or_equal",
        "must_be_greater_or_equal_to",
        "must_be_greater_or_equal",
        "mustBeGreaterThanOrEqualTo",
    ),
    Operator.LESS: ("must_be_less_than",),
    Operator.LESS_OR_EQUAL: (
        "must_be_less_than_or_equal_to",
        "must_be_less_than_or_equal",
        "must_be_less_or_equal_to",
        "must_be_less_or_equal",
        "mustBeLessThanOrEqualTo",
    ),
    Operator.BETWEEN: ("must_be_between",),
    Operator.NOT_BETWEEN: ("must_not_be_between",),
}
OPERATOR_KEYS: Mapping[str, Operator] = {
    spelling: operator
    for operator, others in _OTHER_SPELLINGS.items()
    for spelling in (operator.value, *others)
}
"""Every key that is an operator."""

EIGHT = ", ".join(Operator)
_EQUALITY = {Operator.MUST_BE, Operator.MUST_NOT_BE}
_RANGES = {Operator.BETWEEN, Operator.NOT_BETWEEN}
_BOUNDS_OF_RANGE = 2
_PERCENT_MAX = 100
_DIGITS_MAX = 400


def is_operator_like(key: str) -> bool:
    """Whether a key is an operator, or was meant to be one."""
    return key in OPERATOR_KEYS or key.startswith(("mustBe", "mustNot", "must_be", "must_not"))


def read_comparison(
    entry: Mapping[str, object], settings: ContractSettings, *, unit: Unit
) -> Comparison | None:
    """What the entry's operators ask, all of them together; None if it has none.

    `unit` is what the number is counted in. The entry's own `unit` may make percent of rows, and
    of a number without a unit either; it says nothing where the number is a share or an age.
    """
    given = {key: value for key, value in entry.items() if is_operator_like(str(key))}
    if not given:
        return None
    counted_in = read_unit(entry, unit)
    terms = [_term(str(key), value, counted_in) for key, value in given.items()]
    return comparison_of(terms, settings, counted_in)


def comparison_of(terms: Sequence[Term], settings: ContractSettings, unit: Unit) -> Comparison:
    """The terms with the readings of the standard that the settings choose."""
    return Comparison(
        terms=tuple(terms),
        unit=unit,
        open_ranges=settings.between == "open",
        duplicates=settings.duplicates,
        empty_passes=settings.empty_percent == "pass",
    )


def read_unit(entry: Mapping[str, object], unit: Unit) -> Unit:
    """The unit that the entry asks for; the standard has `rows` and `percent`."""
    given = entry.get("unit")
    if given is None or unit not in {Unit.ROWS, Unit.NONE}:
        return unit
    word = str(given).strip().lower()
    if word in {Unit.ROWS, Unit.PERCENT}:
        return Unit(word)
    if unit is Unit.NONE:
        return unit  # whatever a query measures has a unit of its own: EUR, seconds
    raise CheckDefinitionError(f"unit is {given!r}; write rows (the default) or percent")


def choices_of(comparison: Comparison | None, settings: ContractSettings) -> dict[str, str]:
    """The readings of the standard that decide this comparison, by the settings' names."""
    choices: dict[str, str] = {}
    if comparison is None:
        return choices
    if any(term.operator in _RANGES for term in comparison.terms):
        choices["between"] = settings.between
    if comparison.unit is Unit.PERCENT:
        choices["empty_percent"] = settings.empty_percent
    return choices


def operator_notes(entry: Mapping[str, object]) -> tuple[str, ...]:
    """What is unusual in how the operators are written."""
    given = {str(key): value for key, value in entry.items() if str(key) in OPERATOR_KEYS}
    notes = []
    if len(given) > 1:
        notes.append(
            f"{' and '.join(given)} must all hold; the schema of the standard allows one operator"
        )
    for key, value in given.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        if any(isinstance(one, str) and _numeric(one) is not None for one in values):
            notes.append(f"{key} is a number written as text")
    return tuple(notes)


def _term(key: str, value: object, unit: Unit) -> Term:
    operator = OPERATOR_KEYS.get(key)
    if operator is None:
        near = " or ".join(nearest(key, OPERATOR_KEYS)) or EIGHT
        raise CheckDefinitionError(f"{key} is no operator; did you mean {near}?")
    if operator in _RANGES:
        low, high = _range(key, value, unit)
        return Term(operator, low, high)
    if operator in _EQUALITY and unit is Unit.NONE:
        return Term(operator, _scalar(key, value))
    return Term(operator, read_number(key, value, unit))


def _range(key: str, value: object, unit: Unit) -> tuple[Value, Value]:
    if not isinstance(value, (list, tuple)) or len(value) != _BOUNDS_OF_RANGE:
        raise CheckDefinitionError(
            f"{key} needs a list of two numbers, the smaller first; got {value!r}"
        )
    low, high = (read_number(key, bound, unit) for bound in value)
    if not Fraction(str(low)) < Fraction(str(high)):
        same = Fraction(str(low)) == Fraction(str(high))
        advice = "for one number write mustBe" if same else "write the smaller number first"
        raise CheckDefinitionError(f"{key} is {value!r}; {advice}")
    return low, high


def _scalar(key: str, value: object) -> Value:
    """What a query's value may have to equal: a number, a truth value or a text."""
    if isinstance(value, (bool, str)):
        return value
    return read_number(key, value, Unit.NONE)


def read_number(key: str, value: object, unit: Unit) -> Value:
    """The number that a key has, also as text; `2%` where percent are counted."""
    if value is None:
        raise CheckDefinitionError(f"{key} has no value; give it a number")
    given = value
    if isinstance(value, str) and unit is Unit.PERCENT:
        given = value.strip().removesuffix("%")
    number = _numeric(given)
    if number is None:
        share = isinstance(value, str) and _numeric(value.strip().removesuffix("%")) is not None
        advice = "; for a share add unit: percent" if share else ""
        raise CheckDefinitionError(f"{key} needs a number, got {value!r}{advice}")
    if unit is Unit.PERCENT and not 0 <= Fraction(str(number)) <= _PERCENT_MAX:
        raise CheckDefinitionError(f"{key} is {value!r}; percent are from 0 to 100")
    return number


def _numeric(value: object) -> int | float | Decimal | Fraction | None:
    """The number that is written there, if it is one and finite."""
    if isinstance(value, (str, Decimal)):
        return _numeric_text(str(value))
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        return None
    return value if _is_usable(value) else None


def _is_usable(number: float | Fraction) -> bool:
    """Whether it is finite, and short enough to be calculated with."""
    if isinstance(number, float):
        return math.isfinite(number)
    return bool(abs(number) < 10**_DIGITS_MAX)


def _numeric_text(text: str) -> int | Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    # As a fraction, 1E999999 would fill the memory.
    if not number.is_finite() or abs(number.adjusted()) > _DIGITS_MAX:
        return None
    return int(number) if number == number.to_integral_value() else number
