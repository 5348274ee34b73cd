"""A violation's place among rules and runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ViolationStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class HitSummary:
    """What one rule's bad rows amount to, without the rows themselves.

    `hits` counts keys, `occurrences` the rows behind them; `sample_keys` holds a few canonical
    keys, smallest first, so that two runs over equal data show the same ones.
    """

    rule_id: str
    hits: int
    occurrences: int
    sample_keys: tuple[str, ...] = ()
