"""The profile of a table: one scan of aggregates, and a second look at what it found promising.

Nothing grows with the table: aggregates of fixed size, and sets only of columns of which the scan
said that they hold few and short values. Of private columns nothing is fetched but counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import TableName, quote
from lakeproof.planning.tables import PinnedTable
from lakeproof.profiling.draft import VALUES_MAX, is_identifier
from lakeproof.profiling.privacy import is_private
from lakeproof.profiling.profile import ColumnProfile, Moment, Number, TableProfile

_COLUMNS_MAX = 500
_VALUE_CHARACTERS_MAX = 60
_KEYS_MAX = 3
# The estimate of distinct values is off by up to this share; a unique column is looked at again.
_UNIQUE_SHARE_MIN = 0.85
_UNIQUE_ROWS_MIN = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COUNTED = {TypeFamily.INTEGER, TypeFamily.DECIMAL, TypeFamily.STRING}


def profile_table(
    engine: SparkEngine, table: TableName, key: Sequence[str] = (), sensitive: Sequence[str] = ()
) -> TableProfile:
    """The profile at the table's present position, in two actions at most."""
    pinned = engine.pin(table, key)
    columns, left_out = _nameable(pinned.columns)
    private = [is_private(column.name, sensitive) for column in columns]
    wanted = ["count(*) AS `rows`"]
    for number, column in enumerate(columns):
        wanted += [
            f"{sql} AS `{name}_{number}`"
            for name, sql in _aggregates(column, is_private=private[number]).items()
        ]
    row = engine.fetch_row(_select(wanted, pinned), None)
    rows = _count(row["rows"])
    found = tuple(
        _read(column, {name: row.get(f"{name}_{number}") for name in _NAMES}, rows)
        for number, column in enumerate(columns)
    )
    found = tuple(
        replace(column, private=hidden) for column, hidden in zip(found, private, strict=True)
    )
    lengths = [row.get(f"length_{number}") for number in range(len(columns))]
    confirmed = _confirm(engine, pinned, found, lengths, rows)
    return TableProfile(table, rows, confirmed, left_out)


_NAMES = ("filled", "nans", "low", "high", "distinct")


def _nameable(
    columns: Sequence[Column],
) -> tuple[tuple[Column, ...], tuple[tuple[str, str], ...]]:
    kept: list[Column] = []
    left_out: list[tuple[str, str]] = []
    for column in columns:
        try:
            quote(column.name)
        except CheckDefinitionError as problem:
            left_out.append((column.name, str(problem)))
            continue
        if len(kept) < _COLUMNS_MAX:
            kept.append(column)
        else:
            left_out.append((column.name, f"only the first {_COLUMNS_MAX} columns are profiled"))
    return tuple(kept), tuple(left_out)


def _select(wanted: Sequence[str], pinned: PinnedTable) -> str:
    return "SELECT " + ",\n  ".join(wanted) + f"\nFROM {pinned.relation}"


def _aggregates(column: Column, *, is_private: bool) -> dict[str, str]:
    value, family = quote(column.name), column.family
    found = {"filled": f"count({value})"}
    if family in _COUNTED:
        found["distinct"] = f"approx_count_distinct({value})"
    if is_private:
        return found
    if family is TypeFamily.STRING:
        found["length"] = f"max(length({value}))"
    elif family is TypeFamily.FLOAT:
        number = f"CASE WHEN NOT isnan({value}) THEN {value} END"
        found |= {
            "nans": f"count_if(isnan({value}))",
            "low": f"min({number})",
            "high": f"max({number})",
        }
    elif family.is_number:
        found |= {"low": f"min({value})", "high": f"max({value})"}
    elif family is TypeFamily.TIMESTAMP:
        # As numbers: a driver in another zone than the session would shift the moment.
        found |= {"low": f"unix_micros(min({value}))", "high": f"unix_micros(max({value}))"}
    elif family.is_moment:
        found |= {
            "low": f"CAST(min({value}) AS STRING)",
            "high": f"CAST(max({value}) AS STRING)",
        }
    return found


def _read(column: Column, told: Mapping[str, object], rows: int) -> ColumnProfile:
    family = column.family
    distinct = told["distinct"]
    return ColumnProfile(
        column=column,
        nulls=rows - _count(told["filled"]),
        nans=_count(told["nans"] or 0),
        low=_bound(told["low"], family),
        high=_bound(told["high"], family),
        distinct_about=None if distinct is None else _count(distinct),
    )


def _bound(value: object, family: TypeFamily) -> Number | Moment | None:
    """The value in Python; None for what Python cannot hold, such as the year 10000."""
    try:
        if family is TypeFamily.TIMESTAMP and isinstance(value, int):
            return _EPOCH + timedelta(microseconds=value)
        if family is TypeFamily.DATE and isinstance(value, str):
            return date.fromisoformat(value)
        if family is TypeFamily.TIMESTAMP_NTZ and isinstance(value, str):
            return datetime.fromisoformat(value)
    except (OverflowError, ValueError):
        return None
    return value if isinstance(value, (int, float, Decimal)) else None


def _count(value: object) -> int:
    assert isinstance(value, int)  # noqa: S101 (a count of Spark's is one)
    return value


def _confirm(
    engine: SparkEngine,
    pinned: PinnedTable,
    found: Sequence[ColumnProfile],
    lengths: Sequence[object],
    rows: int,
) -> tuple[ColumnProfile, ...]:
    """Exact numbers of values where a key is likely, and the values where there are few."""
    keys = _likely_keys(found, rows)
    sets = [
        number
        for number, column in enumerate(found)
        if 0 < (column.distinct_about or 0) <= VALUES_MAX
        and 0 < _count(lengths[number] or 0) <= _VALUE_CHARACTERS_MAX
    ]
    names = [quote(column.column.name) for column in found]
    wanted = [f"count(DISTINCT {names[number]}) AS `exact_{number}`" for number in keys]
    wanted += [f"collect_set({names[number]}) AS `values_{number}`" for number in sets]
    if not wanted:
        return tuple(found)
    row = engine.fetch_row(_select(wanted, pinned), None)
    return tuple(
        replace(
            column,
            is_unique=number in keys and row[f"exact_{number}"] == rows,
            values=_values(row[f"values_{number}"]) if number in sets else None,
        )
        for number, column in enumerate(found)
    )


def _likely_keys(found: Sequence[ColumnProfile], rows: int) -> list[int]:
    """Columns without NULL and about as many values as rows; those named like a key first."""
    likely = [
        number
        for number, column in enumerate(found)
        if rows
        and not column.nulls
        and (column.distinct_about or 0) >= _UNIQUE_SHARE_MIN * rows
        and (is_identifier(column.column.name) or _is_telling(column.column, rows))
    ]
    likely.sort(key=lambda number: not is_identifier(found[number].column.name))
    return likely[:_KEYS_MAX]


def _is_telling(column: Column, rows: int) -> bool:
    """Whether being unique says something by itself; amounts and few rows are so by chance."""
    return column.family is not TypeFamily.DECIMAL and rows >= _UNIQUE_ROWS_MIN


def _values(given: object) -> tuple[str, ...] | None:
    values = tuple(sorted(str(value) for value in given)) if isinstance(given, list) else ()
    return values if 0 < len(values) <= VALUES_MAX else None
