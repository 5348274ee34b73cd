"""Some data files of a table, read by the format's own reader.

No condition on the path keeps Iceberg or Delta from reading a file (`_file` and
`_metadata.file_path` are looked at row by row), so chosen files are handed to the reader, as the
format's compaction does it: deletes, partition values and column ids count as ever. That takes the
JVM, which Spark Connect does not give.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.flavour import Java, is_connect
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_FILES = 20_000
"""Files of a table that are looked at: each costs calls into the JVM, about a millisecond."""

_NAME_MAPPING = "schema.name-mapping.default"
_FULL_PATH = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:/")


class NotPossibleError(Exception):
    """Files cannot be chosen; the message says why."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A file without deleted rows: what it holds as far as the metadata tell."""

    rows: int
    size_bytes: int
    partition: Java


class OpenTable(Protocol):
    """A table at its position. An entry is a data file as the table's metadata have it."""

    @property
    def pinned(self) -> PinnedTable: ...

    @property
    def spark(self) -> SparkSession: ...

    def entries(self) -> Iterator[tuple[str, Java]]:
        """Every data file by its full path."""

    def entries_at(self, paths: Collection[str]) -> Sequence[Java]:
        """The data files of these paths, as the table's metadata write them."""

    def full_path(self, path: str) -> str:
        """A path as `entries` has it."""

    def whole(self, entry: Java) -> Whole | None:
        """None if rows of the file are deleted, or their number is not known."""

    def reads_like(self, other: Java) -> bool:
        """Whether one file means the same rows in both tables."""

    def rows_of(self, entries: Sequence[Java], held: ExitStack) -> DataFrame:
        """The rows of these files. What must be taken back some day is put into `held`."""


def require_choosable(spark: SparkSession, pinned: PinnedTable) -> None:
    """Refuse a session or table whose files cannot be chosen; reads nothing."""
    if is_connect(spark):
        raise NotPossibleError("Spark Connect cannot read chosen files of a table")
    if pinned.position is None or pinned.format not in {"iceberg", "delta"}:
        raise NotPossibleError(f"{pinned.table} is no Iceberg or Delta table at a position")


def opened_table(spark: SparkSession, pinned: PinnedTable) -> OpenTable:
    """The table where it is pinned; refused if its files cannot be chosen."""
    require_choosable(spark, pinned)
    read: Java = spark.sql(f"SELECT * FROM {pinned.relation}")
    stored = _stored_table(read._jdf.queryExecution().analyzed(), pinned)  # noqa: SLF001
    opened = _opened_iceberg if pinned.format == "iceberg" else _opened_delta
    return opened(spark, pinned, stored)


def _stored_table(plan: Java, pinned: PinnedTable) -> Java:
    """The table as it is stored. A catalog may filter its rows or mask a column: then it is not.

    A masked column is another one to Spark, even under the same name.
    """
    stored = plan
    while stored.nodeName() in {"Project", "SubqueryAlias"}:
        stored = stored.child()
    if stored.children().nonEmpty() or not stored.outputSet().equals(plan.outputSet()):
        raise NotPossibleError(f"{pinned.table} is not read as it is stored")
    return stored


def files_of(table: OpenTable) -> Sequence[tuple[str, Java]]:
    """Every data file by its full path, if they are not too many."""
    listed = list(islice(table.entries(), MOST_FILES + 1))
    if len(listed) > MOST_FILES:
        raise NotPossibleError(f"{table.pinned.table} has more than {MOST_FILES:,} data files")
    return listed


