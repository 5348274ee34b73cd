"""Spark's exceptions in our words: what is the table's fault, what is the platform's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.errors import (
    CheckDefinitionError,
    EngineUnavailableError,
    LakeproofError,
    short_message,
)
from lakeproof.model.names import TableName, quote
from lakeproof.model.nearest import nearest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_NO_NAMESPACE = ", nor does its namespace. Name the table in full, or set default_namespace"


def unreadable_table(spark: SparkSession, table: TableName, problem: Exception) -> LakeproofError:
    """One table that cannot be read is its rules' error; a catalog that does not answer is not."""
    from pyspark.errors import AnalysisException

    condition = problem.getCondition() or "" if isinstance(problem, AnalysisException) else ""
    if "NOT_FOUND" in condition:
        return CheckDefinitionError(f"table {table} does not exist{_nearest(spark, table)}")
    if "SINGLE_PART_NAMESPACE" in condition:
        return CheckDefinitionError(
            f"table {table}: this session has no catalog {table.catalog!r}. Name the table "
            "with a catalog that it has, or set default_catalog"
        )
    if "NoSuchNamespaceException" in str(problem):
        return CheckDefinitionError(f"table {table} does not exist{_NO_NAMESPACE}")
    silence = None
    if not isinstance(problem, AnalysisException):
        silence = _why_silent(spark, table.catalog)
    if silence is not None:
        return EngineUnavailableError(f"catalog {table.catalog} cannot be reached: {silence}")
    return CheckDefinitionError(f"table {table} cannot be read: {short_message(problem)}")


def _why_silent(spark: SparkSession, catalog: str) -> str | None:
    """What keeps the catalog from answering; None if it answers, be it with a refusal."""
    from pyspark.errors import AnalysisException

    try:
        spark.sql(f"SHOW NAMESPACES IN {quote(catalog)}").collect()
    except Exception as problem:  # noqa: BLE001 (whatever it is, it is told)
        return None if isinstance(problem, AnalysisException) else short_message(problem)
    return None


def _nearest(spark: SparkSession, table: TableName) -> str:
    """The names in the same namespace that may have been meant."""
    try:
        rows = spark.sql(f"SHOW TABLES IN {TableName(table.parts[:-1]).sql}").collect()
    except Exception as problem:  # noqa: BLE001 (a hint; catalogs raise what they like)
        return _NO_NAMESPACE if "NoSuchNamespace" in str(problem) else ""
    near = nearest(table.short, [row["tableName"] for row in rows])
    return f". Nearest: {', '.join(near)}" if near else ""
