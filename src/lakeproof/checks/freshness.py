from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from sqlglot import exp

from lakeproof.checks.bounds import OUT_OF_REACH, exact, share_of
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict, require_family
from lakeproof.checks.moments import (
    MomentUnit,
    epoch_micros,
    moment_number,
    moment_text,
    moment_unit,
    number_of_moment,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.durations import (
    AGE_SECONDS_MAX,
    DURATION,
    MICROS_PER_SECOND,
    SECONDS_PER_DAY,
    Duration,
    duration_of,
)
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

_SECONDS = {"m": 60, "h": 3600, "d": SECONDS_PER_DAY}


class Freshness(MeasureCheck):
    """The newest value of a date or timestamp column is at most `max_age` old.

    The age is taken at the run's clock. A DATE is as old as the days since it: in `timezone`, the
    current day has age 0 and the day before is 1 day old; so it is for a timestamp with `by_day`.
    A TIMESTAMP_NTZ is read in `timezone`. A newest value in the future has age 0, so it is fresh;
    `no_future_dates` finds it. No value at all fails, and so does an empty table. Months and years
    are those of the calendar before the run's moment. `failing_rows` is 0 or 1. A tolerance widens
    `max_age`: by a share of it, or by a number of seconds.
    """

    name = "freshness"
    dimension = "timeliness"
    shows_values = True
    parameters = (
        Parameter(
            "max_age",
            DURATION,
            'how old at most: "36h", "2d", "1d 12h", "90m", "45s", "1y 6mo", "P1Y6M", a timedelta, '
            "or seconds",
        ),
        Parameter("timezone", (str,), "an IANA zone name", default="UTC"),
        Parameter("by_day", (bool,), "whether a timestamp counts as its day", default=False),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        read_zone(self.name, arguments["timezone"])
        limit = arguments["max_age"]
        return {**arguments, "max_age": None if limit is None else _read_age(limit)}

    def require_limits(self, arguments: Arguments) -> None:
        if arguments["max_age"] is None:
            raise CheckDefinitionError("check 'freshness' needs parameter 'max_age'")

    def identity(self, arguments: Arguments) -> Arguments:
        return {name: value for name, value in arguments.items() if name != "by_day" or value}

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        column = columns[0]
        require_family(
            self.name, column, fits=column.family.is_moment, wanted="a DATE or TIMESTAMP column"
        )
        return {moment_unit(column).value: exp.Max(this=moment_number(column))}

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        name, newest = next(iter(values.items()))
        limits = _limits_text(arguments["max_age"])
        if newest is None:
            details = f"no value in {facts.total} rows, so nothing is fresh"
            return Verdict(1, facts.total, OUT_OF_REACH, math.inf, None, details, bound=limits)
        unit, number = MomentUnit(name), int(str(newest))
        zone = ZoneInfo(str(arguments["timezone"]))
        if arguments["by_day"]:
            unit, number = MomentUnit.DAYS, _day_of(number, unit, zone)
        age = _age_seconds(number, unit, facts.now, zone)
        limit = _limit_seconds(arguments["max_age"], unit, facts.now.astimezone(zone))
        distance = Fraction(0) if limit is None else max(age - limit, Fraction(0))
        shown = moment_text(number, unit)
        told = "in the future" if age < 0 else f"{_age_text(age)} old"
        if limits:
            told += f", {'outside' if distance else 'within'} {limits}"
        return Verdict(
            failing=1 if distance else 0,
            total=facts.total,
            excess=math.ceil(distance),
            share=share_of(distance, limit or Fraction(0)),
            measure=float(max(age, Fraction(0))),
            details=f"newest {shown}, {told}",
            measures={"age_seconds": float(max(age, Fraction(0)))},
            bound=limits,
            number=max(age, Fraction(0)),
        )


def _read_age(given: object) -> Decimal | str:
    """The age in seconds; with months, whose length is the calendar's, as text."""
    found = duration_of(given)
    if found is None:
        raise CheckDefinitionError(
            f"parameter 'max_age' of check 'freshness' is {given!r}; write an age such as "
            '"36h", "2d", "90m", "45s" or "6mo", or a number of seconds'
        )
    return str(found) if found.months else found.seconds


def _limits_text(max_age: object) -> str:
    if max_age is None:
        return ""
    return f"age <= {max_age if isinstance(max_age, str) else _age_text(exact(max_age))}"


def _limit_seconds(max_age: object, unit: MomentUnit, now: datetime) -> Fraction | None:
    """The allowed age at this moment: of months, as many seconds as the calendar has for them."""
    if not isinstance(max_age, str):
        return None if max_age is None else exact(max_age)
    ends = now.replace(tzinfo=UTC) if unit is MomentUnit.DAYS else now  # dates know no clock change
    try:
        starts = (duration_of(max_age) or Duration()).before(ends)
    except OverflowError:  # older than the calendar
        return Fraction(AGE_SECONDS_MAX)
    return Fraction(epoch_micros(ends) - epoch_micros(starts), MICROS_PER_SECOND)


def _age_seconds(number: int, unit: MomentUnit, now: datetime, zone: ZoneInfo) -> Fraction:
    """How long ago the moment was; below 0 if it is still to come."""
    if unit is MomentUnit.DAYS:
        today = number_of_moment(now.astimezone(zone).date(), unit) or 0
        return Fraction((today - number) * SECONDS_PER_DAY)
    instant = number - _offset_micros(number, zone) if unit is MomentUnit.LOCAL_MICROS else number
    return Fraction(epoch_micros(now) - instant, MICROS_PER_SECOND)


def _day_of(number: int, unit: MomentUnit, zone: ZoneInfo) -> int:
    """The day of a moment in that zone, as a DATE would be counted."""
    if unit is MomentUnit.DAYS:
        return number
    local = number
    if unit is MomentUnit.MICROS:
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=number)
            offset = moment.astimezone(zone).utcoffset() or timedelta()
        except OverflowError:
            offset = timedelta()  # so far away that hours do not count
        local += offset // timedelta(microseconds=1)
    return local // (SECONDS_PER_DAY * MICROS_PER_SECOND)


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
