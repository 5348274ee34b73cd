"""A plan evaluated: every table read, state written up to the results, one result per rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any, TypeVar

from lakeproof import faults
from lakeproof.engines.engine import Engine
from lakeproof.errors import EngineUnavailableError, LakeproofError
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.pairing import PairFound
from lakeproof.model.printable import counted
from lakeproof.model.reading import Mark, Method, Mode
from lakeproof.model.standing import KeyTotals, is_too_many
from lakeproof.model.weighing import Resolution
from lakeproof.planning.parts import part_of
from lakeproof.planning.plan import Plan
from lakeproof.planning.read_mode import Part
from lakeproof.planning.withholding import is_withheld
from lakeproof.running.evaluate import evaluate_table
from lakeproof.running.findings import TableFindings
from lakeproof.running.incremental import (
    findings_of,
    grown_by,
    moved,
    moves_of,
    put_into_index,
    put_into_violations,
)
from lakeproof.running.judging import evaluation_of
from lakeproof.running.progress import Listener, StepDone, ignore
from lakeproof.running.reads import TableRead, Wanted
from lakeproof.running.result_draft import ResultDraft, RunLabels
from lakeproof.running.shown_rows import show_what_counts
from lakeproof.running.standings import standings_of
from lakeproof.running.time_budget import TimeBudget
from lakeproof.running.weigher import WeighedTable, Weigher
from lakeproof.state.quarantine import Quarantine
from lakeproof.state.store import Batch, Move, Store

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One result per rule, where the rules come to stand, and what went wrong beside."""

    results: list[CheckResult]
    moves: list[Move]
    trouble: list[str]
    compared: Mapping[str, PairFound]

    def raise_for_trouble(self, what_is_kept: str) -> None:
        if self.trouble:
            raise EngineUnavailableError(f"{'; '.join(self.trouble)}. {what_is_kept}")


