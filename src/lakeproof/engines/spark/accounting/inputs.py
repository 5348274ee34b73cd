"""An input of a run: found by what the caller calls it, and pinned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeproof.engines.spark.accounting.file_inputs import pin_files
from lakeproof.engines.spark.accounting.input_options import FILE_FORMATS
from lakeproof.engines.spark.accounting.input_pass import AccountedInput, account_input
from lakeproof.engines.spark.accounting.pinned_inputs import (
    PinnedInput,
    pin_frame,
    pin_table,
)
from lakeproof.errors import CheckDefinitionError, LedgerError
from lakeproof.model.names import TableName
from lakeproof.model.places import format_of_packed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeproof.accounting.storage import Storage

__all__ = ["AccountedInput", "PinnedInput", "account_input", "open_input"]


def open_input(
    spark: SparkSession,
    dataset: str | DataFrame,
    *,
    format: str = "",  # noqa: A002 (as Spark's readers call it)
    schema: StructType | str | None = None,
    options: Mapping[str, object] | None = None,
    storage: Storage,
) -> PinnedInput:
    """The dataset as it is now: a DataFrame, a table of a catalog, or a path.

    A name without a slash that a catalog knows is a table. Without a `format` a path is what it
    shows itself to be, JSON if nothing tells.
    """
    if not isinstance(dataset, str):
        _refuse_terms(schema, options, "a DataFrame")
        return pin_frame(spark, dataset)
    found = format.lower()
    table = None if found in FILE_FORMATS else _table_named(spark, dataset)
    if table is None and not found:
        found = _format_found(dataset, storage)
    if table is None and found == "delta":
        # Spark's own spelling of a Delta table in a folder.
        table = TableName(("delta", dataset.rstrip("/")))
    if table is not None:
        _refuse_terms(schema, options, "a table")
        return pin_table(spark, table)
    if found == "iceberg":
        raise LedgerError(
            f"no catalog of this session has the Iceberg table {dataset!r}. Name it with its "
            "catalog and namespace; a folder alone does not say which of its files are the table"
        )
    return pin_files(
        spark, dataset, format=found, schema=schema, options=options or {}, storage=storage
    )


def _refuse_terms(
    schema: StructType | str | None, options: Mapping[str, object] | None, what: str
) -> None:
    if schema is not None or options:
        raise LedgerError(f"schema and options are for files; {what} has its own schema")


def _table_named(spark: SparkSession, dataset: str) -> TableName | None:
    """The table of that name, if a catalog knows one."""
    from pyspark.errors import PySparkException

    if "/" in dataset.replace("`", "") and "`" not in dataset:
        return None
    try:
        table = TableName.parse(dataset)
        _ = spark.table(table.sql).schema
    except (CheckDefinitionError, PySparkException):
        return None
    return table


def _format_found(path: str, storage: Storage) -> str:
    """What a folder or file shows itself to be."""
    if storage.exists(f"{path.rstrip('/')}/_delta_log"):
        return "delta"
    files = storage.files(path)
    if any(file.path.startswith("metadata/") for file in files):
        return "iceberg"
    formats = {format_of_packed(file.path.lower()) or "json" for file in files}
    return formats.pop() if len(formats) == 1 else "json"
