"""What a verifier says: where storage, or the ledger itself, is not as the ledger says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from lakeproof.accounting.run_directory import LEDGER_FILE
from lakeproof.accounting.without_spark.key_text import PackageMissingError
from lakeproof.accounting.without_spark.records.reading import NotCheckableError
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import Commitment

COUNT: Final = "COUNT"
COMMIT: Final = "COMMIT"
DIGEST: Final = "DIGEST"

DOCUMENT: Final = "document"
COUNTED: Final = "count"
COMMITTED: Final = "commitment"
UNBALANCED: Final = "unbalanced"
DIGESTED: Final = "digest"
MISSING_FILE: Final = "missing_file"
EXTRA_FILE: Final = "extra_file"
UNREADABLE: Final = "unreadable"

VERIFIED_EXIT: Final = 0
ALTERED_EXIT: Final = 1
UNREADABLE_EXIT: Final = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as the ledger says.

    `level` is what sees it: COUNT by numbers of records, COMMIT by sums of key hashes, DIGEST by
    the bytes of files. `what` names the partition, file or field.
    """

    level: str
    kind: str
    what: str
    expected: str
    found: str
    message: str


@dataclass(frozen=True, slots=True)
class VerifierReport:
    """What was checked without Spark, what was found, and what could not be checked.

    `balanced` says whether every record is accounted for, by what is on storage now where that
    could be read, and by the ledger's own numbers where it could not. `left_out` names the inputs
    and partitions whose records only Spark can read, or nobody again.
    """

    findings: tuple[Finding, ...]
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]
    balanced: bool
    left_out: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        return not self.findings

    @property
    def exit_code(self) -> int:
        """0 verified, 1 unbalanced or altered, 3 if something could merely not be read."""
        if self.verified:
            return VERIFIED_EXIT
        unreadable = all(found.kind == UNREADABLE for found in self.findings)
        return UNREADABLE_EXIT if unreadable else ALTERED_EXIT


@dataclass(slots=True)
class Notes:
    """A report in the making; `file` is what the ledger's own file is called."""

    file: str = LEDGER_FILE
    findings: list[Finding] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, level: str, kind: str, what: str, expected: object, found: object) -> None:
        told = f"{what}: the ledger says {_shown(expected)}, found {_shown(found)}"
        self.findings.append(Finding(level, kind, what, _shown(expected), _shown(found), told))

    def unbalanced(self, what: str, held: Commitment, accounted: Commitment) -> None:
        """Note that an input, with the overlaps allowed, is not what is accounted for."""
        if held.records != accounted.records:
            level, kind, item = COUNT, UNBALANCED, f"{what}: records"
            expected, found = _shown(held.records), _shown(accounted.records)
        else:
            level, kind, item = COMMIT, COMMITTED, f"{what}: sums of the keys"
            expected, found = _shown(held), _shown(accounted)
        told = f"{item}: the input has {expected}, and accounted for are {found}"
        self.findings.append(Finding(level, kind, item, expected, found, told))

    def run_failed(self, told: str) -> None:
        """Note that the run itself found its books unbalanced."""
        message = f"{self.file}: the run did not balance: {told}"
        self.findings.append(Finding(COUNT, UNBALANCED, self.file, "a balanced run", told, message))

    def done(self, told: str, since: int) -> None:
        """Note what was checked, unless there are more findings since: those tell of it."""
        if len(self.findings) == since:
            self.checked.append(told)

    def compare(self, level: str, kind: str, what: str, expected: object, found: object) -> None:
        """Note it if the two differ."""
        if expected != found:
            self.add(level, kind, what, expected, found)

    def unreadable(self, what: str, problem: object) -> None:
        told = f"{what}: {problem}"
        self.findings.append(Finding(DIGEST, UNREADABLE, what, "readable", str(problem), told))

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """What cannot be read here is a finding or a gap, and no end of the verification."""
        try:
            yield
        except PackageMissingError:
            raise
        except NotCheckableError as problem:
            self.not_checked.append(f"{what}: {problem}")
            self.left_out.append(what)
        except (LedgerError, OSError) as problem:
            self.unreadable(what, problem)

    def report(self, *, balanced: bool) -> VerifierReport:
        return VerifierReport(
            tuple(self.findings),
            tuple(self.checked),
            tuple(self.not_checked),
            balanced,
            tuple(self.left_out),
        )


def _shown(value: object) -> str:
    if isinstance(value, Commitment):
        limbs = ",".join(f"{limb:x}" for limb in value.limbs)
        return f"{value.records:,} records with sums {limbs}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "nothing" if value is None or value == "" else str(value)
