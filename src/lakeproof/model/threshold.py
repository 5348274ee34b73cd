"""How much failing is still fine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Threshold:
    """Tolerance as a share and as a number of rows; satisfying either is enough.

    Not part of a rule's identity: warn at 1 % and fail at 5 % share one set of violations.
    """

    share: float | None = None
    rows: int | None = None

    def allows(self, failing: int, share: float) -> bool:
        if failing == 0:
            return True
        if self.share is not None and share <= self.share:
            return True
        return self.rows is not None and failing <= self.rows

    def __str__(self) -> str:
        """As results and the console show it: `0 rows`, `share <= 0.01 or rows <= 5`."""
        parts = []
        if self.share is not None:
            parts.append(f"share <= {self.share:g}")
        if self.rows is not None:
            parts.append(f"rows <= {self.rows}")
        return " or ".join(parts) or "0 rows"
