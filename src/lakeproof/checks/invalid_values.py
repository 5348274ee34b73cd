from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression
from lakeproof.checks.length_range import LengthRange
from lakeproof.checks.literals import is_none_of
from lakeproof.checks.matches_pattern import MatchesPattern
from lakeproof.checks.missing_values import (
    LISTS,
    MISSING_PARAMETERS,
    identity_of,
    is_one_of,
    read_missing,
    stands_for_missing,
)
from lakeproof.checks.not_matches_pattern import NotMatchesPattern
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.patterns import contains, require_pattern, text_value
from lakeproof.checks.range import Range
from lakeproof.checks.soda_formats import SODA_FORMATS, read_format
from lakeproof.checks.value_lists import read_values, values_text
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

_BOUND = (int, float, Decimal, date, datetime, str)
_LISTED = ("valid_values", "invalid_values")
_PATTERNS = ("pattern", "invalid_pattern")
_FORMATS = ("valid_format", "invalid_format")
_BOUNDS = ("valid_min", "valid_max")
_LENGTHS = ("valid_length", "valid_min_length", "valid_max_length")
_DEMANDS = (*_LISTED, *_PATTERNS, *_FORMATS, *_BOUNDS, *_LENGTHS)
_SHOWN_MAX = 60


class InvalidValues(ColumnCheck):
    """Values are valid: each one that is not missing keeps all that is asked of it.

    At least one is asked: to be one of `valid_values` and none of `invalid_values`, to have a
    match of `pattern` (with `full` from end to end) and none of `invalid_pattern`, to be written
    in `valid_format` and not in `invalid_format`, to lie within [`valid_min`, `valid_max`], and to
    have a `valid_length`, or one within [`valid_min_length`, `valid_max_length`]. Each is read as
    in the check of its own: `accepted_values`, `matches_pattern`, `range`, `length_range`.

    NULL is never invalid, nor is a value that `missing_values` lists or that has a match of
    `missing_pattern`; NaN is a value. A value of `invalid_values` that the column cannot hold never
    matches, one of `valid_values` is refused.

    The formats are those that Soda names; `_` stands for a blank as well. Blanks around are allowed
    in numbers, amounts, dates and times. `decimal`, `percentage` and `money` have a point or a
    comma, their `point` and `comma` kinds only that; `money` ends in a currency's three letters;
    `positive` and `negative` kinds include zero. `date us`, `date eu` and `date inverse` are
    month, day and year in that, the European and the reverse order, apart by `/`, `-` or `.`.
    `timestamp 12h` and `24h` are times with seconds. `credit card number` is known by its digits
    only. `uuid`, `email` and the IP addresses are those of the check `format`.
    """

    name = "invalid_values"
    dimension = "validity"
    parameters = (
        Parameter("valid_values", LISTS, "the values that are valid"),
        Parameter("invalid_values", LISTS, "values that are not"),
        Parameter("pattern", (str,), "a regular expression in Java's dialect"),
        Parameter("full", (bool,), "whether it must span the whole text", default=False),
        Parameter("invalid_pattern", (str,), "a regular expression found in what is invalid"),
        Parameter("valid_format", (str,), f"one of {', '.join(SODA_FORMATS)}"),
        Parameter("invalid_format", (str,), "a format that is not allowed"),
        Parameter("valid_min", _BOUND, "the smallest valid value"),
        Parameter("valid_max", _BOUND, "the largest valid value"),
        Parameter("valid_length", (int,), "the only valid length"),
        Parameter("valid_min_length", (int,), "the smallest valid length"),
        Parameter("valid_max_length", (int,), "the largest valid length"),
        *MISSING_PARAMETERS,
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if all(arguments[name] is None for name in _DEMANDS):
            raise CheckDefinitionError(
                f"check 'invalid_values' needs one of the parameters {', '.join(_DEMANDS)}"
            )
        for name in _LISTED:
            if arguments[name] is not None:
                arguments[name] = read_values(self.name, name, arguments[name])
        for name in _PATTERNS:
            if arguments[name] is not None:
                require_pattern(self.name, arguments[name])
        for name in _FORMATS:
            if arguments[name] is not None:
                arguments[name] = read_format(self.name, name, arguments[name])
        _require_bounds(columns, arguments)
        return {**arguments, **read_missing(self.name, arguments)}

    def identity(self, arguments: Arguments) -> Arguments:
        given = identity_of(arguments)
        if not arguments["full"]:
            del given["full"]
        return given

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        broken = any_of(list(_broken(column, arguments, now)))
        missing = stands_for_missing(self.name, column, arguments)
        if not missing:
            return broken
        return exp.and_(exp.not_(any_of(missing)), broken)

    def complaint(self, column: str, arguments: Arguments) -> str:
        asked = [
            f"{name.replace('_', ' ')} {_shown(arguments[name])}"
            for name in _DEMANDS
            if arguments[name] is not None
        ]
        return f"have {column} invalid ({'; '.join(asked)})"


def _require_bounds(columns: Sequence[str], arguments: Mapping[str, object]) -> None:
    """Refuse bounds as their own checks do, in the words of this one."""
    if arguments["valid_length"] is not None and any(
        arguments[name] is not None for name in _LENGTHS[1:]
    ):
        raise CheckDefinitionError(
            "check 'invalid_values' has valid_length beside a smallest or largest length; give one"
        )
    for check, bounds in ((Range(), _range_of), (LengthRange(), _length_range_of)):
        limits = bounds(arguments)
        if any(limit is not None for limit in limits.values()):
            try:
                check.read(columns, limits)
            except CheckDefinitionError as problem:
                raise CheckDefinitionError(f"check 'invalid_values': {problem}") from problem


def _range_of(arguments: Arguments) -> dict[str, object]:
    return {"min_value": arguments["valid_min"], "max_value": arguments["valid_max"]}


def _length_range_of(arguments: Arguments) -> dict[str, object]:
    exactly, low, high = (arguments[name] for name in _LENGTHS)
    if exactly is not None:
        return {"min_length": exactly, "max_length": exactly}
    return {"min_length": low, "max_length": high}


def _broken(column: Column, arguments: Arguments, now: datetime) -> Iterator[exp.Expr]:
    """One condition for each demand, true where a value breaks it and not for NULL."""
    for name, breaks in _BREAKS.items():
        if arguments[name] is not None:
            found = breaks(column, arguments[name], arguments)
            yield exp.false() if found is None else found
    for check, bounds in ((Range(), _range_of), (LengthRange(), _length_range_of)):
        limits = bounds(arguments)
        if any(limit is not None for limit in limits.values()):
            yield check.violates(column, check.read([column.name], limits), now)


_Breaks: TypeAlias = "Callable[[Column, object, Arguments], exp.Expr | None]"


def _in_format(column: Column, name: object) -> exp.Expr:
    text = text_value(InvalidValues.name, column)
    return exp.paren(contains(text, SODA_FORMATS[str(name)]), copy=False)


_BREAKS: dict[str, _Breaks] = {
    "valid_values": lambda column, values, _: is_none_of(
        column_expression(column),
        values,  # type: ignore[arg-type]
        column,
        "valid value",
    ),
    "invalid_values": lambda column, values, _: is_one_of(values, column),  # type: ignore[arg-type]
    "pattern": lambda column, pattern, arguments: exp.Not(
        this=MatchesPattern().found(column, {"pattern": pattern, "full": arguments["full"]})
    ),
    "invalid_pattern": lambda column, pattern, _: NotMatchesPattern().found(
        column, {"pattern": pattern, "full": False}
    ),
    "valid_format": lambda column, name, _: exp.Not(this=_in_format(column, name)),
    "invalid_format": lambda column, name, _: _in_format(column, name),
}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return values_text(value)
    text = str(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