def relation_of(table: OpenTable, entries: Sequence[Java], held: ExitStack) -> str:
    """SQL that reads these files and no other."""
    relation = table.pinned.relation
    if not entries:
        return f"(SELECT * FROM {relation} WHERE false)"
    rows = table.rows_of(entries, held).select(
        *(quote(column.name) for column in table.pinned.columns)
    )
    if _columns(rows) != _columns(table.spark.sql(f"SELECT * FROM {relation}")):
        raise NotPossibleError(f"files of {table.pinned.table} have other columns than it has")
    view = f"_lakeproof_files_{uuid.uuid4().hex}"
    rows.createOrReplaceTempView(view)
    held.callback(table.spark.catalog.dropTempView, view)
    return quote(view)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Some files of a table; `relation` reads them until they are released."""

    relation: str
    held: ExitStack = field(default_factory=ExitStack)

    def release(self) -> None:
        self.held.close()


def chosen_files(spark: SparkSession, pinned: PinnedTable, paths: Collection[str]) -> Chosen:
    """The files of these paths, as the table's metadata write them."""
    table = opened_table(spark, pinned)
    chosen = table.entries_at(paths)
    if len(chosen) != len(paths):
        raise NotPossibleError(f"{pinned.table} does not list its files as its statistics do")
    with ExitStack() as held:
        return Chosen(relation_of(table, chosen, held), held.pop_all())


def filtered_files(pinned: PinnedTable, paths: Collection[str]) -> Chosen:
    """The same by reading every file and leaving out the rows of the others."""
    if pinned.format == "iceberg":
        place, names = "_file", list(paths)
    else:  # the whole path is written otherwise there, and the log encodes what a URL would
        place, names = "_metadata.file_name", [path.rpartition("/")[2] for path in paths]
        if len(set(map(unquote, names))) < len(names):
            raise NotPossibleError(f"{pinned.table} has files of one name in two folders")
        names = sorted({*names, *map(unquote, names)})
    listed = ", ".join(text_literal(name).sql("spark") for name in names) or "''"
    columns = ", ".join(quote(column.name) for column in pinned.columns)
    return Chosen(f"(SELECT {columns} FROM {pinned.relation} WHERE {place} IN ({listed}))")


def _columns(frame: DataFrame) -> list[tuple[str, object]]:
    return [(field.name, field.dataType) for field in frame.schema.fields]


@dataclass(frozen=True, slots=True)
class _IcebergTable:
    spark: SparkSession
    pinned: PinnedTable
    table: Java
    snapshot_id: int

    def entries(self) -> Iterator[tuple[str, Java]]:
        scan = self.table.newScan().useSnapshot(self.snapshot_id)
        with closing(scan.planFiles()) as planned:
            tasks = planned.iterator()
            while tasks.hasNext():
                task = tasks.next()
                yield str(task.file().location()), task

    def entries_at(self, paths: Collection[str]) -> Sequence[Java]:
        """All files are looked at, however many: reading them would cost more."""
        wanted = frozenset(paths)
        return [task for path, task in self.entries() if path in wanted]

    def full_path(self, path: str) -> str:
        return path

    def whole(self, entry: Java) -> Whole | None:
        if not entry.deletes().isEmpty():
            return None
        file = entry.file()
        partition = (file.specId(), file.partition())
        return Whole(int(file.recordCount()), int(file.fileSizeInBytes()), partition)

    def reads_like(self, other: _IcebergTable) -> bool:
        """Columns are found in a file by their ids, or by the mapping of names if it has none."""
        mine, theirs = self.table, other.table
        return bool(
            mine.schema().asStruct().equals(theirs.schema().asStruct())
            and mine.specs().toString() == theirs.specs().toString()
            and mine.properties().get(_NAME_MAPPING) == theirs.properties().get(_NAME_MAPPING)
        )

    def rows_of(self, entries: Sequence[Java], held: ExitStack) -> DataFrame:
        jvm = _jvm(self.spark)
        group = str(uuid.uuid4())
        staged = jvm.org.apache.iceberg.spark.ScanTaskSetManager.get()
        tasks = jvm.java.util.ArrayList()
        for task in entries:
            tasks.add(task)
        staged.stageTasks(self.table, group, tasks)
        held.callback(staged.removeTasks, self.table, group)
        chosen = jvm.org.apache.iceberg.spark.source.SparkRewriteTable(self.table, group)
        nothing = jvm.scala.Option.apply(None)
        relations = jvm.org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
        relation = relations.create(chosen, nothing, nothing)
        session = self.spark._jsparkSession  # noqa: SLF001
        return _frame(
            self.spark, jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, relation)
        )


