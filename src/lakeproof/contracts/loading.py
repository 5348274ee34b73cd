"""A contract from a file, a text or values in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lakeproof.contracts.contract import Contract
from lakeproof.contracts.odcs.reading import read_contract
from lakeproof.contracts.yaml_document import (
    SIZE_BYTES_MAX,
    Document,
    document_of,
    load_document,
)
from lakeproof.errors import ContractError
from lakeproof.model.nearest import nearest
from lakeproof.model.printable import printable

SUFFIXES = (".yaml", ".yml", ".json")
_TEXT = "<text>"
_PATH_CHARACTERS_MAX = 1_000


def load_contract(given: Path | str | Mapping[str, object], *, source: str = "") -> Contract:
    """A contract by its path, its text or its values; ContractError if it cannot be read at all.

    A text without a line break is a path if it ends like one or a file of that name exists.
    `source` is what findings call a contract that was not given as a path.
    """
    if isinstance(given, Path) or (isinstance(given, str) and _is_path(given)):
        document = _document_in(Path(given))
    elif isinstance(given, str):
        document = load_document(given, source or _TEXT)
    else:
        document = document_of(given, source)
    if not isinstance(document.value, (Mapping, list)):
        raise ContractError(
            f"{document.at('')}: a contract is a mapping, or a list of rules; "
            "this is neither. Give a path that ends in .yaml or .json, or a contract's text."
        )
    return read_contract(document)


def _is_path(text: str) -> bool:
    if "\n" in text or not text.strip() or len(text) > _PATH_CHARACTERS_MAX:
        return False
    if text.lower().endswith(SUFFIXES):
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # no path at all: a NUL in it, a name that is too long
        return False


def _document_in(path: Path) -> Document:
    try:
        with path.open("rb") as file:
            # One byte more than may be: enough to refuse it, however long it is.
            content = file.read(SIZE_BYTES_MAX + 1)
    except FileNotFoundError as problem:
        sought = "" if path.is_absolute() else f" ({printable(path.absolute())})"
        raise ContractError(f"{printable(path)}: no such file{sought}.{_near(path)}") from problem
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ContractError(f"{printable(path)}: cannot be read: {reason}") from problem
    return load_document(content, str(path))


def _near(path: Path) -> str:
    """The contracts of that folder whose names are near, or the folder that is missing."""
    if not path.parent.is_dir():
        return f" There is no folder {printable(path.parent)} either."
    names = [one.name for one in path.parent.iterdir() if one.suffix.lower() in SUFFIXES]
    near = nearest(path.name, names) or sorted(names)[:3]
    return f" Nearest: {', '.join(map(printable, near))}." if near else ""