@dataclass(slots=True)
class _TableRun:
    """What a run knows of one table: rules read whole, and rules that stand on changes."""

    read: TableRead
    whole: TableFindings | None
    weighed: WeighedTable | None
    standing: list[TableFindings] = field(default_factory=list)
    news: dict[str, int] = field(default_factory=dict)

    @property
    def findings(self) -> list[TableFindings]:
        return [*([self.whole] if self.whole else []), *self.standing]

    def release(self, engine: Engine) -> None:
        if self.whole is not None:
            self.whole.release()
            for step in self.whole.plan.pairs:
                engine.release_pair(step)
        if self.weighed is not None:
            self.weighed.release()


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Collaborators of an evaluation. Without `store` nothing is written.

    `recorded` are the keys of rules of which this run id said something before, `retired` the rules
    that its suite no longer has, by table.
    """

    engine: Engine
    labels: RunLabels
    store: Store | None = None
    quarantine: Quarantine | None = None
    budget: TimeBudget = field(default_factory=lambda: TimeBudget(None))
    listener: Listener = field(default=ignore)
    recorded: Collection[str] = ()
    retired: Mapping[TableName, Mapping[str, Resolution]] = field(default_factory=dict)
    wanted: Wanted = field(default_factory=Wanted)

    def evaluate(
        self,
        plan: Plan,
        reads: Sequence[TableRead],
        batches: Mapping[TableName, Batch],
        previous: Mapping[str, float],
    ) -> Evaluated:
        """Read every table, write index and violations, and judge."""
        runs: list[_TableRun] = []
        try:
            for read in reads:
                runs.append(self._read(read, plan, previous))  # noqa: PERF401 (released if one breaks)
            faults.reach("after_read")
            for run in runs:
                self._put_into_index(run, plan, batches)
            faults.reach("after_key_index")
            for run in runs:
                self._put_into_violations(run, plan, batches, previous)
            faults.reach("after_violations")
            by_key = self._results(runs, plan)
            trouble = self._set_aside(runs)
            faults.reach("after_quarantine")
        finally:
            for run in runs:
                run.release(self.engine)
        if sorted(by_key) != sorted(plan.order):
            raise LakeproofError(f"{len(plan.order)} rules gave {len(by_key)} results")
        return Evaluated(
            results=[by_key[key] for key in plan.order],
            moves=[move for run in runs for move in self._moves(run, batches)],
            trouble=trouble,
            compared={
                rule.key: found.compared[rule.rule_id]
                for run in runs
                for found in run.findings
                for rule in found.plan.rules
                if rule.rule_id in found.compared
            },
        )

    def _read(self, read: TableRead, plan: Plan, previous: Mapping[str, float]) -> _TableRun:
        whole = None
        if read.whole:
            part = read.plan
            if read.choice.is_incremental:
                part = part_of(part, read.whole, Mode.SNAPSHOT, part.mode_reason)
            found = TableFindings(part, plan.now, previous)
            whole = evaluate_table(found, self.engine, self.budget, self.listener, self.wanted)
        weighed = None
        if read.of(Part.STILL, Part.CHANGES, Part.REBUILD):
            weighed = self._weigher.weigh(read)
        return _TableRun(read, whole, weighed)

    @property
    def _weigher(self) -> Weigher:
        return Weigher(self.engine, self.budget, self.listener, self.wanted)

    def _put_into_index(
        self, run: _TableRun, plan: Plan, batches: Mapping[TableName, Batch]
    ) -> None:
        batch = batches.get(run.read.plan.pinned.table)
        if run.weighed is None or self.store is None or batch is None:
            return
        store, weighed = self.store, run.weighed
        self._weigher.weigh_again(weighed, store)
        self._timed(
            f"key index of {batch.work.table}",
            lambda: put_into_index(weighed, store, batch, self.labels.run_id, plan.now),
        )

    def _put_into_violations(
        self,
        run: _TableRun,
        plan: Plan,
        batches: Mapping[TableName, Batch],
        previous: Mapping[str, float],
    ) -> None:
        table = run.read.plan.pinned.table
        batch = batches.get(table)
        if self.store is not None and batch is not None:
            self._assign(run, batch, plan)
            gone = self.retired.get(table)
            if gone:
                self.store.retire(batch, self.labels.run_id, gone, plan.now)
        if run.weighed is not None:
            run.news = {**dict.fromkeys(run.weighed.resting, 0), **run.news}
            samples = self._samples(run.weighed, plan)
            run.standing = list(findings_of(run.weighed, plan.now, samples, previous))

    def _assign(self, run: _TableRun, batch: Batch, plan: Plan) -> None:
        store, run_id = self.store, self.labels.run_id
        assert store is not None  # noqa: S101 (the caller has asked)
        whole, weighed = run.whole, run.weighed
        what = f"violations of {batch.work.table}"
        if whole is not None and not self._is_settled(whole):
            view = whole.hits.view if whole.hits is not None else None
            ids = [name for name in whole.evaluated if name in whole.plan.counting_bad]
            news = self._timed(what, lambda: store.apply_hits(batch, run_id, ids, view, plan.now))
            for name in news.keys() & whole.plan.listable:
                summary = whole.summaries.get(name)
                hits = summary.hits if summary is not None else 0
                run.news[name] = grown_by(run.read.progress.get(name), hits, news[name])
        if weighed is not None and weighed.weighed:
            self._timed(what, lambda: put_into_violations(weighed, store, batch, run_id, plan.now))
            run.news.update(weighed.news)

    def _samples(self, weighed: WeighedTable, plan: Plan) -> Mapping[str, tuple[str, ...]]:
        bad = [name for name, of in weighed.standings.items() if of.keys.hits]
        return self.store.sample_keys(bad, plan.now) if bad and self.store is not None else {}

    def _results(self, runs: Sequence[_TableRun], plan: Plan) -> dict[str, CheckResult]:
        executed_at = plan.now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        draft = ResultDraft(self.labels, executed_at)
        by_key = {rule.key: draft.rejected(rule) for rule in plan.rejected}
        suppressed = self._suppressed(runs, plan)
        for run in runs:
            if run.whole is not None and self.store is not None:
                show_what_counts(run.whole, suppressed, self.store, self.listener)
            reasons = run.read.reasons
            for found in run.findings:
                for rule in found.plan.rules:
                    result = draft.of(
                        rule,
                        found,
                        evaluation_of(rule, found),
                        suppressed.get(rule.rule_id, KeyTotals()),
                    )
                    by_key[rule.key] = replace(
                        result,
                        new_violations=run.news.get(rule.rule_id),
                        coverage="; ".join(self._coverage(run, found, rule.rule_id)),
                        mode_reason=reasons.get(rule.rule_id, result.mode_reason),
                        **_method(run, found, rule.rule_id),
                    )
        return by_key

    @property
    def _max_hits(self) -> int | None:
        return self.store.max_hits if self.store is not None else None

    def _coverage(self, run: _TableRun, found: TableFindings, rule_id: str) -> Iterable[str]:
        """What a result says of rows that its mode cannot see, and of violations not stored."""
        if found is not run.whole and run.read.choice.mode is Mode.WATERMARK:
            missed = run.weighed.missed if run.weighed is not None else None
            told = f": {counted(missed, 'row')} updated, deleted or late since" if missed else ""
            yield f"append-only{told}"
        known = run.weighed.standings.get(rule_id) if run.weighed is not None else None
        summary = found.summaries.get(rule_id)
        hits = summary.hits if summary is not None else 0
        if is_too_many(hits, self._max_hits) or (known is not None and known.is_capped):
            yield f"capped at {self._max_hits} violations"

    def _suppressed(self, runs: Iterable[_TableRun], plan: Plan) -> Mapping[str, KeyTotals]:
        failing = {
            name
            for run in runs
            for found in run.findings
            for name in found.evaluated
            if name in found.failing or name in found.compared
        }
        if self.store is None or not failing:
            return {}
        return self.store.suppressed(sorted(failing), plan.now)

    def _set_aside(self, runs: Iterable[_TableRun]) -> list[str]:
        """Write the bad rows of each table into its quarantine; gives what went wrong.

        Results are kept all the same: they are true whether or not the rows could be written.
        """
        trouble: list[str] = []
        for run in runs:
            plan = run.read.plan
            settled = run.whole is not None and self._is_settled(run.whole)
            if self.quarantine is None or settled:
                continue
            started = time.monotonic()
            known = {name for found in run.findings for name in found.evaluated}
            failing = {name for found in run.findings for name in found.failing}
            bad = frozenset(known & failing) & plan.counting_bad
            try:
                rows = self.quarantine.fill(
                    plan, bad, self.labels.run_id, may_repeat=self.labels.may_repeat
                )
            except EngineUnavailableError as problem:
                trouble.append(str(problem))
                continue
            left = [rule.key for rule in plan.rules if rule.rule_id in bad - plan.marked]
            without = f"; without rows of {', '.join(left)}, a query of the user" if left else ""
            text = f"{plan.pinned.table}: {counted(rows, 'bad row')} in quarantine{without}"
            self.listener(StepDone(text, time.monotonic() - started))
        return trouble

    def _is_settled(self, found: TableFindings) -> bool:
        """Whether this run said all there is to say about a table that it cannot read as it was.

        Results of a run stand as they were first recorded; violations must not move away from
        them.
        """
        keys = [rule.key for rule in found.plan.rules]
        return found.plan.pinned.position is None and all(key in self.recorded for key in keys)

    def _moves(self, run: _TableRun, batches: Mapping[TableName, Batch]) -> list[Move]:
        """Where the rules come to stand; one that a newer batch has moved stays there."""
        moves = moves_of(run.weighed, self.labels.suite) if run.weighed is not None else []
        moves += self._moves_of_whole(run)
        batch = batches.get(run.read.plan.pinned.table)
        return [move for move in moves if batch is None or move.previous <= batch.batch_seq]

    def _moves_of_whole(self, run: _TableRun) -> list[Move]:
        if run.whole is None:
            return []
        pinned = run.whole.plan.pinned
        mark = Mark(pinned.table_id, pinned.position)
        keys = {rule.rule_id: rule.key for rule in run.whole.plan.rules}
        secret = {
            rule.rule_id for rule in run.whole.plan.rules if is_withheld(rule, run.whole.plan)
        }
        standings = {
            name: standing.capped_at(self._max_hits) if standing is not None else None
            for name, standing in standings_of(run.whole).items()
        }
        standings.update(dict.fromkeys(secret & standings.keys()))
        return [
            moved(
                run.read.progress.get(name),
                name,
                Mode.SNAPSHOT,
                mark,
                standing,
                keys[name],
                self.labels.suite,
            )
            for name, standing in standings.items()
        ]

    def _timed(self, what: str, work: Callable[[], Given]) -> Given:
        started = time.monotonic()
        given = work()
        self.listener(StepDone(f"state: {what}", time.monotonic() - started))
        return given


def _method(run: _TableRun, found: TableFindings, rule_id: str) -> dict[str, Any]:
    """How a rule was answered; nothing where changes were read."""
    if found is not run.whole:
        is_proven = run.weighed is not None and rule_id in run.weighed.proven
        return {"method": Method.STATISTICS.value, "files_read": 0} if is_proven else {}
    if found.proof is None:
        return {"method": Method.SCAN.value}
    method, files_read = found.proof.method_of(found.plan, rule_id)
    return {"method": method, "files_read": files_read}
