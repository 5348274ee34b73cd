"""The directory of one run: what it is called, what lies where in it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Final

from lakeproof.accounting.storage import is_local, join, local_path
from lakeproof.model.run_id import ensure_run_id

MANIFEST_FILE: Final = "manifest.json"
LEDGER_FILE: Final = "ledger.json"
FAILED_LEDGER_FILE: Final = "ledger.failed.json"
FAILURE_TEXT_FILE: Final = "ACCOUNTING_FAILURE.txt"
ERRORS_FOLDER: Final = "errors"
ERROR_SUMMARY_FILE: Final = "errors/_summary.json"
CAPTURES_FOLDER: Final = "errors/_captures"
"""Which steps have written error records; hidden, for it holds none."""
BREACH_FILE: Final = "errors/_captures/_breach.json"
DISCREPANCY_FOLDER: Final = "discrepancy"


def new_run_directory(
    root: str | os.PathLike[str], run_id: str, now: datetime | None = None
) -> str:
    """`<root>/MMDD_HHmmss_<run_id>` in UTC. Nothing is made yet; a run refuses a used one."""
    ensure_run_id(run_id)
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return join(os.fspath(root), f"{moment:%m%d_%H%M%S}_{run_id}")


def absolute_place(path: str) -> str:
    """A local path from the root: Spark's own process may stand in another folder than we."""
    return str(local_path(path).absolute()) if is_local(path) else path


def relative_location(location: str, directory: str) -> str:
    """A path as the ledger of this run directory has it: relative if it is inside.

    Outside, a local path is absolute: a relative one would be read as inside.
    """
    tail = "/" if location.endswith("/") else ""
    if is_local(location) and is_local(directory):
        path, root = local_path(location).absolute(), local_path(directory).absolute()
        path, root = type(path)(os.path.normpath(path)), type(root)(os.path.normpath(root))
        if path.is_relative_to(root):
            return f"{path.relative_to(root).as_posix()}{tail}"
        return location if location.startswith(("/", "file:")) else f"{path.as_posix()}{tail}"
    inside = f"{directory.rstrip('/')}/"
    return location.removeprefix(inside) if location != inside else "."


def resolved_location(location: str, directory: str) -> str:
    """Where a location of the ledger is now: a relative one lies in the run directory."""
    if not is_local(location) or local_path(location).is_absolute():
        return location
    return join(directory, location)
