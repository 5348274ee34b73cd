"""A user's function over a table: called with a DataFrame, its answer taken apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName
from lakeproof.planning.fuse import within
from lakeproof.planning.plan import CallStep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class PlugInContext:
    """What a function may know beside the rows: `entry` is the rule as its contract has it."""

    spark: SparkSession
    table: TableName
    column: str
    now: datetime
    entry: dict[str, Any]


def call_function(
    spark: SparkSession,
    step: CallStep,
    table: TableName,
    now: datetime,
    function: Callable[..., object],
) -> object:
    """What the function returns: a DataFrame, a truth value or a number."""
    where = f"\nWHERE {within(step.scope)}" if step.scope else ""
    frame = spark.sql(f"SELECT * FROM {step.relation}{where}")
    entry: Any = step.rule.arguments["entry"]
    context = PlugInContext(spark, table, step.rule.column_label, now, dict(entry))
    return function(frame, step.rule, context)


def rows_or_value(answer: object, engine: object) -> tuple[DataFrame | None, object | None]:
    """The answer as rows or as a value; anything else is refused."""
    if isinstance(answer, (bool, int, float, Decimal)):
        return None, answer
    if hasattr(answer, "createOrReplaceTempView"):  # classic and Connect have classes of their own
        rows: Any = answer
        return rows, None
    raise CheckDefinitionError(
        f"the function of engine {engine!r} returned {type(answer).__name__}; it must return a "
        "DataFrame of the failing rows, a truth value or a number"
    )
