"""Names of tables and columns, and the one place where identifiers are quoted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from lakeproof.errors import CheckDefinitionError


def quote(identifier: str) -> str:
    """An identifier for Spark SQL: in backticks, inner backticks doubled.

    Spark replaces ${...} in any SQL text, even inside backticks, so such a name is refused.
    """
    if "${" in identifier:
        raise CheckDefinitionError(
            f"the name {identifier!r} holds ${{, which Spark replaces inside SQL; rename it"
        )
    return "`" + identifier.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's name in parts, outermost first: catalog, namespace (one or more), table."""

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Split at dots outside backticks; a part in backticks may hold dots."""
        parts: list[str] = []
        current: list[str] = []
        quoted = False
        position = 0
        while position < len(text):
            character = text[position]
            if character == "`":
                if quoted and text[position + 1 : position + 2] == "`":
                    current.append("`")
                    position += 1
                else:
                    quoted = not quoted
            elif character == "." and not quoted:
                parts.append("".join(current))
                current = []
            else:
                current.append(character)
            position += 1
        parts.append("".join(current))
        if quoted or not all(part.strip() for part in parts):
            raise CheckDefinitionError(
                f"table name {text!r} cannot be read; write table, namespace.table or "
                "catalog.namespace.table, with backticks around a part that holds a dot"
            )
        return cls(tuple(parts))

    def resolve(self, catalog: str, namespace: str) -> TableName:
        """The full name: a short one is completed from the defaults."""
        if len(self.parts) == 1:
            return TableName((catalog, *namespace.split("."), *self.parts))
        if len(self.parts) == 2:  # noqa: PLR2004 (namespace.table)
            return TableName((catalog, *self.parts))
        return self

    @property
    def folded(self) -> tuple[str, ...]:
        """The parts as they tell tables apart: Spark's own catalog does not know letter case."""
        if self.catalog.lower() == "spark_catalog":
            return tuple(part.lower() for part in self.parts)
        return self.parts

    @property
    def catalog(self) -> str:
        return self.parts[0]

    @property
    def short(self) -> str:
        return self.parts[-1]

    @property
    def sql(self) -> str:
        """Every part quoted, ready for a statement."""
        return ".".join(quote(part) for part in self.parts)

    def __str__(self) -> str:
        """The name as a person writes it; backticks only where a part needs them."""
        return ".".join(
            part if part.replace("_", "a").isalnum() else quote(part) for part in self.parts
        )
