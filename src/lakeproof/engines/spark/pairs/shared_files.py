"""Two tables without the data files that both of them have.

Branches, clones and consecutive versions have most of their files in common, and a file that is
on both sides makes no difference between them. No condition on the path keeps Iceberg or Delta
from reading a file (`_file` and `_metadata.file_path` are looked at row by row), so the files
that remain are handed to the format's own reader, as its compaction does it: deletes, partition
values and column ids count as ever. That takes the JVM, which Spark Connect does not give.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from lakeproof.engines.spark.flavour import is_connect
from lakeproof.errors import short_message
from lakeproof.model.names import quote
from lakeproof.model.printable import counted
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Java: TypeAlias = Any
"""An object of the JVM."""

MOST_FILES = 20_000
"""Files of a table that are looked at: each costs calls into the JVM, about a millisecond."""

_Listed: TypeAlias = "Sequence[tuple[str, Java]]"
_NAME_MAPPING = "schema.name-mapping.default"
_FULL_PATH = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:/")


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """What is left to compare of two tables, and why it is that.

    Each relation is SQL for a FROM clause. As multisets of rows they differ exactly as the tables
    do; `shared_rows` rows of `shared_files` files are in neither. Where nothing can be left out
    they are the tables themselves. `reason` says it in words. Call `release` after the last read.
    """

    source_relation: str
    target_relation: str
    reason: str
    shared_files: int = 0
    shared_rows: int = 0
    everything_is_shared: bool = False
    held: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def release(self) -> None:
        """Forget the files that were chosen; the relations cannot be read any more."""
        self.held.close()


def without_shared_files(
    spark: SparkSession, source: PinnedTable, target: PinnedTable
) -> SharedFiles:
    """The two tables without the files that both have; reads metadata only.

    A file is shared only if its rows are certain to be the same on both sides: the same path and
    partition, no deleted rows on either side, and tables that read files in the same way.
    """
    try:
        _require_one_format(spark, source, target)
        return _left_to_compare(_opened(spark, source), _opened(spark, target))
    except _NotPossibleError as problem:
        reason = str(problem)
    except Exception as problem:  # noqa: BLE001 (it only saves reading: compared in full instead)
        reason = f"their files cannot be told apart here: {short_message(problem)}"
    return SharedFiles(source.relation, target.relation, reason)


class _NotPossibleError(Exception):
    """Nothing can be left out; the message says why."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """A file without deleted rows: what it holds as far as the metadata tell."""

    rows: int
    size_bytes: int
    partition: Java


class _OpenTable(Protocol):
    """A table at its position. An entry is a data file as the table's metadata have it."""

    @property
    def pinned(self) -> PinnedTable: ...

    @property
    def spark(self) -> SparkSession: ...

    def entries(self) -> Iterator[tuple[str, Java]]:
        """Every data file by its full path."""

    def whole(self, entry: Java) -> _Whole | None:
        """None if rows of the file are deleted, or their number is not known."""

    def reads_like(self, other: Java) -> bool:
        """Whether one file means the same rows in both tables."""

    def rows_of(self, entries: Sequence[Java], held: ExitStack) -> DataFrame:
        """The rows of these files. What must be taken back some day is put into `held`."""


def _require_one_format(spark: SparkSession, source: PinnedTable, target: PinnedTable) -> None:
    if is_connect(spark):
        raise _NotPossibleError("Spark Connect cannot read chosen files of a table")
    for pinned in (source, target):
        if pinned.position is None or pinned.format not in {"iceberg", "delta"}:
            raise _NotPossibleError(f"{pinned.table} is no Iceberg or Delta table at a position")
    if source.format != target.format:
        raise _NotPossibleError(
            f"they are of different formats, {source.format} and {target.format}"
        )


def _opened(spark: SparkSession, pinned: PinnedTable) -> _OpenTable:
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
        raise _NotPossibleError(f"{pinned.table} is not read as it is stored")
    return stored


