"""Steps of a promotion at a target that something else moves, without Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from lakeproof.engines.spark.promotion.target import Look
from lakeproof.errors import AlreadyRunningError, PromotionError
from lakeproof.gating.promotion_steps import left_half_done, move_target, take_back
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.promotion import Act, PromotionRecord
from lakeproof.state.access import TRIES_MAX

SALES = TableName(("iceberg", "lakehouse", "sales"))
OLD, NEW, OTHER = (Position("iceberg", number) for number in (1, 2, 3))
PROMOTED = PromotionRecord("run", SALES, "trusted", Act.PROMOTED, 2, OLD, NEW, "2026-01-01", "uuid")
INTENDED = PromotionRecord("run", SALES, "trusted", Act.INTENDED, 1, OLD, NEW, "2026-01-01", "uuid")


@dataclass
class Target:
    """Shows `shown`, the last of them for good; `problem` is raised by each move."""

    shown: list
    problem: Exception | None = None
    moves: list = field(default_factory=list)
    name = "trusted"
    checked = SALES

    def present(self):
        return self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]

    def look(self, _):
        return Look("uuid", self.present(), NEW)

    def move(self, *given):
        self.moves.append(given)
        if self.problem is not None:
            raise self.problem

    def restore(self, *given):
        self.moves.append(given)


def test_a_target_that_moves_just_before_its_rollback_is_left_alone():
    target = Target([NEW, OTHER])
    with pytest.raises(PromotionError, match=f"shows {OTHER} and showed {NEW} a moment ago"):
        take_back(target, PROMOTED, lambda: None)
    assert target.moves == []
    take_back(Target([NEW]), PROMOTED, lambda: None)


def test_whoever_is_always_faster_may_have_ended_by_the_next_promotion():
    conflict = OSError("org.apache.iceberg.exceptions.CommitFailedException: base has changed")
    look = Look("uuid", OLD, NEW)
    for target in (Target([OLD], conflict), Target([OTHER])):
        with pytest.raises(AlreadyRunningError, match=f"faster {TRIES_MAX} times. Promote again"):
            move_target(target, look, NEW, TRIES_MAX)


@pytest.mark.parametrize(
    ("records", "shown", "left"),
    [
        ([INTENDED], NEW, INTENDED),
        ([INTENDED], None, INTENDED),
        ([INTENDED], OLD, None),
        ([INTENDED, PROMOTED], None, None),
        ([], None, None),
    ],
    ids=["moved", "taken_away", "untouched", "recorded", "nothing"],
)
def test_what_a_killed_promotion_has_changed_is_known_by_its_intention(records, shown, left):
    assert left_half_done(records, shown) == left
