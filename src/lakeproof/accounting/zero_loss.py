"""The books' verdict as a result like any other: nothing was lost, or how much and which records.

What the ledger says is taken as it stands: `verifying` holds it against storage.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from lakeproof.accounting.document import (
    SELF_DIGEST,
    Ledger,
    ledger_file,
    load_ledger,
    self_sha256_of,
)
from lakeproof.accounting.json_form import parse_object
from lakeproof.accounting.manifest import ManifestInput, load_manifest
from lakeproof.accounting.run_directory import FAILED_LEDGER_FILE, LEDGER_FILE, MANIFEST_FILE
from lakeproof.accounting.storage import join, storage_for
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    AccountingDiscrepancy,
    DatasetPosition,
    Level,
    Verification,
)
from lakeproof.model.canonical import canonical_payload, encode_key, rule_id_of
from lakeproof.model.outcome import DETAILS_CHARACTERS_MAX, CheckResult, CheckStatus
from lakeproof.model.position import Position
from lakeproof.model.printable import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZERO_LOSS: Final = "zero_loss"
SAMPLES_SHOWN_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run directory that holds no ledger: the run began, and did not complete."""

    directory: str
    run_id: str
    input_dataset: str
    key: tuple[str, ...] = ()


Books: TypeAlias = Ledger | Verification | AccountingDiscrepancy | Unfinished
"""What can be said of a run: its document, what `verify()` returned, or that there is nothing."""


def books_at(given: Books | str | Path, spark: SparkSession | None = None) -> Books:
    """The books themselves, or those of a run directory or ledger file; LedgerError if none.

    A session reaches what it can read, not only this machine's files.
    """
    if not isinstance(given, str | Path):
        if isinstance(given, Books):
            return given
        raise LedgerError(
            f"ledger={type(given).__name__} is none of: a run directory, a ledger file, a Ledger, "
            "what verify() returned"
        )
    return _books_in(str(given), spark)


def check_result_of(books: Books, executed_at: str = "", run_id: str = "") -> CheckResult:
    """The result of type `zero_loss`; `run_id` is that of the checks it stands beside.

    Without `executed_at` it is of the moment when the books were closed.
    """
    blank = CheckResult(
        check_name=ZERO_LOSS,
        check_type=ZERO_LOSS,
        table_name="",
        column_name="",
        status=CheckStatus.ERROR,
        failing_rows=0,
        total_rows=0,
        details="",
        executed_at=executed_at or _moment_text(""),
        run_id=run_id,
        rule_key=ZERO_LOSS,
        dimension="completeness",
        threshold="0 rows",
    )
    if isinstance(books, Verification):
        return _judged(blank, books)
    if isinstance(books, AccountingDiscrepancy):
        return _failed(blank, books)
    named = _named(blank, books.input_dataset, _key_of(books))
    if isinstance(books, Unfinished):
        return _unfinished(named, books)
    told = replace(
        named,
        executed_at=executed_at or _moment_text(books.finished_at),
        position=_position_text(books.input_accounting.position, books.input_accounting.input_hash),
        declared={
            "ledger_run_id": books.run_id,
            "ledger": books.directory,
            "level": str(books.level),
            "lineage": str(books.lineage),
        },
    )
    if books.discrepancy is not None:
        return _failed(told, books.discrepancy)
    if books.verification.accounting_balanced and books.output_accounting.unaccounted:
        unaccounted = books.output_accounting.unaccounted
        return replace(
            _judged(told, books.verification),
            status=CheckStatus.FAILED,
            failing_rows=abs(unaccounted),
            measure=float(abs(unaccounted)),
            details=f"the ledger says balanced, and {unaccounted:,} unaccounted",
        )
    return _judged(told, books.verification)


def _books_in(place: str, spark: SparkSession | None) -> Ledger | Unfinished:
    storage = storage_for(place, spark)
    written = (LEDGER_FILE, FAILED_LEDGER_FILE)
    if storage.exists(join(place, MANIFEST_FILE)) and not any(
        storage.exists(join(place, name)) for name in written
    ):
        manifest = load_manifest(place, storage)
        first = next(iter(manifest.inputs), ManifestInput("", DatasetPosition("frame")))
        key = tuple(column.name for column in first.key)
        dataset = first.dataset or first.position.location
        return Unfinished(place, manifest.run_id, dataset, key)
    ledger = load_ledger(place, spark)
    file = ledger_file(place, storage)
    tree = parse_object(storage.read_bytes(file), file)
    computed = self_sha256_of(tree)
    # Only ledgers of 1.0 were written without.
    if tree.get(SELF_DIGEST, computed if ledger.ledger_version == "1.0" else "") != computed:
        raise LedgerError(
            f"{file} was altered after it was written: its {SELF_DIGEST} is not that of its "
            f"content. `lakeproof ledger verify {place}` says what does not fit"
        )
    return ledger


