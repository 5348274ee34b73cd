"""Bad rows written aside in full, with the run that found them and the hits they belong to."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lakeproof.errors import ConfigError, EngineUnavailableError, short_message
from lakeproof.model.column import Column, TypeFamily, column_named
from lakeproof.model.names import TableName, quote
from lakeproof.planning.marks import broken_hits_sql, marks_of, names_sql
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.tables import TableReader
from lakeproof.state import literals
from lakeproof.state.access import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

RUN_ID = "_lakeproof_run_id"
TABLE = "_lakeproof_table"
HIT_IDS = "_lakeproof_hit_ids"
RULES = "_lakeproof_rules"
NUMBER = "_lakeproof_row"
"""The row's number among those with the same hits: with it, every row of a run has a name."""

_OWN = (RUN_ID, TABLE, HIT_IDS, RULES, NUMBER)
_AWKWARD = re.compile(r"[ ,;{}()\n\t=]")
"""Characters that Delta takes in a column's name only with column mapping."""
_WIDER = ("tinyint", "smallint", "int", "bigint")


class Quarantine(Protocol):
    """Where a run puts the bad rows of its tables."""

    def prepare(self, plans: Collection[TablePlan]) -> None:
        """Create what is missing; refuse a table that cannot take the rows, before any is read."""

    def fill(
        self, plan: TablePlan, rule_ids: Collection[str], run_id: str, *, may_repeat: bool
    ) -> int:
        """Write the rows that break these rules, in one commit; a repeat writes nothing more."""


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
        rows = self._rows(plan, rule_ids, run_id)
        try:
            if may_repeat:
                self._merge(rows, target, plan, run_id)
            else:
                rows.writeTo(target.sql).append()
            counted = self.spark.sql(
                f"SELECT count(*) AS rows FROM {target.sql} WHERE {_of_run(plan, run_id)}"
            ).collect()
        except spark_errors() as problem:
            raise EngineUnavailableError(
                f"bad rows of {plan.pinned.table} were not written to quarantine {target}: "
                f"{short_message(problem)}"
            ) from problem
        return int(counted[0]["rows"])

    def _merge(self, rows: DataFrame, target: TableName, plan: TablePlan, run_id: str) -> None:
        """One commit, whoever else repeats the same run at the same time."""
        view = f"_lakeproof_aside_{uuid.uuid4().hex}"
        rows.createOrReplaceTempView(view)
        same = " AND ".join(f"t.{name} = s.{name}" for name in (RUN_ID, TABLE, HIT_IDS, NUMBER))
        names = ", ".join(quote(name) for name in rows.columns)
        values = ", ".join(f"s.{quote(name)}" for name in rows.columns)
        try:
            self.spark.sql(
                f"MERGE INTO {target.sql} t USING {view} s ON {same}\n"
                f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})\n"
                f"WHEN NOT MATCHED BY SOURCE AND {_of_run(plan, run_id, 't.')} THEN DELETE"
            ).collect()
        finally:
            self.spark.catalog.dropTempView(view)

    def _prepare(self, plan: TablePlan, target: TableName) -> None:
        frame = self._rows(plan, [rule.rule_id for rule in plan.rules], "")
        if not self.spark.catalog.tableExists(target.sql):
            writer = frame.limit(0).writeTo(target.sql).using(_format(plan, target))
            if any(_AWKWARD.search(name) for name in _all_names(plan.pinned.columns)):
                writer = writer.tableProperty("delta.columnMapping.mode", "name")
            try:
                writer.create()
            except spark_errors():
                # Two runs may create it at once, and one of them is told so by an error.
                if not self.spark.catalog.tableExists(target.sql):
                    raise
        problem = _misfit(frame.schema, self.spark.table(target.sql).schema)
        if problem:
            raise ConfigError(
                f"quarantine {target} cannot take the rows of {plan.pinned.table}: {problem}. "
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
        rule_names = f"transform({hits}, _lakeproof_hit -> _lakeproof_hit.rule_id)"
        names = names_sql(plan, f"array_distinct({rule_names})") if marks else rule_names
        listed = (
            f"SELECT {columns}, {literals.text(run_id)} AS {RUN_ID}, "
            f"{literals.text(str(pinned.table))} AS {TABLE}, "
            f"transform({hits}, _lakeproof_hit -> _lakeproof_hit.hit_id) AS {HIT_IDS}, "
            f"{names} AS {RULES}\n"
            f"FROM (SELECT *, {found} AS {hits} FROM {pinned.relation})\nWHERE size({hits}) > 0"
        )
        return self.spark.sql(
            f"SELECT *, row_number() OVER (PARTITION BY {HIT_IDS} ORDER BY {HIT_IDS}) AS {NUMBER}\n"
            f"FROM (\n{listed}\n)"
        )


_NO_HITS = "CAST(array() AS ARRAY<STRUCT<rule_id: STRING, hit_id: STRING>>)"


def _of_run(plan: TablePlan, run_id: str, alias: str = "") -> str:
    table = literals.text(str(plan.pinned.table))
    return f"{alias}{RUN_ID} = {literals.text(run_id)} AND {alias}{TABLE} = {table}"


def _format(plan: TablePlan, target: TableName) -> str:
    """The checked table's own in its own catalog, else what that catalog most likely holds."""
    if target.catalog == plan.pinned.table.catalog and plan.pinned.format in {"iceberg", "delta"}:
        return plan.pinned.format
    return "delta" if target.catalog.lower() == "spark_catalog" else "iceberg"


def _all_names(columns: Iterable[Column]) -> Iterable[str]:
    for column in columns:
        yield column.name
        inner = (column.element, column.map_key)
        yield from _all_names([*column.fields, *(part for part in inner if part is not None)])


def _misfit(rows: StructType, target: StructType) -> str:
    """Why the rows cannot be appended there; '' if they can."""
    there = [Column(field.name, field.dataType.simpleString()) for field in target.fields]
    for field in rows.fields:
        wanted, found = field.dataType.simpleString(), column_named(there, field.name)
        if found is None or not _takes(found, Column(field.name, wanted)):
            is_there = f"it is {found.type_text.upper()}" if found else "is none"
            return f"column {field.name!r} is {wanted.upper()}, there {is_there}"
    named = [Column(field.name, "") for field in rows.fields]
    for field in target.fields:
        if not field.nullable and column_named(named, field.name) is None:
            return f"its column {field.name!r} must not be NULL, and the rows do not have it"
    return ""


def _takes(target: Column, given: Column) -> bool:
    """Whether every value fits; Iceberg, for one, has no integer below INT."""
    if target.type_text == given.type_text:
        return True
    if given.family is TypeFamily.INTEGER and target.family is TypeFamily.INTEGER:
        return _WIDER.index(target.type_text) > _WIDER.index(given.type_text)
    return (given.type_text, target.type_text) == ("float", "double") or (
        given.family is TypeFamily.STRING and target.type_text == "string"
    )
