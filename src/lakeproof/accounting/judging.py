"""The verdict on a run's books: sums of storage against the input's, and names if they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lakeproof.accounting.balancing import Equation, equations_of, miscounts
from lakeproof.accounting.diagnostics import discrepancy_message
from lakeproof.accounting.run_directory import DISCREPANCY_FOLDER, ERRORS_FOLDER
from lakeproof.accounting.storage import join, storage_for
from lakeproof.faults import reach
from lakeproof.model.accounting import (
    ADJOINT_FOLDER,
    COUNT_METHOD,
    FILTERED_KEYS_FOLDER,
    GROUPS_FOLDER,
    PROOF_METHOD,
    SAMPLES_MAX,
    AccountingDiscrepancy,
    AdjointType,
    AllowedOverlap,
    Level,
    OutputPartition,
    Overlap,
    PartitionType,
    Verification,
    partition_counts,
)
from lakeproof.model.printable import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeproof.engines.spark.accounting.diagnosis import Diagnosis
    from lakeproof.engines.spark.accounting.inputs import AccountedInput
    from lakeproof.engines.spark.accounting.partitions import PartitionReader

Verdict: TypeAlias = Verification | AccountingDiscrepancy

REPEATED_KEYS_FILE = "repeated_source_keys.parquet"
_SHOWN_MAX = 10

ErrorsByPlace: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""Counts of error records by kind, for each place that holds some."""


