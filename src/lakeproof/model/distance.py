"""How far a rule's mark lies behind the head of its table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from lakeproof.model.position import Position


@dataclass(frozen=True, slots=True)
class Distance:
    """What lies between a mark and the head.

    `problem` says why the changes after the mark are not to be had, or not for every rule; '' if
    nothing is known against it. Where they are to be had, `commits` counts those after it. The
    oldest thing that a run needs for them is from `since`, and the table keeps such things for
    `kept_for`. `unreadable` says why the table itself is not to be had, so that nothing else is
    known. `table` is the name of a table that is only referred to by the rule, '' if it is the
    checked one.
    """

    problem: str = ""
    head: Position | None = None
    commits: int | None = None
    since: datetime | None = None
    kept_for: timedelta | None = None
    unreadable: str = ""
    table: str = ""

    @property
    def is_gap(self) -> bool:
        """Whether no rule can follow: where some can, what lies between was counted."""
        return bool(self.problem) and self.commits is None

    def used(self, now: datetime) -> float | None:
        """The share of the time that is over; above 1 they may be gone. None if it does not run."""
        if self.since is None or not self.kept_for:
            return None
        return max((now - self.since) / self.kept_for, 0.0)

    def rank(self, now: datetime) -> tuple[bool, bool, float, int]:
        """How bad it is: of two tables that a rule reads, the worse one decides what a run does."""
        return (
            bool(self.unreadable),
            bool(self.problem),
            self.used(now) or 0.0,
            self.commits or 0,
        )
