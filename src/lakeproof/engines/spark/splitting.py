"""A DataFrame instead of a table: planned by the same rules, marked row by row, nothing run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeproof.config import TableSettings
from lakeproof.engines.spark.columns import as_declared, columns_of, with_key
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.safe_sql import ensure_row_predicate
from lakeproof.engines.spark.stand_ins import StandIns
from lakeproof.errors import CheckDefinitionError, short_message
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.planning.marks import broken_rules_sql, marks_of, names_sql
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.tables import NOTHING_DECLARED, PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RULE_IDS = "_lakeproof_rule_ids"
RULES = "_lakeproof_rules"


class FrameEngine(SparkEngine):
    """Plans over a DataFrame that stands for one table; other tables are read as ever."""

    def __init__(
        self, frame: DataFrame, table: TableName, stand_ins: StandIns | None = None
    ) -> None:
        super().__init__(frame.sparkSession, stand_ins)
        self._frame = frame
        self._table = table

    def pin(
        self,
        table: TableName,
        key: Sequence[str],
        position: Position | None = None,
        sensitive: Sequence[str] = (),
        declared: TableSettings = NOTHING_DECLARED,
    ) -> PinnedTable:
        if table != self._table:
            return super().pin(table, key, position, sensitive, declared)
        schema = self._frame.schema
        self._schemas[table] = schema
        pinned = PinnedTable(
            table=table,
            table_id="frame",
            format="frame",
            position=None,
            columns=columns_of(schema),
            relation="",  # no statement is run over a frame, only conditions on its rows
            key_columns=tuple(key),
            key_sql="",
        )
        return with_key(as_declared(pinned, sensitive, declared), schema)

    def expression_type(self, pinned: PinnedTable, sql: str) -> str:
        from pyspark.sql import functions as F  # noqa: N812 (its usual name)

        if pinned.table != self._table:
            return super().expression_type(pinned, sql)
        ensure_row_predicate(self._spark, sql)
        try:
            schema = self._frame.select(F.expr(f"(\n{sql}\n)")).schema
        except Exception as problem:
            raise CheckDefinitionError(f"{sql!r}: {short_message(problem)}") from problem
        return schema.fields[0].dataType.simpleString()

    def query_key_sql(self, sql: str, pinned: PinnedTable, hidden: Sequence[str] = ()) -> str:
        return "''"  # a user's query marks no row of the frame, and is not run

    def split(self, plan: TablePlan) -> tuple[DataFrame, DataFrame]:
        """Good and bad rows, lazily; the bad ones carry ids and names of the rules they break."""
        from pyspark.sql import functions as F  # noqa: N812 (its usual name)

        for name in (RULE_IDS, RULES):
            if plan.pinned.column(name) is not None:
                raise CheckDefinitionError(
                    f"the frame has a column {name!r} already: it was split before. Drop it first"
                )
        marks = marks_of(plan, self.element_key_sql)
        if not marks:
            empty = F.array().cast("array<string>")
            marked = self._frame.withColumns({RULE_IDS: empty})
        else:
            marked = self._frame.withColumns({RULE_IDS: F.expr(broken_rules_sql(marks))})
        named = {RULES: F.expr(names_sql(plan, RULE_IDS))} if marks else {RULES: F.col(RULE_IDS)}
        good = marked.where(F.size(RULE_IDS) == 0).drop(RULE_IDS)
        bad = marked.where(F.size(RULE_IDS) > 0).withColumns(named)
        return good, bad
