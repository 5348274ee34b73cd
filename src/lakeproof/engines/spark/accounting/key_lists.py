"""Keys that occur more or less often in the partitions than in the input: judged, shown, listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.commitments import commitment_in, total_columns
from lakeproof.engines.spark.accounting.source_keys import text_sql
from lakeproof.engines.spark.accounting.stored_keys import SOURCE_KEY
from lakeproof.faults import reach
from lakeproof.model.accounting import (
    NOTHING,
    SAMPLES_MAX,
    AllowedOverlap,
    Commitment,
    Level,
    OutputPartition,
    Overlap,
)
from lakeproof.model.printable import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MISSING: Final = "missing"
EXTRA: Final = "extra"
DUPLICATE: Final = "duplicate"
KINDS: Final = (MISSING, EXTRA, DUPLICATE)

_LISTED: Final = (SOURCE_KEY, "input_records", "accounted_records", "partitions")
_CHARACTERS_MAX: Final = 1_000
"""Of a key shown: samples come to the driver and into reports, and a key may be a book."""
_SHOWN: Final = (
    f"if(length({SOURCE_KEY}) > {_CHARACTERS_MAX}, "
    f"concat(left({SOURCE_KEY}, {_CHARACTERS_MAX}), '...'), {SOURCE_KEY}) AS {SOURCE_KEY}"
)
_NO_OVERLAP: Final = -1

Samples = Mapping[str, tuple[str, ...]]
"""Keys in order, each with the names of the partitions that it stands in."""


@dataclass(frozen=True, slots=True)
class JudgedKeys:
    """The keys whose records do not come out even, held by Spark until `release`.

    `totals` are the records too few or too many, by kind and by the number of the declared overlap
    that explains them.
    """

    frame: DataFrame
    overlaps: tuple[AllowedOverlap, ...]
    totals: Mapping[tuple[str, int], Commitment]

    def records(self, kind: str) -> int:
        """How many records too few or too many are of this kind."""
        return sum(
            total.records
            for (found, overlap), total in self.totals.items()
            if found == kind and overlap not in self._allowed
        )

    def samples(self) -> tuple[Mapping[str, Samples], tuple[Overlap, ...]]:
        """The first keys of each kind and of each overlap, by one action."""
        kinds = [f"({self._is(kind)})" for kind in KINDS]
        overlaps = [f"(overlap = {number})" for number in range(len(self.overlaps))]
        found = _first_keys(self.frame, [*kinds, *overlaps])
        told = tuple(
            Overlap(
                one.partitions,
                one.reason,
                one.max,
                self._overlapping(number),
                tuple(keys),
                self.totals.get((DUPLICATE, number), NOTHING),
            )
            for number, (one, keys) in enumerate(
                zip(self.overlaps, found[len(KINDS) :], strict=True)
            )
        )
        return dict(zip(KINDS, found, strict=False)), told

    def exceeded(self) -> tuple[str, ...]:
        """Declared overlaps that hold more records than they may."""
        return tuple(
            f"the overlap of {', '.join(one.partitions)} ({one.reason}) is allowed for "
            f"{counted(one.max, 'record')}, and has {self._overlapping(number):,}"
            for number, one in enumerate(self.overlaps)
            if self._overlapping(number) > one.max
        )

    def write(self, location: str) -> None:
        """The full lists, one for each kind, also of a kind that has no keys."""
        for kind in KINDS:
            listed = self.frame.where(self._is(kind)).select(*_LISTED)
            # An earlier attempt that was cut short may have left a part of the list.
            listed.write.mode("overwrite").parquet(f"{location.rstrip('/')}/{kind}_keys.parquet")
            reach("after_key_list")

    def release(self) -> None:
        self.frame.unpersist()

    @property
    def _allowed(self) -> tuple[int, ...]:
        """The overlaps that stay within their limit; beyond it all their records are duplicates."""
        return tuple(
            number
            for number, one in enumerate(self.overlaps)
            if self._overlapping(number) <= one.max
        )

    def _overlapping(self, number: int) -> int:
        return self.totals.get((DUPLICATE, number), NOTHING).records

    def _is(self, kind: str) -> str:
        allowed = ", ".join(map(str, self._allowed))
        return f"kind = '{kind}'" + (f" AND overlap NOT IN ({allowed})" if allowed else "")


def judge_keys(
    keys: DataFrame,
    partitions: Sequence[OutputPartition],
    overlaps: Sequence[AllowedOverlap],
    salt: str,
) -> JudgedKeys:
    """Bring equal keys together and keep those with more or fewer records than the input has.

    `keys` has `side`, -1 for the input or a partition's number, `source_key` and `weight`.
    """
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    held = [f"held_{number}" for number in range(len(partitions))]
    sums = [
        F.expr(f"sum(if(side = {number}, weight, 0)) AS {name}")
        for number, name in enumerate(["input_records", *held], start=-1)
    ]
    names = [
        f"if({name} > 0, {text_sql(partition.name)}, NULL)"
        for name, partition in zip(held, partitions, strict=True)
    ]
    frame = (
        keys.groupBy(SOURCE_KEY)
        .agg(*sums)
        .selectExpr("*", f"{' + '.join(held) or '0L'} AS accounted_records")
        .where("input_records <> accounted_records")
        .selectExpr(
            "*",
            f"array_compact(CAST(array({', '.join(names)}) AS ARRAY<STRING>)) AS partitions",
            f"CASE WHEN input_records > accounted_records THEN '{MISSING}' "
            f"WHEN input_records = 0 THEN '{EXTRA}' ELSE '{DUPLICATE}' END AS kind",
        )
        .selectExpr(*_LISTED, "kind", f"{_overlap_sql(partitions, overlaps)} AS overlap")
        .persist()
    )
    try:
        apart = "abs(input_records - accounted_records)"
        by_kind = frame.groupBy("kind", "overlap").agg(
            *map(F.expr, total_columns(salt, Level.COMMIT, SOURCE_KEY, apart))
        )
        totals = {(row["kind"], row["overlap"]): commitment_in(row) for row in by_kind.collect()}
    except BaseException:
        frame.unpersist()
        raise
    return JudgedKeys(frame, tuple(overlaps), totals)


def _overlap_sql(partitions: Sequence[OutputPartition], overlaps: Sequence[AllowedOverlap]) -> str:
    """The number of the first overlap that explains all of a duplicate key's records.

    Under each name of it the key stands no more often than the input has it, and nowhere else: so a
    key with too many records stands under two names at least.
    """
    choices = []
    for number, overlap in enumerate(overlaps):
        held: dict[str | None, list[str]] = {}
        for other, partition in enumerate(partitions):
            held.setdefault(overlap.name_of(partition), []).append(f"held_{other}")
        outside = [f"{column} = 0" for column in held.pop(None, [])]
        within = [f"{' + '.join(columns)} <= input_records" for columns in held.values()]
        terms = [f"kind = '{DUPLICATE}'", *outside, *within]
        choices.append(f"WHEN {' AND '.join(terms)} THEN {number}")
    return f"CASE {' '.join(choices)} ELSE {_NO_OVERLAP} END" if choices else str(_NO_OVERLAP)


def _first_keys(frame: DataFrame, conditions: Sequence[str]) -> list[Samples]:
    """For each condition the first keys in order; all by one action, a hundred rows for each."""
    first = [
        frame.where(condition)
        .orderBy(SOURCE_KEY)
        .limit(SAMPLES_MAX)
        .selectExpr(f"{number} AS number", _SHOWN, "partitions")
        for number, condition in enumerate(conditions)
    ]
    rows = reduce(lambda one, two: one.unionAll(two), first).collect()
    found: list[dict[str, tuple[str, ...]]] = [{} for _ in conditions]
    for row in sorted(rows, key=lambda row: (row["number"], row[SOURCE_KEY])):
        found[row["number"]][row[SOURCE_KEY]] = tuple(row["partitions"])
    return list(found)
