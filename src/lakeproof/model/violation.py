"""A violation's place among rules and runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ViolationStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    UNKNOWN = "unknown"
    """Was open when its rule lost track of the table, and has not been looked at since."""


@dataclass(frozen=True, slots=True)
class HitSummary:
    """What one rule's bad rows amount to, without the rows themselves.

    `hits` counts keys, `occurrences` the rows behind them, `excess` the rows that are too many
    (for a repeated key one less than its rows). `sample_keys` holds a few canonical keys,
    smallest first, so that two runs over equal data show the same ones; `sample_values` what the
    checked columns held there.
    """

    rule_id: str
    hits: int
    occurrences: int
    excess: int
    sample_keys: tuple[str, ...] = ()
    sample_values: tuple[str, ...] = ()
