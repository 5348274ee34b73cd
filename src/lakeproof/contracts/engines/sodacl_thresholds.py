"""The comparisons of SodaCL, `< 5%` or `between 1 and 10`, as operators of ours.

A line says what must hold; `fail: when ...` and `warn: when ...` say what must not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from lakeproof.contracts.engines.given import as_number
from lakeproof.errors import CheckDefinitionError

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_AGE = r"(?:[0-9]+(?:\.[0-9]+)?\s*[dhms]\s*)+"
_VALUE = rf"({_AGE}|{_NUMBER}\s*%?)"
_SIGN = re.compile(rf"(>=|<=|!=|<>|==?|>|<)\s*{_VALUE}", re.IGNORECASE)
_RANGE = re.compile(
    rf"(not\s+)?between\s*([\[(]?)\s*{_VALUE}\s*\band\s+{_VALUE}\s*([\])]?)", re.IGNORECASE
)
_AGE_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([dhms])", re.IGNORECASE)
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60}

_OPERATORS = {
    "=": "must_be",
    "==": "must_be",
    "!=": "must_not_be",
    "<>": "must_not_be",
    ">": "must_be_greater_than",
    ">=": "must_be_greater_than_or_equal_to",
    "<": "must_be_less_than",
    "<=": "must_be_less_than_or_equal_to",
}
_OPPOSITES = {
    "=": "!=",
    "==": "!=",
    "!=": "=",
    "<>": "=",
    ">": "<=",
    ">=": "<",
    "<": ">=",
    "<=": ">",
}

Operators = dict[str, object]


def read_threshold(text: str) -> Operators:
    """What must hold, as our operators; a percent sign is kept, an age is its seconds."""
    return _read(text, alarm=False)


def read_alarms(given: object) -> Operators:
    """What must hold so that none of the conditions of `fail` or `warn` does."""
    alarms = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    found: Operators = {}
    for alarm in alarms:
        if not isinstance(alarm, str) or not alarm.strip().lower().startswith("when"):
            raise CheckDefinitionError(f"{alarm!r} is no condition such as `when > 5`")
        operators = _read(alarm.strip()[len("when") :], alarm=True)
        twice = [name for name in operators if name in found]
        if twice:
            raise CheckDefinitionError(f"{alarm!r} bounds the number a second time; keep one")
        found |= operators
    return found


def in_one_unit(operators: Mapping[str, object]) -> tuple[str, Operators]:
    """The operators in the largest unit in which all their ages are whole, and that unit."""
    values = [
        one
        for value in operators.values()
        for one in (value if isinstance(value, list) else [value])
    ]
    if not all(isinstance(one, Fraction) for one in values):
        raise CheckDefinitionError("freshness is held against an age, such as 1d, 12h or 30m")
    fitting = [
        unit
        for unit, size in _UNITS.items()
        if all(Fraction(str(one)) % size == 0 for one in values)
    ]
    unit = fitting[0] if fitting else "minutes"

    def told(one: object) -> object:
        number = Fraction(str(one)) / _UNITS[unit]
        return int(number) if number.denominator == 1 else float(number)

    return unit, {
        name: [told(one) for one in value] if isinstance(value, list) else told(value)
        for name, value in operators.items()
    }


def _read(text: str, *, alarm: bool) -> Operators:
    sign = _SIGN.fullmatch(text.strip())
    if sign is not None:
        word = _OPPOSITES[sign[1]] if alarm else sign[1]
        return {_OPERATORS[word]: _value(sign[2])}
    span = _RANGE.fullmatch(text.strip())
    if span is None:
        raise CheckDefinitionError(
            f"{text.strip()!r} is no comparison such as `> 5`, `= 0` or `between 1 and 10`"
        )
    return _range(span, is_negated=bool(span[1]) is not alarm)


def _range(span: re.Match[str], *, is_negated: bool) -> Operators:
    low, high = _value(span[3]), _value(span[4])
    opens, closes = span[2] == "(", span[5] == ")"
    if not (opens or closes):
        return {"must_not_be_between" if is_negated else "must_be_between": [low, high]}
    if is_negated:
        raise CheckDefinitionError(
            f"{span[0]!r} leaves out an end of what must not be; write two checks, one for each end"
        )
    return {
        "must_be_greater_than" if opens else "must_be_greater_than_or_equal_to": low,
        "must_be_less_than" if closes else "must_be_less_than_or_equal_to": high,
    }


def _value(text: str) -> object:
    """A number; with a percent sign the text, and of an age its seconds as a fraction."""
    parts = _AGE_PART.findall(text)
    if parts:
        return sum((Fraction(size) * _SECONDS[unit.lower()] for size, unit in parts), Fraction(0))
    plain = "".join(text.split())
    return plain if plain.endswith("%") else as_number(plain)
