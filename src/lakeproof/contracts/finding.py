"""What is noticed about a contract file, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a contract: `file:line:column`, or the JSON pointer where there is no text."""

    source: str
    pointer: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.source}#{self.pointer}" if self.source else self.pointer or "/"
        return f"{self.source}:{self.line}:{self.column}"


class Level(StrEnum):
    """`ERROR`: something does not run as written. `WARNING`: it runs, and may surprise.

    `NOTE`: it runs, read in a way that is worth saying.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a contract; `--strict` and `lint` make errors and warnings fatal."""

    level: Level
    message: str
    location: Location

    def __str__(self) -> str:
        return f"{self.location}: {self.level}: {self.message}"