def _opened_iceberg(spark: SparkSession, pinned: PinnedTable, stored: Java) -> _IcebergTable:
    """Chosen files are read by the table's schema, so it must be the snapshot's schema too."""
    table, snapshot_id = stored.table().table(), stored.table().snapshotId()
    if pinned.position is None or snapshot_id != pinned.position.value:
        raise NotPossibleError(f"{pinned.table} is not read at its snapshot")
    if table.snapshot(snapshot_id).schemaId() != table.schema().schemaId():
        raise NotPossibleError(
            f"the columns of {pinned.table} have changed since {pinned.position}"
        )
    return _IcebergTable(spark, pinned, table, snapshot_id)


@dataclass(frozen=True, slots=True)
class _DeltaTable:
    spark: SparkSession
    pinned: PinnedTable
    index: Java
    snapshot: Java

    def entries(self) -> Iterator[tuple[str, Java]]:
        """Paths as the log has them, percent-encoded: a clone's are full, others are relative."""
        for entry in (
            _frame(self.spark, self.snapshot.allFiles().toDF())
            .selectExpr(
                "path",
                "size",
                "partitionValues",
                "deletionVector IS NULL AS is_whole",
                "try_cast(get_json_object(stats, '$.numRecords') AS BIGINT) AS rows",
            )
            .collect()
        ):
            yield self.full_path(entry["path"]), entry

    def entries_at(self, paths: Collection[str]) -> Sequence[Java]:
        """Not looked up here: `rows_of` does that, with the executors."""
        return [{"path": path} for path in paths]

    def full_path(self, path: str) -> str:
        return path if _FULL_PATH.match(path) else f"{self._root}/{path}"

    @property
    def _root(self) -> str:
        return str(self.index.path().toUri().toString())

    def whole(self, entry: Java) -> Whole | None:
        if not entry["is_whole"] or entry["rows"] is None:
            return None
        return Whole(entry["rows"], entry["size"], entry["partitionValues"])

    def reads_like(self, other: _DeltaTable) -> bool:
        """The schema has the ids and names under which columns are found in a file."""
        mine, theirs = self.snapshot.metadata(), other.snapshot.metadata()
        return bool(
            mine.schemaString() == theirs.schemaString()
            and mine.partitionColumns().equals(theirs.partitionColumns())
            and mine.columnMappingMode().equals(theirs.columnMappingMode())
        )

    def rows_of(self, entries: Sequence[Java], held: ExitStack) -> DataFrame:
        from pyspark.sql import functions

        is_chosen: Java = functions.col("path").isin([entry["path"] for entry in entries])
        chosen = self.snapshot.allFiles().filter(is_chosen._jc).collectAsList()  # noqa: SLF001
        if chosen.size() != len(entries):
            raise NotPossibleError(f"{self.pinned.table} does not list each path once")
        jvm = _jvm(self.spark)
        files = jvm.org.apache.spark.api.python.PythonUtils.toSeq(chosen)
        is_streaming, action = False, jvm.scala.Option.apply(None)
        log = self.index.deltaLog()
        return _frame(self.spark, log.createDataFrame(self.snapshot, files, is_streaming, action))


def _opened_delta(spark: SparkSession, pinned: PinnedTable, stored: Java) -> _DeltaTable:
    index = stored.relation().location()
    if pinned.position is None or index.version() != pinned.position.value:
        raise NotPossibleError(f"{pinned.table} is not read at its version")
    return _DeltaTable(spark, pinned, index, index.getSnapshot())


def _jvm(spark: SparkSession) -> Java:
    return spark._jvm  # noqa: SLF001


def _frame(spark: SparkSession, rows: Java) -> DataFrame:
    from pyspark.sql import DataFrame

    return DataFrame(rows, spark)
