"""Typed values out of texts, as Spark's JSON and CSV readers convert them.

What does not fit its type is NULL there, and None here. Held against Spark by a test.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from lakeproof.accounting.without_spark.key_text import moment_of
from lakeproof.accounting.without_spark.records.json_text import Json, Number, Raw
from lakeproof.accounting.without_spark.records.reading import NotCheckableError
from lakeproof.model.column import base_type

Time = TypeVar("Time", date, datetime)

_INTEGER_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_TEXTS: Final = frozenset({"string", "char", "varchar"})
_BYTE_MAX: Final = 255
_DIGITS_MAX: Final = 19
"""Of 64 bits. Python refuses to read a number of some thousands of digits at all."""

_INTEGER: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_DATE: Final = re.compile(r"(?P<year>[+-]?\d{4,7})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?")
_DATE_AND_MORE: Final = re.compile(rf"{_DATE.pattern}(?:(?<=-\d)|(?<=-\d\d))[ T].*", re.DOTALL)
_MOMENT: Final = re.compile(
    rf"{_DATE.pattern}"
    r"(?:(?<=-\d|\d\d)[ T](?P<hour>\d\d?)(?::(?P<minute>\d\d?)(?::(?P<second>\d\d?)"
    r"(?:\.(?P<fraction>\d{0,9}))?)?)?(?P<zone>\s*[A-Za-z+-].*)?)?"
)
_TIME_ALONE: Final = re.compile(r"T?\d\d?:.*")
_OFFSET: Final = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d\d?):?(?P<minutes>\d\d)?(?::?(?P<seconds>\d\d))?"
)
# What Java's String.trim and Spark's trimAll leave off.
_BLANKS: Final = "".join(map(chr, range(33)))
_OFFSET_MAX: Final = timedelta(hours=18)
_LAST_YEAR: Final = 9999
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()


def value_of_text(text: str | None, type_text: str, zone: str = "") -> object:
    """A CSV field, or the value in a partition folder's name, as its type."""
    kind = base_type(type_text)
    if text is None or kind in _TEXTS:
        return text
    convert = _FROM_TEXT.get(kind)
    return convert(text, type_text) if convert else _time_value(text, kind, zone)


def value_of_json(value: Json, type_text: str, zone: str = "") -> object:
    """A member of a JSON object as its type."""
    kind = base_type(type_text)
    if value is None or kind in _TEXTS:
        return _written(value)
    if isinstance(value, Number):
        return _of_number(value, kind, type_text)
    if isinstance(value, bool | Raw):
        return value if kind == "boolean" and isinstance(value, bool) else None
    if kind in _FROM_JSON_TEXT:
        return _FROM_JSON_TEXT[kind](value, type_text)
    if kind == "date":
        return _time_value(value, kind, zone) or _day_number(value)
    return _time_value(value, kind, zone)


