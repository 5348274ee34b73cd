"""The column of a watermark as numbers in order: typed literals, and how far back rows may lie.

A value is a whole number (of days, of microseconds) or a decimal; it is compared in the column's
own type, so that files are skipped by their statistics, and never as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from zoneinfo import ZoneInfo

from lakeproof.checks.moments import moment_number
from lakeproof.config import WatermarkSettings
from lakeproof.durations import MICROS_PER_SECOND, SECONDS_PER_DAY
from lakeproof.errors import ConfigError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest
from lakeproof.planning.tables import PinnedTable

Value = int | Decimal

_BIGINT_MIN = -(2**63)
_MICROS_PER_DAY = SECONDS_PER_DAY * MICROS_PER_SECOND
_EXACT = Context(prec=100)
_KNOWN = (
    TypeFamily.INTEGER,
    TypeFamily.DECIMAL,
    TypeFamily.DATE,
    TypeFamily.TIMESTAMP,
    TypeFamily.TIMESTAMP_NTZ,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WatermarkAxis:
    """The declared column of a table, and how it is to be trusted."""

    column: Column
    settings: WatermarkSettings

    @property
    def sql(self) -> str:
        return quote(self.column.name)

    @property
    def type(self) -> str:
        """The name of its type as a mark has it; with the zone where moments have none."""
        if self.column.family is TypeFamily.TIMESTAMP_NTZ:
            return f"timestamp_ntz {self.settings.timezone}"
        return self.column.type_text

    @property
    def number_sql(self) -> str:
        """The column's value as a number."""
        return moment_number(self.column).sql("spark") if self._is_moment else self.sql

    def number_of(self, text_sql: str) -> str:
        """The number that was written as a text."""
        return f"CAST({text_sql} AS {self._number_type})"

    def value_of(self, text: str) -> Value:
        return Decimal(text) if self.column.family is TypeFamily.DECIMAL else int(text)

    def text_of(self, value: Value) -> str:
        """The number without exponent, as a mark keeps it."""
        return f"{value:f}" if isinstance(value, Decimal) else str(value)

    def literal(self, value: Value) -> str:
        """The value in the column's type; no setting of the session takes part."""
        match self.column.family:
            case TypeFamily.DATE:
                return f"date_from_unix_date({value})"
            case TypeFamily.TIMESTAMP:
                return f"timestamp_micros({value})"
            case TypeFamily.TIMESTAMP_NTZ:
                days, micros = divmod(int(value), _MICROS_PER_DAY)
                seconds = Decimal(micros).scaleb(-6)
                return (
                    "(TIMESTAMP_NTZ'1970-01-01 00:00:00' + "
                    f"make_dt_interval({days}, 0, 0, {seconds:.6f}BD))"
                )
            case TypeFamily.DECIMAL:
                return self.number_of(f"'{self.text_of(value)}'")
            case _:
                return self.number_of(f"'{value}'")

    def lower(self, value: Value) -> Value:
        """The lowest value that a row may come with after this one was the highest."""
        late = Decimal(str(self.settings.lateness_seconds))
        match self.column.family:
            case TypeFamily.DECIMAL:
                step = Decimal(1).scaleb(-self._scale)
                found = _EXACT.subtract(Decimal(value), late)
                return found.quantize(step, ROUND_FLOOR, _EXACT)
            case TypeFamily.DATE:
                days = (late / SECONDS_PER_DAY).to_integral_value(ROUND_CEILING)
                return int(value) - int(days)
            case TypeFamily.TIMESTAMP:
                return int(value) - _micros(late)
            case TypeFamily.TIMESTAMP_NTZ:
                return int(value) - _micros(late) - self._turned_back(int(value), _micros(late))
            case _:
                return max(_BIGINT_MIN, int(value) - int(late.to_integral_value(ROUND_CEILING)))

    def bound(self, commit_micros: int) -> int:
        """The highest value that is old enough to be complete, seen from a commit."""
        micros = commit_micros - _micros(Decimal(str(self.settings.skew_seconds)))
        if self.column.family is not TypeFamily.TIMESTAMP:
            zone = ZoneInfo(self.settings.timezone or "UTC")
            micros += _offset(_moment(micros).astimezone(zone))
        return micros // _MICROS_PER_DAY if self.column.family is TypeFamily.DATE else micros

    @property
    def _is_moment(self) -> bool:
        return self.column.family.is_moment

    @property
    def _number_type(self) -> str:
        """Wide enough for a value less its lateness."""
        is_decimal = self.column.family is TypeFamily.DECIMAL
        return f"DECIMAL(38, {self._scale})" if is_decimal else "BIGINT"

    @property
    def _scale(self) -> int:
        return int(self.column.type_text.rstrip(")").rpartition(",")[2])

    def _turned_back(self, local: int, late: int) -> int:
        """By how much clocks of the zone were, or soon will be, put back or on around the window.

        A clock that was put back shows times once more: rows that come after the highest value
        lie below it.
        """
        zone = ZoneInfo(self.settings.timezone)
        day = timedelta(days=1)
        moment = _moment(local).replace(tzinfo=zone)
        try:
            around = (moment - timedelta(microseconds=late) - day, moment, moment + day)
        except OverflowError:
            return 0
        offsets = [_offset(one) for one in around]
        return max(offsets) - min(offsets)


def watermark_axis(pinned: PinnedTable, settings: WatermarkSettings) -> WatermarkAxis:
    """The column that is declared; ConfigError where the table has none that can be trusted."""
    where = f"watermark of {pinned.table}"
    column = pinned.column(settings.column)
    if column is None:
        near = nearest(settings.column, [one.name for one in pinned.columns])
        hint = f" Nearest: {', '.join(near)}." if near else ""
        raise ConfigError(f"{where}: the table has no column {settings.column!r}.{hint}")
    told = f"{where}: column {column.name} is of type {column.type_text.upper()}"
    if column.family not in _KNOWN:
        raise ConfigError(
            f"{told}; a watermark needs a whole number, a decimal, a date or a timestamp, since "
            "only their order is the order of values. Name another column, or use "
            'mode = "snapshot_diff"'
        )
    if pinned.is_sensitive(column.name):
        raise ConfigError(
            f"{where}: column {column.name} is sensitive, and its highest value would be kept as "
            'it is. Name another column, or use mode = "snapshot"'
        )
    if column.family is TypeFamily.TIMESTAMP_NTZ and not settings.timezone:
        raise ConfigError(f'{told}, without zone. Add timezone = "UTC", or the zone it is in')
    if settings.skew_seconds and not column.family.is_moment:
        raise ConfigError(f"{told}; skew is for dates and timestamps. Remove it")
    return WatermarkAxis(column, settings)


def _micros(seconds: Decimal) -> int:
    return int((seconds * MICROS_PER_SECOND).to_integral_value(ROUND_CEILING))


def _moment(micros: int) -> datetime:
    """As near as Python's calendar goes; only the zone's offset is asked of it."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _EPOCH


def _offset(moment: datetime) -> int:
    return (moment.utcoffset() or timedelta()) // timedelta(microseconds=1)
