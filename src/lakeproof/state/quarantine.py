"""Bad rows written aside in full, with the run that found them and the hits they belong to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lakeproof.errors import ConfigError, EngineUnavailableError, short_message
from lakeproof.model.names import TableName, quote
from lakeproof.planning.marks import broken_hits_sql, marks_of, names_sql
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.tables import TableReader
from lakeproof.state import literals
from lakeproof.state.access import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN_ID = "_lakeproof_run_id"
TABLE = "_lakeproof_table"
HIT_IDS = "_lakeproof_hit_ids"
RULES = "_lakeproof_rules"
_OWN = (RUN_ID, TABLE, HIT_IDS, RULES)
_AWKWARD = re.compile(r"[ ,;{}()\n\t=]")
"""Characters that Delta takes in a column's name only with column mapping."""


class Quarantine(Protocol):
    """Where a run puts the bad rows of its tables."""

    def prepare(self, plans: Collection[TablePlan]) -> None:
        """Create what is missing; refuse a table that cannot take the rows, before any is read."""

    def fill(
        self, plan: TablePlan, rule_ids: Collection[str], run_id: str, *, may_repeat: bool
    ) -> int:
        """Write the rows that break these rules; what this run wrote before is replaced."""


@dataclass(frozen=True, slots=True)
class SparkQuarantine:
    """One quarantine table for each checked table, by the checked table's name."""

    spark: SparkSession
    reader: TableReader
    targets: Mapping[TableName, TableName]

    def prepare(self, plans: Collection[TablePlan]) -> None:
        for plan in plans:
            target = self.targets.get(plan.pinned.table)
            if target is None:
                continue
            try:
                self._prepare(plan, target)
            except spark_errors() as problem:
                raise EngineUnavailableError(
                    f"quarantine {target} cannot be made ready: {short_message(problem)}"
                ) from problem

    def fill(
        self, plan: TablePlan, rule_ids: Collection[str], run_id: str, *, may_repeat: bool
    ) -> int:
        target = self.targets.get(plan.pinned.table)
        if target is None:
            return 0
        mine = (
            f"{RUN_ID} = {literals.text(run_id)} "
            f"AND {TABLE} = {literals.text(str(plan.pinned.table))}"
        )
        if may_repeat:
            self.spark.sql(f"DELETE FROM {target.sql} WHERE {mine}").collect()
        if any(mark.rule_id in rule_ids for mark in marks_of(plan, self.reader.element_key_sql)):
            self._rows(plan, rule_ids, run_id).writeTo(target.sql).append()
        rows = self.spark.sql(f"SELECT count(*) AS rows FROM {target.sql} WHERE {mine}").collect()
        return int(rows[0]["rows"])

    def _prepare(self, plan: TablePlan, target: TableName) -> None:
        frame = self._rows(plan, (), "")
        if not self.spark.catalog.tableExists(target.sql):
            self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {TableName(target.parts[:-1]).sql}")
            writer = frame.writeTo(target.sql).using(_format(plan, target))
            if any(_AWKWARD.search(name) for name in frame.columns):
                writer = writer.tableProperty("delta.columnMapping.mode", "name")
            writer.create()
            return
        there = {
            column.name.casefold(): column.dataType.simpleString()
            for column in self.spark.table(target.sql).schema.fields
        }
        for column in frame.schema.fields:
            found, wanted = there.get(column.name.casefold()), column.dataType.simpleString()
            if found != wanted:
                raise ConfigError(
                    f"quarantine {target} cannot take the rows of {plan.pinned.table}: column "
                    f"{column.name!r} is {wanted.upper()}, there "
                    f"{'it is ' + found.upper() if found else 'is none'}. "
                    "Change that table, or name another one"
                )

    def _rows(self, plan: TablePlan, rule_ids: Collection[str], run_id: str) -> DataFrame:
        """The bad rows with our columns behind theirs; none at all if no rule is asked for."""
        pinned = plan.pinned
        clash = [name for name in _OWN if pinned.column(name) is not None]
        if clash:
            raise ConfigError(
                f"{pinned.table} has a column {clash[0]!r}, which quarantine needs for itself"
            )
        marks = [
            mark for mark in marks_of(plan, self.reader.element_key_sql) if mark.rule_id in rule_ids
        ]
        columns = ", ".join(quote(column.name) for column in pinned.columns)
        hits = "_lakeproof_hits"
        found = broken_hits_sql(marks, self.reader.hit_id_sql) if marks else _NO_HITS
        ids = f"transform({hits}, _lakeproof_hit -> _lakeproof_hit.rule_id)"
        names = names_sql(plan, f"array_distinct({ids})") if marks else f"{ids}"
        return self.spark.sql(
            f"SELECT {columns}, {literals.text(run_id)} AS {RUN_ID}, "
            f"{literals.text(str(pinned.table))} AS {TABLE}, "
            f"transform({hits}, _lakeproof_hit -> _lakeproof_hit.hit_id) AS {HIT_IDS}, "
            f"{names} AS {RULES}\n"
            f"FROM (SELECT *, {found} AS {hits} FROM {pinned.relation})\nWHERE size({hits}) > 0"
        )


_NO_HITS = "CAST(array() AS ARRAY<STRUCT<rule_id: STRING, hit_id: STRING>>)"


def _format(plan: TablePlan, target: TableName) -> str:
    """The checked table's own in its own catalog, else what that catalog most likely holds."""
    if target.catalog == plan.pinned.table.catalog and plan.pinned.format in {"iceberg", "delta"}:
        return plan.pinned.format
    return "delta" if target.catalog.lower() == "spark_catalog" else "iceberg"