def _written(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _of_number(value: Number, kind: str, type_text: str) -> object:
    if kind == "decimal":
        return _decimal(value, type_text)
    number = _whole(value)
    if number is None:
        return None
    if kind == "timestamp":
        return _in_reach(lambda: moment_of(number * 1_000_000))
    if kind == "tinyint" and _BYTE_MAX >= number >= 1 << 7:
        # Jackson takes a byte for unsigned.
        return number - (1 << 8)
    return _integer(value, type_text) if kind in _INTEGER_BITS else None


def _whole(text: str) -> int | None:
    """A whole number that is not longer than any type holds; zeros before it do not count."""
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _DIGITS_MAX:
        return None
    return -int(digits) if text.startswith("-") else int(digits)


def _integer(text: str, type_text: str) -> int | None:
    value, limit = _whole(text), 1 << (_INTEGER_BITS[base_type(type_text)] - 1)
    return value if value is not None and -limit <= value < limit else None


def _written_decimal(text: str, type_text: str) -> Decimal | None:
    """Of a text: Spark leaves the commas out, wherever they stand."""
    return _decimal(text.replace(",", ""), type_text)


def _decimal(text: str, type_text: str) -> Decimal | None:
    if not _DECIMAL.fullmatch(text):
        return None
    precision, _, scale = type_text.partition("(")[2].rstrip(") ").partition(",")
    context = Context(int(precision or 10), ROUND_HALF_UP)
    try:
        return Decimal(text).quantize(Decimal((0, (1,), -int(scale or 0))), context=context)
    except InvalidOperation:
        return None


def _base64(text: str, _: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


_FROM_TEXT: Final[dict[str, Callable[[str, str], object]]] = {
    **dict.fromkeys(_INTEGER_BITS, _integer),
    "decimal": _written_decimal,
    "boolean": lambda text, _: {"true": True, "false": False}.get(text.lower()),
    "binary": lambda text, _: text.encode("utf-8"),
}
_FROM_JSON_TEXT: Final[dict[str, Callable[[str, str], object]]] = {
    # A quoted number is no integer to Spark, but it is a decimal.
    **dict.fromkeys((*_INTEGER_BITS, "boolean"), lambda _text, _type: None),
    "decimal": _written_decimal,
    "binary": _base64,
}


# ------------------------------------------------------------------------------ dates and times


def _time_value(text: str, kind: str, zone: str) -> object:
    trimmed = text.strip(_BLANKS)
    if kind == "date":
        found = _DATE.fullmatch(trimmed) or _DATE_AND_MORE.fullmatch(trimmed)
        return _day(found) if found else None
    if kind not in {"timestamp", "timestamp_ntz"}:
        raise NotCheckableError(f"values of type {kind} are read by Spark alone")
    found = _MOMENT.fullmatch(trimmed)
    if found is None:
        if kind == "timestamp" and _TIME_ALONE.fullmatch(trimmed):
            raise NotCheckableError(f"{text!r} is a time of the day on which Spark read it")
        return None
    return _moment(found, kind, zone)


def _day(found: re.Match[str]) -> date | None:
    year, month, day = (int(found[name] or 1) for name in ("year", "month", "day"))
    if not 1 <= year <= _LAST_YEAR:
        raise NotCheckableError(f"the year {year} is out of reach without Spark")
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day_number(text: str) -> date | None:
    """Spark takes a text of digits for the number of a day since 1970."""
    number = _integer(text, "int")
    if number is None:
        return None
    return _in_reach(lambda: date.fromordinal(_EPOCH_DAY + number))


def _moment(found: re.Match[str], kind: str, zone: str) -> datetime | None:
    day = _day(found)
    if day is None:
        return None
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    micros = int((found["fraction"] or "").ljust(6, "0")[:6])
    try:
        wall = datetime(day.year, day.month, day.day, hour, minute, second, micros)  # noqa: DTZ001
    except ValueError:
        return None
    written = (found["zone"] or "").strip()
    if kind == "timestamp_ntz":
        return None if written else wall
    if not written and not zone:
        raise NotCheckableError(
            "a timestamp without zone was read in the session's, which the ledger does not name"
        )
    offset = _zone(written or zone)
    return None if offset is None else _in_reach(lambda: _in_utc(wall, offset))


def _in_utc(wall: datetime, zone: timezone | ZoneInfo) -> datetime:
    # Plain arithmetic keeps seconds of old local times, and a gap is left forward as in Java.
    offset = wall.replace(tzinfo=zone).utcoffset() or timedelta()
    return (wall - offset).replace(tzinfo=UTC)


def _zone(text: str) -> timezone | ZoneInfo | None:
    if text in {"Z", "UTC", "GMT", "UT"}:
        return UTC
    found = _OFFSET.fullmatch(text)
    if found:
        parts = {name: int(found[name] or 0) for name in ("hours", "minutes", "seconds")}
        span = timedelta(**parts)
        return timezone(-span if found["sign"] == "-" else span) if span <= _OFFSET_MAX else None
    try:
        return ZoneInfo(text)
    except (ValueError, KeyError, OSError):
        return None


def _in_reach(compute: Callable[[], Time]) -> Time:
    try:
        return compute()
    except (OverflowError, ValueError) as problem:
        raise NotCheckableError(
            "a time before the year 1 or after 9999 is out of reach without Spark"
        ) from problem
