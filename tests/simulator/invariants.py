"""What must be true of a world, by the numbers of the facts on incremental running.

I1 open violations and results equal a full scan; I2 so do the weights of the index; I3 nothing new
changes nothing; I4, I5 ranges are read in parts, in whatever order; I6, I7 crashes and other
drivers leave the same; I8 feeds, differences and rebuilds agree; I10 what is resolved stays; I11
progress never moves back; I12 commits without rows change nothing; I13 an error hides nothing.
I9, that identities do not depend on sessions, is for tests with a real engine. Beyond these: a run
that did not end well ends well when it is repeated, and what a run returns is what is recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from full_scan import Truth, truth_of
from meaning import Meaning, meaning_of, meanings
from memory_state import Place, Violation
from memory_table import MemoryTable, Row
from world import World

from lakeproof.model.outcome import CheckStatus
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.violation import ViolationStatus
from lakeproof.model.weighing import WeighKind
from lakeproof.planning.plan import Plan
from lakeproof.running.runner import Ran


class DifferenceError(AssertionError):
    """What was found differs from what is true."""


def require(holds: object, told: str) -> None:
    if not holds:
        raise DifferenceError(told)


def assert_results(ran: object, world: World) -> None:
    """I1: a result says what a full scan at its position says, and is the one that is recorded."""
    assert isinstance(ran, Ran)
    for result in ran.results:
        place = (result.run_id, result.rule_key)
        told = f"{result.run_id} {result.rule_key} ({result.mode_reason})"
        require(result == world.state.results[place], f"{told} is returned, another is recorded")
        if result.status is CheckStatus.ERROR:
            continue
        truth = truth_of(meanings()[result.rule_id], *_rows_read(world.plans[place], world))
        found = (result.failing_rows, result.total_rows, result.status)
        wanted = (truth.failing_rows, truth.total_rows, truth.status)
        require(found == wanted, f"I1: {told}: {found} where {wanted} is true")


def _rows_read(plan: Plan, world: World) -> tuple[Mapping[Row, int], Mapping[Row, int]]:
    """The rows of orders and of codes where the plan has pinned them."""
    pinned = plan.tables[0].pinned
    orders = _rows_at(world.orders, Mark(pinned.table_id, pinned.position))
    codes: Mapping[Row, int] = {}
    for joined in plan.joined:
        codes = _rows_at(world.codes, Mark(joined.table_id, joined.position))
    return orders, codes


def assert_state(world: World, rule_keys: Sequence[str]) -> None:
    """I1, I2, I11: what is kept of each rule equals a full scan of the tables as they are."""
    state = world.state
    wanted = {rule_id_of(key) for key in rule_keys}
    for rule_id, meaning in meanings().items():
        newest = state.newest(rule_id)
        found = open_violations(world, rule_id)
        if rule_id not in wanted:
            # What a sleeper writes of a rule that has left the suite, `store prune` clears away.
            left = found.keys() - state.strays(rule_id)
            require(not left, f"I10: {meaning.rule.key} is gone, and open: {left}")
            continue
        truth = truth_of(meaning, world.orders.rows, world.codes.rows)
        require(not state.strays(rule_id), f"I1: {meaning.rule.key} has strays")
        require(
            found == truth.violations,
            f"I1: open violations of {meaning.rule.key}: {found}, true: {truth.violations}",
        )
        assert newest is not None
        require(newest.move.mark.position == world.orders.position, "I11: progress is behind")
        if newest.move.mode is not Mode.SNAPSHOT and meaning.kind is not WeighKind.COUNT:
            _assert_weights(world, meaning, truth)


def _assert_weights(world: World, meaning: Meaning, truth: Truth) -> None:
    newest = world.state.newest(meaning.rule.rule_id)
    assert newest is not None
    found = world.state.weights(meaning.rule.rule_id, newest.attempts)
    found = {key: weight for key, weight in found.items() if weight}
    told = f"I2: index of {meaning.rule.key}: {found}, true: {truth.weights}"
    require(found == truth.weights, told)


def assert_lives(before: Mapping[Place, Violation], world: World) -> None:
    """I10: no violation is gone unless that was asked for; I11: progress only grows."""
    left = before.keys() - world.state.dropped
    require(left <= world.state.violations.keys(), "I10: a violation is gone")
    reached: dict[str, int] = {}
    for row in world.state.progress:
        last = reached.get(row.move.rule_id, 0)
        require(row.batch_seq > last, f"I11: {row.move.rule_key} moved back")
        reached[row.move.rule_id] = row.batch_seq


def assert_follows(world: World) -> None:
    """I11: each rule stood where the head was, one place after the other; it never went back."""
    places: dict[tuple[str, str], list[int]] = {}
    for row in sorted(world.state.progress, key=lambda row: row.batch_seq):
        for mark in (row.move.mark, row.move.parent):
            if mark is not None and mark.position is not None:
                at = places.setdefault((row.move.rule_id, mark.table_id), [])
                at.append(mark.position.value)
    lives = {one.table_id: one for table in world.tables.values() for one in table.lives}
    for (rule_id, table_id), at in places.items():
        heads = [value for value, _ in groupby(lives[table_id].heads)]
        left = iter(heads)
        is_behind = all(value in left for value, _ in groupby(at))
        told = f"I11: {rule_id} was at {at} of {table_id}, whose heads were {heads}"
        require(is_behind, told)


def assert_nothing_hidden(
    before: Mapping[Place, Violation], said: Collection[Place], world: World, ran: object
) -> None:
    """I13: what was open of a rule that could not be evaluated is not resolved.

    An error that was `said` by an earlier try of the run is returned again; now it may go well.
    """
    assert isinstance(ran, Ran)
    new = [row for row in ran.results if (row.run_id, row.rule_key) not in said]
    broken = {row.rule_id for row in new if row.status is CheckStatus.ERROR}
    for place, row in before.items():
        now = world.state.violations.get(place, row)
        is_hidden = now.status is ViolationStatus.RESOLVED is not row.status
        require(not (row.rule_id in broken and is_hidden), f"I13: {place} was resolved")


def lives(world: World) -> dict[Place, tuple[object, ...]]:
    """How each violation stands, without who has seen it last."""
    return {
        place: (row.status, row.occurrences, row.reopen_count, row.resolution, row.first_run_id)
        for place, row in world.state.violations.items()
    }


def open_violations(world: World, rule_id: str) -> dict[str, int]:
    """Keys of the rule that are not resolved, with their occurrences."""
    return {
        row.key: row.occurrences
        for row in world.state.violations.values()
        if row.rule_id == rule_id and row.status is not ViolationStatus.RESOLVED
    }


def rule_id_of(rule_key: str) -> str:
    return meaning_of(rule_key).rule.rule_id


def _rows_at(table: MemoryTable, mark: Mark) -> Mapping[Row, int]:
    assert mark.position is not None
    life = next(one for one in table.lives if one.table_id == mark.table_id)
    return life.commits[mark.position.value].rows