def _key_of(books: Ledger | Unfinished) -> tuple[str, ...]:
    """The names of the key's columns; an older ledger has them as one text."""
    if isinstance(books, Unfinished):
        return books.key
    source = books.input_accounting
    return tuple(column.name for column in source.key) or (source.source_key_field,)


def _named(result: CheckResult, dataset: str, key: tuple[str, ...]) -> CheckResult:
    """The identity: this input by this key, however often it is run."""
    payload = canonical_payload({"check": ZERO_LOSS, "input": dataset, "key": list(key)})
    return replace(
        result,
        table_name=dataset,
        table_fqn=dataset,
        column_name=",".join(key),
        rule_key=f"{ZERO_LOSS}:{dataset}",
        rule_id=rule_id_of(payload),
    )


def _unfinished(result: CheckResult, books: Unfinished) -> CheckResult:
    return replace(
        result,
        details=f"run {books.run_id} did not complete: {books.directory} holds a manifest and no "
        "ledger. Run the pipeline again, in a new directory"[:DETAILS_CHARACTERS_MAX],
        declared={"ledger_run_id": books.run_id, "ledger": books.directory},
    )


def _judged(result: CheckResult, verification: Verification) -> CheckResult:
    """What a verification says; one that does not say balanced is a failure."""
    difference = abs(verification.input_count - verification.accounted_count)
    measures = {
        "input_records": float(verification.input_count),
        "accounted_records": float(verification.accounted_count),
    }
    if not verification.accounting_balanced:
        return replace(
            result,
            status=CheckStatus.FAILED,
            failing_rows=difference,
            total_rows=verification.input_count,
            measure=float(difference),
            measures=measures,
            details=f"{verification.accounted_count:,} of "
            f"{counted(verification.input_count, 'record')} accounted for",
        )
    return replace(
        result,
        status=CheckStatus.PASSED,
        total_rows=verification.input_count,
        measure=0.0,
        measures={**measures, "missing": 0.0, "extra": 0.0, "duplicate": 0.0},
        details=_balanced_text(verification)[:DETAILS_CHARACTERS_MAX],
    )


def _balanced_text(verification: Verification) -> str:
    verdict = "counts agree" if verification.level is Level.COUNT else "balanced"
    if not verification.input_count:
        return f"{verdict}: the input is empty"
    parts = [f"{number:,} {name}" for name, number in verification.partition_counts.items()]
    overlapping = sum(overlap.records for overlap in verification.overlaps)
    return (
        f"{verdict}: {counted(verification.input_count, 'record')}"
        + (f" = {' + '.join(parts)}" if parts else "")
        + (f", of which {overlapping:,} counted twice as allowed" if overlapping else "")
    )


def _failed(result: CheckResult, found: AccountingDiscrepancy) -> CheckResult:
    samples = list(islice(_samples(found, result.column_name), SAMPLES_SHOWN_MAX))
    return replace(
        result,
        status=CheckStatus.FAILED,
        failing_rows=found.error_count,
        total_rows=found.input_count,
        measure=float(found.error_count),
        measures={
            "missing": float(found.missing_count),
            "extra": float(found.extra_count),
            "duplicate": float(found.duplicate_count),
            "input_records": float(found.input_count),
            "accounted_records": float(found.accounted_count),
        },
        details=found.message[:DETAILS_CHARACTERS_MAX],
        sample_keys=tuple(key for key, _ in samples),
        sample_values=tuple(said for _, said in samples),
    )


def _samples(found: AccountingDiscrepancy, field: str) -> Iterator[tuple[str, str]]:
    """Keys as results hold them, each with what is wrong about it."""
    for key in found.missing_keys:
        yield _sample_key(key, field), "missing"
    for key in found.extra_keys:
        yield _sample_key(key, field), "extra"
    for key, partitions in found.duplicate_keys.items():
        yield _sample_key(key, field), f"in {', '.join(partitions)}"


def _sample_key(key: str, field: str) -> str:
    """A composite key is canonical JSON already."""
    if "," in field:
        return key
    return encode_key({field or "key": key.encode("utf-8", "replace").decode("utf-8")})


def _position_text(position: DatasetPosition, input_hash: str) -> str:
    """As results write positions: JSON with kind and value, empty where nothing pins the input."""
    if position.kind in {"delta", "iceberg"} and position.version.isdigit():
        return Position(position.kind, int(position.version)).to_json()
    if position.kind == "files" and input_hash:
        return json.dumps({"kind": "files", "value": input_hash}, separators=(",", ":"))
    return ""


def _moment_text(moment: str) -> str:
    """An ISO moment in UTC as results write it; the present one if there is none."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        found = datetime.now(UTC)
    zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
