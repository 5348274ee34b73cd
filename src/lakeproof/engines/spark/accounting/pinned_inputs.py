"""What every pinned input can do, whatever it is made of, and the two that have no files of ours.

A record whose key the first reading cannot tell is *keyless*. What is known of such records decides
how the input is read from then on: where there are none, a record's identity is its bare key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lakeproof.engines.spark.accounting.source_keys import (
    HIDDEN_PREFIX,
    KEY,
    key_sql,
    null_key_sql,
    row_position_sql,
)
from lakeproof.engines.spark.pinning import TableHead, pinned_relation, read_head
from lakeproof.errors import LakeproofError, LedgerError, message_without_values
from lakeproof.model.accounting import DatasetPosition, KeyColumn
from lakeproof.model.names import TableName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class KeylessRecords:
    """Records without a readable key: lines that could not be parsed, and all others.

    `file_classes` is a set of bits: in which classes of files the others are.
    """

    malformed: int = 0
    others: int = 0
    file_classes: int = 0


@dataclass(frozen=True, slots=True)
class FirstReading:
    """A frame with what tells its records apart, as SQL over its columns.

    `identity` is NULL for a record whose identity this reading cannot tell; then `file_class` is
    the class of its file, 0 to 63.
    """

    frame: DataFrame
    key: str
    identity: str
    file_class: str = "0"


class PinnedInput(Protocol):
    """A dataset that stays what it is, whatever is written beside it or after it."""

    @property
    def spark(self) -> SparkSession: ...

    @property
    def position(self) -> DatasetPosition: ...

    @property
    def schema(self) -> StructType: ...

    def plain_frame(self) -> DataFrame:
        """The input as it is, without hidden columns."""
        ...

    def moved(self) -> str:
        """What changed of it since it was pinned; empty if nothing did, or nothing can tell."""
        ...

    def first_reading(self, columns: Sequence[KeyColumn]) -> FirstReading: ...

    def frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        """The input with the identity of each record in `_lakeproof_key`."""
        ...

    def keyless_frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        """The identities of the records without a readable key, malformed ones too."""
        ...


def refuse_hidden_names(schema: StructType, others: Sequence[str] = ()) -> None:
    """A column of the input may not bear a name that the books need."""
    for name in schema.names:
        if name.lower().startswith(HIDDEN_PREFIX) or name.lower() in others:
            raise LedgerError(
                f"the input has a column {name!r}, a name that the ledger needs for itself. "
                "Rename or drop that column first"
            )


@contextmanager
def telling(location: str) -> Iterator[None]:
    """Spark's trouble with the input in our words, without the values of its rows."""
    try:
        yield
    except LedgerError:
        raise
    except LakeproofError as problem:
        raise LedgerError(f"the input {location} cannot be used: {problem}") from problem
    except Exception as problem:
        told = message_without_values(problem)
        raise LedgerError(f"the input {location} cannot be read: {told}") from problem


def keyed(frame: DataFrame, key_text_sql: str) -> DataFrame:
    """The frame with the identity of its records."""
    return frame.selectExpr("*", f"{key_text_sql} AS {KEY}")


@dataclass(frozen=True, slots=True)
class FrameInput:
    """A DataFrame, or a view: it can be read again, but nothing says that it is the same then."""

    spark: SparkSession
    source: DataFrame
    position: DatasetPosition
    schema: StructType

    def plain_frame(self) -> DataFrame:
        return self.source

    def moved(self) -> str:
        return ""

    def first_reading(self, columns: Sequence[KeyColumn]) -> FirstReading:
        key = key_sql(columns)
        return FirstReading(self.plain_frame(), key, key)

    def frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        key = key_sql(columns)
        if keyless.others:
            key = f"coalesce({key}, {row_position_sql(self.schema)})"
        return keyed(self.plain_frame(), key)

    def keyless_frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        found = self.plain_frame().where(null_key_sql(columns))
        return keyed(found, row_position_sql(self.schema)).select(KEY)


@dataclass(frozen=True, slots=True)
class TableInput(FrameInput):
    """A Delta or Iceberg table at one version, which later commits do not change."""

    table: TableName
    head: TableHead

    def moved(self) -> str:
        """A version goes by VACUUM, expired snapshots, or another table under the same name."""
        with telling(str(self.table)):
            if not _is_there(self.spark, self.table):
                return "the table is gone"
            if read_head(self.spark, self.table).table_id != self.head.table_id:
                return "another table has its name now"
            if self.head.position is None or self._has_version():
                return ""
        return f"{self.head.position} is no longer kept"

    def _has_version(self) -> bool:
        version = self.position.version
        if self.position.kind == "iceberg":
            table = (self.head.branch_of or self.table).sql
            kept = f"SELECT 1 FROM {table}.snapshots WHERE snapshot_id = {version}"
            return bool(self.spark.sql(kept).take(1))
        history = self.spark.sql(f"DESCRIBE HISTORY {self.table.sql}")
        return bool(history.where(f"version = {version}").take(1))


def _is_there(spark: SparkSession, table: TableName) -> bool:
    # Iceberg's branches and Delta's folders are no entries of a catalog.
    from pyspark.errors import AnalysisException

    try:
        _ = spark.table(table.sql).schema
    except AnalysisException:
        return False
    return True


def pin_table(spark: SparkSession, table: TableName) -> PinnedInput:
    """The table at the version it has now; one without versions is read like a frame."""
    with telling(str(table)):
        head = read_head(spark, table)
        if head.format not in {"delta", "iceberg"}:
            return pin_frame(spark, spark.table(table.sql), str(table))
        frame = spark.sql(f"SELECT * FROM {pinned_relation(table, head)}")
        refuse_hidden_names(frame.schema)
        is_delta = head.format == "delta"
        position = DatasetPosition(
            kind=head.format,
            location=head.location if is_delta else str(head.branch_of or table),
            version="" if head.position is None else str(head.position.value),
            metadata_location=metadata_file(spark, head, table),
            schema_text=frame.schema.json(),
        )
        return TableInput(spark, frame, position, frame.schema, table, head)


def metadata_file(spark: SparkSession, head: TableHead, table: TableName) -> str:
    """The newest of an Iceberg table: readers without a catalog begin there, and find versions."""
    if head.format != "iceberg":
        return ""
    log = f"SELECT file FROM {(head.branch_of or table).sql}.metadata_log_entries"
    return str(spark.sql(f"{log} ORDER BY `timestamp`, file").collect()[-1]["file"])


def pin_frame(spark: SparkSession, frame: DataFrame, location: str = "") -> FrameInput:
    """A frame as it is given."""
    if frame.isStreaming:
        raise LedgerError(
            "a streaming frame has no end, so its books never balance. Account for each batch: "
            "use the ledger inside foreachBatch"
        )
    refuse_hidden_names(frame.schema)
    position = DatasetPosition("frame", location, schema_text=frame.schema.json())
    return FrameInput(spark, frame, position, frame.schema)
