"""Partitions read again: what storage holds is what counts, not what a step says it wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.engines.spark.accounting.commitments import (
    LIMB_COLUMNS,
    RECORDS,
    ROWS,
    Measured,
    commitment_in,
    group_total_columns,
    total_columns,
)
from lakeproof.engines.spark.accounting.stored_keys import (
    SOURCE_KEY,
    Stored,
    keys_in,
    open_files,
    retyped_columns,
    unreadable,
)
from lakeproof.engines.spark.accounting.stored_tables import open_table, table_named
from lakeproof.errors import LedgerError, message_without_values
from lakeproof.model.accounting import (
    GROUPS_FOLDER,
    NOTHING,
    AdjointType,
    Commitment,
    DatasetPosition,
    KeyColumn,
    Level,
    OutputPartition,
)
from lakeproof.model.names import TableName
from lakeproof.model.printable import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from lakeproof.accounting.storage import Storage


@dataclass(frozen=True, slots=True)
class PartitionReader:
    """Opens the partitions of one run.

    `keys` are by source; that of "" is the first input's. Locations are relative to the run
    directory. `storage_of` gives what can list and digest a path.
    """

    spark: SparkSession
    run_directory: str
    keys: Mapping[str, Sequence[KeyColumn]]
    storage_of: Callable[[str], Storage]

    def open(self, partition: OutputPartition) -> Stored:
        """The partition as it is stored now: its rows, and its position without digests."""
        path = self.path_of(partition.adjoint_location)
        storage = self.storage_of(path)
        # As loose files a Delta table would have its deleted rows too.
        if storage.exists(f"{path}/_delta_log"):
            folder = TableName(("delta", path))
            return open_table(self.spark, partition, folder, partition.adjoint_location)
        files = storage.files(path)
        table = None if files else table_named(self.spark, partition)
        if table is not None:
            return open_table(self.spark, partition, table)
        return open_files(self.spark, partition, path, files, self.key_of(partition))

    def stored_keys(self, partition: OutputPartition) -> DataFrame | None:
        """`source_key` and `weight` of each row; None if nothing is stored, or no keys are."""
        frame = self.open(partition).frame
        if frame is None or partition.adjoint_type is AdjointType.GroupCommitments:
            return None
        return keys_in(frame, partition, self.key_of(partition))

    def key_of(self, partition: OutputPartition) -> Sequence[KeyColumn]:
        return self.keys[partition.source]

    def path_of(self, location: str) -> str:
        """Absolute: Spark's own process may stand in another folder than we."""
        is_whole = location.startswith("/") or ":/" in location
        path = location if is_whole else f"{self.run_directory.rstrip('/')}/{location}"
        path = path.rstrip("/")
        return path if ":/" in path else str(Path(path).absolute())

    def digested(self, position: DatasetPosition) -> DatasetPosition:
        """With the SHA-256 of each file; a table is pinned by its version."""
        if position.kind != "files" or not position.files:
            return position
        path = self.path_of(position.location)
        return replace(position, files=self.storage_of(path).digest(path, position.files))


@dataclass(frozen=True, slots=True)
class MeasuredPartitions:
    """The partitions with their numbers, and what contradicts itself on storage.

    `hints` are no faults by themselves, but may explain why keys do not match.
    """

    partitions: tuple[OutputPartition, ...]
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


def measure_partitions(
    reader: PartitionReader, partitions: Sequence[OutputPartition], *, salt: str, level: Level
) -> MeasuredPartitions:
    """Count and sum what is stored of each partition: one action, which moves no key.

    In the result `record_count` is what storage holds, whatever the caller gave.
    """
    groups = _groups_beside(reader, partitions)
    asked = [*partitions, *groups]
    opened = [reader.open(partition) for partition in asked]
    sums = [
        _sums(reader, partition, stored, salt, level)
        for partition, stored in zip(asked, opened, strict=True)
    ]
    # Before the sums: a file that is changed in between does not fit its digest.
    positions = [reader.digested(stored.position) for stored in opened]
    found = _collect(asked, sums, level)
    beside = {
        group.morphism_id: position
        for group, position in zip(groups, positions[len(partitions) :], strict=True)
    }
    measured = tuple(
        replace(
            partition,
            record_count=numbers.commitment.records,
            rows=numbers.rows,
            commitment=numbers.commitment,
            position=position,
            groups=beside.get(partition.morphism_id) if _is_reverse_join(partition) else None,
        )
        for partition, position, numbers in zip(partitions, positions, found, strict=False)
    )
    reasons = [
        _contradiction(group, numbers.commitment, measured)
        for group, numbers in zip(groups, found[len(partitions) :], strict=True)
    ]
    hints = [
        hint
        for partition, stored in zip(partitions, opened, strict=False)
        if stored.frame is not None and partition.adjoint_type is AdjointType.PassThrough
        for hint in retyped_columns(stored.frame, partition, reader.key_of(partition))
    ]
    return MeasuredPartitions(measured, tuple(filter(None, reasons)), tuple(hints))


