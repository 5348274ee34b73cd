"""One history from its seed: rounds of commits and runs, mishaps, and then what must be true.

`python tests/simulator/histories.py --histories 100000` runs more than the tests do, and
`--replay SEED` tells one of them step by step.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

from invariants import (
    DifferenceError,
    assert_follows,
    assert_lives,
    assert_nothing_hidden,
    assert_results,
    assert_state,
    lives,
    open_violations,
    require,
    rule_id_of,
)
from meaning import RULE_KEYS, meanings
from memory_state import Broken
from scheduler import CALM, Driver, KilledError, Nemesis
from world import Job, World, fault_points

from lakeproof.errors import AlreadyRunningError, EngineUnavailableError, FencedError
from lakeproof.model.outcome import CheckStatus
from lakeproof.model.reading import Mode
from lakeproof.planning.read_mode import AUTO
from lakeproof.running.runner import Ran

NEMESES = (
    Nemesis(commit=0.02),
    Nemesis(kill=0.03, commit=0.02),
    Nemesis(commit=0.03, switch=0.3),
    Nemesis(kill=0.02, sleep=0.03, commit=0.02, switch=0.2),
)
MISHAPS = (KilledError, AlreadyRunningError, FencedError, EngineUnavailableError)
"""How a run may end that did not end well; whoever sees one runs again."""


@dataclass(slots=True)
class History:
    """A history that can be run; afterwards its trace says what happened."""

    seed: int
    broken: Broken = Broken.NOTHING
    world: World = field(init=False)
    mode: str = AUTO
    runs: int = 0
    unfinished: list[str] = field(default_factory=list)
    suites: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The rules that each run id was asked for last."""
    endings: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.world = World(self.seed, self.broken)
        if self.world.random.random() < 0.2:
            self.mode = Mode.SNAPSHOT_DIFF.value

    @property
    def trace(self) -> list[str]:
        return self.world.scheduler.trace

    def run(self) -> None:
        """Rounds, then calm runs, after which everything must be true."""
        world, random = self.world, self.world.random
        nemesis = random.choice(NEMESES)
        drivers_max = 3 if nemesis.switch else 1
        rule_keys = self._suite()
        for _ in range(random.randrange(2, 8)):
            for _ in range(random.randrange(0, 5)):
                self.trace.append(world.commit())
            if random.random() < 0.1:
                rule_keys = self._suite()
            self.round(rule_keys, nemesis, random.randrange(1, drivers_max + 1))
            if random.random() < 0.3:
                world.scheduler.pass_time(random.randrange(0, 1500))
        self.settle(rule_keys)

    def _suite(self) -> tuple[str, ...]:
        random = self.world.random
        if random.random() < 0.7:
            return RULE_KEYS
        return tuple(key for key in RULE_KEYS if random.random() < 0.7) or RULE_KEYS

    def round(self, rule_keys: tuple[str, ...], nemesis: Nemesis, drivers: int) -> None:
        """Some drivers at once; each asks for a new run or repeats one that did not end."""
        world = self.world
        is_alone = drivers == 1 and not any(not one.is_done for one in world.scheduler.drivers)
        before, said = dict(world.state.violations), set(world.state.results)
        started = []
        for _ in range(drivers):
            job = Job(
                self._next_run_id(),
                rule_keys,
                self.mode,
                failing=frozenset(map(rule_id_of, self._few(rule_keys))),
                rebuild=frozenset(self._few(rule_keys)),
            )
            self.runs += 1
            self.suites[job.run_id] = rule_keys
            name = f"driver-{self.runs}({job.run_id})"
            started.append((world.start(name, job), job.run_id))
        pruning = self._may_prune()
        world.scheduler.nemesis = nemesis
        with fault_points(world.scheduler):
            world.scheduler.run()
        world.scheduler.nemesis = CALM
        for driver, run_id in started:
            self._look_at(driver, run_id)
        assert_lives(before, world)
        if pruning is not None and not isinstance(pruning.error, (*MISHAPS, type(None))):
            raise pruning.error
        if is_alone and pruning is None and started[0][0].is_done and started[0][0].error is None:
            assert_nothing_hidden(before, said, world, started[0][0].answer)

    def _may_prune(self) -> Driver | None:
        if self.world.random.random() > 0.1:
            return None
        self.runs += 1
        return self.world.start_pruning(f"prune-{self.runs}")

    def _few(self, rule_keys: tuple[str, ...]) -> list[str]:
        random = self.world.random
        return [random.choice(rule_keys)] if random.random() < 0.04 else []

    def _next_run_id(self) -> str:
        if self.unfinished and self.world.random.random() < 0.6:
            return self.world.random.choice(self.unfinished)
        return f"run-{self.runs + 1}"

    def _look_at(self, driver: Driver, run_id: str) -> None:
        """How a run ended: well, then its results are true; or by one of the known mishaps."""
        ended_well = driver.is_done and driver.error is None
        if ended_well and run_id in self.unfinished:
            self.unfinished.remove(run_id)
        elif not ended_well and run_id not in self.unfinished:
            self.unfinished.append(run_id)
        if ended_well:
            self.endings["done"] += 1
            assert_results(driver.answer, self.world)
        elif not driver.is_done:
            self.endings["asleep"] += 1
        else:
            self.endings[type(driver.error).__name__] += 1
            if not isinstance(driver.error, MISHAPS):
                raise driver.error

    def settle(self, rule_keys: tuple[str, ...]) -> None:
        """Everybody wakes up and ends; then calm runs, until there is nothing left to do."""
        world = self.world
        sleeping = list(world.scheduler.drivers)
        world.scheduler.wake_all()
        with fault_points(world.scheduler):
            world.scheduler.run()
        for driver in sleeping:
            if isinstance(driver.answer, Ran):
                assert_results(driver.answer, world)
        for number in (1, 2):
            world.scheduler.wake_all()
            self._calm_run(f"calm-{number}", rule_keys)
        assert_state(world, rule_keys)
        self._prune(rule_keys)
        before = lives(world)
        world.orders.touch("compact")
        world.codes.touch("set property")
        self._calm_run("metadata", rule_keys)
        require(before == lives(world), "I12: no row changed, and violations did")
        versions = dict(world.state.versions)
        self._calm_run("still", rule_keys)
        require(before == lives(world), "I3: nothing new, and violations changed")
        is_followed = world.orders.now.feed_is_on or self.mode != AUTO
        if is_followed and world.codes.now.feed_is_on:  # else something is read whole each time
            versions["results"] += 1
            require(versions == dict(world.state.versions), "I3: nothing new, and state moved")
        self._finish(rule_keys)
        assert_follows(world)

    def _finish(self, rule_keys: tuple[str, ...]) -> None:
        """Every run that did not end well ends well when it is repeated, whoever ran since."""
        world = self.world
        if not self.unfinished:
            return
        for run_id in self.unfinished:
            if world.random.random() < 0.3:
                self.trace.append(world.commit())
            self._calm_run(run_id, self.suites[run_id])
        self._calm_run("last", rule_keys)
        assert_state(world, rule_keys)

    def _prune(self, rule_keys: tuple[str, ...]) -> None:
        """Clear up: nothing that counts is lost, and no rule that never was has anything open."""
        world = self.world
        driver = world.start_pruning("prune")
        with fault_points(world.scheduler):
            world.scheduler.run()
        require(driver.error is None, f"prune: {driver.error!r}")
        assert_state(world, rule_keys)
        for rule_id in meanings():
            is_ghost = world.state.newest(rule_id) is None and open_violations(world, rule_id)
            require(not is_ghost, f"I10: a rule that was never committed is open: {rule_id}")

    def _calm_run(self, run_id: str, rule_keys: tuple[str, ...]) -> None:
        before = set(self.world.state.results)
        driver = self.world.start(run_id, Job(run_id, rule_keys, self.mode))
        with fault_points(self.world.scheduler):
            self.world.scheduler.run()
        if driver.error is not None:
            raise DifferenceError(f"{run_id}: {driver.error!r}") from driver.error
        assert_results(driver.answer, self.world)
        said = [row for row in driver.answer.results if (run_id, row.rule_key) not in before]
        errors = [row for row in said if row.status is CheckStatus.ERROR]
        require(not errors, f"{run_id}: {errors}")


