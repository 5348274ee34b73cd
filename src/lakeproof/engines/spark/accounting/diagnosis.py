"""Which keys are to blame when the books do not balance.

Only what differs is looked at closely: sums by 4,096 buckets of key hashes say where the input and
its partitions part, and only the keys of those buckets are brought together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.commitments import commitment_in, total_columns
from lakeproof.engines.spark.accounting.key_lists import (
    DUPLICATE,
    EXTRA,
    KINDS,
    MISSING,
    JudgedKeys,
    judge_keys,
)
from lakeproof.engines.spark.accounting.partitions import PartitionReader
from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    SOURCE,
    bucket_sql,
    text_sql,
    weight_of,
)
from lakeproof.engines.spark.accounting.stored_keys import SOURCE_KEY
from lakeproof.model.accounting import (
    NO_KEY,
    NOTHING,
    AdjointType,
    AllowedOverlap,
    Commitment,
    Level,
    OutputPartition,
    Overlap,
)
from lakeproof.model.names import quote
from lakeproof.model.printable import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BUCKETS: Final = 4096
_CHANGED: Final = "the stored partitions changed while they were verified"
_INPUT: Final = -1
_STORED: Final = -2
"""All partitions whose keys are stored, as one side of the sums by bucket."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the books lack or have too much: true counts of records, and samples by key order.

    Allowed overlaps are taken off. Where `keys_named` is False the counts are the least that the
    sums imply, and `reasons` say why. `buckets` of 4,096 differ. At `lists_location` are the full
    lists, if there are any.
    """

    missing_count: int = 0
    extra_count: int = 0
    duplicate_count: int = 0
    missing_keys: tuple[str, ...] = ()
    extra_keys: tuple[str, ...] = ()
    duplicate_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overlaps: tuple[Overlap, ...] = ()
    keys_named: bool = True
    reasons: tuple[str, ...] = ()
    buckets: int = 0
    lists_location: str = ""

    @property
    def balanced(self) -> bool:
        """Whether nothing is wrong beside overlaps that were allowed."""
        return not (self.missing_count or self.extra_count or self.duplicate_count)


@dataclass(frozen=True, slots=True)
class _Side:
    """Keys and weights of the input or one partition, and the side it counts for in the sums."""

    number: int
    tally: int
    keys: DataFrame


def diagnose(
    reader: PartitionReader,
    input_keys: DataFrame,
    expected: Commitment,
    partitions: Sequence[OutputPartition],
    *,
    salt: str,
    overlaps: Sequence[AllowedOverlap] = (),
    lists_location: str,
) -> Diagnosis:
    """Name the keys by which one input and its measured partitions differ.

    `input_keys` has `_lakeproof_key`; `expected` is what the input was summed to at the start.
    """
    sides, unnamed = _sides(reader, input_keys, partitions)
    if unnamed:
        return _by_sums(expected, partitions, unnamed)
    united = _united(sides, salt)
    tallies = _bucket_sums(united, salt)
    moved = _moved(tallies, expected, partitions)
    differing = _differing(tallies)
    if moved:
        return _by_sums(expected, partitions, moved, buckets=len(differing))
    judged = judge_keys(_in_buckets(united, differing), partitions, overlaps, salt)
    try:
        told = _told(judged, lists_location, len(differing))
    finally:
        judged.release()
    if told.balanced and not _explains(told.overlaps, expected, partitions):
        # What differed a moment ago does no more: someone writes while we read.
        return _by_sums(expected, partitions, (_CHANGED,), buckets=len(differing))
    return told


def _explains(
    overlaps: Sequence[Overlap], expected: Commitment, partitions: Sequence[OutputPartition]
) -> bool:
    """Whether the input and what was found to overlap are together what was measured."""
    found = reduce(add, (one.commitment or NOTHING for one in overlaps), expected)
    return found.agrees_with(_accounted(partitions))


def _accounted(partitions: Sequence[OutputPartition]) -> Commitment:
    return reduce(add, (part.commitment or NOTHING for part in partitions), NOTHING)


def _sides(
    reader: PartitionReader, input_keys: DataFrame, partitions: Sequence[OutputPartition]
) -> tuple[list[_Side], tuple[str, ...]]:
    """The keys of all, and why those of a partition cannot be had."""
    keys = input_keys.selectExpr(f"{quote(KEY)} AS {SOURCE_KEY}", "1 AS weight")
    sides = [_Side(_INPUT, _INPUT, keys)]
    unnamed = []
    for number, partition in enumerate(partitions):
        if partition.adjoint_type is not AdjointType.GroupCommitments:
            stored = reader.stored_keys(partition)
            if stored is not None:
                sides.append(_Side(number, _STORED, stored))
        elif partition.recompute is not None:
            sides.append(_Side(number, number, _recomputed(partition, partition.recompute)))
        elif partition.commitment is None or partition.commitment.records:
            unnamed.append(
                f"the keys of {partition.name} are not stored, only the commitments of its groups, "
                "and the frame that was aggregated is not at hand; use lineage FULL to keep them"
            )
    return sides, tuple(unnamed)


def _recomputed(partition: OutputPartition, frame: DataFrame) -> DataFrame:
    if partition.source and SOURCE in frame.columns:
        frame = frame.where(f"{quote(SOURCE)} = {text_sql(partition.source)}")
    weight = weight_of(frame) or "1"
    return frame.selectExpr(
        f"coalesce({quote(KEY)}, '{NO_KEY}') AS {SOURCE_KEY}", f"{weight} AS weight"
    )


def _united(sides: Sequence[_Side], salt: str) -> DataFrame:
    bucket = f"{bucket_sql(SOURCE_KEY, salt)} AS bucket"
    frames = [
        side.keys.where("weight <> 0").selectExpr(
            f"{side.number} AS side", f"{side.tally} AS tally", SOURCE_KEY, "weight", bucket
        )
        for side in sides
    ]
    return reduce(lambda one, two: one.unionAll(two), frames)


def _bucket_sums(united: DataFrame, salt: str) -> dict[int, dict[int, Commitment]]:
    """The commitment of each bucket on each side: at most 4,096 rows for a side."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    sums = total_columns(salt, Level.COMMIT, SOURCE_KEY, "weight")
    grouped = united.groupBy("tally", "bucket").agg(*map(F.expr, sums))
    tallies: dict[int, dict[int, Commitment]] = {}
    for row in grouped.collect():
        tallies.setdefault(row["tally"], {})[row["bucket"]] = commitment_in(row)
    return tallies


