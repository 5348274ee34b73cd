"""Python values as typed SQL literals, chosen by the type of the column they are held against.

The type matters: a double literal against a DECIMAL column would compare as doubles and lose
digits, and text against a number would be cast row by row and fail under ANSI rules.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal

from sqlglot import exp

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

DECIMAL_DIGITS_MAX = 38


def literal_for(value: object, column: Column, what: str) -> exp.Expr:
    """A literal that compares exactly with the column, or a precise refusal."""
    family = column.family
    if family.is_number and _is_number(value):
        return _number(value, family)
    if family is TypeFamily.STRING and isinstance(value, str):
        return _text(value)
    if family is TypeFamily.BOOLEAN and isinstance(value, bool):
        return exp.true() if value else exp.false()
    if family is TypeFamily.DATE:
        found = _as_date(value)
        if found is not None:
            return exp.cast(exp.Literal.string(found.isoformat()), "DATE")
    if family in {TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMP_NTZ}:
        moment = _as_datetime(value)
        if moment is not None:
            return timestamp_literal(moment, family)
    raise CheckDefinitionError(
        f"{what} {value!r} ({type(value).__name__}) cannot be compared with column "
        f"{column.name!r}, which is {column.type_text.upper()}"
    )


def timestamp_literal(moment: datetime, family: TypeFamily) -> exp.Expr:
    """An instant with its offset for TIMESTAMP, a wall time for TIMESTAMP_NTZ; naive is UTC."""
    if family is TypeFamily.TIMESTAMP_NTZ:
        text = moment.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
        return exp.cast(exp.Literal.string(text), "TIMESTAMPNTZ")
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    text = aware.astimezone(UTC).isoformat(sep=" ", timespec="microseconds")
    return exp.cast(exp.Literal.string(text), "TIMESTAMPTZ")


def _text(value: str) -> exp.Expr:
    """A string literal, split between `$` and `{`: Spark replaces ${...} inside any SQL text."""
    pieces = value.split("${")
    literals = [
        exp.Literal.string(
            ("{" if number else "") + piece + ("$" if number < len(pieces) - 1 else "")
        )
        for number, piece in enumerate(pieces)
    ]
    joined: exp.Expr = literals[0]
    for literal in literals[1:]:
        joined = exp.DPipe(this=joined, expression=literal)
    return joined if len(literals) == 1 else exp.paren(joined, copy=False)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _number(value: object, family: TypeFamily) -> exp.Expr:
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))
    digits = format(number, "f") if number.is_finite() else ""
    exact = digits and len(digits.lstrip("-").replace(".", "").lstrip("0")) <= DECIMAL_DIGITS_MAX
    scale = len(digits.partition(".")[2])
    if family is TypeFamily.FLOAT or not exact or scale > DECIMAL_DIGITS_MAX:
        return exp.cast(exp.Literal.string(_double_text(value)), "DOUBLE")
    if digits.startswith("-"):
        return exp.Neg(this=exp.Literal.number(digits[1:]))
    return exp.Literal.number(digits)


def _double_text(value: object) -> str:
    number = float(str(value))
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)


def _as_date(value: object) -> date | None:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    return None


def _as_datetime(value: object) -> datetime | None:
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
