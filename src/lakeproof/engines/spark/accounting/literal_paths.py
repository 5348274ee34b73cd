"""Paths that Spark reads by their letters: it would take `[1]` in them for a pattern."""

from __future__ import annotations

import re
from typing import Final

_PATTERN_CHARACTERS: Final = re.compile(r"([\\\[\]{}*?])")


def literal_path(path: str) -> str:
    """The path for a reader. Its option against patterns reads each of several files twice."""
    return _PATTERN_CHARACTERS.sub(r"\\\1", path)
