"""The order of a run, once.

lease -> intent -> read -> key index -> violations -> quarantine -> results -> progress -> events

Each step ends at a named fault point; the store reaches those that lie inside its own steps
(`after_lease`, `after_progress`). Whatever dies in between, the same run_id repeated reads
the same positions and leaves one set of rows: weights count only under the attempt that progress
names, violations are assignments under a growing batch number, results are added by
(run_id, rule_key). Where nothing is new, a run says what stands, and takes no lease; so nothing
pins its positions, and repeated, it says what it has recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import TypeVar

from lakeproof import faults
from lakeproof.engines.engine import Engine
from lakeproof.errors import ConfigError, TableMovedError, short_message
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.pairing import PairFound
from lakeproof.model.position import Position
from lakeproof.model.weighing import Resolution
from lakeproof.planning.plan import Plan, TablePlan
from lakeproof.running.evaluation import Evaluated, Evaluator
from lakeproof.running.judging import needs_previous
from lakeproof.running.progress import Listener, StepDone, ignore
from lakeproof.running.read_planner import ReadPlanner
from lakeproof.running.reads import TableRead, Wanted, read_whole
from lakeproof.running.repeating import positions_said, says_the_same, stands_at
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.retiring import retired_rules, retiring_moves
from lakeproof.running.time_budget import TimeBudget
from lakeproof.state.quarantine import Quarantine
from lakeproof.state.store import Batch, RuleProgress, Store, TableWork

Given = TypeVar("Given")
_BEGINS_MAX = 3

Replan = Callable[[Mapping[TableName, Position]], Plan]


@dataclass(frozen=True, slots=True)
class Ran:
    """What was run, one result per rule in suite order, and what comparisons found, by rule_key.

    A result that was recorded before comes without what comparisons found if that is now another.
    """

    plan: Plan
    results: Sequence[CheckResult]
    compared: Mapping[str, PairFound]


@dataclass(frozen=True, slots=True)
class Runner:
    """Collaborators of a run. Without a store nothing is kept, and nothing else changes.

    `clock` is for leases and must be the real one; what rules call now is the plan's `now`.
    `beside` are results of other work, kept and given behind those of the plan. `is_whole_suite`:
    the plan has every rule of its suite, so that a rule of the suite which it lacks is gone.
    """

    engine: Engine
    store: Store | None = None
    quarantine: Quarantine | None = None
    timeout_seconds: float | None = None
    listener: Listener = field(default=ignore)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    beside: tuple[CheckResult, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)
    is_whole_suite: bool = False

    def run(self, plan: Plan, labels: RunLabels, replan: Replan) -> Ran:
        """Execute the plan; gives the plan that ran and one result per rule, in suite order.

        `replan` makes the plan of the same rules at given positions, or at the heads.
        """
        if self.quarantine is not None:
            self.quarantine.prepare(plan.tables)
        if self.store is None:
            reads = [read_whole(table) for table in plan.tables]
            found = self._evaluator(labels, (), {}).evaluate(plan, reads, {}, {})
            found.raise_for_trouble("Nothing was kept")
            return Ran(plan, [*found.results, *self.beside], found.compared)
        recorded = self._recorded(plan, labels)
        reading = ReadPlanner(self.engine, self._store, self.wanted, labels.suite)
        if not (labels.may_repeat and self._store.has_begun(labels.run_id)):
            said = self._said_before(plan, recorded, replan)
            said = said or self._nothing_new(plan, labels, recorded, reading)
            if said is not None:
                return said
        try:
            plan, batches = self._begin(plan, labels, replan)
            faults.reach("after_intent")
            found = self._evaluate(plan, labels, batches, recorded, reading)
            ran = self._kept(plan, labels, found, recorded)
            faults.reach("after_results")
            self._timed(
                "progress",
                lambda: self._store.commit(batches, labels.run_id, found.moves, self.clock()),
            )
        except BaseException:
            self._release(labels)
            raise
        found.raise_for_trouble(f"The results are kept; repeat run {labels.run_id} to write them")
        faults.reach("after_events")
        return ran

    def _kept(
        self,
        plan: Plan,
        labels: RunLabels,
        found: Evaluated,
        recorded: Mapping[str, CheckResult],
    ) -> Ran:
        """Record the results; a rule of which this run id has said something before keeps that.

        Gate and exit code must not contradict what `_quality_results` holds.
        """
        results = [*found.results, *self.beside]
        added = self._timed("results", lambda: self._store.record_results(results))
        self.listener(StepDone(f"kept {added} results in {self._store.description}", 0.0))
        if added == len(results) and not recorded:
            return Ran(plan, results, found.compared)
        recorded = self._store.recorded_results(labels.run_id)
        said = {result.rule_key: recorded.get(result.rule_key, result) for result in results}
        same = {one.rule_key for one in results if says_the_same(one, said[one.rule_key])}
        compared = {key: pair for key, pair in found.compared.items() if key in same}
        return Ran(plan, list(said.values()), compared)

    def _said_before(
        self, plan: Plan, recorded: Mapping[str, CheckResult], replan: Replan
    ) -> Ran | None:
        """What this run id has recorded without a lease, if that is all there is to say.

        The tables may have moved since: read anew, they would say something else under the same
        id. Who asks for more than results has that done.
        """
        if self.quarantine is not None or self.wanted.rebuild:
            return None
        keys = [*plan.order, *(result.rule_key for result in self.beside)]
        if not keys or not all(key in recorded for key in keys):
            return None
        ids = sorted({rule.rule_id for rule in plan.rules})
        positions = positions_said(plan, recorded, self._store.progress(ids))
        if positions is None:
            return None
        self.listener(StepDone(f"{len(keys)} results were kept before", 0.0))
        there = plan if stands_at(plan, positions) else replan(positions)
        return Ran(there, [recorded[key] for key in keys], {})

    def _nothing_new(
        self,
        plan: Plan,
        labels: RunLabels,
        recorded: Mapping[str, CheckResult],
        reading: ReadPlanner,
    ) -> Ran | None:
        """What stands, where no rule has anything to read: without lease, intent or rows."""
        if self.quarantine is not None or not plan.tables:
            return None
        reads = reading.decide(plan)
        try:
            ids = sorted({rule.rule_id for rule in plan.rules})
            if not all(read.is_still for read in reads) or self._store.strays(ids):
                return None
            if self._retired(plan, labels):
                return None
            found = self._evaluator(labels, (), {}).evaluate(
                plan, reads, {}, self._previous(plan, labels, is_repeated=False)
            )
        finally:
            for read in reads:
                read.release()
        return self._kept(plan, labels, found, recorded)

    def _evaluate(
        self,
        plan: Plan,
        labels: RunLabels,
        batches: Sequence[Batch],
        recorded: Mapping[str, CheckResult],
        reading: ReadPlanner,
    ) -> Evaluated:
        by_table = {batch.work.table: batch for batch in batches}
        numbers = {table: batch.batch_seq for table, batch in by_table.items()}
        retired = {  # what a newer run has moved since is not for this one to retire
            table: [one for one in known if one.batch_seq <= numbers[table]]
            for table, known in self._retired(plan, labels).items()
        }
        # Progress that decides is the last to be read: the store builds on what it told last.
        reads = self._decide(plan, numbers, reading)
        is_repeated = any(batch.adopted for batch in batches)
        previous = self._previous(plan, labels, is_repeated=is_repeated)
        gone = {table: retired_rules(plan, known) for table, known in retired.items()}
        found = self._evaluator(labels, recorded, gone).evaluate(plan, reads, by_table, previous)
        for table, known in retired.items():
            found.moves.extend(retiring_moves(known, gone[table]))
        return found

    def _evaluator(
        self,
        labels: RunLabels,
        recorded: Collection[str],
        retired: Mapping[TableName, Mapping[str, Resolution]],
    ) -> Evaluator:
        return Evaluator(
            engine=self.engine,
            labels=labels,
            store=self.store,
            quarantine=self.quarantine,
            budget=TimeBudget(self.timeout_seconds),
            listener=self.listener,
            recorded=recorded,
            retired=retired,
            wanted=self.wanted,
        )

    def _decide(
        self, plan: Plan, numbers: Mapping[TableName, int], reading: ReadPlanner
    ) -> list[TableRead]:
        """How each table is read under the lease; what strayed there is assigned again."""
        reads = reading.decide(plan, numbers)
        ids = {
            rule.rule_id for read in reads if read.choice.is_incremental for rule in read.plan.rules
        }
        strays = self._store.strays(sorted(ids)) if ids else frozenset()
        if not strays:
            return reads
        for read in reads:
            read.release()
        return reading.decide(plan, numbers, strays)

    def _retired(self, plan: Plan, labels: RunLabels) -> dict[TableName, Sequence[RuleProgress]]:
        """What is known of rules that the suite had on these tables and has no more."""
        if not self.is_whole_suite or not labels.suite:
            return {}
        known = {
            table.pinned.table: self._store.progress_of_suite(labels.suite, table.pinned.table)
            for table in plan.tables
        }
        return {table: of for table, of in known.items() if retired_rules(plan, of)}

    def _recorded(self, plan: Plan, labels: RunLabels) -> Mapping[str, CheckResult]:
        """What this run id has recorded before, by rule_key; other logic is refused."""
        if not labels.may_repeat:
            return {}
        recorded = self._store.recorded_results(labels.run_id)
        changed = [
            rule.key
            for rule in plan.rules
            if rule.key in recorded and recorded[rule.key].rule_id != rule.rule_id
        ]
        if changed:
            raise ConfigError(
                f"run id {labels.run_id!r} was used before, when {changed[0]!r} was another rule. "
                "Repeat a run with the checks it had, or give a new run id"
            )
        return recorded

    @property
    def _store(self) -> Store:
        assert self.store is not None  # noqa: S101 (run() has asked)
        return self.store

    def _timed(self, what: str, work: Callable[[], Given]) -> Given:
        started = time.monotonic()
        given = work()
        self.listener(StepDone(f"state: {what}", time.monotonic() - started))
        return given

    def _begin(self, plan: Plan, labels: RunLabels, replan: Replan) -> tuple[Plan, list[Batch]]:
        """Take the lease, and make sure that the plan stands where the lease says.

        A repeated run id goes back to its first positions. A new run must stand at the heads as of
        its lease: one that was planned before another run committed, and began after it, would
        write older findings over newer ones.
        """
        for _ in range(_BEGINS_MAX):
            works = _works_of(plan)
            begin = partial(self._store.begin, labels.run_id, works, self.clock(), self.engine.head)
            try:
                batches = self._timed("lease and intent", begin)
            except TableMovedError:
                plan = replan({})
                continue
            if any(batch.adopted for batch in batches):
                positions = {batch.work.table: batch.position for batch in batches}
                return replan({k: v for k, v in positions.items() if v is not None}), batches
            # Looked at again: of two drivers that begin one run id at once, with one number, both
            # pass only if they stand at the same place. Else the number is taken up a second time.
            pinned = [work for work in works if work.position is not None]
            if all(self.engine.head(one.table) == one.position for one in pinned):
                return plan, batches
            self._store.release(labels.run_id, self.clock())
        raise TableMovedError(
            f"the tables moved {_BEGINS_MAX} times between planning and the lease. Run again"
        )

    def _release(self, labels: RunLabels) -> None:
        """Give the leases back; the error that ends the run must not be hidden by this one."""
        try:
            self._store.release(labels.run_id, self.clock())
        except Exception as problem:  # noqa: BLE001
            text = f"the lease of {labels.run_id} was not given back: {short_message(problem)}"
            self.listener(StepDone(text, 0.0))

    def _previous(self, plan: Plan, labels: RunLabels, *, is_repeated: bool) -> Mapping[str, float]:
        """The measures of earlier runs, for the rules that compare with them."""
        asking = {rule.rule_id for rule in plan.rules if needs_previous(rule)}
        if self.store is None or not asking:
            return {}
        return self._timed(
            "earlier measures",
            lambda: self._store.previous_measures(
                sorted(asking), labels.run_id, is_repeated=is_repeated
            ),
        )


def _works_of(plan: Plan) -> list[TableWork]:
    """The tables to hold: the checked ones, and without rules those that queries join."""
    ids = sorted({rule.rule_id for rule in plan.rules})
    joined = "joined by " + sha256("\n".join(ids).encode()).hexdigest()[:16]
    return [_work_of(table) for table in plan.tables] + [
        TableWork(pinned.table, pinned.table_id, joined, (), pinned.position)
        for pinned in plan.joined
    ]


def _work_of(table: TablePlan) -> TableWork:
    ids = tuple(sorted({rule.rule_id for rule in table.rules}))
    return TableWork(
        table=table.pinned.table,
        table_id=table.pinned.table_id,
        group=sha256("\n".join(ids).encode()).hexdigest()[:16],
        rule_ids=ids,
        position=table.pinned.position,
    )
