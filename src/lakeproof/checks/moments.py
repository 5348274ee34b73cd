"""Dates and timestamps as whole numbers.

Measured as they are, a timestamp would come back in the driver's zone, and a year beyond 9999,
which is what broken data often has, would break Python's calendar instead of the check.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from sqlglot import exp

from lakeproof.checks.kinds import column_expression
from lakeproof.checks.literals import as_date, as_datetime
from lakeproof.checks.trino import EPOCH_MICROS
from lakeproof.durations import MICROS_PER_SECOND, SECONDS_PER_DAY
from lakeproof.model.column import Column, TypeFamily

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class MomentUnit(StrEnum):
    """What a moment is counted in, from 1970-01-01 on.

    `DAYS`: a DATE. `MICROS`: a TIMESTAMP. `LOCAL_MICROS`: a TIMESTAMP_NTZ, as if it were in UTC.
    """

    DAYS = "days"
    MICROS = "micros"
    LOCAL_MICROS = "local_micros"


def moment_unit(column: Column) -> MomentUnit:
    """What the column's moments are counted in."""
    return {
        TypeFamily.DATE: MomentUnit.DAYS,
        TypeFamily.TIMESTAMP: MomentUnit.MICROS,
    }.get(column.family, MomentUnit.LOCAL_MICROS)


def moment_number(column: Column) -> exp.Expr:
    """The column's moment as a whole number."""
    value = column_expression(column)
    unit = moment_unit(column)
    if unit is MomentUnit.DAYS:
        return _days(value)
    if unit is MomentUnit.MICROS:
        micros: exp.Expr = exp.Anonymous(this="UNIX_MICROS", expressions=[value])
        micros.meta[EPOCH_MICROS] = value
    else:
        micros = _local_micros(value)
        micros.meta[EPOCH_MICROS] = exp.Anonymous(
            this="WITH_TIMEZONE", expressions=[value.copy(), exp.Literal.string("UTC")]
        )
    return micros


def number_of_moment(value: object, unit: MomentUnit) -> int | None:
    """A bound in the column's unit; None if it is no such moment."""
    if unit is MomentUnit.DAYS:
        day = as_date(value)
        return None if day is None else day.toordinal() - _EPOCH.toordinal()
    moment = as_datetime(value)
    return None if moment is None else epoch_micros(moment)


def epoch_micros(moment: datetime) -> int:
    """Microseconds since 1970; a moment without zone counts as UTC."""
    local = moment.replace(tzinfo=UTC) - _EPOCH
    return (local - (moment.utcoffset() or timedelta())) // _MICROSECOND


def moment_text(number: int, unit: MomentUnit) -> str:
    """The moment as ISO text; beyond the years 1 to 9999 only on which side it lies."""
    try:
        if unit is MomentUnit.DAYS:
            return date.fromordinal(number + _EPOCH.toordinal()).isoformat()
        moment = _EPOCH + number * _MICROSECOND
    except (OverflowError, ValueError):
        return "a moment after the year 9999" if number > 0 else "a moment before the year 1"
    text = moment.replace(tzinfo=None).isoformat(sep=" ")
    return text if unit is MomentUnit.LOCAL_MICROS else f"{text}Z"


def _local_micros(value: exp.Expr) -> exp.Expr:
    """By parts: `unix_micros` would read it in the session's zone, where 02:30 may not exist."""
    day = exp.Mul(this=_days(exp.cast(value, "DATE")), expression=_big(SECONDS_PER_DAY))
    hour = exp.Mul(this=_part("HOUR", value), expression=_big(3600))
    minute = exp.Mul(this=_part("MINUTE", value), expression=_big(60))
    second = exp.Extract(this=exp.var("SECOND"), expression=value.copy())
    whole = exp.Add(this=exp.Add(this=day, expression=hour), expression=minute)
    seconds = exp.paren(exp.Add(this=whole, expression=second), copy=False)
    return exp.cast(exp.Mul(this=seconds, expression=_big(MICROS_PER_SECOND)), "BIGINT")


def _days(value: exp.Expr) -> exp.Expr:
    return exp.DateDiff(this=value, expression=exp.cast(exp.Literal.string("1970-01-01"), "DATE"))


def _part(name: str, value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[value.copy()])


def _big(number: int) -> exp.Expr:
    """A factor that makes a product of integers a BIGINT."""
    return exp.cast(exp.Literal.number(number), "BIGINT")
