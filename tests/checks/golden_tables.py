"""A reader of tables that exist only here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from golden_sample import Sample

from lakeproof.checks.literals import text_literal
from lakeproof.config import TableSettings
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.planning.tables import NOTHING_DECLARED, PinnedTable

SOURCE = "raw"
"""The table that `sales` is held against."""


class ImaginaryTables:
    """Tables have just the columns of one sample, and `country`."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample

    def pin(
        self,
        table: TableName,
        key: Sequence[str],
        position: Position | None = None,
        sensitive: Sequence[str] = (),
        declared: TableSettings = NOTHING_DECLARED,
    ) -> PinnedTable:
        is_source = table.parts[-1] == SOURCE
        columns = self.sample.source_columns if is_source else self.sample.table_columns
        return PinnedTable(
            table=table,
            table_id=f"imaginary {table}",
            format="iceberg",
            position=Position("iceberg", 7),
            columns=(*columns, Column("country", "string")),
            relation=f"{table.sql} VERSION AS OF 7",
            key_columns=(),
            key_sql="'key'",
        )

    def key_sql(self, pinned: PinnedTable, columns: Sequence[Column]) -> str:
        return "'key'"

    def query_key_sql(self, sql: str, pinned: PinnedTable, hidden: Sequence[str] = ()) -> str:
        return "'key'"

    def query_columns(self, sql: str) -> tuple[Column, ...]:
        """One value, or the aggregates of a side behind its groups."""
        groups = re.findall(r" AS (group_\d+)", sql)
        values = [Column(f"value_{n}", kind) for n, kind in enumerate(self.sample.values)]
        return (
            *(Column(name, "string") for name in groups),
            *(values or [Column("value", "bigint")]),
        )

    def element_key_sql(self, key_sql: str, position_sql: str) -> str:
        return f"concat({key_sql}, {position_sql})"

    def hit_id_sql(self, rule_id: str, key_sql: str) -> str:
        return f"concat('{rule_id}', {key_sql})"

    def text_sql(self, values: Sequence[tuple[str, str]]) -> str:
        return f"to_json(array({', '.join(f'CAST({value} AS STRING)' for value, _ in values)}))"

    def values_relation(self, values: Sequence[str], type_text: str) -> str:
        listed = ", ".join(f"({text_literal(value).sql('spark')})" for value in values)
        return f"(SELECT CAST(value AS {type_text}) AS value FROM VALUES {listed} AS t(value))"

    def head(self, table: TableName) -> Position | None:
        return Position("iceberg", 7)

    def ensure_query(self, sql: str) -> None:
        """Whether the SQL is safe is asked elsewhere."""

    def ensure_aggregate(self, sql: str) -> None:
        """Whether the SQL is safe is asked elsewhere."""

    def ensure_predicate(self, pinned: PinnedTable, sql: str) -> None:
        """Whether the SQL is safe is asked elsewhere."""

    def expression_type(self, pinned: PinnedTable, sql: str) -> str:
        return "double"
