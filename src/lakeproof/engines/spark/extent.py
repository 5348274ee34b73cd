"""How large a table is, by its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.engines.engine import Extent
from lakeproof.engines.spark.pinning import table_of
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table_extent(spark: SparkSession, pinned: PinnedTable) -> Extent:
    """Its files and bytes: where it is pinned for Iceberg, by now for Delta."""
    if pinned.format == "delta":
        detail = spark.sql(f"DESCRIBE DETAIL {pinned.table.sql}").collect()[0]
        return Extent(int(detail["numFiles"] or 0), int(detail["sizeInBytes"] or 0))
    assert pinned.position is not None  # noqa: S101 (who asks has looked)
    table, snapshot_id = table_of(pinned), pinned.position.value
    found = spark.sql(
        "SELECT summary['total-data-files'] AS files, summary['total-files-size'] AS size "
        f"FROM {table}.snapshots WHERE snapshot_id = {snapshot_id}"
    ).collect()[0]
    if found["files"] is None or found["size"] is None:  # writers need not sum up
        found = spark.sql(
            "SELECT count(*) AS files, sum(file_size_in_bytes) AS size "
            f"FROM {table}.data_files VERSION AS OF {snapshot_id}"
        ).collect()[0]
    return Extent(int(found["files"] or 0), int(found["size"] or 0))
