"""Differing keys written to a table, however many they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.engines.spark.pairs.differences import differences_view
from lakeproof.engines.spark.pairs.texts import LISTED
from lakeproof.errors import ConfigError, EngineUnavailableError, short_message
from lakeproof.model.column import folded
from lakeproof.model.names import TableName, quote
from lakeproof.planning.pairs.steps import CompareStep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write_differences(spark: SparkSession, step: CompareStep, table: TableName) -> None:
    """Put what the step has found into the table, in place of an earlier list if there is one."""
    from pyspark.errors import PySparkException

    frame = spark.table(quote(differences_view(step)))
    try:
        writer = frame.writeTo(table.sql).using(_format(step, table))
        if _needs_mapping(frame):
            writer = writer.tableProperty("delta.columnMapping.mode", "name")
        writer.createOrReplace()
    except PySparkException as problem:
        raise EngineUnavailableError(
            f"the differences were not written to {table}: {short_message(problem)}"
        ) from problem


def ensure_output(spark: SparkSession, step: CompareStep, table: TableName) -> None:
    """Refuse a table that is no list of differences: it would be replaced."""
    if table.folded in {step.source.pinned.table.folded, step.target.pinned.table.folded}:
        raise ConfigError(f"output table {table} is one of the compared tables; name another one")
    if not spark.catalog.tableExists(table.sql):
        return
    there = {folded(name).lstrip("_") for name in spark.table(table.sql).columns}
    if not there.issuperset(LISTED):
        raise ConfigError(
            f"output table {table} exists and is no list of differences; "
            "name another one, or drop it"
        )


def _format(step: CompareStep, table: TableName) -> str:
    """That of a compared table in the same catalog, else what the catalog most likely holds."""
    for pinned in (step.target.pinned, step.source.pinned):
        if pinned.table.catalog == table.catalog and pinned.format in {"iceberg", "delta"}:
            return pinned.format
    return "delta" if table.catalog.lower() == "spark_catalog" else "iceberg"


def _needs_mapping(frame: DataFrame) -> bool:
    """Delta takes a column's name with blanks or signs in it only with column mapping."""
    return not all(name.replace("_", "a").isalnum() for name in frame.columns)
