"""What a step leaves on storage: keys of records that it takes out, written once and read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.literal_paths import literal_path
from lakeproof.engines.spark.accounting.source_keys import (
    HIDDEN_PREFIX,
    KEY,
    SOURCE,
    WEIGHT,
    weight_of,
)
from lakeproof.errors import LedgerError
from lakeproof.faults import reach
from lakeproof.model.accounting import Level, Lineage
from lakeproof.model.column import folded
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

FILTERED_KEYS: Final = "filtered_keys"
GROUPS: Final = "groups"
REVERSE_JOINS: Final = "reverse_joins"
PARENT_CHILD: Final = "parent_child"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run as its captures need it; `directory` is the run's."""

    morphism_id: str
    run_id: str
    epoch: str
    directory: str
    salt: str
    level: Level
    lineage: Lineage
    started_at: str
    openlineage_run_id: str

    def location(self, kind: str) -> str:
        """Where the table of this kind of capture is."""
        return f"{self.directory.rstrip('/')}/adjoint/{kind}/{self.morphism_id}.parquet"

    @property
    def errors_location(self) -> str:
        """The folder that all error records of the run share."""
        return f"{self.directory.rstrip('/')}/errors"


def ensure_keyed(frame: DataFrame, step: Step) -> None:
    """Refuse a frame whose records have lost their identity."""
    if KEY not in frame.columns:
        raise LedgerError(
            f"step {step.morphism_id!r}: the frame has no column {KEY}, so its records cannot be "
            "accounted for. Begin with ledger.input_frame(), and keep that column up to this step"
        )


def visible_columns(frame: DataFrame) -> list[str]:
    """The columns that are the pipeline's own."""
    return [name for name in frame.columns if not name.startswith(HIDDEN_PREFIX)]


def column_named(frame: DataFrame, name: str, what: str, step: Step) -> str:
    """The frame's own spelling of a column; one that is there exactly wins over another case."""
    names = visible_columns(frame)
    alike = [known for known in names if folded(known) == folded(name)]
    if name in alike:
        return name
    if not alike:
        near = nearest(name, names)
        told = f"Nearest: {', '.join(near)}" if near else f"It has: {', '.join(names)}"
        raise LedgerError(
            f"step {step.morphism_id!r}: {what} {name!r} is no column of the frame. {told}"
        )
    return alike[0]


def condition_column(condition: Column | str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return F.expr(condition) if isinstance(condition, str) else condition


def condition_text(frame: DataFrame, condition: Column | str) -> str:
    """A condition as its author wrote it, or as Spark names the column that it makes."""
    if isinstance(condition, str):
        return condition.strip()
    return str(frame.select(condition).columns[0])


def identity_columns(frame: DataFrame) -> list[Column]:
    """Whose row it is: the weight, and the source where there are several inputs.

    Under hidden names, as in outputs: a table made by hand may have a weight in kilograms.
    """
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    named = [F.expr(weight_of(frame) or "1").cast("int").alias(WEIGHT)]
    return [*named, F.col(SOURCE)] if SOURCE in frame.columns else named


def source_key() -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return F.col(KEY).alias("source_key")


def step_columns(step: Step) -> list[Column]:
    """By which step of which run a row was written."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return [
        F.lit(step.morphism_id).alias("morphism_id"),
        F.lit(step.run_id).alias("run_id"),
        F.lit(step.epoch).alias("epoch"),
    ]


def quoted(name: str) -> Column:
    """A column by its whole name, whatever characters are in it."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return F.col(quote(name))


def write_table(frame: DataFrame, location: str) -> DataFrame:
    """Write a table by one action; what is returned reads what was written."""
    schema = frame.schema
    # The place was looked at before; what a failed attempt left of its folder is no obstacle.
    frame.write.mode("append").parquet(location)
    reach("after_capture")
    return read_table(frame.sparkSession, location, schema)


def read_table(spark: SparkSession, location: str, schema: StructType) -> DataFrame:
    """With a schema nothing is inferred: no job runs."""
    return spark.read.schema(schema).parquet(literal_path(location))
