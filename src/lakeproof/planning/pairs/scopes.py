"""Which rows of two tables are held against each other, and where they are read."""

from __future__ import annotations

from dataclasses import dataclass

from lakeproof.model.rule import Rule
from lakeproof.planning.tables import PinnedTable


@dataclass(frozen=True, slots=True)
class PairScopes:
    """A condition on the rows of each side, as SQL that was vetted; '' if every row counts."""

    source: str = ""
    target: str = ""


def partition_scope(rule: Rule) -> str:
    """The partition that is compared, as `column=value`; `full` if it is the whole table."""
    name, value = rule.arguments.get("partition_column"), rule.arguments.get("partition")
    return "full" if name is None or value is None else f"{name}={value}"


def positions_read(source: PinnedTable, target: PinnedTable) -> dict[str, str | None]:
    """Where each side is read, in words; None for a table without history."""
    sides = {"source": source.position, "target": target.position}
    return {name: None if position is None else str(position) for name, position in sides.items()}
