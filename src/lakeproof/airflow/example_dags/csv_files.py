"""CSV files into Iceberg tables, each file once."""

from __future__ import annotations

import re
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName, quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SALES_COLUMNS = (
    "order_id BIGINT, customer_id STRING, country STRING, amount DOUBLE, ingestion_date DATE"
)
_FILE_PROPERTY = "ingested-file-sha256"


def ingest_csv(spark: SparkSession, path: str, table: TableName, columns: str = "") -> int:
    """Append the rows of a file; gives how many, 0 if the table has this very file already.

    `columns` are those of a table that is not there yet; without them they are inferred. The
    digest of the file stands in the snapshot that brought it, so a task that is tried again, or a
    file that comes twice, adds nothing.
    """
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise ConfigError(f"there is no file {path}")
    with file.open("rb") as data:
        digest = file_digest(data, "sha256").hexdigest()
    is_new = not spark.catalog.tableExists(table.sql)
    if not is_new and _has_file(spark, table, digest):
        return 0
    schema = columns if is_new else _columns_of(spark, table)
    reader = spark.read.options(header=True, mode="FAILFAST", enforceSchema=False)
    address = file.as_uri()
    rows = reader.schema(schema).csv(address) if schema else reader.csv(address, inferSchema=True)
    if is_new:
        namespace = ".".join(quote(part) for part in table.parts[:-1])
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        rows.limit(0).writeTo(table.sql).using("iceberg").create()
    rows.writeTo(table.sql).option(f"snapshot-property.{_FILE_PROPERTY}", digest).append()
    return rows.count()


def table_name_of(path: str) -> str:
    """`Big Orders-2024.csv` becomes `big_orders_2024`."""
    return re.sub(r"\W+", "_", Path(path).stem.lower(), flags=re.ASCII).strip("_")


def _has_file(spark: SparkSession, table: TableName, digest: str) -> bool:
    snapshots = spark.table(f"{table.sql}.snapshots")
    return not snapshots.where(f"summary['{_FILE_PROPERTY}'] = '{digest}'").isEmpty()


def _columns_of(spark: SparkSession, table: TableName) -> str:
    """The table's columns; a file that names others is refused by `enforceSchema`."""
    fields = spark.table(table.sql).schema.fields
    return ", ".join(f"{quote(field.name)} {field.dataType.simpleString()}" for field in fields)
