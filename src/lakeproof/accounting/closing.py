"""The end of a run: its files, each written once, and the line that people see."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

from lakeproof.accounting.run_directory import (
    BREACH_FILE,
    ERROR_SUMMARY_FILE,
    FAILED_LEDGER_FILE,
    FAILURE_TEXT_FILE,
)
from lakeproof.accounting.storage import Storage, join
from lakeproof.errors import LedgerError
from lakeproof.faults import reach


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files that end a run, in its directory."""

    storage: Storage
    directory: str

    def breach(self) -> tuple[str, int] | None:
        """What a step noted when the run had too many errors, and how many; None if it had not."""
        place = join(self.directory, BREACH_FILE)
        if not self.storage.exists(place):
            return None
        noted = json.loads(self.storage.read_bytes(place))
        return str(noted["breach"]), int(noted["errors"])

    def ensure_not_failed(self) -> None:
        """Refuse to close the books of a run that failed, whatever this process knows of it."""
        for name in (BREACH_FILE, FAILURE_TEXT_FILE, FAILED_LEDGER_FILE):
            if self.storage.exists(join(self.directory, name)):
                raise LedgerError(
                    f"{self.directory} holds {name}: this run failed, and stays failed. Start "
                    "another in a new directory"
                )

    def write_summary(self, text: str) -> None:
        """How many error records there are of each kind, where any step looked for some."""
        if text:
            self._write(ERROR_SUMMARY_FILE, text)
        reach("after_error_summary")

    def write_failure(self, told: str, document: str) -> None:
        """Why the run failed, for people and for programs; what is there already stays."""
        self._write(FAILURE_TEXT_FILE, told)
        reach("after_failure_text")
        self._write(FAILED_LEDGER_FILE, document)
        reach("after_failed_ledger")

    def _write(self, name: str, text: str) -> None:
        """A verdict is final, so what an attempt before this one wrote of it is as good."""
        place = join(self.directory, name)
        if not self.storage.exists(place):
            self.storage.write_new(place, text.encode())


def say(line: str) -> None:
    """The run's verdict on standard output, as the seed prints it.

    A console may lack the signs in it; that is no reason for a run to fail.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(f"{line.encode(encoding, 'replace').decode(encoding)}\n")
    sys.stdout.flush()
