"""The nouns of the books: where every record of an input went, and whether the sums agree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from lakeproof.errors import LedgerError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PROOF_METHOD: Final = "additive_multiset_commitment"
COUNT_METHOD: Final = "record_counts"

ADJOINT_FOLDER: Final = "adjoint"
FILTERED_KEYS_FOLDER: Final = f"{ADJOINT_FOLDER}/filtered_keys"
GROUPS_FOLDER: Final = f"{ADJOINT_FOLDER}/groups"

LIMBS: Final = 2
LIMB_BITS: Final = 32
SAMPLES_MAX: Final = 100
NO_KEY: Final = "@null"
"""The identity of a stored row that has no key: no record of an input is called so."""
_SEED_DIGITS: Final = 16
_SALT: Final = re.compile(rf"[0-9a-f]{{{2 * _SEED_DIGITS}}}")


class PartitionType(StrEnum):
    """What became of a record. `PASS_THROUGH`, the seed's other word, is read as OUTPUT."""

    OUTPUT = "OUTPUT"
    FILTERED = "FILTERED"
    ERROR = "ERROR"
    AGGREGATED = "AGGREGATED"

    @classmethod
    def _missing_(cls, value: object) -> PartitionType | None:
        return cls.OUTPUT if value == "PASS_THROUGH" else None


class AdjointType(StrEnum):
    """The form in which a partition's keys are kept."""

    ReverseJoinMetadata = "ReverseJoinMetadata"
    FilteredKeysMetadata = "FilteredKeysMetadata"
    ErrorRecords = "ErrorRecords"
    PassThrough = "PassThrough"
    ParentChildMetadata = "ParentChildMetadata"
    GroupCommitments = "GroupCommitments"


class Level(StrEnum):
    """How much the books see: nothing, lost and surplus records, or also one put for another."""

    OFF = "OFF"
    COUNT = "COUNT"
    COMMIT = "COMMIT"


class Lineage(StrEnum):
    """What is kept of an aggregated record: its key, its group's commitment, or nothing."""

    FULL = "FULL"
    KEY_DERIVABLE = "KEY_DERIVABLE"
    NONE = "NONE"


class KeyUniqueness(StrEnum):
    """Whether source keys must be unique and are counted, may repeat, or are believed unique."""

    REQUIRE = "require"
    ALLOW = "allow"
    ASSUME = "assume"


class Classification(StrEnum):
    """What a step can give back of its input."""

    ISOMORPHISM = "ISOMORPHISM"
    EMBEDDING = "EMBEDDING"
    PROJECTION = "PROJECTION"
    LOSSY = "LOSSY"


@dataclass(frozen=True, slots=True)
class Commitment:
    """A multiset of records as a count and sums of key hashes; equal multisets have equal ones.

    A 64-bit hash of each key, salted anew in each run and cut into two 32-bit limbs, is summed
    without reduction: by accident unequal multisets agree once in 2^64. Adding commitments is
    adding multisets. At level COUNT there are no limbs.
    """

    records: int = 0
    limbs: tuple[int, ...] = ()

    def __add__(self, other: Commitment) -> Commitment:
        if not self.limbs or not other.limbs:
            # A sum of nothing has no limbs yet; with records, one side was only counted.
            kept = self.limbs if other.records == 0 else other.limbs if self.records == 0 else ()
            return Commitment(self.records + other.records, kept)
        limbs = tuple(one + two for one, two in zip(self.limbs, other.limbs, strict=True))
        return Commitment(self.records + other.records, limbs)

    def agrees_with(self, other: Commitment) -> bool:
        """Equal counts and, where both were hashed, equal sums."""
        if self.records != other.records:
            return False
        return not self.limbs or not other.limbs or self.limbs == other.limbs


NOTHING: Final = Commitment(0, (0,) * LIMBS)


