"""What the metadata of a table state of its files, and of which columns they are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from lakeproof.model.column import Column, TypeFamily, column_named, folded
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNKNOWN = "CAST(NULL AS BIGINT)"
_PARTITION_FAMILIES = {
    TypeFamily.STRING,
    TypeFamily.INTEGER,
    TypeFamily.DATE,
    TypeFamily.BOOLEAN,
    TypeFamily.DECIMAL,
}

WantedColumns: TypeAlias = Mapping[tuple[str, ...], Column]
"""Columns and fields of structs by their folded paths."""


class NoStatisticsError(Exception):
    """Nothing is known of the table's files; the message says why."""


@dataclass(frozen=True, slots=True)
class Stated:
    """SQL of what is stated of a column in one file. `low` and `high` are '' if there are none."""

    nulls: str
    nans: str = "0L"
    low: str = ""
    high: str = ""
    is_exact: str = "false"


@dataclass(frozen=True, slots=True)
class StatedFiles:
    """One row per file, and SQL over it. `partitions` has the values of the partition columns.

    `path` is what the table's metadata write: Delta's is relative, unless a clone has the file.
    """

    files: DataFrame
    path: str
    rows: str
    live_rows: str
    columns: Mapping[tuple[str, ...], Stated]
    partitions: Mapping[str, str] = field(default_factory=dict)


def wanted_columns(pinned: PinnedTable, paths: Collection[tuple[str, ...]]) -> WantedColumns:
    """The columns at these paths. A struct is none: its fields are.

    Nor is a field of a struct that has a name of the table's: to Spark `t.x` is x of table t.
    """
    qualifiers = set(map(folded, pinned.table.parts))
    found = {
        tuple(map(folded, path)): _column_at(pinned, path)
        for path in paths
        if len(path) == 1 or (path and folded(path[0]) not in qualifiers)
    }
    return {path: column for path, column in found.items() if column is not None}


def names_of(column: Column) -> tuple[str, ...]:
    """The column, and the fields that lead into it."""
    return column.path or (column.name,)


def path_sql(path: Collection[str]) -> str:
    return ".".join(map(quote, path))


def type_sql(column: Column) -> str:
    """The column's type in SQL: what TIMESTAMP means there, a setting of the session says."""
    return "TIMESTAMP_LTZ" if column.family is TypeFamily.TIMESTAMP else column.type_text


def has_bounds(column: Column) -> bool:
    """Whether values of this type lie between a low and a high as Spark compares them."""
    family = column.family
    return family.is_number or family.is_moment or column.is_plain_text


def can_partition(column: Column) -> bool:
    """Whether one value can stand for all rows of a file."""
    is_plain = column.family is not TypeFamily.STRING or column.is_plain_text
    return not column.path and column.family in _PARTITION_FAMILIES and is_plain


def _column_at(pinned: PinnedTable, path: tuple[str, ...]) -> Column | None:
    """None also if two names differ in letter case alone: facts are found by folded names."""
    columns, column = pinned.columns, None
    names: list[str] = []
    for name in path:
        alike = Counter(folded(one.name) for one in columns)
        column = column_named(columns, name)
        if column is None or alike[folded(name)] > 1:
            return None
        names.append(column.name)
        columns = column.fields
    if column is None or column.fields:
        return None
    return column if len(names) == 1 else replace(column, name=".".join(names), path=tuple(names))
