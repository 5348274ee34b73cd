"""What a promotion needs of the place that shows trusted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lakeproof.model.names import TableName
from lakeproof.model.position import Position


@dataclass(frozen=True, slots=True)
class Look:
    """Table and target at one moment, seen from the audited position.

    `present` is what the target shows, None if it is not there. `is_newer`: that came after the
    audited position. `head` is where the table stands, `newer_commits` how many commits after the
    audited position that is. `refusal` says why the target may not be set to it, '' if it may, and
    `remedy` what helps, '' if another run does.
    `is_apart`: the target has commits that the table does not have, which a move would lose.
    """

    table_id: str
    present: Position | None
    head: Position | None
    is_newer: bool = False
    newer_commits: int = 0
    refusal: str = ""
    remedy: str = ""
    is_apart: bool = False


class Target(Protocol):
    """A pointer into the history of one table. Every call looks at the catalog anew."""

    @property
    def name(self) -> TableName:
        """By what people read it."""

    @property
    def checked(self) -> TableName:
        """What a run must have read: the table, or the branch under audit."""

    @property
    def way_out(self) -> str:
        """What a person does about something else than a promotion that has moved it."""

    def look(self, audited: Position) -> Look:
        """What a promotion is decided by; metadata only."""

    def present(self) -> Position | None:
        """What it shows now."""

    def move(self, position: Position, table_id: str) -> None:
        """Show this position, which `look` did not refuse, of the table that it found."""

    def restore(self, position: Position | None, shown: Position | None) -> None:
        """Show what it showed before; None takes the target away. PromotionError if that is gone.

        Asked only while it is `shown` what a promotion has set it to. Where no format compares
        that and moves in one step, a commit that came between is told by a PromotionError.
        """
