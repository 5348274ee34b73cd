"""How many error records a run left, by their kind and the step that found them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.accounting.source_keys import WEIGHT
from lakeproof.engines.spark.accounting.stored_keys import (
    KINDS_OF_ERROR,
    counted_sql,
    unreadable,
)
from lakeproof.model.accounting import OutputPartition
from lakeproof.model.column import folded
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakeproof.engines.spark.accounting.partitions import PartitionReader


def error_counts(
    reader: PartitionReader, partitions: Iterable[OutputPartition]
) -> dict[str, list[dict[str, Any]]]:
    """Records by type, step and code, for each place: steps and inputs share one."""
    places = {part.adjoint_location.rstrip("/"): part for part in partitions}
    return {place: _counts_at(reader, part) for place, part in places.items()}


def _counts_at(reader: PartitionReader, partition: OutputPartition) -> list[dict[str, Any]]:
    """Few, for they are kinds and not keys."""
    frame = reader.open(partition).frame
    if frame is None:
        return []
    try:
        rows = _counted(frame).collect()
    except Exception as problem:
        raise unreadable(partition, problem) from problem
    counts = [
        {**{name: row[name] or "" for name in KINDS_OF_ERROR}, "records": int(row["records"])}
        for row in rows
    ]
    return sorted(counts, key=lambda count: [count[name] for name in KINDS_OF_ERROR])


def _counted(frame: DataFrame) -> DataFrame:
    there = {folded(name): name for name in frame.columns}
    kinds = (
        f"CAST({quote(there[name]) if name in there else 'NULL'} AS STRING) AS {name}"
        for name in KINDS_OF_ERROR
    )
    weight = counted_sql(quote(there[WEIGHT]) if WEIGHT in there else "NULL")
    told = frame.selectExpr(*kinds, f"{weight} AS records")
    return told.groupBy(*KINDS_OF_ERROR).agg({"records": "sum"}).toDF(*KINDS_OF_ERROR, "records")
