"""The partitions of a run read from storage without Spark, as the run itself read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lakeproof.accounting.run_directory import resolved_location
from lakeproof.accounting.storage import LocalStorage, is_local, local_path
from lakeproof.accounting.without_spark.key_text import Summer, key_text, read_key, value_text
from lakeproof.accounting.without_spark.records.datasets import Dataset
from lakeproof.accounting.without_spark.records.reading import UnreadableError
from lakeproof.model.accounting import (
    GROUPS_FOLDER,
    LIMBS,
    NO_KEY,
    AdjointType,
    Commitment,
    DatasetPosition,
    FileDigest,
    KeyColumn,
    Level,
    OutputPartition,
)
from lakeproof.model.places import format_of_packed

_WEIGHT: Final = KeyColumn("_lakeproof_weight", "int")
_SOURCE: Final = KeyColumn("_lakeproof_source", "string")
_PATH: Final = KeyColumn("morphism_path", "string")


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """A partition and what lies at its place now; `files` are not digested."""

    partition: OutputPartition
    dataset: Dataset
    files: tuple[FileDigest, ...]
    key: tuple[KeyColumn, ...]

    def members(
        self, others: Sequence[KeyColumn] = ()
    ) -> Iterator[tuple[str, int, tuple[object, ...]]]:
        """The key and weight of each row of this partition's source, and these other columns.

        What was carried from the source wins over key columns, which a pipeline may have changed.
        """
        is_output = self.partition.adjoint_type is AdjointType.PassThrough
        is_error = self.partition.adjoint_type is AdjointType.ErrorRecords
        key = self.key if is_output else ()
        begins = self.partition.morphism_path
        columns = [
            *key,
            KeyColumn("_lakeproof_key" if is_output else "source_key", "string"),
            _WEIGHT,
            _SOURCE,
            *others,
            *([_PATH] if begins else []),
        ]
        own, at = self.partition.source, len(key)
        for values in self.dataset.rows(columns):
            carried, weight, source = values[at : at + 3]
            if own and source is not None and source != own:
                continue
            if begins and not str(values[-1] or "").startswith(begins):
                continue
            text = carried if isinstance(carried, str) else value_text(carried)
            if text is not None and is_error:
                text = read_key(text)
            if text is None and is_output:
                text = key_text(values[:at], key)
            yield (
                NO_KEY if text is None else text,
                int(weight != 0),
                values[at + 3 : at + 3 + len(others)],
            )

    def commitment(self, salt: str, level: Level) -> Commitment:
        """The records that storage holds."""
        if self.partition.adjoint_type is AdjointType.GroupCommitments:
            return self._of_groups(level)
        summer = Summer(salt, level)
        summer.add_all(text for text, weight, _ in self.members() if weight)
        return summer.commitment

    def _of_groups(self, level: Level) -> Commitment:
        """What the groups say that they were made of."""
        names = ["records", *(f"limb_{number}" for number in range(LIMBS))]
        sums = [0] * len(names)
        for values in self.dataset.rows([KeyColumn(name, "bigint") for name in names]):
            sums = [total + _number(value) for total, value in zip(sums, values, strict=True)]
        return Commitment(sums[0], tuple(sums[1:]) if level == Level.COMMIT else ())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def open_partition(
    partition: OutputPartition, directory: str, key: tuple[KeyColumn, ...]
) -> StoredPartition:
    """The partition at its place now; UnreadableError if that is no place of this machine."""
    position = partition.position or DatasetPosition("files", format=partition.format)
    if position.kind == "iceberg":
        place = position.metadata_location
        return StoredPartition(partition, Dataset(position, place), (), key)
    given = position.location if position.kind == "delta" else partition.adjoint_location
    place = resolved_location(given, directory)
    if not is_local(place):
        raise UnreadableError(f"{place} is not on this machine")
    path = str(local_path(place))
    if position.kind == "delta":
        return StoredPartition(partition, Dataset(position, path), (), key)
    files = LocalStorage().files(path)
    if position.files and place == given and not LocalStorage().exists(path):
        raise UnreadableError(f"{place} is not on this machine")
    format_name = position.format or _format_of(partition, files)
    options = {name.lower(): text for name, text in position.options.items()}
    if format_name == "csv":
        options = {"header": "true"} | options
    position = replace(position, format=format_name, options=options)
    return StoredPartition(
        partition, Dataset(position, path, tuple(file.path for file in files)), files, key
    )


def _format_of(partition: OutputPartition, files: Sequence[FileDigest]) -> str:
    """As the run itself takes it: error records are JSON lines, the rest Parquet."""
    default = "json" if partition.adjoint_type is AdjointType.ErrorRecords else "parquet"
    for file in files[:1]:
        return format_of_packed(file.path) or default
    return default


def groups_of(partition: OutputPartition, directory: str) -> StoredPartition:
    """The groups that the records of an AGGREGATED partition were made into."""
    location = f"{GROUPS_FOLDER}/{partition.morphism_id}.parquet"
    groups = replace(
        partition,
        adjoint_type=AdjointType.GroupCommitments,
        adjoint_location=location,
        format="parquet",
        position=None,
    )
    return open_partition(groups, directory, ())