@dataclass(frozen=True, slots=True)
class Books:
    """All that a verdict rests on: the accounted inputs and the partitions as they were added."""

    spark: SparkSession
    directory: str
    inputs: tuple[AccountedInput, ...]
    partitions: tuple[OutputPartition, ...]
    salt: str
    level: Level
    overlaps: tuple[AllowedOverlap, ...] = ()
    denies_empty: bool = False

    def reader(self) -> PartitionReader:
        from lakeproof.engines.spark.accounting.partitions import PartitionReader

        keys = {item.accounting.name: item.accounting.key for item in self.inputs}
        return PartitionReader(
            spark=self.spark,
            run_directory=self.directory,
            keys={"": self.inputs[0].accounting.key, **keys},
            storage_of=partial(storage_for, spark=self.spark),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict, and the partitions with what storage says of them.

    `error_summary` counts the error records by kind, as JSON; empty if no partition is of errors.
    """

    verdict: Verdict
    partitions: tuple[OutputPartition, ...]
    error_summary: str = ""


def method_of(level: Level) -> str:
    """What the ledger says of how it was verified."""
    return COUNT_METHOD if level is Level.COUNT else PROOF_METHOD


def judge(books: Books) -> Judged:
    """Balanced if every equation agrees and nothing else speaks against it.

    One action takes the sums of all partitions; keys are read again only if they do not agree.
    """
    from lakeproof.engines.spark.accounting.commitments import ensure_sums_raise
    from lakeproof.engines.spark.accounting.partitions import measure_partitions

    ensure_sums_raise(books.spark)
    moved = _moved(books.inputs)
    reach("after_input_check")
    reader = books.reader()
    errors = _errors_by_place(books, reader)
    measured = measure_partitions(reader, books.partitions, salt=books.salt, level=books.level)
    equations = equations_of([item.accounting for item in books.inputs], measured.partitions)
    reach("after_verification")
    reasons = (
        *moved,
        *miscounts(books.partitions, measured.partitions),
        *measured.reasons,
        *_unclaimed(books, errors),
        *_empty(books),
    )
    repeats = [item for item in books.inputs if item.duplicates is not None]
    found = [] if moved else _diagnosed(books, reader, equations)
    if not reasons and not repeats and all(item.balanced for item in found):
        overlaps = _overlaps(equations, found)
        verification = _verification(books, equations, overlaps)
        return Judged(verification, measured.partitions, error_summary(errors))
    hints = () if moved else (*measured.hints, *_forgotten(books, measured.partitions))
    repeated = _repeated_in_input(books, is_moved=bool(moved))
    verdict = _discrepancy(equations, found, repeated, (*reasons, *hints))
    return Judged(verdict, measured.partitions, error_summary(errors))


def judge_stopped(books: Books, breach: str) -> Judged:
    """A run that its error thresholds ended: where its other records went nobody can say."""
    from lakeproof.engines.spark.accounting.error_summary import error_counts

    equations = equations_of([item.accounting for item in books.inputs], ())
    reason = f"Error threshold exceeded: {breach}"
    verdict = AccountingDiscrepancy(
        message=reason,
        input_count=equations[0].source.total_records,
        reasons=(reason,),
        keys_named=False,
        accounts=tuple(item.account for item in equations),
    )
    place = OutputPartition(PartitionType.ERROR, "", None, AdjointType.ErrorRecords, ERRORS_FOLDER)
    return Judged(verdict, (), error_summary(error_counts(books.reader(), [place])))


def _moved(inputs: Sequence[AccountedInput]) -> tuple[str, ...]:
    """What changed of an input since it was pinned: then no key can be told for certain."""
    found = ((item.accounting.name, item.pinned.moved()) for item in inputs)
    return tuple(f"Input changed during the run: {name}: {what}" for name, what in found if what)


def _errors_by_place(books: Books, reader: PartitionReader) -> ErrorsByPlace:
    from lakeproof.engines.spark.accounting.error_summary import error_counts

    kind = PartitionType.ERROR
    return error_counts(reader, [part for part in books.partitions if part.partition_type is kind])


def error_summary(errors: ErrorsByPlace) -> str:
    """How many error records there are of each kind, by what is on storage, as JSON."""
    if not errors:
        return ""
    counts = [count for place in errors.values() for count in place]
    summary = {"total_errors": sum(item["records"] for item in counts), "errors": counts}
    return json.dumps(summary, ensure_ascii=False, indent=2) + "\n"


def _unclaimed(books: Books, errors: ErrorsByPlace) -> tuple[str, ...]:
    """Error records in the folder that steps share, and of none whose partition was added."""
    reasons = []
    for place, counts in errors.items():
        parts = [part for part in books.partitions if part.adjoint_location.rstrip("/") == place]
        steps = tuple(part.morphism_path for part in parts)
        lost = [item for item in counts if not item["morphism_path"].startswith(steps)]
        records = sum(item["records"] for item in lost)
        if records:
            told = sorted({item["morphism_path"] or "no step" for item in lost})[:_SHOWN_MAX]
            reasons.append(
                f"{place} holds {counted(records, 'error record')} of steps whose partitions were "
                f"not added: {', '.join(told)}"
            )
    return tuple(reasons)


def _forgotten(books: Books, measured: Sequence[OutputPartition]) -> list[str]:
    """Places where nothing is, and what steps captured but nobody added: often why books differ."""
    own = (ERRORS_FOLDER, ADJOINT_FOLDER)
    hints = [
        f"there is nothing at {part.adjoint_location}, the place of {part.name}"
        for part in measured
        if part.position is not None
        and (part.position.kind, part.position.files) == ("files", ())
        and part.adjoint_location.split("/")[0] not in own
    ]
    steps = {part.morphism_id for part in measured}
    storage = storage_for(books.directory, books.spark)
    for folder in (FILTERED_KEYS_FOLDER, GROUPS_FOLDER):
        files = storage.files(join(books.directory, folder))
        tables = dict.fromkeys(file.path.split("/")[0] for file in files)
        hints += [
            f"{folder}/{table} was captured, and its partition was not added: add_result(...)"
            for table in tables
            if table.removesuffix(".parquet") not in steps
        ]
    return hints


def _empty(books: Books) -> tuple[str, ...]:
    """An input without records, where that is not allowed."""
    if not books.denies_empty:
        return ()
    return tuple(
        f"Input {item.accounting.name} is empty, and empty_input is 'deny'"
        for item in books.inputs
        if item.accounting.total_records == 0
    )


def _diagnosed(
    books: Books, reader: PartitionReader, equations: Sequence[Equation]
) -> list[Diagnosis]:
    """Which records each equation that does not balance lacks, or has too many of."""
    from lakeproof.engines.spark.accounting.diagnosis import diagnose

    keys = {item.accounting.name: item for item in books.inputs}
    unbalanced = [equation for equation in equations if not equation.balances]
    folder = join(books.directory, DISCREPANCY_FOLDER)
    return [
        diagnose(
            reader,
            keys[equation.source.name].keys(),
            equation.source.commitment,
            equation.partitions,
            salt=books.salt,
            overlaps=books.overlaps,
            lists_location=folder if len(unbalanced) == 1 else join(folder, str(number)),
        )
        for number, equation in enumerate(unbalanced, start=1)
    ]


def _overlaps(equations: Sequence[Equation], found: Sequence[Diagnosis]) -> tuple[Overlap, ...]:
    """What was found of allowed overlaps, each under the equation that it belongs to."""
    unbalanced = [equation for equation in equations if not equation.balances]
    return tuple(
        replace(overlap, source=equation.source.name, sink=equation.sink)
        for equation, item in zip(unbalanced, found, strict=True)
        for overlap in item.overlaps
        if overlap.records
    )


def _verification(
    books: Books, equations: Sequence[Equation], overlaps: Sequence[Overlap]
) -> Verification:
    first = equations[0]
    return Verification(
        accounting_balanced=True,
        proof_method=method_of(books.level),
        input_count=first.source.total_records,
        accounted_count=first.accounted.records,
        partition_counts=partition_counts(first.partitions),
        distinct_keys=first.source.distinct_keys,
        level=books.level,
        overlaps=tuple(overlaps),
        accounts=tuple(replace(item.account, balanced=True) for item in equations),
        empty_input=first.source.total_records == 0,
    )


def _discrepancy(
    equations: Sequence[Equation],
    found: Sequence[Diagnosis],
    repeated: _Repeated,
    reasons: Sequence[str],
) -> AccountingDiscrepancy:
    """All that is wrong, in one; samples of several equations are put together."""
    reach("after_key_lists")
    # Of an equation that was not looked into, the difference of counts is what is known.
    looked_into = len(found) == sum(not item.balances for item in equations)
    gaps = [] if looked_into else [item for item in equations if not item.balances]
    short = [item.source.total_records - item.accounted.records for item in gaps]
    missing = sum(item.missing_count for item in found) + sum(max(0, gap) for gap in short)
    extra = sum(item.extra_count for item in found) + sum(max(0, -gap) for gap in short)
    duplicate = sum(item.duplicate_count for item in found)
    told = (*reasons, *repeated.reasons, *(text for item in found for text in item.reasons))
    first = next((item for item in equations if not item.balances), equations[0])
    duplicates = {key: names for item in found for key, names in item.duplicate_keys.items()}
    lists = repeated.are_listed or any(item.lists_location for item in found)
    return AccountingDiscrepancy(
        message=discrepancy_message(missing, extra, duplicate, told),
        missing_keys=_samples(key for item in found for key in item.missing_keys),
        duplicate_keys=dict(sorted({**repeated.keys, **duplicates}.items())[:SAMPLES_MAX]),
        input_count=first.source.total_records,
        accounted_count=first.accounted.records,
        extra_keys=_samples(key for item in found for key in item.extra_keys),
        missing_count=missing,
        extra_count=extra,
        duplicate_count=duplicate + repeated.records,
        partition_counts=partition_counts(first.partitions),
        reasons=tuple(dict.fromkeys(told)),
        keys_named=looked_into
        and (repeated.are_listed or not repeated.reasons)
        and all(item.keys_named for item in found),
        lists_location=DISCREPANCY_FOLDER if lists else "",
        accounts=tuple(item.account for item in equations),
    )


def _samples(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(keys))[:SAMPLES_MAX])


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Keys that the input itself holds more than once, though they were to be unique."""

    records: int
    keys: Mapping[str, tuple[str, ...]]
    reasons: tuple[str, ...]
    are_listed: bool


def _repeated_in_input(books: Books, *, is_moved: bool) -> _Repeated:
    """Counted, listed in full, and shown in samples; only counted if the input is another now."""
    keys: dict[str, tuple[str, ...]] = {}
    reasons = []
    records = 0
    for item in books.inputs:
        if item.duplicates is None:
            continue
        name = item.accounting.name
        if not is_moved:
            at = join(books.directory, DISCREPANCY_FOLDER, name, REPEATED_KEYS_FILE)
            item.duplicates.write.mode("overwrite").parquet(at)
            rows = item.duplicates.orderBy("source_key").limit(SAMPLES_MAX).collect()
            keys |= {row["source_key"]: (f"{name}, {row['input_records']} times",) for row in rows}
        records += item.duplicate_records
        reasons.append(
            f"Source key {item.accounting.source_key_field} is not unique: "
            f"{counted(item.duplicate_keys, 'key')} of {name} repeat, in "
            f"{counted(item.duplicate_records, 'record')} beyond the first. Name more columns, or "
            "account for each occurrence by key_uniqueness='allow'"
        )
    if reasons and is_moved:
        reasons.append("Repeated keys cannot be named, for the input changed")
    return _Repeated(records, keys, tuple(reasons), are_listed=bool(keys))
