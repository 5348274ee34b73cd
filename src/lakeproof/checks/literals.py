"""Python values as typed SQL, chosen by the type of the column they are held against.

The type matters: a double literal against a DECIMAL column would compare as doubles and lose
digits, a decimal of another scale would make Spark round one side, and text against a number
would be cast row by row and fail under ANSI rules. So a bound is first moved to the nearest
value that the column can hold, on the side where the comparison stays the same.
"""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from sqlglot import exp

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_INTEGER_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_WIDE = Context(prec=5000)
"""Exact for every number that a rule may hold; the default context would round at 28 digits."""


def below(value: exp.Expr, bound: object, column: Column, what: str) -> exp.Expr:
    """True where the column is less than the bound."""
    if _is_exact(column) and _is_number(bound):
        limit = _nearest(bound, column, ROUND_CEILING)
        low, high = _limits(column)
        if limit > high:
            return _is_there(value)
        return exp.false() if limit < low else _compare(exp.LT, value, limit)
    return exp.LT(this=value, expression=literal_for(bound, column, what))


def above(value: exp.Expr, bound: object, column: Column, what: str) -> exp.Expr:
    """True where the column is greater than the bound."""
    if _is_exact(column) and _is_number(bound):
        limit = _nearest(bound, column, ROUND_FLOOR)
        low, high = _limits(column)
        if limit < low:
            return _is_there(value)
        return exp.false() if limit > high else _compare(exp.GT, value, limit)
    return exp.GT(this=value, expression=literal_for(bound, column, what))


def is_none_of(
    value: exp.Expr, accepted: tuple[object, ...], column: Column, what: str
) -> exp.Expr:
    """True where the column is there and equals none of the values.

    A value that the column cannot hold never matches, so it is left out. For NULL, `NOT (x IN
    (...))` is unknown, which counts as "does not violate".
    """
    literals = [
        literal_for(one, column, what)
        for one in _both_spellings(accepted)
        if not (_is_exact(column) and _is_number(one)) or _can_hold(column, one)
    ]
    if not literals:
        return _is_there(value)
    return exp.Not(this=exp.paren(exp.In(this=value, expressions=literals), copy=False))


def texts_for(values: tuple[object, ...], column: Column, what: str) -> list[str]:
    """The values as texts that cast exactly to the column's type; those it cannot hold left out."""
    if column.family is TypeFamily.STRING and set(map(type, values)) == {str}:
        texts = [str(value) for value in values]
        spelled = [unicodedata.normalize("NFD", text) for text in texts if not text.isascii()]
        return [*texts, *spelled]
    return [
        _cast_text(one, column, what)
        for one in _both_spellings(values)
        if not (_is_exact(column) and _is_number(one)) or _can_hold(column, one)
    ]


def _cast_text(value: object, column: Column, what: str) -> str:
    if column.family is TypeFamily.STRING and isinstance(value, str):
        return value
    literal = literal_for(value, column, what)
    if isinstance(literal, exp.Neg):
        return f"-{literal.this.name}"
    return str(literal.this.name) if isinstance(literal, exp.Cast) else str(literal.name)


def _both_spellings(values: tuple[object, ...]) -> list[object]:
    """Texts composed and decomposed: rules are in NFC, but data may come in NFD."""
    return [
        spelling
        for value in values
        for spelling in (
            dict.fromkeys((value, unicodedata.normalize("NFD", value)))
            if isinstance(value, str)
            else (value,)
        )
    ]


def zero_of(column: Column) -> exp.Expr:
    """Zero in the column's own type: beside DECIMAL(38,38) a plain 0 would cost its digits."""
    if column.family is TypeFamily.DECIMAL:
        return exp.cast(exp.Literal.number(0), column.type_text.upper(), dialect="spark")
    return exp.Literal.number(0)


