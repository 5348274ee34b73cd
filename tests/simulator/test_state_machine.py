"""The same protocol, with histories that Hypothesis makes up and makes smaller."""

from __future__ import annotations

from histories import NEMESES, History
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from invariants import assert_lives
from meaning import RULE_KEYS
from scheduler import CALM

SEEDS = st.integers(0, 2**16)
STEPS_OF_A_RUN = 45


class Protocol(RuleBasedStateMachine):
    """A table that changes, drivers that run, die, sleep and race; in the end all is true."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(seed=0)
        self.suite = RULE_KEYS
        self.before = {}

    @rule(seed=SEEDS, commits=st.integers(1, 4))
    def tables_change(self, seed, commits):
        self.history.world.random.seed(seed)
        for _ in range(commits):
            self.history.world.commit()

    @rule(seed=SEEDS)
    def a_driver_runs(self, seed):
        self.history.world.random.seed(seed)
        self.history.round(self.suite, CALM, drivers=1)

    @rule(seed=SEEDS, step=st.integers(1, STEPS_OF_A_RUN))
    def a_driver_is_killed(self, seed, step):
        self.history.world.random.seed(seed)
        self.history.world.scheduler.kill_in = step
        self.history.round(self.suite, CALM, drivers=1)
        self.history.world.scheduler.kill_in = 0

    @rule(seed=SEEDS, drivers=st.integers(2, 3), nemesis=st.sampled_from(NEMESES[2:]))
    def drivers_race(self, seed, drivers, nemesis):
        self.history.world.random.seed(seed)
        self.history.round(self.suite, nemesis, drivers)

    @rule(keys=st.sets(st.sampled_from(RULE_KEYS), min_size=1))
    def the_suite_changes(self, keys):
        self.suite = tuple(key for key in RULE_KEYS if key in keys)

    @precondition(lambda self: self.history.world.scheduler.drivers)
    @rule(seconds=st.integers(0, 1500))
    def time_passes(self, seconds):
        self.history.world.scheduler.pass_time(seconds)

    @invariant()
    def no_violation_is_gone_and_progress_grows(self):
        assert_lives(self.before, self.history.world)
        self.before = dict(self.history.world.state.violations)

    def teardown(self):
        self.history.settle(self.suite)


TestProtocol = Protocol.TestCase
TestProtocol.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)
