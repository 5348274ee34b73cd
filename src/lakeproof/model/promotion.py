"""Moves of a trusted layer, as they are kept: rows of the results table of type `promotion`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lakeproof.model.canonical import canonical_payload, rule_id_of
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.position import Position

PROMOTION = "promotion"
"""The `check_type` of these rows."""


class Act(StrEnum):
    INTENDED = "intended"
    """Written before the move, so that a move without a record is known by it."""
    PROMOTED = "promoted"
    ROLLED_BACK = "rolled_back"


@dataclass(frozen=True, slots=True)
class PromotionRecord:
    """One move of one target, under the run that was promoted or taken back.

    `order` grows by one with each move of a target, so that no clock decides what came last.
    A position is None where the target was not there. `table_id` is the table's identity then: one
    that was dropped and made again has other rows at the same positions.
    """

    run_id: str
    table: TableName
    target: str
    act: Act
    order: int
    before: Position | None
    after: Position | None
    executed_at: str
    table_id: str = ""
    dag_run_id: str = ""

    def to_result(self) -> CheckResult:
        """As the store keeps it: by run and order once, however often it is written.

        Neither passed nor failed: who counts results counts checks.
        """
        return CheckResult(
            check_name=PROMOTION,
            check_type=PROMOTION,
            table_name=self.table.short,
            column_name="",
            status=CheckStatus.SKIPPED,
            failing_rows=0,
            total_rows=0,
            details=f"{self.target} {self._word}: {move_text(self.before, self.after)}",
            executed_at=self.executed_at,
            run_id=self.run_id,
            rule_id=self.rule_id_of(self.target),
            rule_key=f"{PROMOTION}:{self.act}:{self.order}:{self.target}",
            table_fqn=str(self.table),
            severity="info",
            position=_json(self.after),
            mode="",
            dag_run_id=self.dag_run_id,
            declared={
                "act": self.act.value,
                "target": self.target,
                "order": str(self.order),
                "before": _json(self.before),
                "after": _json(self.after),
                "table_id": self.table_id,
            },
        )

    @classmethod
    def from_result(cls, result: CheckResult) -> PromotionRecord:
        kept = result.declared
        return cls(
            run_id=result.run_id,
            table=TableName.parse(result.table_fqn),
            target=kept["target"],
            act=Act(kept["act"]),
            order=int(kept["order"]),
            before=_position(kept["before"]),
            after=_position(kept["after"]),
            executed_at=result.executed_at,
            table_id=kept["table_id"],
            dag_run_id=result.dag_run_id,
        )

    @staticmethod
    def rule_id_of(target: str) -> str:
        """The rule_id of every move of a target."""
        return rule_id_of(canonical_payload({"check": PROMOTION, "target": target}))

    def is_intention_of(self, run_id: str, before: Position | None, after: Position | None) -> bool:
        wanted = (Act.INTENDED, run_id, before, after)
        return (self.act, self.run_id, self.before, self.after) == wanted

    def done(self) -> PromotionRecord:
        """The promotion that was intended."""
        return replace(self, act=Act.PROMOTED, order=self.order + 1)

    @property
    def _word(self) -> str:
        return self.act.value.replace("_", " ")


def standing_promotions(records: Iterable[PromotionRecord]) -> list[PromotionRecord]:
    """The promotions of one target that were not taken back, the last one last."""
    standing: list[PromotionRecord] = []
    for record in sorted(records, key=lambda one: one.order):
        if record.act is Act.PROMOTED:
            standing.append(record)
        elif record.act is Act.ROLLED_BACK:
            standing = [one for one in standing if one.run_id != record.run_id]
    return standing


def last_record(records: Iterable[PromotionRecord]) -> PromotionRecord | None:
    return max(records, key=lambda one: one.order, default=None)


def unfinished(
    records: Iterable[PromotionRecord], shown: Position | None
) -> PromotionRecord | None:
    """The intention that has moved the target and died before it could record that."""
    last = last_record(records)
    is_left = last is not None and last.act is Act.INTENDED and last.after == shown
    return last if is_left else None


def is_other_table(one: str, other: str) -> bool:
    """Whether two identities are surely not of one table.

    On Spark Connect that of an Iceberg table is only its name, which says nothing; there snapshots
    tell, whose numbers no other table has.
    """
    return one != other and not any(known.startswith("name:") for known in (one, other))


def next_order(records: Sequence[PromotionRecord]) -> int:
    return 1 + max((one.order for one in records), default=0)


def move_text(before: Position | None, after: Position | None) -> str:
    """`snapshot 1 -> snapshot 2`; `nothing` where the target was not there."""
    return f"{before or 'nothing'} -> {after or 'nothing'}"


def _json(position: Position | None) -> str:
    return "" if position is None else position.to_json()


def _position(text: str) -> Position | None:
    return Position.from_json(text) if text else None
