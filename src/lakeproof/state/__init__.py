"""What a run leaves behind, in the user's own catalog: results, violations, progress, intents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.config import StoreSettings
from lakeproof.state.spark_store import SparkStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_store(spark: SparkSession, settings: StoreSettings) -> SparkStore:
    """The store in the settings' namespace; touches nothing until `prepare`."""
    return SparkStore(spark, settings)


__all__ = ["open_store"]
