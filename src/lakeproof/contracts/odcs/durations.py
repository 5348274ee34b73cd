"""The durations of service levels: a `value` with its `unit`, or ISO 8601 in the value alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from lakeproof.durations import Duration, duration_of, sum_of_parts
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.nearest import nearest
from lakeproof.model.printable import printable

_WORDS: Mapping[str, tuple[str, ...]] = {
    "y": ("y", "yr", "yrs", "year", "years"),
    "mo": ("mo", "mon", "mos", "mth", "mths", "month", "months"),
    "w": ("w", "wk", "wks", "week", "weeks"),
    "d": ("d", "day", "days"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "m": ("min", "mins", "minute", "minutes"),
    "s": ("s", "sec", "secs", "second", "seconds"),
}
_UNITS = {word: unit for unit, words in _WORDS.items() for word in words}
_PERIODS = {
    "hourly": ("1", "h"),
    "daily": ("1", "d"),
    "weekly": ("1", "w"),
    "monthly": ("1", "mo"),
    "quarterly": ("3", "mo"),
    "yearly": ("1", "y"),
    "annually": ("1", "y"),
}
_KNOWN = "y, mo, w, d, h, min, s and their words, such as days"
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_WITH_UNIT = re.compile(rf"({_NUMBER.pattern})\s*([a-z]+)", re.IGNORECASE)
_AMBIGUOUS = "'m' may be minutes or months. Write min or mo"


def read_duration(value: object, unit: object) -> Duration:
    """The duration that an entry means; raises CheckDefinitionError if it means none, or two.

    `4` with `d`; `P1Y2M` alone; `24h` alone; `daily` alone.
    """
    text = _text(value)
    if not text:
        raise CheckDefinitionError("it has no value. Write a number with a unit, or P1D")
    found = _without_unit(text)
    given = _text(unit)
    if found is None:
        found = _counted(text, given)
    elif given:
        _refuse_unknown(given)
    if found is None:
        raise CheckDefinitionError(
            f"{printable(text)!r} is no duration that the calendar can count: months must be "
            "whole, and nothing may be negative"
        )
    return found


def _without_unit(text: str) -> Duration | None:
    """A text that says its unit itself; None for a plain number."""
    if text.lower() in _PERIODS:
        return sum_of_parts([_PERIODS[text.lower()]])
    if text[0] in "Pp":
        return duration_of(text)
    with_unit = _WITH_UNIT.fullmatch(text)
    if with_unit:
        return sum_of_parts([(with_unit[1], _unit(with_unit[2]))])
    return None


def _counted(text: str, unit: str) -> Duration | None:
    if not _NUMBER.fullmatch(text):
        raise CheckDefinitionError(
            f"the value {printable(text)!r} is neither a number nor a duration such as P1D or 24h"
        )
    if not unit:
        raise CheckDefinitionError(
            f"the value {text} has no unit. Known: {_KNOWN}; or write P{text}D"
        )
    return sum_of_parts([(text, _unit(unit))])


def _unit(word: str) -> str:
    _refuse_unknown(word)
    return _UNITS[word.lower()]


def _refuse_unknown(word: str) -> None:
    if word.lower() in _UNITS:
        return
    if word.lower() == "m":
        raise CheckDefinitionError(f"the unit {_AMBIGUOUS}")
    near = nearest(word, _UNITS, 1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise CheckDefinitionError(f"the unit {printable(word)!r} is not known. {hint}Known: {_KNOWN}")


def _text(value: object) -> str:
    """A value as text; numbers as they were written, and nothing for what is no scalar."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return ""
    return str(value).strip()