def literal_for(value: object, column: Column, what: str) -> exp.Expr:
    """A literal that compares exactly with the column, or a precise refusal."""
    family = column.family
    if family is TypeFamily.FLOAT and _is_number(value):
        # In the column's own width: to a FLOAT, 0.1 is the 0.1 that it can hold.
        width = "FLOAT" if column.type_text == "float" else "DOUBLE"
        return exp.cast(exp.Literal.string(_double_text(value)), width)
    if _is_exact(column) and _is_number(value):
        return _exact(exact_decimal(value))
    if family is TypeFamily.STRING and isinstance(value, str):
        return text_literal(value)
    if family is TypeFamily.BOOLEAN and isinstance(value, bool):
        return exp.true() if value else exp.false()
    if family is TypeFamily.DATE:
        found = as_date(value)
        if found is not None:
            return exp.cast(exp.Literal.string(found.isoformat()), "DATE")
    if family in {TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMP_NTZ}:
        moment = as_datetime(value)
        if moment is not None:
            try:
                return timestamp_literal(moment, family)
            except OverflowError as problem:
                raise CheckDefinitionError(
                    f"{what} {value!r} lies outside the years 1 to 9999 in UTC"
                ) from problem
    raise CheckDefinitionError(
        f"{what} {value!r} ({type(value).__name__}) cannot be compared with column "
        f"{column.name!r}, which is {column.type_text.upper()}"
    )


def timestamp_literal(moment: datetime, family: TypeFamily) -> exp.Expr:
    """An instant for TIMESTAMP, a wall time for TIMESTAMP_NTZ; both are UTC where it matters."""
    utc = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    if family is TypeFamily.TIMESTAMP_NTZ:
        text = utc.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
        return exp.cast(exp.Literal.string(text), "TIMESTAMPNTZ")
    text = utc.isoformat(sep=" ", timespec="microseconds")
    return exp.cast(exp.Literal.string(text), "TIMESTAMPTZ")


def as_date(value: object) -> date | None:
    """A date, or ISO text of one."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    return None


def as_datetime(value: object) -> datetime | None:
    """A moment, or ISO text of one; a date is its midnight in UTC."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


def _is_exact(column: Column) -> bool:
    return column.family in {TypeFamily.INTEGER, TypeFamily.DECIMAL}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _is_there(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null()).not_()


def exact_decimal(value: object) -> Decimal:
    """The number that was written: a float is the shortest decimal that reads back as it."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))


def _scale(column: Column) -> int:
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", column.type_text)
    return int(found[2]) if found else 0


def _limits(column: Column) -> tuple[Decimal, Decimal]:
    """The smallest and the largest value that the column's type can hold."""
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", column.type_text)
    if found:
        largest = _WIDE.scaleb(Decimal(10 ** int(found[1]) - 1), -int(found[2]))
        return -largest, largest
    half = 1 << (_INTEGER_BITS[column.type_text] - 1)
    return Decimal(-half), Decimal(half - 1)


def _nearest(value: object, column: Column, rounding: str) -> Decimal:
    number = exact_decimal(value)
    if not number.is_finite():
        return number
    grid = Decimal(1).scaleb(-_scale(column))
    low, high = _limits(column)
    if not low <= number <= high:  # quantize would have to spell all digits of 1E999999
        return number
    return number.quantize(grid, rounding=rounding, context=_WIDE)


def _can_hold(column: Column, value: object) -> bool:
    number = exact_decimal(value)
    low, high = _limits(column)
    return (
        number.is_finite()
        and low <= number <= high
        and number == _nearest(value, column, ROUND_FLOOR)
    )


def _compare(kind: type[exp.Binary], value: exp.Expr, limit: Decimal) -> exp.Expr:
    return kind(this=value, expression=_exact(limit))


def _exact(number: Decimal) -> exp.Expr:
    digits = format(number, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    if digits.startswith("-"):
        return exp.Neg(this=exp.Literal.number(digits[1:]))
    return exp.Literal.number(digits)


def text_literal(value: str) -> exp.Expr:
    """A string literal, split between `$` and `{`: Spark replaces ${...} inside any SQL text."""
    pieces = value.split("${")
    last = len(pieces) - 1
    literals = [
        exp.Literal.string(("{" if number else "") + piece + ("$" if number < last else ""))
        for number, piece in enumerate(pieces)
    ]
    joined: exp.Expr = literals[0]
    for literal in literals[1:]:
        joined = exp.DPipe(this=joined, expression=literal)
    return joined if len(literals) == 1 else exp.paren(joined, copy=False)


def _double_text(value: object) -> str:
    number = float(str(value))
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)