def _left_to_compare(source: _OpenTable, target: _OpenTable) -> SharedFiles:
    if not source.reads_like(target):
        raise _NotPossibleError("their columns, column ids or partitions are not the same")
    of_source, of_target = _listed(source), _listed(target)
    shared = dict(_shared(source, target, of_source, of_target))
    if not shared:
        raise _NotPossibleError("no data file is on both sides")
    rows = sum(shared.values())
    with ExitStack() as held:
        return SharedFiles(
            _remaining(source, of_source, shared, held),
            _remaining(target, of_target, shared, held),
            f"{counted(len(shared), 'data file')} with {counted(rows, 'row')} on both sides",
            shared_files=len(shared),
            shared_rows=rows,
            everything_is_shared=len(of_source) == len(of_target) == len(shared),
            held=held.pop_all(),
        )


def _listed(table: _OpenTable) -> _Listed:
    listed = list(islice(table.entries(), MOST_FILES + 1))
    if len(listed) > MOST_FILES:
        raise _NotPossibleError(f"{table.pinned.table} has more than {MOST_FILES:,} data files")
    return listed


def _shared(
    source: _OpenTable, target: _OpenTable, of_source: _Listed, of_target: _Listed
) -> Iterator[tuple[str, int]]:
    """The paths of the shared files with the number of their rows.

    A table may list a file twice, and has its rows twice then; such a file is left where it is.
    """
    occurrences = Counter(path for path, _ in of_source), Counter(path for path, _ in of_target)
    counterparts = dict(of_target)
    for path, entry in of_source:
        if all(counts[path] == 1 for counts in occurrences):
            whole = source.whole(entry)
            if whole is not None and whole == target.whole(counterparts[path]):
                yield path, whole.rows


def _remaining(
    table: _OpenTable, listed: _Listed, shared: Mapping[str, int], held: ExitStack
) -> str:
    """SQL that reads the files which are not shared."""
    relation = table.pinned.relation
    entries = [entry for path, entry in listed if path not in shared]
    if not entries:
        return f"(SELECT * FROM {relation} WHERE false)"
    rows = table.rows_of(entries, held).select(
        *(quote(column.name) for column in table.pinned.columns)
    )
    if _columns(rows) != _columns(table.spark.sql(f"SELECT * FROM {relation}")):
        raise _NotPossibleError(f"files of {table.pinned.table} have other columns than it has")
    view = f"_lakeproof_files_{uuid.uuid4().hex}"
    rows.createOrReplaceTempView(view)
    held.callback(table.spark.catalog.dropTempView, view)
    return quote(view)


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

    def whole(self, entry: Java) -> _Whole | None:
        if not entry.deletes().isEmpty():
            return None
        file = entry.file()
        partition = (file.specId(), file.partition())
        return _Whole(int(file.recordCount()), int(file.fileSizeInBytes()), partition)

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
        raise _NotPossibleError(f"{pinned.table} is not read at its snapshot")
    if table.snapshot(snapshot_id).schemaId() != table.schema().schemaId():
        raise _NotPossibleError(
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
        root = self.index.path().toUri().toString()
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
            is_full = _FULL_PATH.match(entry["path"])
            yield entry["path"] if is_full else f"{root}/{entry['path']}", entry

    def whole(self, entry: Java) -> _Whole | None:
        if not entry["is_whole"] or entry["rows"] is None:
            return None
        return _Whole(entry["rows"], entry["size"], entry["partitionValues"])

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
            raise _NotPossibleError(f"{self.pinned.table} lists a path twice")
        jvm = _jvm(self.spark)
        files = jvm.org.apache.spark.api.python.PythonUtils.toSeq(chosen)
        is_streaming, action = False, jvm.scala.Option.apply(None)
        log = self.index.deltaLog()
        return _frame(self.spark, log.createDataFrame(self.snapshot, files, is_streaming, action))


def _opened_delta(spark: SparkSession, pinned: PinnedTable, stored: Java) -> _DeltaTable:
    index = stored.relation().location()
    if pinned.position is None or index.version() != pinned.position.value:
        raise _NotPossibleError(f"{pinned.table} is not read at its version")
    return _DeltaTable(spark, pinned, index, index.getSnapshot())


def _jvm(spark: SparkSession) -> Java:
    return spark._jvm  # noqa: SLF001


def _frame(spark: SparkSession, rows: Java) -> DataFrame:
    from pyspark.sql import DataFrame

    return DataFrame(rows, spark)
