"""The input of a finished run, found again without Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lakeproof.accounting.document import Ledger
from lakeproof.accounting.storage import LocalStorage, is_local, local_path
from lakeproof.accounting.without_spark.records.datasets import Dataset
from lakeproof.accounting.without_spark.records.reading import NotCheckableError, UnreadableError
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import FileDigest, InputAccounting, KeyColumn

_DEFAULT_NAME = "input"


class InputAwayError(UnreadableError):
    """The input is pinned, and is not where it was: it may be on another machine."""


def input_title(source: InputAccounting) -> str:
    """As a report calls it: `input`, or `input refunds` where it was given a name."""
    return f"input {source.name}" if source.name not in {"", _DEFAULT_NAME} else _DEFAULT_NAME


def with_input_at(ledger: Ledger, path: str | os.PathLike[str] | None) -> Ledger:
    """The ledger with its first input at another place; LedgerError if nothing is there."""
    if path is None:
        return ledger
    if not Path(path).exists():
        raise LedgerError(f"there is no input at {os.fspath(path)}: give the path that holds it")
    first, *others = ledger.all_inputs
    position = first.position
    if position.kind == "iceberg":
        place = _metadata_file(position.metadata_location, Path(path))
        position = replace(position, metadata_location=place)
    elif position.kind != "frame":
        position = replace(position, location=os.fspath(path))
    moved = replace(first, position=position)
    return replace(ledger, input_accounting=moved, inputs=(moved, *others))


def _metadata_file(location: str, moved: Path) -> str:
    """The metadata of an Iceberg table; those name the other files, which cannot move alone."""
    return str(moved / "metadata" / Path(location).name if moved.is_dir() else moved)


def open_input(source: InputAccounting) -> tuple[Dataset, tuple[FileDigest, ...]]:
    """The pinned input where it is now, and the files that lie there, not digested.

    Only pinned files are read. InputAwayError if it is not there, NotCheckableError if it never
    could be read again.
    """
    position = source.position
    if position.kind == "frame":
        raise NotCheckableError("it was a DataFrame, which no ledger can pin")
    if position.kind == "iceberg":
        return Dataset(position, str(_here(position.metadata_location))), ()
    path = _here(position.location)
    if position.kind == "delta":
        return Dataset(position, str(path)), ()
    files = LocalStorage().files(str(path))
    here = {file.path for file in files}
    pinned = [file.path for file in position.files if file.path in here]
    return Dataset(position, str(path), tuple(pinned)), files


def read_input(
    source: InputAccounting, others: Sequence[KeyColumn] = (), dataset: Dataset | None = None
) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Each record of the pinned input by its identity, with these other columns."""
    opened = dataset or open_input(source)[0]
    return opened.identified(source.key, others, has_null_keys=source.null_keys > 0)


def _here(location: str) -> Path:
    if not is_local(location) or not local_path(location).exists():
        raise InputAwayError(f"{location or 'it'} is not on this machine; name it by --input")
    return local_path(location)
