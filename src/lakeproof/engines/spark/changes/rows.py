"""Rows with their weight, as SQL."""

from __future__ import annotations

from dataclasses import dataclass

from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import PinnedTable


@dataclass(frozen=True, slots=True)
class WeightedRows:
    """Rows that a statement reads; nothing is held for them.

    `is_snapshot`: every row of the table is there once, with weight 1.
    """

    relation: str
    is_snapshot: bool = False

    def release(self) -> None:
        """There is nothing to forget."""


def snapshot_rows(pinned: PinnedTable) -> WeightedRows:
    """Every row of the table where it is pinned."""
    return WeightedRows(f"(SELECT *, 1L AS {WEIGHT} FROM {pinned.relation})", is_snapshot=True)
