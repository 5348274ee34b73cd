"""Two tables to be held against each other, as frozen steps of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lakeproof.model.column import Column
from lakeproof.model.names import TableName, quote
from lakeproof.model.pairing import (
    ColumnTolerance,
    DuplicatePolicy,
    HashAlgorithm,
    Method,
    NullKeyPolicy,
)
from lakeproof.planning.tables import PinnedTable


@dataclass(frozen=True, slots=True)
class PairColumn:
    """A column of both sides under one type, which loses nothing of either.

    `source_sql` and `target_sql` are the value over each side's rows, normalised as asked for, but
    not rounded. `equal_sql` is a template over {source} and {target}, two such values, never NULL:
    whether they are equal within the tolerance. `is_exact` is false where rounding or a tolerance
    lets different values be equal. `is_hidden`: its values must not be shown.
    """

    name: str
    source: Column
    target: Column
    type_text: str
    source_sql: str
    target_sql: str
    equal_sql: str
    is_exact: bool = True
    is_hidden: bool = False
    tolerance: ColumnTolerance | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two tables. `sql` is the exact SELECT that reads it.

    For a `CompareStep` it returns, in this order: `key_0`.. and `value_0`.. (the columns of the
    step), `hash_0`.. (the words of the row hash, BIGINT), `exact_hash` (BIGINT: the columns with
    `is_exact` only), `key_hash` (BIGINT: the key itself if it is one integer), `sample_hash`
    (BIGINT, uniform over keys), `null_key` (BOOLEAN) and `is_castable` (BOOLEAN: whether a
    key_cast went well). `where` is the condition in `sql`, '' if every row is compared.
    """

    name: str
    pinned: PinnedTable
    where: str
    sql: str


@dataclass(frozen=True, slots=True)
class CompareStep:
    """Rows of two tables by their key. Without `columns` only the keys are compared, as sets.

    `method` is the planned one; the engine may have to fall back to the hash join, and says so.
    `shares_files`: whether data files that both sides have may be left out of the first pass.
    `row_limit` bounds the rows that are compared, by smallest `sample_hash`. Every difference is
    written to `output_table`, if there is one. `notes` is what the result's metadata says of the
    plan.
    """

    rule_id: str
    source: Side
    target: Side
    keys: tuple[PairColumn, ...]
    columns: tuple[PairColumn, ...]
    algorithm: HashAlgorithm
    duplicates: DuplicatePolicy
    null_keys: NullKeyPolicy
    method: Method
    method_reason: str
    view: str
    row_limit: int | None = None
    as_sets: bool = False
    shares_files: bool = False
    output_table: TableName | None = None
    timeout_seconds: float | None = None
    notes: Mapping[str, object] = field(default_factory=dict)

    @property
    def what(self) -> str:
        noun = "keys" if self.as_sets else "rows"
        return f"{noun} of {self.source.pinned.table} by {self.method.replace('_', ' ')}"

    @property
    def sql(self) -> str:
        """The differing keys, once the engine has made the view."""
        return f"SELECT violation_key, occurrences, excess, observed FROM {quote(self.view)}"


@dataclass(frozen=True, slots=True)
class CountStep:
    """The number of rows on both sides; each side's `sql` returns one row with `rows`."""

    rule_id: str
    source: Side
    target: Side
    timeout_seconds: float | None = None
    notes: Mapping[str, object] = field(default_factory=dict)

    @property
    def what(self) -> str:
        return f"row count of {self.source.pinned.table}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number on both sides.

    `equal_sql` is a template over {source} and {target}, never NULL: whether they agree within
    the tolerance. `is_hidden`: it may show a value that must not be shown.
    """

    name: str
    target_column: str
    equal_sql: str
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class AggregateStep:
    """Aggregates on both sides, by group if there are groups.

    Each side's `sql` returns `group_0`.. (the columns `groups`) and `value_0`.. (the
    `aggregates`), all of them in one query; without groups also `rows`, those behind the one it
    returns. `needs_one_row` names aggregates of the target that stand in its row as they are, so
    that there must be exactly one. `hidden_groups` hold values that must not be shown.
    """

    rule_id: str
    source: Side
    target: Side
    groups: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    view: str
    needs_one_row: tuple[str, ...] = ()
    hidden_groups: frozenset[str] = frozenset()
    timeout_seconds: float | None = None
    notes: Mapping[str, object] = field(default_factory=dict)

    @property
    def what(self) -> str:
        return f"aggregates of {self.source.pinned.table}"

    @property
    def sql(self) -> str:
        """The differing groups, once the engine has made the view."""
        return f"SELECT violation_key, occurrences, excess, observed FROM {quote(self.view)}"


PairStep: TypeAlias = CompareStep | CountStep | AggregateStep
