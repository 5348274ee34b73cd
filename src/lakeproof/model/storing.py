"""Which files of a folder are data, and that none is written twice."""

from __future__ import annotations

from lakeproof.errors import LedgerError


def is_hidden(name: str) -> bool:
    """Whether Spark passes over a file or folder of this name; `_year=2024` is a partition."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def there_already(path: str) -> LedgerError:
    return LedgerError(
        f"{path} is there already, and a run directory is written once. "
        "Begin a new run in another directory"
    )
