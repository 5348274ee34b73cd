"""Rows by a key, as a run that reads changes counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakeproof.checks.kinds import NullPolicy
from lakeproof.checks.moments import moment_number
from lakeproof.model.column import Column, TypeFamily
from lakeproof.planning.fuse import within
from lakeproof.planning.places import column_sql
from lakeproof.planning.plan import KeyedRows
from lakeproof.planning.tables import PinnedTable

NOWHERE = "0L"
_BYTES = 7
"""So many bytes of a text always fit into a BIGINT."""


def keyed_rows(
    pinned: PinnedTable,
    columns: Sequence[Column],
    scope: str,
    key_sql: str,
    nulls: NullPolicy = NullPolicy.DISTINCT,
) -> KeyedRows:
    """The rows in scope by these columns, whose canonical key is `key_sql`."""
    values = [column_sql(column) for column in columns]
    present = all_present(values)
    first = columns[0]
    is_hidden = pinned.is_sensitive((first.path or (first.name,))[0])
    return KeyedRows(
        key_sql=key_sql,
        inside=within(scope, present) if nulls is NullPolicy.DISTINCT else within(scope),
        group_sql=", ".join(values),
        near_sql=NOWHERE if is_hidden else near_sql(first),
        has_null_sql=f"NOT ({present})" if nulls is NullPolicy.FORBID else "false",
    )


def by_number(rows: KeyedRows, column: Column) -> KeyedRows:
    """The same rows, known by the number that their one key column holds."""
    return replace(rows, number_sql=whole_number(column), number_name=column.name)


def is_number(
    rows: KeyedRows, columns: Sequence[Column], nulls: NullPolicy = NullPolicy.DISTINCT
) -> bool:
    """Whether the key is one whole number, never NULL, that is not hidden."""
    (first, *others) = columns
    is_whole = first.family is TypeFamily.INTEGER and nulls is NullPolicy.DISTINCT
    return is_whole and not others and rows.near_sql != NOWHERE


def whole_number(column: Column) -> str:
    """The value of a column of whole numbers or days as a BIGINT."""
    value = column_sql(column)
    if column.family is TypeFamily.DATE:
        return f"CAST(unix_date({value}) AS BIGINT)"
    return f"CAST({value} AS BIGINT)"


def all_present(values: Sequence[str]) -> str:
    """True where none of them is NULL."""
    return " AND ".join(f"{value} IS NOT NULL" for value in values)


def near_sql(column: Column) -> str:
    """A number by which neighbouring values are found together, never NULL.

    What came at the same time mostly has neighbouring keys, so a few files hold the keys of a
    batch. It follows from the value alone: equal values have one number.
    """
    value, family = column_sql(column), column.family
    if family.is_moment:
        number = f"CAST({moment_number(column).sql('spark')} AS BIGINT)"
    elif family.is_number:
        number = f"try_cast({value} AS BIGINT)"
    elif family in {TypeFamily.STRING, TypeFamily.BINARY}:
        digits = 2 * _BYTES
        first = f"rpad(substr(hex({value}), 1, {digits}), {digits}, '0')"
        number = f"CAST(conv({first}, 16, 10) AS BIGINT)"
    else:
        return NOWHERE
    return f"coalesce({number}, {NOWHERE})"


def row_near_sql(pinned: PinnedTable) -> str:
    """The same for the key of a table's rows; a hash of the whole row has no neighbours."""
    first = pinned.column(pinned.key_columns[0]) if pinned.key_columns else None
    if first is None or pinned.is_sensitive(first.name):
        return NOWHERE
    return near_sql(first)
