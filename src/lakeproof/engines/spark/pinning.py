"""A table's identity and position, and SQL that reads exactly there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeproof.engines.spark.flavour import Java, is_connect
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_AT = " VERSION AS OF "
_TABLE_PARTS = 3
"""catalog.namespace.table: a branch is one part more."""


@dataclass(frozen=True, slots=True)
class TableHead:
    """Where a table stands now. `empty` is an Iceberg table before its first snapshot.

    `branch_of` is the table whose branch or tag was named: time travel is the table's, not theirs.
    `location` is a Delta table's folder: a copy of it has the same identity and versions.
    """

    format: str
    table_id: str
    position: Position | None
    empty: bool = False
    branch_of: TableName | None = None
    location: str = ""


def read_head(spark: SparkSession, table: TableName) -> TableHead:
    """The table's present head; metadata only.

    Iceberg's catalog answers from a cached copy, and Spark keeps a list of the files of a table
    without history. Both are refreshed first: another process may have written.
    """
    branch = _branch_head(spark, table)
    if branch is not None:
        return branch
    provider = _provider(spark, table)
    if provider == "iceberg":
        spark.sql(f"REFRESH TABLE {table.sql}")
        return _iceberg_head(spark, table)
    if provider == "delta":
        return _delta_head(spark, table)
    if len(table.parts) <= _TABLE_PARTS:  # more than the session's own catalog takes
        # Not the statement: where tables refresh themselves by a pipeline, that would start it.
        spark.catalog.refreshTable(table.sql)
    return TableHead(provider, f"name:{table}", None)


def pinned_relation(table: TableName, head: TableHead) -> str:
    """SQL for a FROM clause that stays at the head's position whatever is committed later."""
    if head.position is not None:
        return f"{(head.branch_of or table).sql}{_AT}{head.position.value}"
    if head.empty:
        return f"(SELECT * FROM {table.sql} WHERE false)"
    return table.sql


def table_of(pinned: PinnedTable) -> str:
    """SQL of the table whose positions these are; that of a branch is not the branch."""
    assert pinned.position is not None  # noqa: S101 (who asks has looked)
    return pinned.relation.removesuffix(f"{_AT}{pinned.position.value}")


def at_position(head: TableHead, table: TableName, position: Position) -> TableHead:
    """The same table at an earlier position, as a repeated run asks for it."""
    if position.kind != head.format:
        raise CheckDefinitionError(
            f"{table} was at {position} when this run id began, but is a {head.format} table "
            "now. Start a run with another --run-id."
        )
    return replace(head, position=position, empty=False)


def _branch_head(spark: SparkSession, table: TableName) -> TableHead | None:
    """The head of an Iceberg branch or tag, `catalog.namespace.table.branch_audit`; else None."""
    kind, _, name = table.short.partition("_")
    if kind not in {"branch", "tag"} or not name or len(table.parts) <= _TABLE_PARTS:
        return None
    of = TableName(table.parts[:-1])
    if not spark.catalog.tableExists(of.sql) or _provider(spark, of) != "iceberg":
        return None
    spark.sql(f"REFRESH TABLE {of.sql}")
    refs = spark.sql(f"SELECT name, type, snapshot_id FROM {of.sql}.refs").collect()
    found = [ref for ref in refs if ref["name"] == name and ref["type"] == kind.upper()]
    if not found:
        raise CheckDefinitionError(
            f"{of} has no {kind} {name!r}. It has: {', '.join(sorted(ref['name'] for ref in refs))}"
        )
    position = Position("iceberg", int(found[0]["snapshot_id"]))
    return TableHead("iceberg", _iceberg_id(spark, of), position, branch_of=of)


def _provider(spark: SparkSession, table: TableName) -> str:
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table.sql}").collect()
    found = {row["col_name"]: row["data_type"] for row in rows}
    if found.get("Type") == "VIEW":
        return "view"
    return str(found.get("Provider") or "table").lower()


def _iceberg_head(spark: SparkSession, table: TableName) -> TableHead:
    rows = spark.sql(f"SHOW TBLPROPERTIES {table.sql}").collect()
    properties = {row["key"]: row["value"] for row in rows}
    snapshot = properties.get("current-snapshot-id", "none")
    table_id = _iceberg_id(spark, table)
    if snapshot == "none":
        return TableHead("iceberg", table_id, None, empty=True)
    return TableHead("iceberg", table_id, Position("iceberg", int(snapshot)))


def _iceberg_id(spark: SparkSession, table: TableName) -> str:
    """The table's uuid; no SQL shows it, so on Connect the name has to do."""
    if is_connect(spark):
        return f"name:{table}"
    iceberg = spark._jvm.org.apache.iceberg.spark.Spark3Util  # type: ignore[union-attr]  # noqa: SLF001
    loaded = iceberg.loadIcebergTable(spark._jsparkSession, table.sql)  # noqa: SLF001
    return str(loaded.uuid().toString())


def _delta_head(spark: SparkSession, table: TableName) -> TableHead:
    """Out of the plan that reads the table, where Spark shows one: no file of it is listed then.

    The statements that say the same take a job each, and DETAIL adds up all files.
    """
    files = None if is_connect(spark) else _files_of_plan(spark, table)
    if files is None:
        detail = spark.sql(f"DESCRIBE DETAIL {table.sql}").collect()[0]
        newest = spark.sql(f"DESCRIBE HISTORY {table.sql} LIMIT 1").collect()[0]
        position = Position("delta", int(newest["version"]))
        return TableHead("delta", str(detail["id"]), position, location=str(detail["location"]))
    # Looked at anew: a plan may be of a snapshot as old as the session's stalenessLimit allows.
    any_time = spark._jvm.scala.Option.apply(None)  # type: ignore[union-attr]  # noqa: SLF001
    may_be_stale = False
    now: Java = files.deltaLog().update(may_be_stale, any_time, files.catalogTableOpt())
    position = Position("delta", int(now.version()))
    location = str(files.path().toString())
    return TableHead("delta", str(now.metadata().id()), position, location=location)


def _files_of_plan(spark: SparkSession, table: TableName) -> Java | None:
    """Delta's list of the files that the table is read from; None if the plan is of more."""
    read: Java = spark.sql(f"SELECT * FROM {table.sql}")
    node = read._jdf.queryExecution().analyzed()  # noqa: SLF001
    while node.children().size() == 1:
        node = node.children().head()
    if node.nodeName() != "LogicalRelation":
        return None
    files = node.relation().location()
    return files if files.getClass().getSimpleName() == "TahoeLogFileIndex" else None
