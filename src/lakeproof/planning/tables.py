"""What planning must know of a table, and whom it asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lakeproof.config import TableSettings
from lakeproof.model.column import Column, column_named
from lakeproof.model.names import TableName
from lakeproof.model.position import Position

NOTHING_DECLARED = TableSettings()
STAND_IN = "frame"
"""The format of a frame or file that is checked under a table's name."""


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at one position. `relation` is SQL that reads exactly that position.

    `key_columns` identify a row to people; without them `key_sql` is a hash of the whole row.
    `sensitive` columns are never shown: in a key they stand as a hash. `location` is where a table
    lies whose identity a copy of its folder has too; '' if there is none such. `sql_settings` are
    those of the session under which the same SQL of a user's would answer otherwise.
    """

    table: TableName
    table_id: str
    format: str
    position: Position | None
    columns: tuple[Column, ...]
    relation: str
    key_columns: tuple[str, ...]
    key_sql: str
    sensitive: frozenset[str] = frozenset()
    location: str = ""
    sql_settings: str = ""

    def is_sensitive(self, name: str) -> bool:
        """Whether the column's values must not be shown."""
        return name in self.sensitive

    def column(self, name: str) -> Column | None:
        """The column of that name; letter case and Unicode form do not matter.

        Spark does not tell upper from lower case either. A name that is there exactly wins.
        """
        return column_named(self.columns, name)


class TableReader(Protocol):
    """The part of an engine that planning needs; it reads metadata, never rows."""

    def pin(
        self,
        table: TableName,
        key: Sequence[str],
        position: Position | None = None,
        sensitive: Sequence[str] = (),
        declared: TableSettings = NOTHING_DECLARED,
    ) -> PinnedTable:
        """The table at `position`, or at its head now.

        A column of `key` or `sensitive` must be there. What a contract has `declared` of them
        counts as far as the table has it, and its key only where there is no other.
        """

    def key_sql(self, pinned: PinnedTable, columns: Sequence[Column]) -> str:
        """The canonical key of these columns, as an expression over the table."""

    def query_key_sql(self, sql: str, pinned: PinnedTable, hidden: Sequence[str] = ()) -> str:
        """The key of a query's rows: by the table's key if it returns that, else a row hash."""

    def query_columns(self, sql: str) -> tuple[Column, ...]:
        """The columns that a query returns."""

    def element_key_sql(self, key_sql: str, position_sql: str) -> str:
        """The key of one element of a row, as `model.canonical.element_key` makes it."""

    def hit_id_sql(self, rule_id: str, key_sql: str) -> str:
        """The identity of a violation of that rule."""

    def text_sql(self, values: Sequence[tuple[str, str]]) -> str:
        """One text for these values, given as SQL and type: equal only where all of them are."""

    def values_relation(self, values: Sequence[str], type_text: str) -> str:
        """A relation with these values, given as text, in a column `value` of that type."""

    def head(self, table: TableName) -> Position | None:
        """Where the table stands now."""

    def ensure_query(self, sql: str) -> None:
        """Refuse what is not one read-only query (UnsafeSqlError)."""

    def ensure_aggregate(self, sql: str) -> None:
        """Refuse what is not one harmless aggregate over rows (UnsafeSqlError)."""

    def ensure_predicate(self, pinned: PinnedTable, sql: str) -> None:
        """Refuse what is not one harmless condition on a row of the table."""

    def expression_type(self, pinned: PinnedTable, sql: str) -> str:
        """The type of a harmless expression over a row; anything else is refused."""
