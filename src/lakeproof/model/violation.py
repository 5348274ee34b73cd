"""A violation's place among rules and runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class ViolationStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    UNKNOWN = "unknown"
    """Was open when its rule lost track of the table, and has not been looked at since."""


Samples = tuple[tuple[str, str], ...]
"""The canonical keys of a few bad rows, each with what the checked columns held there."""


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

    def showing(self, samples: Samples) -> HitSummary:
        """The same with other rows to show."""
        return replace(
            self,
            sample_keys=tuple(key for key, _ in samples),
            sample_values=tuple(value for _, value in samples),
        )
