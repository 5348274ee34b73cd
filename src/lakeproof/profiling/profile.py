"""What one scan told about a table: the evidence from which rules are drafted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from lakeproof.model.column import Column
from lakeproof.model.names import TableName

Number = int | float | Decimal
Moment = date | datetime


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column. What was not measured, or cannot be told in Python, is None.

    `low` and `high` leave NaN out; `nans` counts it. `distinct_about` is an estimate. `values`
    holds every distinct text of a column with few of them. Of a `private` column nothing was
    fetched but counts.
    """

    column: Column
    nulls: int
    private: bool = False
    nans: int = 0
    low: Number | Moment | None = None
    high: Number | Moment | None = None
    distinct_about: int | None = None
    values: tuple[str, ...] | None = None
    is_unique: bool = False


@dataclass(frozen=True, slots=True)
class TableProfile:
    """A table's rows and columns; `left_out` says of which columns nothing is known, and why."""

    table: TableName
    rows: int
    columns: tuple[ColumnProfile, ...]
    left_out: tuple[tuple[str, str], ...] = ()
