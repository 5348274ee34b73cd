"""When a rule is due: the five fields of cron, as Vixie's cron reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.printable import printable

_MINUTE = timedelta(minutes=1)
_FIELDS = 5
_QUARTZ_FIELDS = (6, 7)
_SUNDAY, _SUNDAY_AGAIN = 0, 7
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_ZONE = re.compile(r"(?:CRON_TZ|TZ)=(\S+)\s+(.*)", re.DOTALL)
_CRON_NAMES = frozenset({"cron", "crontab"})


@dataclass(frozen=True, slots=True)
class _Field:
    """What stands at one place of a cron expression; `names` count from `low`."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PLACES = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _WEEKDAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """The minutes at which something is due, as local times of a zone.

    When both days are restricted, either is enough; a day that starts with `*` or `?` is not.
    `has_fixed_time`: neither minute nor hour starts with `*`.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    has_fixed_time: bool
    zone: tzinfo = UTC

    def fires_at(self, moment: datetime) -> bool:
        """Whether it is due in the minute of that moment; one without zone is in UTC.

        Where clocks change, as Vixie's cron does: a fixed time that is left out is due at the
        first minute after the change, one that comes twice is due the first time only. With `*`
        as minute or hour, the clock on the wall decides.
        """
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        minute = aware.astimezone(UTC).replace(second=0, microsecond=0, fold=0)
        local = minute.astimezone(self.zone)
        if not self.has_fixed_time:
            return self._matches(local)
        if local.fold:
            return False
        return self._matches(local) or any(map(self._matches, self._left_out_before(minute)))

    def _matches(self, local: datetime) -> bool:
        weekday = local.isoweekday() % 7
        by_day = (local.day in self.days, weekday in self.weekdays)
        return (
            local.minute in self.minutes
            and local.hour in self.hours
            and local.month in self.months
            and (any(by_day) if self.either_day else all(by_day))
        )

    def _left_out_before(self, minute: datetime) -> list[datetime]:
        """The local minutes that the clock jumped over just before this one."""
        wall = minute.astimezone(self.zone).replace(tzinfo=None)
        before = (minute - _MINUTE).astimezone(self.zone).replace(tzinfo=None)
        jumped = (wall - before) // _MINUTE - 1
        return [before + number * _MINUTE for number in range(1, jumped + 1)]


def parse_cron(text: str, zone: str = "") -> Cron:
    """The schedule of `0 20 * * *`, `@daily` or `CRON_TZ=Europe/Berlin 0 2 * * MON-FRI`.

    A zone in the text wins over `zone`; without any it is UTC. Raises CheckDefinitionError for
    what five-field cron does not have: seconds, `L`, `W`, `#`, `@reboot`.
    """
    prefixed = _ZONE.fullmatch(text.strip())
    zone, text = (prefixed[1], prefixed[2]) if prefixed else (zone, text.strip())
    words = _MACROS.get(text.lower(), text).split()
    if len(words) != _FIELDS:
        raise _refusal(text, _wrong_length(text, len(words)))
    read = [_values(word, place, text) for word, place in zip(words, _PLACES, strict=True)]
    starred = [word.startswith(("*", "?")) for word in words]
    minutes, hours, days, months, weekdays = read
    if _SUNDAY_AGAIN in weekdays:
        weekdays = weekdays - {_SUNDAY_AGAIN} | {_SUNDAY}
    return Cron(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        either_day=not (starred[2] or starred[4]),
        has_fixed_time=not (starred[0] or starred[1]),
        zone=_zone(zone, text),
    )


def _wrong_length(text: str, count: int) -> str:
    if text.startswith("@"):
        return f"known words are {', '.join(_MACROS)}"
    if count in _QUARTZ_FIELDS:
        return (
            f"it has {count} fields, as Quartz writes them. Leave out the seconds in front "
            "(and the year at the end), and write days of week as 0 (Sunday) to 6 or by name"
        )
    return f"it has {count} fields, not minute, hour, day of month, month and day of week"


def _values(word: str, place: _Field, text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in word.split(","):
        found |= _part(part, place, text)
    return frozenset(found)


def _part(part: str, place: _Field, text: str) -> set[int]:
    span, has_step, step_text = part.partition("/")
    first, is_range, last = span.partition("-")
    if span == "*" or (span == "?" and place.name.startswith("day") and not has_step):
        low, high = place.low, min(place.high, 6) if place.names == _WEEKDAYS else place.high
    elif is_range:
        low, high = _number(first, place, text), _number(last, place, text)
        if low > high:
            raise _refusal(text, f"{span} of the {place.name} runs backwards")
    elif has_step:
        raise _refusal(text, f"{part} of the {place.name}: write {span}-{place.high}/{step_text}")
    else:
        low = high = _number(span, place, text)
    step = 1
    if has_step:
        if not re.fullmatch(r"[0-9]{1,2}", step_text) or int(step_text) == 0:
            raise _refusal(text, f"{part} of the {place.name} has no step that is a number above 0")
        step = int(step_text)
    return set(range(low, high + 1, step))


def _number(word: str, place: _Field, text: str) -> int:
    if word.lower() in place.names:
        return place.low + place.names.index(word.lower())
    if re.fullmatch(r"[0-9]{1,2}", word) and place.low <= int(word) <= place.high:
        return int(word)
    names = f", or {place.names[0]} to {place.names[-1]}" if place.names else ""
    raise _refusal(
        text,
        f"{word!r} is no {place.name}: {place.low} to {place.high}{names}; L, W, # and H are not",
    )


def _zone(name: str, text: str) -> tzinfo:
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise _refusal(text, f"{name!r} is no IANA zone such as Europe/Berlin") from problem


def _refusal(text: str, problem: str) -> CheckDefinitionError:
    return CheckDefinitionError(f"schedule {printable(text)!r} is not five-field cron: {problem}")


class Due(StrEnum):
    """Whether a rule is due; `UNDECIDABLE` where only somebody else's scheduler knows."""

    DUE = "due"
    NOT_DUE = "not_due"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True, slots=True)
class DueAnswer:
    """Whether, and why."""

    due: Due
    reason: str


def is_due(declared: Mapping[str, str], at: datetime) -> DueAnswer:
    """Whether a rule that declares `schedule`, `scheduler` and `timezone` is due in a minute.

    Without a schedule it always is. A schedule without a scheduler is cron if it reads as cron.
    The zone is that of the text, else `timezone`, else UTC.
    """
    schedule = declared.get("schedule", "").strip()
    scheduler = declared.get("scheduler", "").strip()
    if scheduler and scheduler.lower() not in _CRON_NAMES:
        return DueAnswer(Due.UNDECIDABLE, f"scheduler {printable(scheduler)!r} is not cron")
    if not schedule:
        return DueAnswer(Due.DUE, "it has no schedule")
    try:
        cron = parse_cron(schedule, declared.get("timezone", "").strip())
    except CheckDefinitionError as problem:
        return DueAnswer(Due.UNDECIDABLE, str(problem))
    due = Due.DUE if cron.fires_at(at) else Due.NOT_DUE
    return DueAnswer(due, f"cron {printable(schedule)}")
