"""Two tables held against each other: the choices, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class HashAlgorithm(StrEnum):
    """How a row is hashed; `words` 64-bit numbers stand for it."""

    XXHASH64 = "xxhash64"
    XXHASH128 = "xxhash128"
    MD5 = "md5"
    SHA256 = "sha256"

    @property
    def words(self) -> int:
        return {HashAlgorithm.XXHASH64: 1, HashAlgorithm.SHA256: 4}.get(self, 2)


class DuplicatePolicy(StrEnum):
    """What several rows with one key mean.

    `FAIL`: each row beyond the first is a mismatch, on either side, even if both sides have it.
    `MULTISET`: copies are compared as a multiset, and only those without a partner are mismatches;
    keys are not counted then, only their copies. `ERROR`: there is no verdict.
    """

    FAIL = "fail"
    MULTISET = "multiset"
    ERROR = "error"


class NullKeyPolicy(StrEnum):
    """What a NULL in a key means: a value like any other, which is counted, or a mismatch."""

    COUNT = "count"
    FAIL = "fail"


class EmptyPolicy(StrEnum):
    """What is made of a filter, partition or sample that selects nothing on both sides."""

    WARN = "warn"
    FAIL = "fail"
    PASS = "pass"  # noqa: S105 (no password, a verdict)


class Method(StrEnum):
    """How two tables are compared; all are exact but for collisions of the row hash.

    `SNAPSHOT`: both are one snapshot of one table. `CELLS`: sums of row hashes in a fixed number
    of cells, then only the keys of differing cells. `HASH_JOIN`: every key with its row hash.
    """

    SNAPSHOT = "snapshot"
    CELLS = "cells"
    HASH_JOIN = "hash_join"


class DifferenceKind(StrEnum):
    """What is wrong with a key. `SURPLUS`: it is on both sides, in too many copies.

    `NULL_KEY`: it agrees, but holds a NULL, and such keys are mismatches.
    """

    MISSING_IN_TARGET = "missing_in_target"
    MISSING_IN_SOURCE = "missing_in_source"
    CHANGED = "changed"
    SURPLUS = "surplus"
    NULL_KEY = "null_key"


@dataclass(frozen=True, slots=True)
class ColumnTolerance:
    """How far two numbers (or moments, in seconds) may lie apart; satisfying either is enough.

    `relative` is a share of the source's value. Numbers as text, so that 0.1 stays 0.1.
    """

    absolute: str = ""
    relative: str = ""


@dataclass(frozen=True, slots=True)
class ColumnMatch:
    """Of the rows that were paired by their key, how many differ in this column."""

    name: str
    mismatches: int
    compared: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One difference to look at, values as text. A side without the row has no values.

    `group` samples are those of aggregates: `key` is the group, `differing` the aggregates.
    """

    kind: str
    key: Mapping[str, str | None]
    differing: tuple[str, ...] = ()
    source: Mapping[str, str | None] = field(default_factory=dict)
    target: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PairFound:
    """What a comparison found.

    `numbers` are those of the check's metric_value. `mismatches` of `total` is what its tolerance
    is held against. `view` names a view of the differing keys, with violation_key, occurrences,
    excess (which add up to `mismatches`) and observed; '' if none can be listed. `error` says why
    there is no verdict. `metadata` says how it was done.
    """

    numbers: Mapping[str, int | float | None]
    mismatches: int
    total: int
    view: str = ""
    columns: tuple[ColumnMatch, ...] = ()
    samples: tuple[Sample, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    error: str = ""
