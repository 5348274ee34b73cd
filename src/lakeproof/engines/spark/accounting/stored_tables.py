"""Outputs that are Delta or Iceberg tables, read at one version."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lakeproof.engines.spark.accounting.pinned_inputs import metadata_file
from lakeproof.engines.spark.accounting.stored_keys import Stored, unreadable
from lakeproof.engines.spark.pinning import TableHead, pinned_relation, read_head
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.accounting import AdjointType, DatasetPosition, OutputPartition
from lakeproof.model.names import TableName
from lakeproof.model.position import Position

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table_named(spark: SparkSession, partition: OutputPartition) -> TableName | None:
    """The table that a location names, if it names one: a path has a slash.

    Without a format only an output may be a table: a run without errors has no folder `errors`,
    and a table of that name is something else.
    """
    from pyspark.errors import AnalysisException

    location = partition.adjoint_location
    is_output = partition.adjoint_type is AdjointType.PassThrough
    if "/" in location or not (partition.format in {"delta", "iceberg"} or is_output):
        return None
    try:
        table = TableName.parse(location)
        return table if spark.catalog.tableExists(table.sql) else None
    except (CheckDefinitionError, AnalysisException):
        return None


def open_table(
    spark: SparkSession, partition: OutputPartition, table: TableName, location: str = ""
) -> Stored:
    """The table as it is now, or where it was when the partition was measured.

    `location` is what the ledger says of a table that is known by its folder.
    """
    try:
        head = _measured(read_head(spark, table), partition)
        frame = spark.sql(f"SELECT * FROM {pinned_relation(table, head)}")
        position = DatasetPosition(
            head.format,
            location=location or head.location or str(head.branch_of or table),
            version=str(head.position.value) if head.position else "",
            metadata_location=metadata_file(spark, head, table),
            schema_text=frame.schema.json(),
        )
    except Exception as problem:
        raise unreadable(partition, problem) from problem
    return Stored(position, frame)


def _measured(head: TableHead, partition: OutputPartition) -> TableHead:
    version = partition.position.version if partition.position else ""
    if head.position is None or not version:
        return head
    return replace(head, position=Position(head.format, int(version)))
