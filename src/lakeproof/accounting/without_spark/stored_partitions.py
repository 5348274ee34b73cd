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
    NOTHING,
    AdjointType,
    Commitment,
    DatasetPosition,
    FileDigest,
    KeyColumn,
    Level,
    OutputPartition,
)
from lakeproof.model.stored_format import stored_format

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
            nothing = NOTHING if level == Level.COMMIT else Commitment()
            return sum((found for found, _ in self.groups(level)), nothing)
        summer = Summer(salt, level)
        summer.add_all(text for text, weight, _ in self.members() if weight)
        return summer.commitment

    def groups(
        self, level: Level, others: Sequence[KeyColumn] = ()
    ) -> Iterator[tuple[Commitment, tuple[object, ...]]]:
        """What each group says that it was made of, and these other columns."""
        names = ["records", *(f"limb_{number}" for number in range(LIMBS))]
        sums = [KeyColumn(name, "bigint") for name in names]
        for values in self.dataset.rows([*sums, *others]):
            records, *limbs = map(_number, values[: len(sums)])
            kept = tuple(limbs) if level == Level.COMMIT else ()
            yield Commitment(records, kept), values[len(sums) :]


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
    format_name = position.format or stored_format(partition, files)
    options = {name.lower(): text for name, text in position.options.items()}
    if format_name == "csv":
        options = {"header": "true"} | options
    position = replace(position, format=format_name, options=options)
    return StoredPartition(
        partition, Dataset(position, path, tuple(file.path for file in files)), files, key
    )


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
