"""How long a run, and each action in it, may still take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from lakeproof.errors import RuleTimeoutError


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """A run's limit, counted from its start; None is no limit."""

    limit_seconds: float | None
    started: float = field(default_factory=time.monotonic)

    def for_action(self, own_limit_seconds: float | None = None) -> float | None:
        """What one action may take: the smaller of its own limit and what the run has left."""
        if self.limit_seconds is None:
            return own_limit_seconds
        left = self.limit_seconds - (time.monotonic() - self.started)
        if left <= 0:
            raise RuleTimeoutError(f"timed out after {self.limit_seconds:g} s")
        return left if own_limit_seconds is None else min(left, own_limit_seconds)

    def describe(self, own_limit_seconds: float | None, given_seconds: float | None) -> str:
        """The limit that struck, as its author wrote it, not what was left of it."""
        if own_limit_seconds is not None and given_seconds == own_limit_seconds:
            return f"timed out after {own_limit_seconds:g} s"
        return f"timed out after {self.limit_seconds:g} s"
