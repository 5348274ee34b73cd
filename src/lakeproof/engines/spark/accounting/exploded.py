"""Arrays unfolded into rows: the first child accounts for its parent, an empty array is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.captures import (
    FILTERED_KEYS,
    PARENT_CHILD,
    Step,
    column_named,
    ensure_keyed,
    identity_columns,
    quoted,
    source_key,
    step_columns,
    visible_columns,
    write_table,
)
from lakeproof.engines.spark.accounting.filtered import EXPLODE_EMPTY, filtered_keys
from lakeproof.engines.spark.accounting.repeatable import ensure_repeatable_frame
from lakeproof.engines.spark.accounting.source_keys import (
    HIDDEN_PREFIX,
    KEY,
    WEIGHT,
    weight_of,
)
from lakeproof.engines.spark.canonical_sql import key_expression
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import Lineage
from lakeproof.model.column import folded
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CHILD: Final = "_lakeproof_child"
"""The key of a row that an explode made: its parent's key and its place in the array."""
_POSITION: Final = "_lakeproof_position"
_ELEMENT: Final = "_lakeproof_element"


def plain_explode(frame: DataFrame, column: str, output_column: str | None) -> DataFrame:
    """The same without books."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return frame.withColumn(output_column or column, F.explode(quoted(column)))


def capture_exploded(
    frame: DataFrame, column: str, output_column: str | None, step: Step
) -> tuple[DataFrame, DataFrame]:
    """The children, and the table of whose children they are; in lineage NONE that of the empty.

    A record whose array is NULL or empty has no child, and is written as filtered.
    """
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    ensure_keyed(frame, step)
    ensure_repeatable_frame(frame, step)
    name = _array_named(frame, column, step)
    is_empty = F.coalesce(F.size(quoted(name)), F.lit(0)) < 1
    predicate = f"size({quote(name)}) > 0"
    empty = filtered_keys(frame.where(is_empty), predicate, F.lit(EXPLODE_EMPTY), step)
    written = write_table(empty, step.location(FILTERED_KEYS))
    unfolded = _unfolded(frame, name)
    if step.lineage is not Lineage.NONE:
        family = unfolded.select(
            F.col(CHILD).alias("child_key"),
            source_key(),
            F.col(_POSITION).alias("position"),
            *identity_columns(unfolded),
            *step_columns(step),
        )
        written = write_table(family, step.location(PARENT_CHILD))
    return _children(frame, unfolded, output_column or column), written


def _array_named(frame: DataFrame, column: str, step: Step) -> str:
    name = column_named(frame, column, "the column", step)
    found = frame.schema[name].dataType
    if found.typeName() == "array":
        return name
    advice = f"make it an array first: df.withColumn({name!r}, F.map_entries({name!r}))"
    remedy = advice if found.typeName() == "map" else "name a column that is an array"
    raise LedgerError(
        f"step {step.morphism_id!r}: column {name!r} is {found.simpleString()}, no array; {remedy}"
    )


def _unfolded(frame: DataFrame, name: str) -> DataFrame:
    """Each element as a row, with its place, its weight and its key; empty arrays have none."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    rows = frame.select("*", F.posexplode_outer(quoted(name)).alias(_POSITION, _ELEMENT))
    rows = rows.where(F.col(_POSITION).isNotNull())
    whole = F.expr(weight_of(frame) or "1")
    weight = F.when(F.col(_POSITION) == 0, whole).otherwise(0).cast("int")
    # A child of a child is told by its parent's own place too.
    parent = f"coalesce({CHILD}, {KEY})" if CHILD in frame.columns else KEY
    rows = rows.withColumn(CHILD, F.expr(parent))
    return rows.withColumn(CHILD, _child_key()).withColumn(WEIGHT, weight)


def _child_key() -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)
    from pyspark.sql.types import IntegerType, StringType

    text = key_expression(
        [("parent", StringType()), ("position", IntegerType())],
        paths={"parent": [CHILD], "position": [_POSITION]},
    )
    return F.expr(text)


def _children(frame: DataFrame, unfolded: DataFrame, output_column: str) -> DataFrame:
    """As `withColumn` gives it: the element in place of a column of that name, else at the end."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    element = F.col(_ELEMENT).alias(output_column)
    names = visible_columns(frame)
    is_output = {name: folded(name) == folded(output_column) for name in names}
    columns = [element if is_output[name] else quoted(name) for name in names]
    added = [] if any(is_output.values()) else [element]
    hidden = [name for name in unfolded.columns if name.startswith(HIDDEN_PREFIX)]
    hidden = [name for name in hidden if name not in {_POSITION, _ELEMENT}]
    return unfolded.select(*columns, *added, *hidden)
