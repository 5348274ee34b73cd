from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from sqlglot import exp

from lakeproof.checks.bounds import OUT_OF_REACH
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict, require_family
from lakeproof.checks.moments import (
    MomentUnit,
    moment_number,
    moment_text,
    moment_unit,
    number_of_moment,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.durations import MICROS_PER_SECOND, SECONDS_PER_DAY
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.printable import counted

_MICROS_PER_DAY = SECONDS_PER_DAY * MICROS_PER_SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT_HOUR = re.compile(r"[0-9]:")


class AvailableBy(MeasureCheck):
    """By `time` of each day, data of that day is there.

    The newest value must be of the last day whose `time` has come, or later: of today from `time`
    on, of yesterday before it. `time` is a local time such as `09:00`, and may end in its distance
    from UTC: `09:00-08:00`, `07:30Z`. Without one it is read in `timezone`. Today, and the day of
    a TIMESTAMP, are days there; a DATE or TIMESTAMP_NTZ is of the day that it names. No value at
    all fails. `failing_rows` is 0 or 1. A tolerance is a number of days.
    """

    name = "available_by"
    dimension = "timeliness"
    shows_values = True
    parameters = (
        Parameter("time", (str, time), "by when: `09:00`, `09:00-08:00`, `07:30Z`", required=True),
        Parameter("timezone", (str,), "an IANA zone name", default="UTC"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        read_zone(self.name, arguments["timezone"])
        found = time_of(arguments["time"])
        if found is None:
            raise CheckDefinitionError(
                f"parameter 'time' of check 'available_by' is {arguments['time']!r}; write a time "
                "of day such as 09:00, 09:00-08:00 or 07:30Z"
            )
        if found.tzinfo is not None and arguments["timezone"] != "UTC":
            raise CheckDefinitionError(
                f"check 'available_by' has a time with its distance from UTC, {found.isoformat()}, "
                f"and timezone {arguments['timezone']!r}. Give one of them"
            )
        return {**arguments, "time": found.isoformat()}

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        column = columns[0]
        require_family(
            self.name, column, fits=column.family.is_moment, wanted="a DATE or TIMESTAMP column"
        )
        return {moment_unit(column).value: exp.Max(this=moment_number(column))}

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        name, newest = next(iter(values.items()))
        due = _last_due_day(arguments, facts.now)
        wanted = f"newest >= {due.isoformat()}, due by {arguments['time']}"
        if newest is None:
            details = f"no value in {facts.total} rows, {wanted}"
            return Verdict(1, facts.total, OUT_OF_REACH, math.inf, None, details, bound=wanted)
        unit, number = MomentUnit(name), int(str(newest))
        due_number = number_of_moment(due, MomentUnit.DAYS) or 0
        days_late = max(due_number - _day_number(number, unit, _zone(arguments)), 0)
        told = f"{counted(days_late, 'day')} late" if days_late else "in time"
        return Verdict(
            failing=1 if days_late else 0,
            total=facts.total,
            excess=days_late,
            share=math.inf if days_late else 0.0,
            measure=float(days_late),
            details=f"newest {moment_text(number, unit)}, {told}; {wanted}",
            measures={"days_late": days_late},
            bound=wanted,
        )


def time_of(given: object) -> time | None:
    """A time of day, with its distance from UTC if it has one; None if it is none."""
    if isinstance(given, time):
        return given
    text = str(given).strip()
    if ":" not in text:  # `0900` may as well be a number
        return None
    try:
        return time.fromisoformat(f"0{text}" if _SHORT_HOUR.match(text) else text)
    except ValueError:
        return None


def _zone(arguments: Arguments) -> tzinfo:
    found = time.fromisoformat(str(arguments["time"]))
    return found.tzinfo or ZoneInfo(str(arguments["timezone"]))


def _last_due_day(arguments: Arguments, now: datetime) -> date:
    """Today where its time has come, else yesterday."""
    local = now.astimezone(_zone(arguments))
    has_come = local.time() >= time.fromisoformat(str(arguments["time"])).replace(tzinfo=None)
    return local.date() if has_come else local.date() - timedelta(days=1)


def _day_number(number: int, unit: MomentUnit, zone: tzinfo) -> int:
    """The day of a moment, in days since 1970."""
    if unit is MomentUnit.DAYS:
        return number
    offset = timedelta()
    if unit is MomentUnit.MICROS:
        try:
            moment = _EPOCH + timedelta(microseconds=number)
            offset = moment.astimezone(zone).utcoffset() or timedelta()
        except OverflowError:  # so far away that hours do not count
            offset = timedelta()
    return (number + offset // timedelta(microseconds=1)) // _MICROS_PER_DAY
