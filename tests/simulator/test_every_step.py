"""A driver killed at each single step of a run, one after the other, and then the run again."""

from __future__ import annotations

import pytest
from invariants import assert_results, assert_state
from meaning import RULE_KEYS
from memory_table import Change, Kind
from scheduler import Driver, KilledError
from world import Job, World, fault_points

from lakeproof.model.reading import Mode
from lakeproof.planning.read_mode import AUTO

COMMITS = 6
STEPS_MIN = 20
"""A run that does anything takes more."""


def a_world(seed: int, mode: str) -> World:
    """Some commits and a run, some more commits: the next run has changes to read."""
    world = World(seed)
    for _ in range(COMMITS):
        world.commit()
    run(world, "first", mode)
    for _ in range(COMMITS):
        world.commit()
    world.orders.change("insert", [Change(Kind.INSERT, world.new_row(world.orders))])
    return world


def run(world: World, run_id: str, mode: str, kill_in: int = 0) -> Driver:
    world.scheduler.kill_in = kill_in
    driver = world.start(f"{run_id}-{len(world.scheduler.trace)}", Job(run_id, RULE_KEYS, mode))
    with fault_points(world.scheduler):
        world.scheduler.run()
    world.scheduler.kill_in = 0
    world.scheduler.wake_all()
    return driver


def kept(world: World):
    """What is kept, without what tells one attempt from another."""
    state = world.state
    newest = [state.newest(rule_id) for rule_id in {row.move.rule_id for row in state.progress}]
    return (
        state.violations,
        {row.move.rule_id: (row.batch_seq, row.move) for row in newest},
        {row.move.rule_id: state.weights(row.move.rule_id, row.attempts) for row in newest},
        {place: (row.failing_rows, row.new_violations) for place, row in state.results.items()},
    )


@pytest.mark.parametrize("mode", [AUTO, Mode.SNAPSHOT_DIFF.value])
@pytest.mark.parametrize("seed", range(8))
def test_a_run_killed_at_any_step_and_repeated_leaves_what_an_undisturbed_one_does(seed, mode):
    undisturbed = a_world(seed, mode)
    before = len(undisturbed.scheduler.trace)
    assert run(undisturbed, "second", mode).error is None
    assert_state(undisturbed, RULE_KEYS)
    steps = len(undisturbed.scheduler.trace) - before - 1  # the last entry says how it ended
    assert steps > STEPS_MIN

    for step in range(1, steps + 1):
        world = a_world(seed, mode)
        assert isinstance(run(world, "second", mode, kill_in=step).error, KilledError)
        repeated = run(world, "second", mode)
        assert repeated.error is None, repeated.error
        assert_results(repeated.answer, world)
        assert kept(world) == kept(undisturbed), world.scheduler.trace


@pytest.mark.parametrize("seed", range(8, 12))
def test_after_a_run_killed_at_any_step_another_run_leaves_what_is_true(seed):
    step, error = 0, KilledError()
    while error is not None:
        step += 1
        world = a_world(seed, AUTO)
        error = run(world, "second", AUTO, kill_in=step).error
        world.commit()
        for name in ("third", "fourth"):
            driver = run(world, name, AUTO)
            assert driver.error is None, driver.error
            assert_results(driver.answer, world)
        assert_state(world, RULE_KEYS)
    assert step > STEPS_MIN
