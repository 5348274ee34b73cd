"""What a promotion or a rollback came to: plain values, the same in Python, JSON and text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from lakeproof.gating.policy import GateDecision
from lakeproof.model.outcome import CheckResult
from lakeproof.model.position import Position
from lakeproof.model.printable import counted, printable


class PromotionStatus(StrEnum):
    PROMOTED = "promoted"
    UNCHANGED = "unchanged"
    """It was there already: the run was promoted before, or nothing was to be rolled back."""
    SUPERSEDED = "superseded"
    """Something newer was promoted meanwhile; it stays."""
    ROLLED_BACK = "rolled_back"
    REFUSED = "refused"
    """The gate is closed: nothing moved."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """One table's: what became of the place where its trusted rows are read.

    `target` names that place: `iceberg.lakehouse.sales.branch_trusted`, a table or a view.
    `audited` is the position that the run has read, `before` and `after` are where the target
    pointed (None: it was not there). `head` is where the table itself stands, `newer_commits` how
    many commits it has after the audited position: they are not promoted. `promoted_by` is the run
    whose promotion the target shows, '' if no promotion has set it there.
    """

    table: str
    target: str
    run_id: str
    status: PromotionStatus
    details: str
    audited: Position | None = None
    before: Position | None = None
    after: Position | None = None
    head: Position | None = None
    newer_commits: int = 0
    promoted_by: str = ""

    @property
    def changed(self) -> bool:
        """Whether this call has moved the target."""
        return self.status in {PromotionStatus.PROMOTED, PromotionStatus.ROLLED_BACK}

    def to_dict(self) -> dict[str, object]:
        """Plain values; a position is its number, `kind` says of what."""
        known = next((one for one in (self.audited, self.after, self.before) if one), None)
        return {
            "table": self.table,
            "target": self.target,
            "status": self.status.value,
            "changed": self.changed,
            "kind": known.kind if known else "",
            "audited": _number(self.audited),
            "before": _number(self.before),
            "after": _number(self.after),
            "head": _number(self.head),
            "newer_commits": self.newer_commits,
            "details": self.details,
        }


@dataclass(frozen=True, slots=True)
class PromotionOutcome:
    """What `promote` or `rollback` did, table by table in the order given.

    `gate` is the decision over `results`, those that are kept of the run and those given beside; a
    rollback asks no gate.
    """

    run_id: str
    gate: GateDecision | None
    tables: tuple[Promotion, ...]
    results: tuple[CheckResult, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether the targets are as asked for; False if the gate is closed."""
        return self.gate is None or self.gate.is_open

    @property
    def changed(self) -> bool:
        """Whether any target was moved by this call."""
        return any(one.changed for one in self.tables)

    @property
    def results_counted(self) -> dict[str, int]:
        """How many of the results have each status."""
        return dict(Counter(str(result.status) for result in self.results))

    def raise_for_status(self) -> None:
        """Raise GateClosedError if the gate is closed."""
        if self.gate is not None:
            self.gate.raise_for_status()

    def to_dict(self) -> dict[str, object]:
        """One plain document: what `lakeproof promote --format json` prints."""
        return {
            "run_id": self.run_id,
            "gate": None if self.gate is None else self.gate.to_dict(),
            "counts": self.results_counted,
            "changed": self.changed,
            "tables": [one.to_dict() for one in self.tables],
        }

    def __str__(self) -> str:
        """A line for the gate, then one for each table."""
        lines = [] if self.gate is None else [f"Run {self.run_id}: {self._gate_text}"]
        lines += [
            f"{one.status.value.replace('_', ' ').upper():<11} {printable(one.target)}: "
            f"{printable(one.details)}"
            for one in self.tables
        ]
        return "\n".join(lines)

    @property
    def _gate_text(self) -> str:
        assert self.gate is not None  # noqa: S101 (who asks has looked)
        if self.gate.is_open:
            return f"gate open, {counted(len(self.results), 'result')}"
        return printable(f"gate closed: {self.gate.summary}")


def _number(position: Position | None) -> int | None:
    return None if position is None else position.value
