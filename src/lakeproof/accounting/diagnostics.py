"""What people read when the books of a run are closed, or cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final, TypeVar

from lakeproof.model.accounting import AccountingDiscrepancy, Verification
from lakeproof.model.canonical import READABLE_HASH_DIGITS
from lakeproof.model.printable import printable

TEXT_SAMPLES_MAX: Final = 10
NOT_INITIALIZED: Final = "Input accounting not initialized"
_RULER: Final = "=" * 40
_ACTIONS: Final = (
    "Check for pipeline bugs (duplicate processing)",
    "Verify adjoint metadata capture is complete",
    "Inspect sample missing/extra keys in source data",
    "Review error DLQ for patterns",
)


_Verdict = TypeVar("_Verdict", bound=Verification | AccountingDiscrepancy)


def balanced_line(records: int) -> str:
    return f"✓ Accounting verified: {records} records accounted for"


def violated_line(message: str) -> str:
    return f"✗ ACCOUNTING INVARIANT VIOLATED: {printable(message)}"


def discrepancy_message(
    missing: int, extra: int, duplicate: int, reasons: Iterable[str] = ()
) -> str:
    """What is wrong, in one line: records that are lost, foreign or counted twice, then reasons."""
    parts = [
        (missing, f"Missing {missing} keys from input (silently dropped)"),
        (extra, f"Found {extra} keys not in input (unexpected records)"),
        (duplicate, f"Found {duplicate} duplicate keys across partitions"),
    ]
    return "; ".join([*(text for count, text in parts if count), *reasons])


def masked_key(key: str) -> str:
    """A key that must not be shown: `#` and the first digits of its SHA-256, to find it again."""
    digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"#{digest[:READABLE_HASH_DIGITS]}"


def masked(verdict: _Verdict) -> _Verdict:
    """The same with every sample masked, in the order of the keys behind them."""
    if isinstance(verdict, Verification):
        overlaps = (replace(one, keys=tuple(map(masked_key, one.keys))) for one in verdict.overlaps)
        return replace(verdict, overlaps=tuple(overlaps))
    return replace(
        verdict,
        missing_keys=tuple(map(masked_key, verdict.missing_keys)),
        extra_keys=tuple(map(masked_key, verdict.extra_keys)),
        duplicate_keys={masked_key(key): names for key, names in verdict.duplicate_keys.items()},
    )


def failure_text(run_id: str, input_dataset: str, discrepancy: AccountingDiscrepancy) -> str:
    """What `ACCOUNTING_FAILURE.txt` says: true counts of records, and up to ten keys of a kind."""
    duplicates = [
        f"  {printable(key)} -> {', '.join(map(printable, names))}"
        for key, names in list(discrepancy.duplicate_keys.items())[:TEXT_SAMPLES_MAX]
    ]
    lines = [
        _RULER,
        " ACCOUNTING INVARIANT VIOLATION",
        _RULER,
        "",
        f" Run ID: {printable(run_id)}",
        f" Input dataset: {printable(input_dataset)}",
        "",
        " Summary:",
        f" - Input records: {discrepancy.input_count}",
        f" - Accounted records: {discrepancy.accounted_count}",
        f" - Missing keys: {discrepancy.missing_count}",
        f" - Extra keys: {discrepancy.extra_count}",
        f" - Duplicate keys: {discrepancy.duplicate_count}",
        "",
        *_partitions(discrepancy),
        *_reasons(discrepancy),
        *_sample("Missing", _joined(discrepancy.missing_keys), discrepancy.missing_count),
        *_sample("Extra", _joined(discrepancy.extra_keys), discrepancy.extra_count),
        *_sample("Duplicate", duplicates, discrepancy.duplicate_count),
        *_lists(discrepancy),
        " Suggested Actions:",
        *(f" {number}. {action}" for number, action in enumerate(_ACTIONS, start=1)),
        "",
        _RULER,
    ]
    return "\n".join(lines) + "\n"


def _partitions(discrepancy: AccountingDiscrepancy) -> list[str]:
    counts = discrepancy.partition_counts.items()
    told = [f" - {printable(name)}: {records}" for name, records in counts]
    return [" Partitions:", *told, ""] if told else []


def _reasons(discrepancy: AccountingDiscrepancy) -> list[str]:
    told = list(discrepancy.reasons)
    if not told and not discrepancy.error_count:
        told = [discrepancy.message]
    return [" Reasons:", *(f" - {printable(reason)}" for reason in told), ""] if told else []


def _sample(kind: str, lines: Sequence[str], count: int) -> list[str]:
    """Where there are such records and no key is known, it says so instead of showing nothing."""
    absent = "(keys cannot be named: see Reasons)" if count else "(none)"
    return [f" {kind} Keys (sample):", *(f" {line}" for line in lines or [absent]), ""]


def _joined(keys: Sequence[str]) -> list[str]:
    return [", ".join(map(printable, keys[:TEXT_SAMPLES_MAX]))] if keys else []


def _lists(discrepancy: AccountingDiscrepancy) -> list[str]:
    if not discrepancy.lists_location:
        return []
    place = printable(discrepancy.lists_location)
    return [f" Full lists: {place} (Parquet: missing_keys, extra_keys, duplicate_keys)", ""]
