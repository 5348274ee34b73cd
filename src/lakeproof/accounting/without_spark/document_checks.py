"""Whether a ledger agrees with itself: its digest, its sums, the manifest and the ledger before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from lakeproof.accounting.balancing import Equation, equations_of
from lakeproof.accounting.document import SELF_DIGEST, Ledger, self_sha256_of
from lakeproof.accounting.manifest import manifest_from_json
from lakeproof.accounting.run_directory import MANIFEST_FILE, resolved_location
from lakeproof.accounting.storage import join, storage_for
from lakeproof.accounting.without_spark.findings import (
    COUNT,
    DIGEST,
    DIGESTED,
    DOCUMENT,
    MISSING_FILE,
    Notes,
)
from lakeproof.accounting.without_spark.inputs import input_title
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    AdjointType,
    Commitment,
    InputAccounting,
    KeyUniqueness,
    Level,
    OutputPartition,
    PartitionType,
    Verification,
    input_hash_of,
    partition_counts,
)

_WITHOUT_DIGEST = "1.0"


def stated_partitions(ledger: Ledger) -> tuple[OutputPartition, ...]:
    """The partitions, each with a commitment; in a ledger 1.0 they have only counts."""
    return tuple(
        part if part.commitment else replace(part, commitment=Commitment(part.record_count or 0))
        for part in ledger.output_accounting.partitions
    )


def check_self_digest(ledger: Ledger, tree: Mapping[str, object], notes: Notes) -> None:
    """The digest that a ledger has of its own fields."""
    if SELF_DIGEST not in tree and ledger.ledger_version == _WITHOUT_DIGEST:
        notes.not_checked.append(f"{notes.file}: version 1.0 has no {SELF_DIGEST}")
        return
    what, since = f"{notes.file}: {SELF_DIGEST}", len(notes.findings)
    notes.compare(DIGEST, DOCUMENT, what, tree.get(SELF_DIGEST), self_sha256_of(tree))
    notes.done(f"{notes.file}: its own digest", since)


def check_sums(ledger: Ledger, notes: Notes) -> None:
    """Every number of the document that follows from others."""
    since = len(notes.findings)
    _check_numbers(ledger, notes)
    notes.done(f"{notes.file}: its sums against each other", since)


def _check_numbers(ledger: Ledger, notes: Notes) -> None:
    inputs = ledger.all_inputs
    known = _check_words(ledger, notes)
    notes.compare(
        COUNT,
        DOCUMENT,
        f"{notes.file}: inputs[0]",
        ledger.input_accounting.total_records,
        inputs[0].total_records,
    )
    for source in inputs:
        _check_input(source, notes)
        if ledger.balanced:
            _check_unique(source, notes)
    for number, part in enumerate(ledger.output_accounting.partitions):
        if part.commitment is not None:
            what = f"{notes.file}: output_accounting.partitions[{number}] {part.name}: record_count"
            notes.compare(COUNT, DOCUMENT, what, part.record_count, part.commitment.records)
    try:
        equations = equations_of(inputs, stated_partitions(ledger))
    except LedgerError as problem:
        what = f"{notes.file}: output_accounting"
        notes.add(COUNT, DOCUMENT, what, "known sources", str(problem))
        return
    if ledger.balanced:
        _check_verification(ledger, equations, notes)
        if known:
            check_balance(equations, ledger, notes.file, notes)


def _check_words(ledger: Ledger, notes: Notes) -> bool:
    """Words of a later version cannot be verified by this one."""
    words: list[tuple[str, object, type]] = [
        ("level", ledger.level, Level),
        *(
            (f"output_accounting.partitions[{number}].{name}", value, kind)
            for number, part in enumerate(ledger.output_accounting.partitions)
            for name, value, kind in (
                ("partition_type", part.partition_type, PartitionType),
                ("adjoint_type", part.adjoint_type, AdjointType),
            )
        ),
    ]
    unknown = [(what, value) for what, value, kind in words if not isinstance(value, kind)]
    for what, value in unknown:
        notes.unreadable(f"{notes.file}: {what}", f"{value!r} is not known to this release")
    return not unknown


def _input_name(source: InputAccounting, notes: Notes) -> str:
    return f"{notes.file}: {input_title(source) if source.name else 'input_accounting'}"


def _check_unique(source: InputAccounting, notes: Notes) -> None:
    """Of a balanced run: one that failed may have failed by keys that repeat."""
    if source.distinct_keys is not None and source.key_uniqueness == KeyUniqueness.REQUIRE:
        keys = source.distinct_keys + source.null_keys
        what = f"{_input_name(source, notes)}: distinct_keys and null_keys, of unique keys"
        notes.compare(COUNT, DOCUMENT, what, source.total_records, keys)


def _check_input(source: InputAccounting, notes: Notes) -> None:
    name = _input_name(source, notes)
    notes.compare(
        COUNT, DOCUMENT, f"{name}: total_records", source.total_records, source.commitment.records
    )
    if source.position.kind != "frame":
        what = f"{name}: input_hash"
        notes.compare(DIGEST, DOCUMENT, what, source.input_hash, input_hash_of(source.position))


def _check_verification(ledger: Ledger, equations: Sequence[Equation], notes: Notes) -> None:
    first, said = equations[0], ledger.verification
    outputs = ledger.output_accounting
    accounted = sum(part.record_count or 0 for part in first.partitions)
    expected: list[tuple[str, object, object]] = [
        ("verification.input_count", said.input_count, first.source.total_records),
        ("output_accounting.total_accounted", outputs.total_accounted, accounted),
        ("verification.accounted_count", said.accounted_count, accounted),
        (
            "output_accounting.unaccounted",
            outputs.unaccounted,
            max(0, first.source.total_records - accounted),
        ),
        *_partition_counts(said, first.partitions),
        *_overlap_numbers(said),
    ]
    if said.accounts:
        found = [
            (one.source, one.sink, one.input_count, one.accounted_count) for one in said.accounts
        ]
        expected.append(
            (
                "verification.accounts",
                found,
                [
                    (one.source.name, one.sink, one.source.total_records, _counted(one))
                    for one in equations
                ],
            )
        )
        expected.append(
            ("verification.accounts: balanced", all(one.balanced for one in said.accounts), True)
        )
    for field, stated, follows in expected:
        notes.compare(COUNT, DOCUMENT, f"{notes.file}: {field}", stated, follows)


def _counted(equation: Equation) -> int:
    return sum(part.record_count or 0 for part in equation.partitions)


def _partition_counts(
    said: Verification, partitions: Sequence[OutputPartition]
) -> list[tuple[str, object, object]]:
    if not said.partition_counts and partitions:
        return []
    counts = partition_counts(partitions)
    names = dict.fromkeys([*counts, *said.partition_counts])
    return [
        (f"verification.partition_counts.{name}", said.partition_counts.get(name), counts.get(name))
        for name in names
    ]


def _overlap_numbers(said: Verification) -> Iterator[tuple[str, object, object]]:
    """What each overlap says of its own records; `max` is what was allowed."""
    for number, overlap in enumerate(said.overlaps):
        name = f"verification.overlaps[{number}]"
        if overlap.commitment is not None:
            yield f"{name}.records", overlap.records, overlap.commitment.records
        yield f"{name}.records, at most max", overlap.records, min(overlap.records, overlap.max)


# -------------------------------------------------------------------------------------- the balance


def check_balance(equations: Sequence[Equation], ledger: Ledger, where: str, notes: Notes) -> bool:
    """Whether what is accounted for is the input, and the allowed overlaps beside it."""
    balanced = True
    for one in equations:
        allowed = _allowed(one, ledger)
        if allowed.records and not allowed.limbs and ledger.level == Level.COMMIT:
            notes.not_checked.append(
                f"{_name(one, where)}: allowed overlaps are checked by their number, for the "
                "ledger has no sums of their keys"
            )
        expected = one.source.commitment + allowed
        if not expected.agrees_with(one.accounted):
            notes.unbalanced(_name(one, where), expected, one.accounted)
            balanced = False
    return balanced


def _allowed(equation: Equation, ledger: Ledger) -> Commitment:
    """The records that overlaps of this equation hold beyond the input's."""
    return sum(
        (
            overlap.commitment or Commitment(overlap.records)
            for overlap in ledger.verification.overlaps
            if (overlap.source, overlap.sink) == (equation.source.name, equation.sink)
        ),
        Commitment(),
    )


