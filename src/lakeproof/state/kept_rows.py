"""Rows that one run keeps for the next, for tables that do not remember themselves.

A log like the key index: rows count if the newest progress of their id names their attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from lakeproof.errors import LakeproofError
from lakeproof.model.names import TableName, quote
from lakeproof.model.weighing import WEIGHT
from lakeproof.state import literals
from lakeproof.state.access import StateAccess, spark_errors
from lakeproof.state.attempts import ATTEMPTS_MAX, Attempt, is_named
from lakeproof.state.tables import KIND_PROPERTY, SCHEMA_VERSION, VERSION_PROPERTY

BATCH = "_lakeproof_batch_seq"
TOKEN = "_lakeproof_token"  # noqa: S105 (the name of a column)
KIND = "kept"


@dataclass(frozen=True, slots=True)
class KeptRows:
    access: StateAccess
    kept_id: str

    @property
    def table(self) -> TableName:
        digest = sha256(self.kept_id.encode()).hexdigest()[:12]
        return TableName((*self.access.namespace.parts, f"_quality_kept_{digest}"))

    def sql(self, attempts: Sequence[Attempt]) -> str:
        """The rows of these attempts, with the columns as they were given."""
        names = ", ".join(quote(name) for name in self._columns())
        named = is_named(attempts, quote(TOKEN))
        return f"SELECT {names} FROM {self.table.sql} WHERE {named}"

    def add(self, batch_seq: int, relation: str, known: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
        """Append the rows; gives the attempts that count once the batch is committed.

        `known` are those that the rows come on top of. The first holds every row; when many have
        come after it, those are merged.
        """
        columns = self.access.frame(f"SELECT * FROM {relation}").columns
        self._create(relation, columns)
        names = ", ".join(quote(name) for name in columns)
        rows = f"SELECT {names} FROM {relation}"
        merged = known[1:] if len(known) >= ATTEMPTS_MAX else ()
        if merged:
            others = ", ".join(quote(name) for name in columns if name != WEIGHT)
            summed = ", ".join(
                f"CAST(sum({quote(name)}) AS BIGINT)" if name == WEIGHT else quote(name)
                for name in columns
            )
            rows = (
                f"SELECT {summed} FROM ({rows} UNION ALL SELECT {names} FROM ({self.sql(merged)})) "
                f"GROUP BY {others} HAVING sum({quote(WEIGHT)}) <> 0"
            )
        own = self.access.append_anew(
            batch_seq,
            lambda own: (
                f"INSERT INTO {self.table.sql} ({names}, {quote(BATCH)}, {quote(TOKEN)}) "
                f"SELECT *, {own.batch_seq}L, {literals.text(own.token)} FROM ({rows})"
            ),
        )
        return (*(known[:1] if merged else known), own)

    def _columns(self) -> list[str]:
        if self.access.format.caches_metadata:
            self.access.frame(f"REFRESH TABLE {self.table.sql}")
        columns = self.access.frame(f"SELECT * FROM {self.table.sql}").columns
        return [name for name in columns if name not in {BATCH, TOKEN}]

    def _create(self, relation: str, columns: Sequence[str]) -> None:
        if not self.exists():
            marks = {
                VERSION_PROPERTY: str(SCHEMA_VERSION),
                KIND_PROPERTY: KIND,
                **self.access.format.properties,
            }
            properties = ", ".join(f"'{key}' = '{value}'" for key, value in marks.items())
            try:
                self.access.write(
                    f"CREATE TABLE {self.table.sql} USING {self.access.format.name} "
                    f"TBLPROPERTIES ({properties}) AS SELECT *, 0L AS {quote(BATCH)}, "
                    f"'' AS {quote(TOKEN)} FROM {relation} WHERE false"
                )
            except spark_errors():
                # Two drivers may create it at once, and one of them is told so by an error.
                if not self.exists():
                    raise
        if set(self._columns()) != set(columns):
            raise LakeproofError(
                f"{self.table} keeps {', '.join(self._columns())}, but this run has "
                f"{', '.join(columns)} to keep. Drop the table: the next run reads everything anew"
            )

    def exists(self) -> bool:
        return self.access.spark.catalog.tableExists(self.table.sql)
