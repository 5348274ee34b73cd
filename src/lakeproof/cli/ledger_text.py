"""The books of a run as text: the equation, where it does not hold, and what a verifier found."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lakeproof.accounting.without_spark.findings import UNBALANCED, UNREADABLE
from lakeproof.model.accounting import (
    Account,
    AccountingDiscrepancy,
    DatasetPosition,
    InputAccounting,
    KeyUniqueness,
    Level,
    Verification,
)
from lakeproof.model.printable import counted, printable
from lakeproof.reporting.console import WIDTH, share_text
from lakeproof.reporting.kept import shown_of
from lakeproof.reporting.log_commands import inert

if TYPE_CHECKING:
    from lakeproof.accounting.document import Ledger
    from lakeproof.accounting.without_spark.tracing import Trace
    from lakeproof.accounting.without_spark.verifying import VerifierReport

_LABEL_WIDTH = len("Duplicate") + 2
_INDENT = " " * _LABEL_WIDTH
_BEHIND_NUMBERS = " " * 25
_SAMPLES_MAX = 10
_NOWHERE = {
    True: "in the input, and in no partition",
    False: "not in these books",
    None: "",
}
_FINDING_WORDS = {UNREADABLE: "UNREADABLE", UNBALANCED: "NOT BALANCED"}
_UNIQUENESS = {
    "require": "each key once",
    "allow": "keys may repeat",
    "assume": "keys believed unique, not counted",
}


def ledger_text(ledger: Ledger) -> str:
    """The equation of a run as a table; of one that failed also what is missing, with samples."""
    inputs = ledger.all_inputs
    lines = [
        f"Ledger of run {printable(ledger.run_id)}",
        *_verdict_lines(ledger),
        *(line for one in inputs for line in _input_lines(one, ledger)),
        *_partition_lines(ledger, inputs),
        *_overlap_lines(ledger.verification),
    ]
    if ledger.discrepancy is not None:
        lines += _discrepancy_lines(ledger.discrepancy)
    if ledger.previous is not None:
        lines += _labelled("After", ledger.previous.location)
    return inert("\n".join(lines))


def _verdict_lines(ledger: Ledger) -> Iterator[str]:
    word = "COUNTS AGREE" if ledger.level is Level.COUNT else "BALANCED"
    yield (
        f"{word if ledger.balanced else 'NOT BALANCED'}  level {printable(ledger.level)}, "
        f"lineage {printable(ledger.lineage)}"
    )
    if ledger.finished_at:
        yield from _labelled("Closed", ledger.finished_at)


def _input_lines(one: InputAccounting, ledger: Ledger) -> Iterator[str]:
    name = f"{one.name}: " if len(ledger.inputs) > 1 else ""
    place = one.position.location or ledger.input_dataset
    yield from _labelled("Input", f"{name}{place}{_position_text(one.position)}")
    kinds = ", ".join(f"{column.name} {column.type_text}" for column in one.key)
    repeats = one.distinct_keys is not None and (
        one.distinct_keys + one.null_keys != one.total_records
    )
    uniqueness = _UNIQUENESS.get(one.key_uniqueness, str(one.key_uniqueness))
    if repeats and one.key_uniqueness == KeyUniqueness.REQUIRE:
        uniqueness = "must be unique, and is not"
    yield from _labelled("Key", f"{kinds or one.source_key_field}; {uniqueness}")
    told = counted(one.total_records, "record")
    if repeats and one.distinct_keys is not None:
        told += f", {counted(one.distinct_keys, 'distinct key')}"
    if one.null_keys:
        told += f", {one.null_keys:,} without a readable key"
    yield from _labelled("", told)


def _position_text(position: DatasetPosition) -> str:
    if position.version:
        word = "snapshot" if position.kind == "iceberg" else "version"
        return f", {word} {position.version}"
    if position.files:
        size = sum(file.bytes for file in position.files)
        return f", {counted(len(position.files), 'file')} of {size:,} bytes"
    return ""


def _partition_lines(ledger: Ledger, inputs: Sequence[InputAccounting]) -> Iterator[str]:
    """A line for each partition with its share of its input, then the sum of each equation."""
    totals = {one.name: one.total_records for one in inputs}
    yield f"{'RECORDS':>13}  {'SHARE':>8}  PARTITION"
    for part in ledger.output_accounting.partitions:
        total = totals.get(part.source, inputs[0].total_records)
        ends = (("of", part.source if len(inputs) > 1 else ""), ("to", part.sink))
        where = "".join(f" {word} {end}" for word, end in ends if end)
        yield f"{_number_and_share(part.record_count or 0, total)}  {printable(part.name + where)}"
        kept = f"{part.adjoint_type} in {part.adjoint_location}"
        yield from _wrapped(printable(kept), _BEHIND_NUMBERS)
    accounts = (ledger.discrepancy or ledger.verification).accounts
    if len(accounts) > 1:
        yield from map(_account_line, accounts)
        return
    total, accounted = inputs[0].total_records, ledger.output_accounting.total_accounted
    yield f"{_number_and_share(accounted, total)}  accounted for, of {total:,}"


def _account_line(account: Account) -> str:
    ends = printable(" to ".join(end for end in (account.source, account.sink) if end))
    told = "" if account.balanced else ": NOT BALANCED"
    numbers = _number_and_share(account.accounted_count, account.input_count)
    return f"{numbers}  accounted for, of {account.input_count:,} of {ends}{told}"


def _number_and_share(records: int, total: int) -> str:
    share = share_text(records / total) if total else ""
    return f"{records:>13,}  {share:>8}"


def _overlap_lines(verification: Verification) -> Iterator[str]:
    for overlap in verification.overlaps:
        named = " and ".join(overlap.partitions)
        told = f"{counted(overlap.records, 'record')} in {named}, {overlap.max:,} allowed"
        yield from _labelled("Overlap", f"{told}: {overlap.reason}")
        yield from _key_lines(overlap.keys, overlap.records)


def _discrepancy_lines(found: AccountingDiscrepancy) -> Iterator[str]:
    yield from _labelled("Found", found.message)
    for reason in found.reasons:
        if reason not in found.message:
            yield from _labelled("", reason)
    if found.missing_count:
        yield from _labelled("Missing", f"{counted(found.missing_count, 'record')} in no partition")
        yield from _key_lines(found.missing_keys, found.missing_count)
    if found.extra_count:
        yield from _labelled("Extra", f"{counted(found.extra_count, 'record')} not in the input")
        yield from _key_lines(found.extra_keys, found.extra_count)
    if found.duplicate_count:
        yield from _labelled("Duplicate", f"{counted(found.duplicate_count, 'record')} too many")
        named = [f"{key} in {', '.join(parts)}" for key, parts in found.duplicate_keys.items()]
        yield from _key_lines(named, found.duplicate_count)
    if found.lists_location:
        yield from _labelled("Lists", f"every key is in {found.lists_location}")


def _key_lines(keys: Sequence[str], total: int) -> Iterator[str]:
    shown = keys[:_SAMPLES_MAX]
    yield from (f"{_INDENT}{printable(key)}" for key in shown)
    if shown and total > len(shown):
        yield f"{_INDENT}and {total - len(shown):,} more"


def verified_text(report: VerifierReport, where: str) -> str:
    """What was checked, what is not as the ledger says, and what could not be looked at."""
    lines = [f"Ledger of {printable(where)}, held against storage without Spark"]
    lines += _listed("checked", report.checked)
    lines += _listed("not checked", report.not_checked)
    for found in report.findings:
        word = _FINDING_WORDS.get(found.kind, f"WRONG {found.level}")
        lines += _listed(word, [found.message])
    if report.findings:
        told = f"NOT VERIFIED  {counted(len(report.findings), 'finding')}"
    elif report.left_out:
        told = f"VERIFIED  except {printable(', '.join(report.left_out))}: not checked, see above"
    else:
        told = "VERIFIED  what is on storage is what the ledger says"
    return inert("\n".join([*lines, told]))


def _listed(word: str, items: Iterable[str]) -> Iterator[str]:
    for item in items:
        yield from _wrapped(f"{word}: {printable(item)}", " " * 8, first="")


def trace_text(found: Trace) -> str:
    """What became of one record."""
    head = printable(found.key)
    if not found.dispositions:
        told = found.note or _NOWHERE[found.in_input]
        if found.note and found.in_input:
            told = f"{_NOWHERE[True]}; {found.note}"
        return inert("\n".join(_wrapped(f"{head}: {printable(told)}", "    ", first="")))
    lines = [head]
    for one in found.dispositions:
        times = "" if one.records == 1 else f", {counted(one.records, 'record')}"
        lines.append(f"  {printable(one.partition)}{times}")
        told = "; ".join(part for part in (one.reason, one.detail) if part)
        if told:
            lines += _wrapped(printable(told), "    ")
        if one.group:
            lines += _wrapped(f"group {printable(one.group)}", "    ")
        lines += _wrapped(f"in {printable(one.location)}", "    ")
    if found.note:
        lines += _wrapped(printable(found.note), "  ")
    return inert("\n".join(lines))


def keys_text(keys: Sequence[str], total: int, noun: str) -> str:
    """Keys, one a line, and how many there are."""
    return inert("\n".join([*map(printable, keys), shown_of(len(keys), total, noun)]))


def _labelled(label: str, text: str) -> list[str]:
    return _wrapped(f"{label:<{_LABEL_WIDTH}}{printable(text)}", _INDENT, first="")


def _wrapped(text: str, indent: str, first: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,  # a location that was cut cannot be copied
        break_on_hyphens=False,
    )