def _name(equation: Equation, where: str) -> str:
    sink = f" to {equation.sink}" if equation.sink else ""
    return f"{where}: the account of {input_title(equation.source)}{sink}"


# ------------------------------------------------------------------------------- beside the ledger


def check_manifest(ledger: Ledger, notes: Notes) -> None:
    """The manifest was written before a row was read: it must be the same file still."""
    place = join(ledger.directory, MANIFEST_FILE)
    storage = storage_for(ledger.directory)
    pinned, since = ledger.manifest_sha256, len(notes.findings)
    if not storage.exists(place):
        if pinned:
            notes.add(DIGEST, MISSING_FILE, MANIFEST_FILE, "a file", "none")
        else:
            notes.not_checked.append(f"{MANIFEST_FILE}: there is none beside the ledger")
        return
    with notes.reading(MANIFEST_FILE):
        data = storage.read_bytes(place)
        if pinned:
            what = f"{MANIFEST_FILE}: sha256"
            notes.compare(DIGEST, DIGESTED, what, pinned, sha256(data).hexdigest())
        manifest = manifest_from_json(data, place)
        for name in ("run_id", "salt", "level", "lineage", "started_at", "openlineage_run_id"):
            what = f"{MANIFEST_FILE}: {name}"
            notes.compare(DIGEST, DOCUMENT, what, getattr(ledger, name), getattr(manifest, name))
        digest = ", and its digest" if pinned else ""
        notes.done(f"{MANIFEST_FILE}: the same run, salt and settings{digest}", since)


def check_previous(ledger: Ledger, notes: Notes) -> None:
    """The ledger that this one was chained to."""
    if ledger.previous is None:
        return
    place = resolved_location(ledger.previous.location, ledger.directory)
    what = f"previous ledger {place}"
    try:
        storage = storage_for(place)
        if not storage.exists(place):
            notes.not_checked.append(f"{what}: it is not here")
            return
        digest = sha256(storage.read_bytes(place)).hexdigest()
    except LedgerError as problem:
        notes.not_checked.append(f"{what}: {problem}")
        return
    since = len(notes.findings)
    notes.compare(DIGEST, DOCUMENT, f"{what}: sha256", ledger.previous.sha256, digest)
    notes.done(f"{what}: its digest", since)