def _groups_beside(
    reader: PartitionReader, partitions: Sequence[OutputPartition]
) -> list[OutputPartition]:
    """The groups that were made of the records of reverse joins, where they are stored too."""
    by_location: dict[str, OutputPartition] = {}
    for partition in partitions:
        location = f"{GROUPS_FOLDER}/{partition.morphism_id}.parquet"
        path = reader.path_of(location)
        if _is_reverse_join(partition) and reader.storage_of(path).files(path):
            by_location[location] = replace(
                partition,
                adjoint_type=AdjointType.GroupCommitments,
                adjoint_location=location,
                format="parquet",
                position=None,
            )
    return list(by_location.values())


def _is_reverse_join(partition: OutputPartition) -> bool:
    is_join = partition.adjoint_type is AdjointType.ReverseJoinMetadata
    return is_join and bool(partition.morphism_id)


def _sums(
    reader: PartitionReader, partition: OutputPartition, stored: Stored, salt: str, level: Level
) -> DataFrame | None:
    """One row: rows, records and limbs."""
    if stored.frame is None:
        return None
    if partition.adjoint_type is AdjointType.GroupCommitments:
        wanted = (ROWS, RECORDS, *(LIMB_COLUMNS if level is Level.COMMIT else ()))
        absent = [name for name in wanted if name not in stored.frame.columns]
        if absent:
            raise LedgerError(
                f"partition {partition.name}: {partition.adjoint_location} holds no commitments "
                f"of groups, for it lacks {', '.join(absent)}. Write it by group_by_with_adjoint"
            )
        return stored.frame.selectExpr(*group_total_columns(level))
    keys = keys_in(stored.frame, partition, reader.key_of(partition))
    return keys.selectExpr(*total_columns(salt, level, SOURCE_KEY, "weight"))


def _collect(
    partitions: Sequence[OutputPartition],
    sums: Sequence[DataFrame | None],
    level: Level,
) -> list[Measured]:
    """All sums by one action; a partition of which nothing is stored has none."""
    numbered = {
        number: frame.selectExpr(f"{number} AS number", "*")
        for number, frame in enumerate(sums)
        if frame is not None
    }
    rows: dict[int, Row] = {}
    if numbered:
        try:
            together = reduce(lambda one, two: one.unionAll(two), numbered.values())
            rows = {row["number"]: row for row in together.collect()}
        except Exception as problem:
            raise _first_unreadable(partitions, numbered, problem) from problem
    nothing = Measured(NOTHING if level is Level.COMMIT else Commitment(), 0)
    return [
        Measured(commitment_in(rows[number]), int(rows[number][ROWS]))
        if number in rows
        else nothing
        for number in range(len(sums))
    ]


def _first_unreadable(
    partitions: Sequence[OutputPartition], numbered: Mapping[int, DataFrame], problem: Exception
) -> LedgerError:
    """The action over all says which file failed, and not whose it is: each is tried alone."""
    for number, frame in numbered.items():
        try:
            frame.collect()
        except Exception as own:  # noqa: BLE001 - of whatever kind: it is told, not hidden
            return unreadable(partitions[number], own)
    return LedgerError(
        f"the partitions cannot be read: {message_without_values(problem)}. Verify again"
    )


def _contradiction(
    groups: OutputPartition, made_of: Commitment, measured: Sequence[OutputPartition]
) -> str:
    """Groups and reverse join are two accounts of the same records, those of all sources."""
    joined = [
        partition.commitment or NOTHING
        for partition in measured
        if _is_reverse_join(partition) and partition.morphism_id == groups.morphism_id
    ]
    stored = reduce(add, joined, NOTHING)
    if stored.agrees_with(made_of):
        return ""
    told = f"partition {groups.name}: its reverse join holds {counted(stored.records, 'record')}"
    if stored.records != made_of.records:
        return f"{told}, and its groups were made of {made_of.records:,}"
    return f"{told}, as many as its groups were made of, but others"
