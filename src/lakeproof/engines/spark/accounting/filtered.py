"""Filters that keep the keys of what they drop, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.captures import (
    FILTERED_KEYS,
    Step,
    condition_column,
    condition_text,
    ensure_keyed,
    identity_columns,
    source_key,
    step_columns,
    write_table,
)
from lakeproof.engines.spark.accounting.repeatable import ensure_repeatable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PREDICATE_FALSE: Final = "PREDICATE_FALSE"
PREDICATE_NULL: Final = "PREDICATE_NULL"
EXPLODE_EMPTY: Final = "EXPLODE_EMPTY"


def capture_filtered_out(frame: DataFrame, condition: Column | str, step: Step) -> DataFrame:
    """Write the key of each row that the condition drops, FALSE or NULL; the table is returned."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    ensure_keyed(frame, step)
    ensure_repeatable(frame, {"condition": condition}, step)
    met = condition_column(condition)
    reason = F.when(met.isNull(), PREDICATE_NULL).otherwise(PREDICATE_FALSE)
    # Not `NOT condition`: that is NULL where the condition is, and the record would vanish.
    dropped = frame.where(~F.coalesce(met, F.lit(False)))
    table = filtered_keys(dropped, condition_text(frame, condition), reason, step)
    return write_table(table, step.location(FILTERED_KEYS))


def filtered_keys(dropped: DataFrame, predicate: str, reason: Column, step: Step) -> DataFrame:
    """The FilteredKeys table of rows that a step drops."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return dropped.select(
        source_key(),
        F.lit(predicate).alias("filter_predicate"),
        *step_columns(step),
        reason.alias("reason"),
        *identity_columns(dropped),
    )
