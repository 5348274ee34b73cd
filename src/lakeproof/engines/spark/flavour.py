"""Which kind of session this is: classic, with a JVM in reach, or Spark Connect, without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Java: TypeAlias = Any
"""An object of the JVM."""


def is_connect(spark: SparkSession) -> bool:
    """Connect raises AttributeError for everything of the JVM."""
    return getattr(spark, "_jsparkSession", None) is None