def _differing(tallies: Mapping[int, Mapping[int, Commitment]]) -> list[int]:
    """The buckets in which input and partitions are not the same multiset."""
    accounted: dict[int, Commitment] = {}
    for tally, buckets in tallies.items():
        if tally != _INPUT:
            for bucket, found in buckets.items():
                accounted[bucket] = accounted.get(bucket, NOTHING) + found
    given = tallies.get(_INPUT, {})
    return sorted(
        bucket
        for bucket in accounted.keys() | given.keys()
        if accounted.get(bucket, NOTHING) != given.get(bucket, NOTHING)
    )


def _moved(
    tallies: Mapping[int, Mapping[int, Commitment]],
    expected: Commitment,
    partitions: Sequence[OutputPartition],
) -> tuple[str, ...]:
    """Which sides are not what was measured before: their keys would tell of something else."""

    def found(tally: int) -> Commitment:
        return reduce(add, tallies.get(tally, {}).values(), NOTHING)

    moved = []
    if not expected.agrees_with(found(_INPUT)):
        moved.append("the input read again does not give the records that were counted at first")
    stored: Commitment = NOTHING
    for number, partition in enumerate(partitions):
        measured = partition.commitment or NOTHING
        if partition.adjoint_type is not AdjointType.GroupCommitments:
            stored += measured
        elif not measured.agrees_with(found(number)):
            moved.append(
                f"{partition.name} computed again does not give the records that its groups were "
                "made of: the input moved, the pipeline is not deterministic, or the groups were "
                "altered"
            )
    if not stored.agrees_with(found(_STORED)):
        moved.append(_CHANGED)
    return tuple(moved)


def _by_sums(
    expected: Commitment,
    partitions: Sequence[OutputPartition],
    reasons: Sequence[str],
    buckets: int = 0,
) -> Diagnosis:
    """What the sums alone tell: the least number of records that are missing or too many."""
    accounted = _accounted(partitions)
    # Equal counts with other sums: at least one record stands for another.
    swapped = int(expected.records == accounted.records and not expected.agrees_with(accounted))
    told = [*reasons, "keys cannot be named, and the counts are the least that the sums imply"]
    if buckets:
        told.append(f"{counted(buckets, 'bucket')} of {_BUCKETS:,} differ")
    return Diagnosis(
        missing_count=max(expected.records - accounted.records, swapped),
        extra_count=max(accounted.records - expected.records, swapped),
        keys_named=False,
        reasons=tuple(told),
        buckets=buckets,
    )


def _in_buckets(united: DataFrame, buckets: Sequence[int]) -> DataFrame:
    if len(buckets) == _BUCKETS:
        return united
    return united.where(f"bucket IN ({', '.join(map(str, buckets)) or 'NULL'})")


def _told(judged: JudgedKeys, lists_location: str, buckets: int) -> Diagnosis:
    samples, overlaps = judged.samples()
    missing, extra, duplicate = (judged.records(kind) for kind in KINDS)
    is_unbalanced = bool(missing or extra or duplicate)
    if is_unbalanced:
        judged.write(lists_location)
    return Diagnosis(
        missing_count=missing,
        extra_count=extra,
        duplicate_count=duplicate,
        missing_keys=tuple(samples[MISSING]),
        extra_keys=tuple(samples[EXTRA]),
        duplicate_keys=samples[DUPLICATE],
        overlaps=overlaps,
        reasons=judged.exceeded(),
        buckets=buckets,
        lists_location=lists_location if is_unbalanced else "",
    )
