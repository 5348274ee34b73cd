"""Where in a table's history a read stands."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A pinned point: a Delta version or an Iceberg snapshot. `kind` says which.

    A table without history has no position; its reads cannot be pinned and say so.
    """

    kind: str
    value: int

    def to_json(self) -> str:
        return json.dumps({"kind": self.kind, "value": self.value}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Position:
        fields = json.loads(text)
        return cls(kind=str(fields["kind"]), value=int(fields["value"]))

    def __str__(self) -> str:
        word = {"delta": "version", "iceberg": "snapshot"}.get(self.kind, self.kind)
        return f"{word} {self.value}"
