"""Files that a contract names, as a DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.contracts.files import FileSource
from lakeproof.errors import CheckDefinitionError, LakeproofError, short_message
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NOTHING_THERE = ("PATH_NOT_FOUND", "DELTA_TABLE_ONLY_OPERATION", "DELTA_MISSING_DELTA_TABLE")


def frame_of(spark: SparkSession, source: FileSource) -> DataFrame:
    """The files as they are now; a Delta table stays at the version it has at this moment."""
    path = _absolute(source.path)
    try:
        options = dict(source.options)
        if source.format == "delta":
            options["versionAsOf"] = str(newest_delta_version(spark, path))
        frame = spark.read.format(source.format).options(**options).load(path)
        _ = frame.schema  # Connect asks the server only now
    except Exception as problem:
        raise unreadable_files(source, problem) from problem
    return frame


def newest_delta_version(spark: SparkSession, path: str) -> int:
    """The version that the Delta table in this folder has now."""
    (newest,) = spark.sql(f"DESCRIBE HISTORY delta.{quote(path)} LIMIT 1").collect()
    return int(newest["version"])


def unreadable_files(source: FileSource, problem: Exception) -> LakeproofError:
    """What is wrong with the files in our words; it is the error of each of their rules."""
    from pyspark.errors import AnalysisException

    condition = problem.getCondition() or "" if isinstance(problem, AnalysisException) else ""
    if any(known in condition for known in _NOTHING_THERE):
        return CheckDefinitionError(
            f"there are no {source}. Mend the server's path, or give --table"
        )
    if "UNABLE_TO_INFER_SCHEMA" in condition:
        return CheckDefinitionError(f"the {source} are empty: nothing tells their columns")
    return CheckDefinitionError(f"the {source} cannot be read: {short_message(problem)}")


def _absolute(path: str) -> str:
    """From the folder we stand in: Spark's own process may stand in another."""
    has_scheme = ":/" in path
    return path if has_scheme else str(Path(path).absolute())
