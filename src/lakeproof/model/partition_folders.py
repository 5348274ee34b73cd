"""Columns that are the names of folders: `day=2024-01-31`."""

from __future__ import annotations

import re
from typing import Final

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")


def partition_values(path: str) -> dict[str, str | None]:
    """The columns in a file's path relative to its dataset, as text; None for NULL."""
    folders = path.split("/")[:-1]
    named = (folder.partition("=") for folder in folders if "=" in folder)
    return {
        _unescaped(name): None if value == _NULL else _unescaped(value) for name, _, value in named
    }


def _unescaped(text: str) -> str:
    """Hive writes a character that paths may not hold as the two digits of its code."""
    return _ESCAPED.sub(
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("latin-1"), text
    )
