"""Whether a sum that grows too large raises an error, as Spark's ANSI mode has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ANSI: Final = "spark.sql.ansi.enabled"


def overflow_obstacle(spark: SparkSession) -> str:
    """Why the sums of this session cannot be relied on; empty if one that overflows raises."""
    if str(spark.conf.get(_ANSI)).lower() == "true":
        return ""
    return (
        f"{_ANSI} is off, so that sums could overflow without a word. "
        f"Turn it on: spark.conf.set({_ANSI!r}, 'true')"
    )
