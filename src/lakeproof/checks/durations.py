"""Lengths of time as arguments of checks, and held against moments."""

from __future__ import annotations

from sqlglot import exp

from lakeproof.checks.moments import MomentUnit, moment_number, moment_unit
from lakeproof.durations import (
    DURATION_FORMS,
    MICROS_PER_SECOND,
    SECONDS_PER_DAY,
    Duration,
    duration_of,
)
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

_MICROS_PER_DAY = exp.Literal.number(SECONDS_PER_DAY * MICROS_PER_SECOND)
"""So large that its product with a whole number is a BIGINT."""


def read_duration(check: str, parameter: str, given: object) -> str:
    """The duration as the argument that is hashed: equal ones have one text."""
    found = duration_of(given)
    if found is None:
        raise CheckDefinitionError(
            f"parameter {parameter!r} of check {check!r} is {given!r}; write a duration such as "
            f"{DURATION_FORMS}. Months and years need a whole number of months"
        )
    return str(found)


def micros_of(column: Column) -> exp.Expr:
    """The moment in microseconds since 1970. A DATE is the start of its day, all in UTC."""
    number = moment_number(column)
    if moment_unit(column) is not MomentUnit.DAYS:
        return number
    return exp.Mul(this=number, expression=_MICROS_PER_DAY.copy())


def lies_beyond(later: exp.Expr, earlier: exp.Expr, duration: Duration) -> exp.Expr:
    """True where one moment comes more than the duration after another, both in microseconds."""
    distance = exp.Sub(this=later, expression=_months_later(earlier, duration.months))
    limit = exp.Literal.number(int(duration.seconds * MICROS_PER_SECOND))
    return exp.GT(this=distance, expression=limit)


def _months_later(micros: exp.Expr, months: int) -> exp.Expr:
    """So many calendar months later in UTC.

    By numbers, because `timestamp + INTERVAL` counts months and days in the session's zone.
    """
    if not months:
        return micros
    rest = exp.Mod(this=exp.paren(micros), expression=_MICROS_PER_DAY.copy())
    # Before 1970 the remainder is negative; the day has started all the same.
    above_zero = exp.paren(exp.Add(this=rest, expression=_MICROS_PER_DAY.copy()))
    in_day = exp.paren(exp.Mod(this=above_zero, expression=_MICROS_PER_DAY.copy()))
    day_start = exp.paren(exp.Sub(this=exp.paren(micros.copy()), expression=in_day))
    # A whole number, exactly: as a double too, for a day's microseconds end in 13 zero bits.
    day_number = exp.Div(this=day_start, expression=_MICROS_PER_DAY.copy())
    epoch = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
    day = exp.DateAdd(this=epoch, expression=exp.cast(day_number, "INT"), unit=exp.var("DAY"))
    interval = exp.Interval(this=exp.Literal.string(str(months)), unit=exp.var("MONTH"))
    moved = exp.DateDiff(this=exp.Add(this=day, expression=interval), expression=epoch.copy())
    shifted = exp.Mul(this=moved, expression=_MICROS_PER_DAY.copy())
    return exp.paren(exp.Add(this=shifted, expression=in_day.copy()))
