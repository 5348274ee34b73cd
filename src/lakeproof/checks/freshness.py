from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from sqlglot import exp

from lakeproof.checks.bounds import OUT_OF_REACH, exact, share_of
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict, require_family
from lakeproof.checks.moments import (
    MICROS_PER_SECOND,
    SECONDS_PER_DAY,
    MomentUnit,
    epoch_micros,
    moment_number,
    moment_text,
    moment_unit,
    number_of_moment,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": SECONDS_PER_DAY, "w": 7 * SECONDS_PER_DAY}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
_TEXT = re.compile(rf"(?:{_PART.pattern})+\s*", re.IGNORECASE)
_AGE_SECONDS_MAX = 10**12


class Freshness(MeasureCheck):
    """The newest value of a date or timestamp column is at most `max_age` old.

    The age is taken at the run's clock. A DATE is as old as the days since it: in `timezone`, the
    current day has age 0 and the day before is 1 day old. A TIMESTAMP_NTZ is read in `timezone`. A
    newest value in the future has age 0, so it is fresh; `no_future_dates` finds it. No value at
    all fails, and so does an empty table. `failing_rows` is 0 or 1. A tolerance widens `max_age`:
    by a share of it, or by a number of seconds.
    """

    name = "freshness"
    dimension = "timeliness"
    shows_values = True
    parameters = (
        Parameter(
            "max_age",
            (str, int, float, Decimal, timedelta),
            'how old at most: "36h", "2d", "1d 12h", "90m", "45s", a timedelta, or seconds',
            required=True,
        ),
        Parameter("timezone", (str,), "an IANA zone name", default="UTC"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        read_zone(self.name, arguments["timezone"])
        return {**arguments, "max_age": _read_age(arguments["max_age"])}

    def identity(self, arguments: Arguments) -> Arguments:
        return {**arguments, "max_age": _seconds(arguments)}

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        column = columns[0]
        require_family(
            self.name, column, fits=column.family.is_moment, wanted="a DATE or TIMESTAMP column"
        )
        return {moment_unit(column).value: exp.Max(this=moment_number(column))}

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        name, newest = next(iter(values.items()))
        limit = exact(_seconds(arguments))
        limits = f"age <= {_age_text(limit)}"
        if newest is None:
            details = f"no value in {facts.total} rows, so nothing is fresh"
            return Verdict(1, facts.total, OUT_OF_REACH, math.inf, None, details, bound=limits)
        unit, number = MomentUnit(name), int(str(newest))
        zone = ZoneInfo(str(arguments["timezone"]))
        age = _age_seconds(number, unit, facts.now, zone)
        distance = max(age - limit, Fraction(0))
        shown = moment_text(number, unit)
        told = "in the future" if age < 0 else f"{_age_text(age)} old"
        return Verdict(
            failing=1 if distance else 0,
            total=facts.total,
            excess=math.ceil(distance),
            share=share_of(distance, limit),
            measure=float(max(age, Fraction(0))),
            details=f"newest {shown}, {told}, {'outside' if distance else 'within'} {limits}",
            measures={"age_seconds": float(max(age, Fraction(0)))},
            bound=limits,
        )


def _read_age(given: object) -> Decimal:
    """The age in seconds."""
    seconds = _age_of(given)
    if seconds is None or not 0 <= seconds <= _AGE_SECONDS_MAX:
        raise CheckDefinitionError(
            f"parameter 'max_age' of check 'freshness' is {given!r}; write an age such as "
            '"36h", "2d", "90m" or "45s", or a number of seconds'
        )
    return seconds


def _age_of(given: object) -> Decimal | None:
    if isinstance(given, timedelta):
        return Decimal(given // timedelta(microseconds=1)) / MICROS_PER_SECOND
    if not isinstance(given, str):
        number = Decimal(str(given))
        return number if number.is_finite() else None
    if not _TEXT.fullmatch(given):
        return None
    parts = _PART.findall(given)
    return sum((Decimal(count) * _SECONDS[unit.lower()] for count, unit in parts), Decimal(0))


def _seconds(arguments: Arguments) -> Decimal:
    return arguments["max_age"]  # type: ignore[return-value]


def _age_seconds(number: int, unit: MomentUnit, now: datetime, zone: ZoneInfo) -> Fraction:
    """How long ago the moment was; below 0 if it is still to come."""
    if unit is MomentUnit.DAYS:
        today = number_of_moment(now.astimezone(zone).date(), unit) or 0
        return Fraction((today - number) * SECONDS_PER_DAY)
    instant = number - _offset_micros(number, zone) if unit is MomentUnit.LOCAL_MICROS else number
    return Fraction(epoch_micros(now) - instant, MICROS_PER_SECOND)


def _offset_micros(local: int, zone: ZoneInfo) -> int:
    """What the zone is ahead of UTC at a local time; the earlier of two where clocks go back."""
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=local)  # noqa: DTZ001 - a local time
    except OverflowError:
        return 0  # so far away that hours do not count
    offset = moment.replace(tzinfo=zone).utcoffset() or timedelta()
    return offset // timedelta(microseconds=1)


def _age_text(seconds: Fraction) -> str:
    """The age in the largest unit that it fills."""
    for unit in ("d", "h", "m"):
        if seconds >= _SECONDS[unit]:
            return f"{float(seconds / _SECONDS[unit]):g}{unit}"
    return f"{float(seconds):g}s"