def hash_seeds(salt: str) -> tuple[str, str]:
    """The bytes, as hex, that seed the two hashes of a key: the halves of the run's salt.

    The first hash is summed; both together tell keys apart where they are grouped. Bytes and not
    numbers: Spark writes a number into the code that it generates, and would compile that anew for
    every run; bytes are handed in.
    """
    if not _SALT.fullmatch(salt):
        raise LedgerError(
            f"the salt {salt!r} is not 32 hex digits: take the one of the manifest, for the "
            "ledger was altered"
        )
    return salt[:_SEED_DIGITS], salt[_SEED_DIGITS:]


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column of the source key, with its Spark type as text (`string`, `decimal(12,2)`)."""

    name: str
    type_text: str


@dataclass(frozen=True, slots=True)
class FileDigest:
    """One file: its path relative to the dataset, bytes, modification in ms, SHA-256 in hex.

    An empty `sha256` means that the file was not digested, as for a DataFrame's files.
    """

    path: str
    bytes: int
    modified_ms: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class DatasetPosition:
    """Where a dataset stood: its kind, its place, a table's version or the list of its files.

    `kind` is `files`, `delta`, `iceberg` or `frame`. `format` is that of the files; `options` those
    they are read with. For Iceberg `metadata_location` is the metadata file of the snapshot.
    """

    kind: str
    location: str = ""
    format: str = ""
    version: str = ""
    metadata_location: str = ""
    schema_text: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    files: tuple[FileDigest, ...] = ()


def input_hash_of(position: DatasetPosition) -> str:
    """What an input was, in one text: a SHA-256 over its files, or a table's version.

    Empty where nothing pins it, as with a DataFrame, or where a file was not digested.
    """
    if position.kind != "files":
        return f"{position.kind}:{position.version}" if position.version else ""
    if not all(file.sha256 for file in position.files):
        return ""
    # A line of JSON for each: a path may hold anything, a newline too.
    lines = sorted(json.dumps([file.path, file.bytes, file.sha256]) for file in position.files)
    return f"sha256:{sha256(chr(10).join(lines).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class InputAccounting:
    """One input: its records, its key and what pins it.

    `total_records` counts occurrences; `distinct_keys` is None where it was not counted;
    `null_keys` are the records without a readable key, known by file and position.
    """

    total_records: int
    source_key_field: str
    input_hash: str = ""
    key: tuple[KeyColumn, ...] = ()
    key_uniqueness: KeyUniqueness = KeyUniqueness.REQUIRE
    distinct_keys: int | None = None
    null_keys: int = 0
    commitment: Commitment = Commitment()
    position: DatasetPosition = DatasetPosition("frame")
    name: str = ""


@dataclass(frozen=True, slots=True)
class OutputPartition:
    """Records that share a fate, and where their keys are kept.

    Only the seed's first five fields need be given. A `record_count` of None is measured; a given
    one must agree with storage. A relative `adjoint_location` lies in the run directory if
    something is there, else in the working directory; an output may also be a table by its name.
    Steps share the folder of error records: of it a partition with `morphism_path` is only the
    rows whose own begins so. `rows` are physical rows: an exploded record has several. `source`
    and `sink` tell equations apart where there are several inputs or outputs; without a sink a
    partition counts for every sink. `groups` pins the aggregate of a reverse join, which is stored
    beside it. `recompute` is the frame whose records were aggregated, by which keys can be named
    if the books do not balance.
    """

    partition_type: PartitionType
    description: str
    record_count: int | None
    adjoint_type: AdjointType
    adjoint_location: str
    verification: str = ""
    morphism_id: str = ""
    source: str = ""
    sink: str = ""
    format: str = ""
    rows: int | None = None
    distinct_keys: int | None = None
    commitment: Commitment | None = None
    position: DatasetPosition | None = None
    groups: DatasetPosition | None = None
    morphism_path: str = ""
    recompute: DataFrame | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """As a report calls it: `FILTERED(positive_price_filter)`."""
        return (
            f"{self.partition_type}({self.morphism_id})"
            if self.morphism_id
            else str(self.partition_type)
        )


def partition_counts(partitions: Sequence[OutputPartition]) -> dict[str, int]:
    """Records by type; partitions of one type are added up."""
    counts: dict[str, int] = {}
    for part in partitions:
        counts[part.partition_type] = counts.get(part.partition_type, 0) + (part.record_count or 0)
    return counts


@dataclass(frozen=True, slots=True)
class OutputAccounting:
    partitions: tuple[OutputPartition, ...]
    total_accounted: int
    unaccounted: int = 0


@dataclass(frozen=True, slots=True)
class AllowedOverlap:
    """Records that may stand under several of these names at once, at most `max` of them.

    A name is a partition's type, its morphism, or both: `FILTERED(positive_price_filter)`; the
    closest one counts. Under each name a record stands as often as the input has it, no more:
    AGGREGATED and ERROR do not allow a record in two partitions that are both AGGREGATED. Of three
    names any two may overlap.
    """

    partitions: tuple[str, ...]
    reason: str
    max: int

    def name_of(self, partition: OutputPartition) -> str | None:
        """The name under which a partition overlaps here; None if none of them means it."""
        spelled = (partition.name, partition.morphism_id, str(partition.partition_type))
        return next((name for name in spelled if name and name in self.partitions), None)


@dataclass(frozen=True, slots=True)
class Overlap:
    """What was found of an allowed overlap: records counted twice, and up to 100 of their keys.

    `keys` are for people, and may be masked or cut short; `commitment` is of all the records.
    `source` and `sink` name the equation.
    """

    partitions: tuple[str, ...]
    reason: str
    max: int
    records: int
    keys: tuple[str, ...] = ()
    commitment: Commitment | None = None
    source: str = ""
    sink: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """One equation: the records of one source against the partitions that lead to one sink."""

    source: str
    sink: str
    input_count: int
    accounted_count: int
    balanced: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """The books balance: what was counted, and by which method."""

    accounting_balanced: bool
    proof_method: str
    input_count: int
    accounted_count: int
    partition_counts: Mapping[str, int] = field(default_factory=dict)
    distinct_keys: int | None = None
    level: Level = Level.COMMIT
    overlaps: tuple[Overlap, ...] = ()
    accounts: tuple[Account, ...] = ()
    empty_input: bool = False


@dataclass(frozen=True, slots=True)
class AccountingDiscrepancy:
    """The books do not balance: true counts of records, and samples of keys, sorted.

    A missing record is in the input and in no partition; an extra one in partitions only; a
    duplicate one in more partitions than the input has occurrences. `duplicate_keys` name each
    partition. `keys_named` is False where the keys could not be told, and `reasons` say why.
    """

    message: str
    missing_keys: tuple[str, ...] = ()
    duplicate_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    input_count: int = 0
    accounted_count: int = 0
    extra_keys: tuple[str, ...] = ()
    missing_count: int = 0
    extra_count: int = 0
    duplicate_count: int = 0
    partition_counts: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    keys_named: bool = True
    lists_location: str = ""
    accounts: tuple[Account, ...] = ()

    @property
    def error_count(self) -> int:
        """Missing, extra and duplicate records together."""
        return self.missing_count + self.extra_count + self.duplicate_count
