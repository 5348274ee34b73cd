"""Spark's exceptions in our words: what is the table's fault, what is the platform's."""

from __future__ import annotations

from lakeproof.errors import (
    CheckDefinitionError,
    EngineUnavailableError,
    LakeproofError,
    short_message,
)


def table_problem(table: object, problem: Exception) -> LakeproofError:
    """A name that does not resolve is its rules' error; anything else may heal by itself."""
    from pyspark.errors import AnalysisException

    if isinstance(problem, AnalysisException):
        if "NOT_FOUND" in (problem.getCondition() or ""):
            return CheckDefinitionError(f"table {table} does not exist")
        return CheckDefinitionError(f"table {table} cannot be read: {short_message(problem)}")
    return EngineUnavailableError(f"table {table} cannot be reached: {short_message(problem)}")
