"""The order of a run, once.

lease -> intent -> read -> key index -> violations -> quarantine -> results -> progress -> events

Each step ends at a named fault point; the store reaches those that lie inside its own steps
(`after_lease`, `after_progress`). Whatever dies in between, the same run_id repeated reads
the same positions and leaves one set of rows: violations are assignments under a growing batch
number, results are added by (run_id, rule_key).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import TypeVar

from lakeproof import faults
from lakeproof.engines.engine import Engine
from lakeproof.errors import (
    AlreadyRunningError,
    ConfigError,
    EngineUnavailableError,
    LakeproofError,
    short_message,
)
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.pairing import PairFound
from lakeproof.model.position import Position
from lakeproof.model.printable import counted
from lakeproof.planning.plan import Plan, TablePlan
from lakeproof.running.evaluate import evaluate_table
from lakeproof.running.findings import TableFindings
from lakeproof.running.judging import evaluation_of, needs_previous
from lakeproof.running.progress import Listener, StepDone, ignore
from lakeproof.running.result_draft import ResultDraft, RunLabels
from lakeproof.running.time_budget import TimeBudget
from lakeproof.state.quarantine import Quarantine
from lakeproof.state.store import Batch, Store, TableWork

Given = TypeVar("Given")
_BEGINS_MAX = 3

Replan = Callable[[Mapping[TableName, Position]], Plan]


@dataclass(frozen=True, slots=True)
class _Read:
    """One result per rule, the rules whose violations are known, and what went wrong beside."""

    results: list[CheckResult]
    evaluated: frozenset[str]
    trouble: list[str]
    compared: Mapping[str, PairFound]

    def raise_for_trouble(self, what_is_kept: str) -> None:
        if self.trouble:
            raise EngineUnavailableError(f"{'; '.join(self.trouble)}. {what_is_kept}")


@dataclass(frozen=True, slots=True)
class Ran:
    """What was run, one result per rule in suite order, and what comparisons found, by rule_key."""

    plan: Plan
    results: Sequence[CheckResult]
    compared: Mapping[str, PairFound]


@dataclass(frozen=True, slots=True)
class Runner:
    """Collaborators of a run. Without a store nothing is kept, and nothing else changes.

    `clock` is for leases and must be the real one; what rules call now is the plan's `now`.
    """

    engine: Engine
    store: Store | None = None
    quarantine: Quarantine | None = None
    timeout_seconds: float | None = None
    listener: Listener = field(default=ignore)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def run(self, plan: Plan, labels: RunLabels, replan: Replan) -> Ran:
        """Execute the plan; gives the plan that ran and one result per rule, in suite order.

        `replan` makes the plan of the same rules at given positions, or at the heads.
        """
        if self.quarantine is not None:
            self.quarantine.prepare(plan.tables)
        if self.store is None:
            read = self._evaluate(plan, labels, {}, {})
            read.raise_for_trouble("Nothing was kept")
            return Ran(plan, read.results, read.compared)
        recorded = self._recorded(plan, labels)
        try:
            plan, batches = self._begin(plan, labels, replan)
            faults.reach("after_intent")
            by_table = {batch.work.table: batch for batch in batches}
            read = self._evaluate(plan, labels, by_table, recorded)
            added = self._timed("results", lambda: self._store.record_results(read.results))
            faults.reach("after_results")
            self._timed(
                "progress",
                lambda: self._store.commit(batches, labels.run_id, read.evaluated, self.clock()),
            )
        except BaseException:
            self._release(labels)
            raise
        self.listener(StepDone(f"kept {added} results in {self._store.description}", 0.0))
        read.raise_for_trouble(f"The results are kept; repeat run {labels.run_id} to write them")
        faults.reach("after_events")
        return Ran(plan, read.results, read.compared)

    def _recorded(self, plan: Plan, labels: RunLabels) -> Mapping[str, str]:
        """What this run id has recorded before, rule_key to rule_id; other logic is refused."""
        if not labels.may_repeat:
            return {}
        recorded = self._store.recorded_rules(labels.run_id)
        changed = [
            rule.key for rule in plan.rules if recorded.get(rule.key, rule.rule_id) != rule.rule_id
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
            begin = partial(self._store.begin, labels.run_id, works, self.clock())
            batches = self._timed("lease and intent", begin)
            if any(batch.adopted for batch in batches):
                positions = {batch.work.table: batch.position for batch in batches}
                return replan({k: v for k, v in positions.items() if v is not None}), batches
            pinned = [work for work in works if work.position is not None]
            if all(self.engine.head(work.table) == work.position for work in pinned):
                return plan, batches
            self._store.release(labels.run_id, self.clock())
            plan = replan({})
        raise AlreadyRunningError(
            f"the tables moved {_BEGINS_MAX} times between planning and the lease. Run again"
        )

    def _release(self, labels: RunLabels) -> None:
        """Give the leases back; the error that ends the run must not be hidden by this one."""
        try:
            self._store.release(labels.run_id, self.clock())
        except Exception as problem:  # noqa: BLE001
            text = f"the lease of {labels.run_id} was not given back: {short_message(problem)}"
            self.listener(StepDone(text, 0.0))

    def _evaluate(
        self,
        plan: Plan,
        labels: RunLabels,
        batches: Mapping[TableName, Batch],
        recorded: Mapping[str, str],
    ) -> _Read:
        budget = TimeBudget(self.timeout_seconds)
        executed_at = plan.now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        draft = ResultDraft(labels, executed_at)
        by_key = {rule.key: draft.rejected(rule) for rule in plan.rejected}
        is_repeated = any(batch.adopted for batch in batches.values())
        previous = self._previous(plan, labels, is_repeated=is_repeated)
        evaluations = [
            evaluate_table(
                TableFindings(table, plan.now, previous), self.engine, budget, self.listener
            )
            for table in plan.tables
        ]
        try:
            faults.reach("after_read")
            faults.reach("after_key_index")  # snapshot runs keep no key index
            for found in evaluations:
                batch = batches.get(found.plan.pinned.table)
                if _is_settled(found, recorded):
                    batch = None
                news = self._apply_hits(found, batch, labels, plan)
                for rule in found.plan.rules:
                    result = draft.of(rule, found, evaluation_of(rule, found))
                    by_key[rule.key] = replace(result, new_violations=news.get(rule.rule_id))
            faults.reach("after_violations")
            trouble = self._set_aside(evaluations, labels, recorded)
            faults.reach("after_quarantine")
        finally:
            for found in evaluations:
                found.release()
                for step in found.plan.pairs:
                    self.engine.release_pair(step)
        if sorted(by_key) != sorted(plan.order):
            raise LakeproofError(f"{len(plan.order)} rules gave {len(by_key)} results")
        return _Read(
            results=[by_key[key] for key in plan.order],
            evaluated=frozenset(name for found in evaluations for name in found.evaluated),
            trouble=trouble,
            compared={
                rule.key: found.compared[rule.rule_id]
                for found in evaluations
                for rule in found.plan.rules
                if rule.rule_id in found.compared
            },
        )

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

    def _set_aside(
        self,
        evaluations: Sequence[TableFindings],
        labels: RunLabels,
        recorded: Mapping[str, str],
    ) -> list[str]:
        """Write the bad rows of each table into its quarantine; gives what went wrong.

        Results are kept all the same: they are true whether or not the rows could be written.
        """
        trouble: list[str] = []
        for found in evaluations:
            if self.quarantine is None or _is_settled(found, recorded):
                continue
            started = time.monotonic()
            known = frozenset(found.evaluated) & found.plan.counting_bad
            bad = frozenset(found.failing) & known
            try:
                rows = self.quarantine.fill(
                    found.plan, bad, labels.run_id, may_repeat=labels.may_repeat
                )
            except EngineUnavailableError as problem:
                trouble.append(str(problem))
                continue
            left = [
                rule.key for rule in found.plan.rules if rule.rule_id in bad - found.plan.marked
            ]
            without = f"; without rows of {', '.join(left)}, a query of the user" if left else ""
            text = f"{found.plan.pinned.table}: {counted(rows, 'bad row')} in quarantine{without}"
            self.listener(StepDone(text, time.monotonic() - started))
        return trouble

    def _apply_hits(
        self, found: TableFindings, batch: Batch | None, labels: RunLabels, plan: Plan
    ) -> Mapping[str, int]:
        if batch is None:
            return {}
        view = found.hits.view if found.hits is not None else None
        ids = [name for name in found.evaluated if name in found.plan.counting_bad]
        news = self._timed(
            f"violations of {found.plan.pinned.table}",
            lambda: self._store.apply_hits(batch, labels.run_id, ids, view, plan.now),
        )
        return {rule_id: news[rule_id] for rule_id in news if rule_id in found.plan.listable}


def _is_settled(found: TableFindings, recorded: Mapping[str, str]) -> bool:
    """Whether this run said all there is to say about a table that it cannot read again as it was.

    Results of a run stand as they were first recorded; violations must not move away from them.
    """
    keys = [rule.key for rule in found.plan.rules]
    return found.plan.pinned.position is None and all(key in recorded for key in keys)


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
