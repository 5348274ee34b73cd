"""Which of two tables could not be read, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.engines.spark.cancelling import time_limit
from lakeproof.errors import RuleTimeoutError, message_without_values
from lakeproof.planning.pairs.steps import PairStep, Side

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def failed_side(spark: SparkSession, step: PairStep, timeout_seconds: float | None) -> str:
    """What to say of the side that breaks when it is read alone; '' if neither does."""
    for side in (step.source, step.target):
        try:
            with time_limit(spark, timeout_seconds):
                # Counting would read no value that the count does not need.
                spark.sql(side.sql).write.format("noop").mode("overwrite").save()
        except RuleTimeoutError:
            raise
        except Exception as problem:  # noqa: BLE001 (whatever it is, it is told)
            return failure_of(side, problem)
    return ""


def failure_of(side: Side, problem: Exception) -> str:
    """The failure of one side, in words that quote no row."""
    reason = message_without_values(problem)
    return f"Failed to query {side.name} table {side.pinned.table}: {reason}"
