"""The protocol before any format: random histories with crashes, rivals and sleepers end exact.

LAKEPROOF_HISTORIES=100000 runs more of them; `python tests/simulator/histories.py --replay SEED`
tells one step by step.
"""

from __future__ import annotations

import os

import pytest
from histories import MISHAPS, replay, reports, simulate
from meaning import RULE_KEYS
from memory_state import Broken
from scheduler import Nemesis
from world import Job, World, fault_points

from lakeproof import faults
from lakeproof.errors import AlreadyRunningError

HISTORIES = int(os.environ.get("LAKEPROOF_HISTORIES", "10000"))
MUTANT_SEEDS = range(2_000)


def test_random_histories_end_as_a_full_scan_says():
    report = simulate(HISTORIES)

    told = [f"seed {one.seed}: {one.told}" for one in report.failures]
    assert not told, "\n".join(told[:20])
    points = {*faults.POINTS, "during_prune"}
    assert points <= report.kills.keys(), "a fault point where nobody ever died"
    assert {kind.__name__ for kind in MISHAPS} <= report.endings.keys()
    assert report.endings["done"] > HISTORIES
    assert report.endings["asleep"] > HISTORIES / 50


@pytest.mark.parametrize("broken", list(Broken), ids=lambda broken: broken.name.lower())
def test_a_protocol_that_lacks_a_part_is_found_out(broken):
    found = next((one for one in reports(MUTANT_SEEDS, broken) if one.failures), None)

    assert found is not None, f"{broken} ended right {len(MUTANT_SEEDS)} times"
    assert found.failures[0].told.startswith("DifferenceError")


def test_a_first_run_is_never_taken_for_one_that_is_gone_by_a_prune_beside_it():
    for seed in range(100):
        world = World(seed)
        world.commit()
        first = world.start("first", Job("first", RULE_KEYS))
        prune = world.start_pruning("prune")
        world.scheduler.nemesis = Nemesis(switch=0.5)
        with fault_points(world.scheduler):
            world.scheduler.run()
        assert isinstance(first.error, AlreadyRunningError | None), world.scheduler.trace
        assert isinstance(prune.error, AlreadyRunningError | None), world.scheduler.trace


def test_a_seed_replays_to_the_same_trace():
    for seed in range(20):
        assert replay(seed) == replay(seed)
