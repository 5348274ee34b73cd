"""Who goes on, and what befalls the world meanwhile: one seeded choice at every step.

A driver is a run of the real runner in a thread of its own. Only the one that holds the baton runs,
and it comes by here at each read and write of state, each read of a table and each fault point. So
a history is decided by its seed alone, and can be replayed.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NoReturn

LEASE = timedelta(seconds=600)
START = datetime(2026, 1, 1, tzinfo=UTC)


class KilledError(BaseException):
    """A process that was killed: no handler runs in it, so none may catch this."""


@dataclass(frozen=True, slots=True)
class Nemesis:
    """How likely each mishap is at a step."""

    kill: float = 0.0
    sleep: float = 0.0
    commit: float = 0.0
    switch: float = 0.0

    @property
    def total(self) -> float:
        return self.kill + self.sleep + self.commit + self.switch


CALM = Nemesis()


@dataclass(slots=True)
class Driver:
    """One process. `error` is what ended its run, None if it ended well."""

    name: str
    work: Callable[[], object]
    turn: threading.Lock = field(default_factory=threading.Lock)
    wakes_at: datetime = START
    is_killed: bool = False
    is_done: bool = False
    error: BaseException | None = None
    answer: object = None


class Scheduler:
    """Hands the baton round. `on_commit` lets somebody else write to the source tables."""

    def __init__(self, random: Random, on_commit: Callable[[], str]) -> None:
        self.random = random
        self.on_commit = on_commit
        self.nemesis = CALM
        self.now = START
        self.kill_in = 0
        """After so many steps the driver at work is killed; 0 is never."""
        self.trace: list[str] = []
        self.kills: Counter[str] = Counter()
        self.drivers: list[Driver] = []
        self.current: Driver | None = None
        self._turn = threading.Lock()
        self._turn.acquire()

    def clock(self) -> datetime:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def start(self, name: str, work: Callable[[], object]) -> Driver:
        """A new process, which does not run yet."""
        driver = Driver(name, work)
        driver.turn.acquire()
        self.drivers.append(driver)
        threading.Thread(target=self._live, args=(driver,), daemon=True).start()
        return driver

    def run(self) -> None:
        """Let all drivers run until each is done or asleep."""
        self.drivers = [driver for driver in self.drivers if not driver.is_done]
        while (following := self._chosen()) is not None:
            self._hand_to(following)
            self._turn.acquire()

    def wake_all(self) -> None:
        """Let time pass until nobody sleeps and every lease is over."""
        latest = max((driver.wakes_at for driver in self.drivers), default=self.now)
        self.now = max(latest, self.now) + LEASE + LEASE

    def step(self, label: str) -> None:
        """Come by: something may happen before what `label` names does."""
        driver = self.current
        if driver is None:  # the simulator itself looks into the world
            return
        if driver.is_killed:
            raise KilledError
        self.now += timedelta(seconds=1)
        self.trace.append(f"{driver.name}: {label}")
        nemesis = self.nemesis
        if self.kill_in:
            self.kill_in -= 1
            if not self.kill_in:
                self._kill(driver, label)
        if not nemesis.total:
            return
        drawn = self.random.random()
        if drawn >= nemesis.total:
            return
        if drawn < nemesis.kill:
            self._kill(driver, label)
        if drawn < nemesis.kill + nemesis.sleep:
            driver.wakes_at = self.now + LEASE + timedelta(seconds=self.random.randrange(1, 900))
            self.trace.append(f"{driver.name}: sleeps")
            self.now += timedelta(seconds=self.random.randrange(0, 900))
            self._step_aside(driver)
        elif drawn < nemesis.kill + nemesis.sleep + nemesis.commit:
            self.trace.append(self.on_commit())
        else:
            self._step_aside(driver)

    def _kill(self, driver: Driver, label: str) -> NoReturn:
        self.kills[label] += 1
        self.trace.append(f"{driver.name}: KILLED")
        driver.is_killed = True
        raise KilledError

    def wait(self, seconds: float) -> None:
        """A driver waits for others: they get their turn."""
        driver = self.current
        if driver is not None:
            self.now += timedelta(seconds=seconds)
            self._step_aside(driver)

    def is_dead(self, name: str) -> bool:
        return any(one.name == name and one.is_killed for one in self.drivers)

    def _live(self, driver: Driver) -> None:
        driver.turn.acquire()
        try:
            driver.answer = driver.work()
        except BaseException as problem:  # noqa: BLE001 (the simulator looks at it)
            driver.error = problem
        driver.is_done = True
        told = type(driver.error).__name__ if driver.error else "done"
        self.trace.append(f"{driver.name}: ends, {told}")
        self.current = None
        following = self._chosen()
        if following is None:
            self._turn.release()
        else:
            self._hand_to(following)

    def _chosen(self) -> Driver | None:
        ready = [one for one in self.drivers if not one.is_done and one.wakes_at <= self.now]
        if not ready:
            return None
        return ready[0] if len(ready) == 1 else ready[self.random.randrange(len(ready))]

    def _step_aside(self, driver: Driver) -> None:
        """Give the baton to whoever is chosen; perhaps to this driver again."""
        following = self._chosen()
        if following is driver:
            return
        self.current = None
        if following is None:
            self._turn.release()
        else:
            self._hand_to(following)
        driver.turn.acquire()

    def _hand_to(self, driver: Driver) -> None:
        self.current = driver
        driver.turn.release()
