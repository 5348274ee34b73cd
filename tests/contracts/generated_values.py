"""Values that are as a property's options ask, another one for each number."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import types as T  # noqa: N812 (its usual name)

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
_SAMPLES = {
    "^B[0-9]+$": "B{0:07d}",
    r"[A-Za-z]{2}-\d{3}-[A-Za-z]{2}$": "AB-1{0:02d}-CD",
    "^[0-9]{5}$": "{0:05d}",
    "ACC[0-9]{8}": "ACC{0:08d}",
}
"""A text for each pattern of the corpus."""


def plain_value(kind: T.DataType, options: Mapping[str, Any], number: int) -> Any:
    """A value of that type; moments without bounds are shortly before now."""
    if isinstance(kind, T.StringType):
        return _text(options, number)
    if isinstance(kind, (T.BinaryType, T.BooleanType)):
        return bytes([number]) if isinstance(kind, T.BinaryType) else number % 2 == 0
    low = next((options[key] for key in ("minimum", "exclusiveMinimum") if key in options), None)
    if isinstance(kind, T.DateType):
        if low is None:
            return NOW.date() - timedelta(days=number)
        return date.fromisoformat(low) + timedelta(days=number + 1)
    if isinstance(kind, T.TimestampType):
        first = NOW - timedelta(hours=2) if low is None else moment(low) + timedelta(days=30)
        return first + timedelta(minutes=number)
    step = Decimal(str(options.get("multipleOf", 1)))
    return stored(kind, Decimal(str(low or 0)) + (number + 1) * step)


def _text(options: Mapping[str, Any], number: int) -> str:
    if "pattern" in options:
        return _SAMPLES[options["pattern"]].format(number)
    if "format" in options:
        return f"08:00:{number:02d}"
    if options.get("length") == 1:
        return chr(ord("a") + number)
    return f"v{number}".ljust(options.get("minLength", 0), "x")


def stored(kind: T.DataType, value: Decimal) -> Any:
    """A number as the column has it, rounded to what it has place for."""
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        return float(value)
    if isinstance(kind, T.DecimalType):
        return value.quantize(Decimal(1).scaleb(-kind.scale))
    return int(value)


def moment(text: str) -> datetime:
    """Without a zone, that of the tests' session."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
