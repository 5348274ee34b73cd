"""A run repeated: what it has said before, and where it was if only its results tell that."""

from __future__ import annotations

from collections.abc import Mapping

from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark
from lakeproof.planning.plan import Plan
from lakeproof.planning.tables import PinnedTable
from lakeproof.state.store import RuleProgress


def positions_said(
    plan: Plan, recorded: Mapping[str, CheckResult], progress: Mapping[str, RuleProgress]
) -> dict[TableName, Position] | None:
    """The positions that the recorded results are of, those of tables referred to included.

    Such a run found every rule where progress stood, and left it there. None if it stands elsewhere
    by now, or if a table was dropped and made again: then nothing says what the run has seen.
    """
    positions: dict[TableName, Position] = {}
    for table in plan.tables:
        for rule in table.rules:
            text = recorded[rule.key].position
            if not text:  # it could not be planned then, and has read nothing
                continue
            known = progress.get(rule.rule_id)
            marks = [(table.pinned, known.mark if known else None)]
            if rule.rule_id in table.parents:
                marks.append((table.parents[rule.rule_id], known.parent if known else None))
            for pinned, mark in marks:
                position = _position_of(mark, pinned)
                if position is None or positions.setdefault(pinned.table, position) != position:
                    return None
            if positions[table.pinned.table].to_json() != text:
                return None
    return positions


def _position_of(mark: Mark | None, pinned: PinnedTable) -> Position | None:
    is_same_table = mark is not None and mark.table_id == pinned.table_id
    return mark.position if mark is not None and is_same_table else None


def stands_at(plan: Plan, positions: Mapping[TableName, Position]) -> bool:
    """Whether the plan reads these tables there."""
    pins = [table.pinned for table in plan.tables]
    pins += [pinned for table in plan.tables for pinned in table.parents.values()]
    return all(positions.get(pin.table, pin.position) == pin.position for pin in pins)


def says_the_same(one: CheckResult, other: CheckResult) -> bool:
    """Whether two results of a rule tell the same of it, whenever they came about."""
    return _told(one) == _told(other)


def _told(result: CheckResult) -> tuple[object, ...]:
    return (result.status, result.failing_rows, result.total_rows, result.position)
