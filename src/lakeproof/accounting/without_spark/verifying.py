"""A ledger held against storage, on any machine and without Spark.

What the ledger says is recomputed: counts and commitments from the keys of the input and of every
partition, digests from the bytes of files, and its own sums.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lakeproof.accounting.balancing import equations_of
from lakeproof.accounting.document import Ledger, ledger_file, ledger_from_json
from lakeproof.accounting.json_form import parse_object
from lakeproof.accounting.storage import LocalStorage, parent, storage_for
from lakeproof.accounting.without_spark.document_checks import (
    check_balance,
    check_manifest,
    check_previous,
    check_self_digest,
    check_sums,
    stated_partitions,
)
from lakeproof.accounting.without_spark.findings import (
    COMMIT,
    COMMITTED,
    COUNT,
    COUNTED,
    DIGEST,
    DIGESTED,
    EXTRA_FILE,
    MISSING_FILE,
    Finding,
    Notes,
    VerifierReport,
)
from lakeproof.accounting.without_spark.inputs import (
    input_title,
    open_input,
    read_input,
    with_input_at,
)
from lakeproof.accounting.without_spark.key_text import Summer
from lakeproof.accounting.without_spark.records.reading import NotCheckableError
from lakeproof.accounting.without_spark.stored_partitions import groups_of, open_partition
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    AdjointType,
    Commitment,
    FileDigest,
    InputAccounting,
    KeyColumn,
    Level,
    OutputPartition,
    PartitionType,
)
from lakeproof.model.printable import counted

__all__ = ["Finding", "VerifierReport", "verify_ledger"]


def verify_ledger(
    path: str | os.PathLike[str], input_path: str | os.PathLike[str] | None = None
) -> VerifierReport:
    """Hold the ledger of a run directory, or in a file, against what is on storage now.

    `input_path` is where the input is on this machine, if not where it was. Altered data is a
    finding, never an exception; LedgerError means that there is no ledger or no such input.
    """
    place = os.fspath(path).rstrip("/") or "/"
    storage = storage_for(place)
    file = ledger_file(place, storage)
    notes = Notes(Path(file).name)
    try:
        data = storage.read_bytes(file)
        tree = parse_object(data, file)
        ledger = replace(ledger_from_json(data, file), directory=parent(file))
    except LedgerError as problem:
        notes.unreadable(file, problem)
        return notes.report(balanced=False)
    read_from = with_input_at(ledger, input_path)
    check_self_digest(ledger, tree, notes)
    ledger = _with_usable_salt(ledger, notes)
    check_sums(ledger, notes)
    check_manifest(ledger, notes)
    check_previous(ledger, notes)
    inputs = read_from.all_inputs
    return notes.report(balanced=_Verifier(ledger, inputs, notes).balances())


def _with_usable_salt(ledger: Ledger, notes: Notes) -> Ledger:
    """Without its salt no key can be hashed as it was: then records are only counted."""
    with notes.reading(f"{notes.file}: salt"):
        Summer(ledger.salt, ledger.level)
        return ledger
    return replace(ledger, level=Level.COUNT)


@dataclass(frozen=True, slots=True)
class _Verifier:
    """Reads what the ledger is about, and notes where it differs; inputs are where they are now."""

    ledger: Ledger
    inputs: Sequence[InputAccounting]
    notes: Notes

    def balances(self) -> bool:
        """Whether the books balance by what is stored now."""
        inputs = self.inputs
        if not self.ledger.balanced:
            self._note_failure()
        measured_inputs = [self._measured_input(source) for source in inputs]
        keys = {source.name: source.key for source in inputs}
        partitions = [
            self._measured_partition(part, keys.get(part.source, inputs[0].key))
            for part in stated_partitions(self.ledger)
        ]
        self._check_reverse_joins(partitions)
        try:
            equations = equations_of(measured_inputs, partitions)
        except LedgerError:
            return False  # noted with the document's sums
        return check_balance(equations, self.ledger, "storage", self.notes) and self.ledger.balanced

    def _note_failure(self) -> None:
        found = self.ledger.discrepancy
        self.notes.run_failed(found.message if found else "accounting_balanced is false")

    # ------------------------------------------------------------------------------- the inputs

    def _measured_input(self, source: InputAccounting) -> InputAccounting:
        """The input with the numbers that it has now; if it is out of reach, with the ledger's."""
        name = input_title(source)
        with self.notes.reading(name):
            dataset, files = open_input(source)
            where = f" in {dataset.location}"
            if source.position.kind == "files":
                pinned = {file.path for file in source.position.files}
                later = [file for file in files if file.path not in pinned]
                if later:
                    self.notes.not_checked.append(
                        f"{name}: {counted(len(later), 'file')} that came after the run, such as "
                        f"{later[0].path}"
                    )
                kept = [file for file in files if file.path in pinned]
                self._check_files(name, dataset.location, source.position.files, kept, where)
            if dataset.obstacle:
                raise NotCheckableError(f"{dataset.obstacle}; only its files were checked")
            summer = Summer(self.ledger.salt, self.ledger.level)
            summer.add_all(text for text, _ in read_input(source, dataset=dataset))
            self._compare(name, source.total_records, source.commitment, summer.commitment, where)
            return replace(source, total_records=summer.records, commitment=summer.commitment)
        return source

    # --------------------------------------------------------------------------- the partitions

    def _measured_partition(
        self, partition: OutputPartition, key: tuple[KeyColumn, ...]
    ) -> OutputPartition:
        name = f"partition {partition.name}"
        known = isinstance(partition.partition_type, PartitionType)
        if not known or not isinstance(partition.adjoint_type, AdjointType):
            return partition
        with self.notes.reading(name):
            stored = open_partition(partition, self.ledger.directory, key)
            if partition.position is not None and partition.position.kind == "files":
                location = stored.dataset.location
                self._check_files(name, location, partition.position.files, stored.files)
            if stored.dataset.obstacle:
                raise NotCheckableError(f"{stored.dataset.obstacle}; only its files were checked")
            found = stored.commitment(self.ledger.salt, self.ledger.level)
            self._compare(name, partition.record_count, partition.commitment, found)
            return replace(partition, record_count=found.records, commitment=found)
        return partition

    def _check_reverse_joins(self, partitions: Sequence[OutputPartition]) -> None:
        """Groups and reverse join are two accounts of the same records, those of all sources."""
        joined: dict[str, list[OutputPartition]] = {}
        for part in partitions:
            if part.adjoint_type == AdjointType.ReverseJoinMetadata and part.morphism_id:
                joined.setdefault(part.morphism_id, []).append(part)
        for parts in joined.values():
            name = f"groups of {parts[0].name}"
            with self.notes.reading(name):
                groups = groups_of(parts[0], self.ledger.directory)
                if parts[0].position is not None:
                    pinned = parts[0].groups.files if parts[0].groups is not None else ()
                    self._check_files(name, groups.dataset.location, pinned, groups.files)
                if not groups.files:
                    if parts[0].groups is None:
                        self.notes.not_checked.append(
                            f"{name}: none are stored beside the reverse join"
                        )
                    continue
                total = sum((part.commitment or Commitment() for part in parts), Commitment())
                made_of = groups.commitment(self.ledger.salt, self.ledger.level)
                self._compare(name, total.records, total, made_of)

    # ------------------------------------------------------------------------------------- files

    def _check_files(
        self,
        name: str,
        location: str,
        pinned: Sequence[FileDigest],
        files: Sequence[FileDigest],
        where: str = "",
    ) -> None:
        since = len(self.notes.findings)
        there = {file.path: file for file in files}
        known = {file.path: file for file in pinned}
        for path in sorted(known.keys() - there.keys()):
            self.notes.add(DIGEST, MISSING_FILE, f"{name}: {path}", "a file", "none")
        for path in sorted(there.keys() - known.keys()):
            self.notes.add(DIGEST, EXTRA_FILE, f"{name}: {path}", "no such file", "one")
        both = [there[path] for path in known if path in there]
        for file in LocalStorage().digest(location, both):
            expected = known[file.path]
            if expected.sha256 and expected.sha256 != file.sha256:
                what = f"{name}: {file.path}: sha256"
                self.notes.add(DIGEST, DIGESTED, what, expected.sha256, file.sha256)
        if known:
            self.notes.done(f"{name}: digests of {counted(len(known), 'file')}{where}", since)

    def _compare(
        self,
        name: str,
        records: int | None,
        committed: Commitment | None,
        found: Commitment,
        where: str = "",
    ) -> None:
        since = len(self.notes.findings)
        if records is not None:
            self.notes.compare(COUNT, COUNTED, f"{name}: records", records, found.records)
        sums = ""
        if self.ledger.level == Level.COMMIT and committed is not None and committed.limbs:
            self.notes.compare(COMMIT, COMMITTED, f"{name}: commitment", committed, found)
            sums = "and commitment "
        told = f"{name}: count {sums}of {counted(found.records, 'record')}{where}"
        self.notes.done(told, since)
