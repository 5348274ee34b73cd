"""What every reader of records gives out, and what it says where it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import KeyColumn

Row: TypeAlias = tuple[tuple[object, ...], bytes | int]
"""The values of the columns asked for, and the record's mark: its raw line, or its row number."""


class UnreadableError(LedgerError):
    """A file is there and does not hold what its format promises, or may not be read."""


class NotCheckableError(LedgerError):
    """Only Spark can read this as it was read: a format, an option, a type."""


@dataclass(frozen=True, slots=True)
class TextReading:
    """How JSON lines or CSV were read: the reader's options by lower-case name, and the schema.

    `schema` is empty where it is not known; for CSV it says which column is which.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    schema: tuple[KeyColumn, ...] = ()

    def option(self, *names: str, default: str = "") -> str:
        """The first of these options that was given."""
        return next((self.options[name] for name in names if name in self.options), default)

    def is_on(self, name: str) -> bool:
        return self.option(name).lower() == "true"

    @property
    def zone(self) -> str:
        """The time zone of timestamps that are written without one; empty if not known."""
        return self.option("timezone")

    @property
    def line_end(self) -> bytes | None:
        r"""None for any of \n, \r\n and \r."""
        given = self.option("linesep")
        return given.encode("utf-8") if given else None
