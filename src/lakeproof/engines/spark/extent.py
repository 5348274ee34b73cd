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
    summary = spark.sql(
        "SELECT summary['total-data-files'] AS files, summary['total-files-size'] AS size "
        f"FROM {table_of(pinned)}.snapshots WHERE snapshot_id = {pinned.position.value}"
    ).collect()[0]
    return Extent(int(summary["files"] or 0), int(summary["size"] or 0))
