"""The partitions of a run as they are added: in our words, each at its place, each place once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lakeproof.accounting.choices import one_of
from lakeproof.accounting.run_directory import (
    CAPTURES_FOLDER,
    ERRORS_FOLDER,
    absolute_place,
    relative_location,
)
from lakeproof.accounting.storage import is_local, join, local_path, storage_for
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import ADJOINT_FOLDER, AdjointType, OutputPartition, PartitionType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_partition(
    partitions: Sequence[OutputPartition],
    added: OutputPartition,
    directory: str,
    spark: SparkSession,
) -> list[OutputPartition]:
    """The partitions and one more, its location relative to the run's directory.

    Steps of one run share the folder of error records, each with rows of its own; any other place
    may be added once, for its records would be counted twice.
    """
    added = replace(
        added,
        partition_type=one_of(PartitionType, added.partition_type, "partition_type"),
        adjoint_type=one_of(AdjointType, added.adjoint_type, "adjoint_type"),
    )
    if not added.adjoint_location:
        raise LedgerError(f"partition {added.name} has no adjoint_location: say where its keys are")
    added = replace(added, adjoint_location=_location_of(added, directory, spark))
    added = replace(added, morphism_path=_rows_of(added, directory, spark))
    for known in partitions:
        if _place(known) == _place(added) and _share_rows(known, added):
            raise LedgerError(
                f"{added.adjoint_location} was added before, as {known.name}; its records would be "
                "counted twice"
            )
    return [*partitions, added]


def _location_of(partition: OutputPartition, directory: str, spark: SparkSession) -> str:
    """A path in the run's directory as relative, one elsewhere as absolute, a table as it is."""
    given = partition.adjoint_location
    if not is_local(given) or given.startswith("file:") or local_path(given).is_absolute():
        return relative_location(given, directory)
    inside = join(directory, given)
    if storage_for(directory, spark).exists(inside):
        return relative_location(inside, directory)
    if storage_for(given, spark).exists(absolute_place(given)):
        return relative_location(absolute_place(given), directory)
    if _is_table(partition, spark):
        return given
    # Nothing is there, as with the errors of a run that had none: by its name it is the run's.
    own = given.split("/")[0] in {ERRORS_FOLDER, ADJOINT_FOLDER}
    return relative_location(inside if own else absolute_place(given), directory)


def _is_table(partition: OutputPartition, spark: SparkSession) -> bool:
    """Whether the location is a table's name; one that names its format may come later."""
    from lakeproof.engines.spark.accounting.stored_tables import table_named

    if table_named(spark, partition) is not None:
        return True
    return "/" not in partition.adjoint_location and partition.format in {"delta", "iceberg"}


def _rows_of(partition: OutputPartition, directory: str, spark: SparkSession) -> str:
    """What the rows of this partition begin their `morphism_path` with; '' if all are its own.

    Only rows that a capture of this run wrote tell their step: a table made by hand may say
    anything.
    """
    is_shared = partition.adjoint_location.rstrip("/") == ERRORS_FOLDER
    if partition.morphism_path or not partition.morphism_id or not is_shared:
        return partition.morphism_path
    mark = join(directory, CAPTURES_FOLDER, f"{partition.morphism_id}.json")
    return f"{partition.morphism_id}/" if storage_for(directory, spark).exists(mark) else ""


def _place(partition: OutputPartition) -> tuple[str, str, str]:
    return (partition.adjoint_location.rstrip("/"), partition.source, partition.sink)


def _share_rows(one: OutputPartition, other: OutputPartition) -> bool:
    paths = (one.morphism_path, other.morphism_path)
    return paths[0].startswith(paths[1]) or paths[1].startswith(paths[0])
