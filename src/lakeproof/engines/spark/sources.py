"""Files that a contract names, as a DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.contracts.files import FileSource
from lakeproof.errors import CheckDefinitionError, LakeproofError, short_message
from lakeproof.model.names import quote
from lakeproof.model.places import UNKNOWN_FORMAT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NO_SUCH_TABLE = frozenset(
    {
        "DELTA_MISSING_DELTA_TABLE",
        "DELTA_TABLE_NOT_FOUND",
        "PATH_NOT_FOUND",
        "TABLE_OR_VIEW_NOT_FOUND",
    }
)
"""What Delta and Iceberg say of a folder that is not theirs."""
_NOTHING_THERE = ("PATH_NOT_FOUND", "DELTA_TABLE_ONLY_OPERATION", "DELTA_MISSING_DELTA_TABLE")


def frame_of(spark: SparkSession, source: FileSource) -> DataFrame:
    """The files as they are now; a Delta table stays at the version it has at this moment."""
    path = _absolute(source.path)
    try:
        options = dict(source.options)
        format_name = source.format
        if format_name == UNKNOWN_FORMAT:
            format_name = _format_found(spark, path)
        if format_name == "delta":
            options["versionAsOf"] = str(newest_delta_version(spark, path))
        frame = spark.read.format(format_name).options(**options).load(path)
        _ = frame.schema  # Connect asks the server only now
    except Exception as problem:
        raise unreadable_files(source, problem) from problem
    return frame


def _format_found(spark: SparkSession, path: str) -> str:
    """What the folder holds: a Delta or Iceberg table says so itself, Parquet is left.

    A table that cannot be read is still that table: as loose files it would have deleted rows.
    """
    from pyspark.errors import PySparkException

    for format_name in ("delta", "iceberg"):
        try:
            _ = spark.read.format(format_name).load(path).schema
        except PySparkException as problem:
            if problem.getCondition() not in _NO_SUCH_TABLE:
                raise
            continue
        return format_name
    return "parquet"


def newest_delta_version(spark: SparkSession, path: str) -> int:
    """The version that the Delta table in this folder has now."""
    (newest,) = spark.sql(f"DESCRIBE HISTORY delta.{quote(path)} LIMIT 1").collect()
    return int(newest["version"])


def unreadable_files(source: FileSource, problem: Exception) -> LakeproofError:
    """What is wrong with the files in our words; it is the error of each of their rules."""
    from pyspark.errors import AnalysisException

    condition = problem.getCondition() or "" if isinstance(problem, AnalysisException) else ""
    if any(known in condition for known in _NOTHING_THERE):
        return CheckDefinitionError(f"there are no {source}. Mend the path, or name a table")
    if "UNABLE_TO_INFER_SCHEMA" in condition:
        return CheckDefinitionError(f"the {source} are empty: nothing tells their columns")
    return CheckDefinitionError(f"the {source} cannot be read: {short_message(problem)}")


def _absolute(path: str) -> str:
    """From the folder we stand in: Spark's own process may stand in another."""
    has_scheme = ":/" in path
    return path if has_scheme else str(Path(path).absolute())
