"""Lengths of time: in texts of ours (`36h`) and in ISO 8601 (`P1Y2M`)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

DURATION = (str, int, float, Decimal, timedelta)
"""What a parameter that takes a duration may be."""
DURATION_FORMS = '"36h", "2d", "1y 6mo", "P1Y6M", a timedelta, or seconds'

AGE_SECONDS_MAX = 10**12
"""Longer than any calendar."""

MICROS_PER_SECOND = 1_000_000
SECONDS_PER_DAY = 86_400
_MONTHS_PER_YEAR = 12
_MONTHS_MAX = 120_000
_SECONDS = {"w": 7 * SECONDS_PER_DAY, "d": SECONDS_PER_DAY, "h": 3600, "m": 60, "s": 1}
_MONTHS = {"y": _MONTHS_PER_YEAR, "mo": 1}
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_PART = re.compile(rf"\s*({_NUMBER})\s*(mo|[ywdhms])", re.IGNORECASE)
_TEXT = re.compile(rf"(?:{_PART.pattern})+\s*", re.IGNORECASE)
_ISO = re.compile(
    rf"P(?=[0-9T])(?:(?P<y>{_NUMBER})Y)?(?:(?P<mo>{_NUMBER})M)?(?:(?P<w>{_NUMBER})W)?"
    rf"(?:(?P<d>{_NUMBER})D)?"
    rf"(?:T(?=[0-9])(?:(?P<h>{_NUMBER})H)?(?:(?P<m>{_NUMBER})M)?(?:(?P<s>{_NUMBER})S)?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Duration:
    """Calendar months, whose length differs, and seconds beside them."""

    months: int = 0
    seconds: Decimal = Decimal(0)

    def before(self, moment: datetime) -> datetime:
        """The moment so much earlier: months first, in its own zone, then seconds.

        The day is the last one of a month that is too short. Raises OverflowError before the
        year 1.
        """
        year, month = divmod(moment.year * _MONTHS_PER_YEAR + moment.month - 1 - self.months, 12)
        if year < 1:
            raise OverflowError("before the year 1")
        day = min(moment.day, monthrange(year, month + 1)[1])
        micros = int(self.seconds * MICROS_PER_SECOND)
        return moment.replace(year=year, month=month + 1, day=day) - timedelta(microseconds=micros)

    @property
    def whole_days(self) -> Duration:
        """What of it counts between dates: months and full days."""
        return Duration(self.months, self.seconds - self.seconds % SECONDS_PER_DAY)

    def __str__(self) -> str:
        """In the largest units that it fills, as it can be read again: `1y 6mo`, `1d 12h`."""
        years, months = divmod(self.months, _MONTHS_PER_YEAR)
        told = [f"{count}{unit}" for count, unit in ((years, "y"), (months, "mo")) if count]
        left = self.seconds
        for unit in ("d", "h", "m"):
            count, left = divmod(left, _SECONDS[unit])
            told += [f"{int(count)}{unit}"] if count else []
        if left or not told:
            told.append(f"{_plain(left)}s")
        return " ".join(told)


def duration_of(given: object) -> Duration | None:
    """The duration that was written; None if it is none, or longer than the calendar."""
    if isinstance(given, timedelta):
        return _checked(Duration(0, Decimal(given // timedelta(microseconds=1)) / 1_000_000))
    if isinstance(given, bool) or not isinstance(given, DURATION):
        return None
    if not isinstance(given, str):
        return _checked(Duration(0, Decimal(str(given))))
    iso = _ISO.fullmatch(given.strip())
    if iso:
        return sum_of_parts((count, unit) for unit, count in iso.groupdict().items() if count)
    if _TEXT.fullmatch(given):
        return sum_of_parts((count, unit.lower()) for count, unit in _PART.findall(given))
    return None


def sum_of_parts(parts: Iterable[tuple[str, str]]) -> Duration | None:
    """(count, unit) pairs together, units as `y mo w d h m s`; None if months are not whole."""
    months, seconds = Decimal(0), Decimal(0)
    for count, unit in parts:
        number = Decimal(count.replace(",", "."))
        if unit in _MONTHS:
            months += number * _MONTHS[unit]
        else:
            seconds += number * _SECONDS[unit]
    if months != months.to_integral_value():
        return None
    return _checked(Duration(int(months), seconds))


def _checked(found: Duration) -> Duration | None:
    if not found.seconds.is_finite() or not 0 <= found.seconds <= AGE_SECONDS_MAX:
        return None
    return found if 0 <= found.months <= _MONTHS_MAX else None


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