# -------------------------------------------------------------------------------- many histories


@dataclass(frozen=True, slots=True)
class Found:
    """A seed whose history ends wrong, with what was wrong."""

    seed: int
    told: str


@dataclass(slots=True)
class Report:
    """What came of many histories: those that ended wrong, how runs ended, where drivers died."""

    failures: list[Found] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)

    def add(self, other: Report) -> None:
        self.failures += other.failures
        self.endings += other.endings
        self.kills += other.kills


def reports(seeds: range, broken: Broken = Broken.NOTHING) -> Iterator[Report]:
    """The histories of these seeds, one by one."""
    for seed in seeds:
        history = History(seed, broken)
        report = Report(endings=history.endings, kills=history.world.scheduler.kills)
        try:
            history.run()
        except (Exception, KilledError) as problem:  # noqa: BLE001 (any end but a good one)
            report.failures.append(Found(seed, f"{type(problem).__name__}: {problem}"))
        yield report


def simulate(histories: int, processes: int = 0) -> Report:
    """That many histories, spread over the processors but for one: the Spark tests run beside."""
    many = processes or max(1, (os.cpu_count() or 1) - 1)
    parts = [range(first, histories, many) for first in range(many)]
    total = Report()
    with ProcessPoolExecutor(many, mp_context=get_context("spawn")) as pool:
        for part in pool.map(_simulate, parts):
            total.add(part)
    return total


def _simulate(seeds: range) -> Report:
    total = Report()
    for report in reports(seeds):
        total.add(report)
    return total


def replay(seed: int, broken: Broken = Broken.NOTHING) -> list[str]:
    """One history again: its trace; what is wrong is raised with the trace as a note."""
    history = History(seed, broken)
    try:
        history.run()
    except BaseException as problem:
        problem.add_note("\n".join(history.trace))
        raise
    return history.trace


def main() -> None:
    parser = argparse.ArgumentParser(description="Random histories against the real runner.")
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--replay", type=int, metavar="SEED")
    asked = parser.parse_args()
    if asked.replay is not None:
        print("\n".join(replay(asked.replay)))  # noqa: T201
        return
    report = simulate(asked.histories)
    for found in report.failures:
        print(f"seed {found.seed}: {found.told}")  # noqa: T201
    told = f"{asked.histories} histories, {len(report.failures)} wrong"
    print(f"{told}; runs: {dict(report.endings)}")  # noqa: T201
    raise SystemExit(bool(report.failures))


if __name__ == "__main__":
    main()
