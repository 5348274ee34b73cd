"""How values compare, in plain Python: what Spark's own comparison of two values would say."""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NUMBERS = {"tinyint", "smallint", "int", "bigint", "decimal", "float", "double"}
FLOATS = {"float", "double"}


def base_type(type_text: str) -> str:
    return type_text.split("(", 1)[0]


def micros(moment: datetime) -> int:
    """Microseconds since the epoch by arithmetic; converting zones overflows in years 1, 9999."""
    naive = moment.replace(tzinfo=None) - EPOCH.replace(tzinfo=None)
    return (naive - (moment.utcoffset() or timedelta())) // timedelta(microseconds=1)


def order(value: object) -> tuple[int, object]:
    """A sort key: equal keys are equal values, -0.0 is 0.0, NaN is one value above infinity."""
    if isinstance(value, float) and math.isnan(value):
        return (2, 0)
    if isinstance(value, (float, Decimal)) and math.isinf(value):
        return (1, 0) if value > 0 else (-1, 0)
    if isinstance(value, (int, float, Decimal)):
        return (0, Fraction(value))
    if isinstance(value, datetime):
        return (0, micros(value))
    if isinstance(value, str):
        return (0, value.encode("utf-8"))
    return (0, value)


def identity(value: object) -> Hashable:
    """Equal exactly for values that are one key: by value within one column's type."""
    return order(value)


def as_column_value(value: object, type_text: str) -> object:
    """An argument as the value that the column's type gives it.

    A bound on a FLOAT or DOUBLE column is the nearest one of its width; on every other number it
    is exact, a Python float being the shortest decimal that reads back as it.
    """
    kind = base_type(type_text)
    if kind in FLOATS:
        number = float(str(value))
        return _single(number) if kind == "float" else number
    if kind in NUMBERS:
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))
    if kind == "date":
        return date.fromisoformat(value) if isinstance(value, str) else value
    if kind in {"timestamp", "timestamp_ntz"}:
        return _moment(value, kind)
    return value


def _moment(value: object, kind: str) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        assert isinstance(value, date)
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - zone follows
    if kind == "timestamp_ntz":
        return value.replace(tzinfo=None)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _single(number: float) -> float:
    """The 32-bit float nearest to the number; beyond its range, infinity."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)
