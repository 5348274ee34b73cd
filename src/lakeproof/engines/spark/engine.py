"""The Spark engine: SQL over pinned tables, on a classic session or Spark Connect."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from lakeproof.checks.plug_in import PlugInCheck
from lakeproof.config import TableSettings
from lakeproof.engines.engine import ChangeSource, ChosenFiles, Extent, FileStatistics, Rows
from lakeproof.engines.spark import weighing
from lakeproof.engines.spark.calling import call_function, rows_or_value
from lakeproof.engines.spark.cancelling import time_limit
from lakeproof.engines.spark.canonical_sql import (
    element_key_expression,
    hit_id_expression,
    key_expression,
    row_key_expression,
    value_expression,
)
from lakeproof.engines.spark.chosen_files import (
    NotPossibleError,
    chosen_files,
    filtered_files,
    opened_table,
)
from lakeproof.engines.spark.columns import as_declared, columns_of, part_type, with_key
from lakeproof.engines.spark.extent import table_extent
from lakeproof.engines.spark.flavour import is_connect
from lakeproof.engines.spark.hits import SparkHits, named_hits_frame
from lakeproof.engines.spark.pairs.aggregates import (
    compare_aggregates,
    compare_counts,
    release_aggregates,
)
from lakeproof.engines.spark.pairs.comparing import Compared, compare_rows
from lakeproof.engines.spark.pairs.differences import views_of
from lakeproof.engines.spark.pinning import TableHead, at_position, pinned_relation, read_head
from lakeproof.engines.spark.problems import unreadable_table
from lakeproof.engines.spark.safe_sql import (
    ensure_aggregate,
    ensure_read_only_query,
    ensure_row_predicate,
)
from lakeproof.engines.spark.session_settings import require_settings
from lakeproof.engines.spark.stand_ins import StandIns, view_of
from lakeproof.engines.spark.statistics.facts import file_facts
from lakeproof.engines.spark.stored_relation import require_stored
from lakeproof.engines.spark.values import values_view
from lakeproof.engines.spark.weighing import SparkWeights
from lakeproof.errors import (
    CheckDefinitionError,
    EngineUnavailableError,
    LakeproofError,
    short_message,
)
from lakeproof.model.column import Column
from lakeproof.model.names import TableName, quote
from lakeproof.model.pairing import PairFound
from lakeproof.model.position import Position
from lakeproof.model.reading import Mode
from lakeproof.planning.pairs.steps import AggregateStep, CountStep, PairStep
from lakeproof.planning.plan import CallStep, TablePlan
from lakeproof.planning.read_mode import Abilities
from lakeproof.planning.tables import NOTHING_DECLARED, STAND_IN, PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def require_condition(sql: str, type_text: str) -> None:
    """Refuse an expression that is no condition."""
    if type_text != "boolean":
        raise CheckDefinitionError(
            f"{sql!r} is of type {type_text.upper()}; it must be a condition, such as a = 1"
        )


class SparkEngine:
    """Works on the session it is given; reads only, and leaves its settings as they are.

    `stand_ins` are frames and files that are checked under a table's name.
    """

    def __init__(self, spark: SparkSession, stand_ins: StandIns | None = None) -> None:
        self._spark = spark
        self._stand_ins = dict(stand_ins or {})
        self._views: dict[TableName, str] = {}
        self._schemas: dict[TableName, StructType] = {}
        self._compared: dict[str, Compared] = {}

    def ensure_ready(self) -> None:
        self.ensure_settings()
        try:
            self._spark.sql("SELECT 1").collect()
        except Exception as problem:
            raise EngineUnavailableError(
                f"the Spark session cannot be used: {short_message(problem)}"
            ) from problem

    def ensure_settings(self) -> None:
        """Refuse a session whose settings would give other answers; reads nothing."""
        require_settings(self._spark)

    def pin(
        self,
        table: TableName,
        key: Sequence[str],
        position: Position | None = None,
        sensitive: Sequence[str] = (),
        declared: TableSettings = NOTHING_DECLARED,
    ) -> PinnedTable:
        try:
            head = self._head(table)
            if position is not None:
                head = at_position(head, table, position)
            elif head.position is not None and self._schema_has_moved_on(table, head):
                head = replace(head, position=None)
            relation = self._relation(table, head)
            schema = self._spark.sql(f"SELECT * FROM {relation}").schema
        except LakeproofError:
            raise
        except Exception as problem:
            raise unreadable_table(self._spark, table, problem) from problem
        self._schemas[table] = schema
        pinned = PinnedTable(
            table=table,
            table_id=head.table_id,
            format=head.format,
            position=head.position,
            columns=columns_of(schema),
            relation=relation,
            key_columns=tuple(key),
            key_sql="",
            location=head.location,
            sql_settings=self._sql_settings(),
        )
        return with_key(as_declared(pinned, sensitive, declared), schema)

    def _sql_settings(self) -> str:
        names = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")
        return ", ".join(f"{name}={self._spark.conf.get(name)}" for name in names)

    def _head(self, table: TableName) -> TableHead:
        if table in self._stand_ins:
            return TableHead(STAND_IN, f"name:{table}", None)
        return read_head(self._spark, table)

    def _relation(self, table: TableName, head: TableHead) -> str:
        stand_in = self._stand_ins.get(table)
        if stand_in is None:
            return pinned_relation(table, head)
        if table not in self._views:
            self._views[table] = view_of(self._spark, table, stand_in)
        return quote(self._views[table])

    def head(self, table: TableName) -> Position | None:
        try:
            return self._head(table).position
        except Exception as problem:
            raise unreadable_table(self._spark, table, problem) from problem

    def _schema_has_moved_on(self, table: TableName, head: TableHead) -> bool:
        """Whether columns were added, dropped or renamed since the last snapshot.

        Time travel reads a snapshot by the schema it was written with, so it would not see them.
        """
        if head.branch_of is not None:
            return False  # a branch is read by the schema of its own head
        now = self._spark.sql(f"SELECT * FROM {table.sql}").schema
        then = self._spark.sql(f"SELECT * FROM {pinned_relation(table, head)}").schema
        return [(field.name, field.dataType) for field in now.fields] != [
            (field.name, field.dataType) for field in then.fields
        ]

    def key_sql(self, pinned: PinnedTable, columns: Sequence[Column]) -> str:
        schema = self._schemas[pinned.table]
        paths = {column.name: column.path or (column.name,) for column in columns}
        return key_expression(
            [(name, part_type(schema, path)) for name, path in paths.items()],
            hidden={name for name, path in paths.items() if pinned.is_sensitive(path[0])},
            paths=paths,
        )

    def element_key_sql(self, key_sql: str, position_sql: str) -> str:
        return element_key_expression(key_sql, position_sql)

    def hit_id_sql(self, rule_id: str, key_sql: str) -> str:
        return hit_id_expression(f"'{rule_id}'", key_sql)

    def text_sql(self, values: Sequence[tuple[str, str]]) -> str:
        typed = ", ".join(f"CAST(NULL AS {type_text})" for _, type_text in values)
        fields = self._query_schema(f"SELECT {typed}").fields
        # Canonical texts are JSON: where one ends and the next begins is never in doubt.
        texts = " || ',' || ".join(
            value_expression(value, field.dataType)
            for (value, _), field in zip(values, fields, strict=True)
        )
        return f"({texts})"

    def values_relation(self, values: Sequence[str], type_text: str) -> str:
        return values_view(self._spark, values, type_text)

    def query_key_sql(self, sql: str, pinned: PinnedTable, hidden: Sequence[str] = ()) -> str:
        schema = self._query_schema(sql)
        by_name = {field.name.casefold(): field for field in schema.fields}
        if len(by_name) < len(schema.fields):
            names = [field.name.casefold() for field in schema.fields]
            twice = next(name for name in names if names.count(name) > 1)
            raise CheckDefinitionError(
                f"the query returns two columns named {twice!r}; give one of them an alias"
            )
        fields = [by_name.get(name.casefold()) for name in pinned.key_columns]
        if fields and all(fields):
            secret = {
                field.name
                for field, name in zip(fields, pinned.key_columns, strict=True)
                if field is not None and (name in hidden or pinned.is_sensitive(name))
            }
            return key_expression([field for field in fields if field is not None], hidden=secret)
        return row_key_expression(schema.fields)

    def query_columns(self, sql: str) -> tuple[Column, ...]:
        return columns_of(self._query_schema(sql))

    def _query_schema(self, sql: str) -> StructType:
        try:
            return self._spark.sql(sql).schema
        except Exception as problem:
            raise CheckDefinitionError(short_message(problem)) from problem

    def ensure_query(self, sql: str) -> None:
        ensure_read_only_query(self._spark, sql)

    def ensure_aggregate(self, sql: str) -> None:
        ensure_aggregate(self._spark, sql)

    def ensure_predicate(self, pinned: PinnedTable, sql: str) -> None:
        require_condition(sql, self.expression_type(pinned, sql))

    def expression_type(self, pinned: PinnedTable, sql: str) -> str:
        ensure_row_predicate(self._spark, sql)
        try:
            schema = self._spark.sql(f"SELECT (\n{sql}\n) FROM {pinned.relation}").schema
        except Exception as problem:
            raise CheckDefinitionError(f"{sql!r}: {short_message(problem)}") from problem
        return schema.fields[0].dataType.simpleString()

    def fetch_row(self, sql: str, timeout_seconds: float | None) -> Mapping[str, object]:
        with time_limit(self._spark, timeout_seconds):
            rows = self._spark.sql(sql).collect()
        found: dict[str, object] = rows[0].asDict()
        return found

    def fetch_texts(self, sql: str, timeout_seconds: float | None) -> Sequence[str]:
        with time_limit(self._spark, timeout_seconds):
            return [str(row[0]) for row in self._spark.sql(sql).collect()]

    def extent(self, pinned: PinnedTable) -> Extent:
        return table_extent(self._spark, pinned)

    def file_statistics(
        self, pinned: PinnedTable, columns: Collection[tuple[str, ...]]
    ) -> FileStatistics:
        # Both refuse what a catalog filters or masks.
        if is_connect(self._spark):
            require_stored(self._spark, pinned, {path[0] for path in columns})
        else:
            opened_table(self._spark, pinned)
        return file_facts(self._spark, pinned, columns)

    def chosen_files(
        self, pinned: PinnedTable, paths: Collection[str], *, may_filter: bool = False
    ) -> ChosenFiles | None:
        try:
            return chosen_files(self._spark, pinned, paths)
        except NotPossibleError:
            return filtered_files(pinned, paths) if may_filter else None

    def call(
        self, step: CallStep, pinned: PinnedTable, now: datetime, timeout_seconds: float | None
    ) -> object | None:
        check = PlugInCheck()
        arguments = step.rule.arguments
        with time_limit(self._spark, timeout_seconds):
            answer = call_function(self._spark, step, pinned.table, now, check.function(arguments))
        rows, value = rows_or_value(answer, arguments["engine"])
        if rows is None:
            return value
        returned = f"{step.view}_rows"
        rows.createOrReplaceTempView(returned)
        # What the function calls like a key may hold anything that must not be shown.
        hidden = pinned.key_columns if pinned.sensitive else ()
        key = self.query_key_sql(f"SELECT * FROM {quote(returned)}", pinned, hidden)
        self._spark.sql(
            "SELECT violation_key, count(*) AS occurrences, count(*) AS excess, '' AS observed "
            f"FROM (SELECT {key} AS violation_key FROM {quote(returned)}) GROUP BY violation_key"
        ).createOrReplaceTempView(step.view)
        return None

    def compare(self, step: PairStep, timeout_seconds: float | None) -> PairFound:
        if isinstance(step, CountStep):
            return compare_counts(self._spark, step, timeout_seconds)
        if isinstance(step, AggregateStep):
            return compare_aggregates(self._spark, step, timeout_seconds)
        self._compared[step.view] = compare_rows(self._spark, step, timeout_seconds)
        return self._compared[step.view].found

    def release_pair(self, step: PairStep, *, forget: bool = False) -> None:
        """Give back the memory of a comparison; what differs is computed anew if it is read.

        With `forget` nobody will read it: the step's views go as well.
        """
        if isinstance(step, CountStep):
            return
        if isinstance(step, AggregateStep):
            release_aggregates(self._spark, step)
        elif step.view in self._compared:
            self._compared.pop(step.view).release()
        if forget:
            for view in views_of(step):
                self._spark.catalog.dropTempView(view)

    def hold_hits(self, sql: str, timeout_seconds: float | None) -> SparkHits:
        return SparkHits(self._spark, sql, timeout_seconds)

    def abilities(self, pinned: PinnedTable, settings: TableSettings) -> Abilities:
        from lakeproof.engines.spark.changes.sources import abilities

        return abilities(self._spark, pinned, settings)

    def change_source(
        self, pinned: PinnedTable, mode: Mode, settings: TableSettings, kept: str | None
    ) -> ChangeSource:
        from lakeproof.engines.spark.changes.sources import change_source

        return change_source(self._spark, pinned, mode, settings, kept)

    def weigh(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        rows: Sequence[Rows],
        timeout_seconds: float | None,
    ) -> SparkWeights:
        return weighing.weigh(self._spark, plan, rule_ids, rows, timeout_seconds)

    def weigh_parents(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        rows: Sequence[Rows],
        timeout_seconds: float | None,
    ) -> SparkWeights:
        # Without the limit: nothing runs before the keys are read.
        return weighing.weigh_parents(self._spark, plan, rule_ids, rows)

    def weigh_again(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        view: str,
        timeout_seconds: float | None,
        besides: Sequence[str] = (),
        rows: Rows | None = None,
    ) -> SparkWeights:
        known = weighing.known_keys_sql(plan, view, besides)
        return weighing.weigh_again(self._spark, plan, rule_ids, known, rows, timeout_seconds)

    def named_hits(self, sql: str, names: Mapping[str, Sequence[str]]) -> DataFrame:
        """The bad rows as a lazy DataFrame, for `RunOutcome.violations()`."""
        return named_hits_frame(self._spark, sql, names)
