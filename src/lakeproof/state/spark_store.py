"""The store over Spark SQL: the same statements for both formats, classic and Connect.

Nothing here spans tables atomically. So each step is safe to repeat, and the order makes a crash
between two of them harmless: violations before progress, progress before the lease is closed.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from lakeproof import faults
from lakeproof.config import StoreSettings
from lakeproof.errors import AlreadyRunningError, LakeproofError, short_message
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.reading import Mode
from lakeproof.model.standing import KeyTotals
from lakeproof.model.weighing import Resolution
from lakeproof.state import literals
from lakeproof.state.access import StateAccess, pause
from lakeproof.state.assigning import Assigner, lease_lost
from lakeproof.state.attempts import Attempt
from lakeproof.state.batch_rules import BatchRules
from lakeproof.state.creation import all_exist, create_missing
from lakeproof.state.index_log import IndexLog, SparkTouched, columns_of
from lakeproof.state.intent_log import IntentLog
from lakeproof.state.kept_rows import KeptRows
from lakeproof.state.known_keys import known_sql, sums_sql
from lakeproof.state.leases import Claim, Claimant, HeadOf, Intent, IntentStatus, withdrawn
from lakeproof.state.open_violations import OpenViolations
from lakeproof.state.owner import is_dead, this_owner
from lakeproof.state.progress import Head, ProgressLog, Step
from lakeproof.state.pruning import Pruned, Pruner
from lakeproof.state.recording import ResultLog
from lakeproof.state.store import Batch, Move, RuleProgress, TableWork, Touched, Weighed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CLAIMS_MAX = 3
POLLS_MAX = 6

_log = logging.getLogger(__name__)


class SparkStore:
    """Results, violations, progress, intents and key index; see `Store` for the calls.

    What a batch builds on is what `progress` last told of its rules: weights, standings and index
    then start from the same row, whoever commits in between.
    """

    def __init__(self, spark: SparkSession, settings: StoreSettings) -> None:
        self._access = StateAccess(spark, settings)
        self._lease = timedelta(seconds=settings.lease_seconds)
        self._is_prepared = False
        self._held: dict[str, dict[Batch, Intent]] = {}
        self._intents = IntentLog(self._access)
        self._results = ResultLog(self._access)
        self._progress = ProgressLog(self._access)
        self._open = OpenViolations(self._access)
        self._heads: dict[str, Head | None] = {}
        self._attempts: dict[tuple[Batch, str], tuple[Attempt, ...]] = {}

    @property
    def description(self) -> str:
        return self._access.description

    @property
    def max_hits(self) -> int | None:
        return self._access.max_hits

    def exists(self) -> bool:
        with self._access.reaching("look for the state tables"):
            return all_exist(self._access)

    def prepare(self) -> None:
        """Once per object: four looks at table properties when everything is there."""
        if self._is_prepared:
            return
        with self._access.reaching("prepare the state tables"):
            create_missing(self._access)
        self._is_prepared = True

    def begin(
        self,
        run_id: str,
        works: Sequence[TableWork],
        now: datetime,
        head_of: HeadOf | None = None,
    ) -> list[Batch]:
        if not works:
            return []
        claimant = self._claimant(run_id, now)
        for number in range(1, CLAIMS_MAX + 1):
            with self._access.reaching("read who is at work"):
                known = self._intents.present(run_id, works)
            claims = claimant.claims(works, known, head_of)
            # Known before it is written: whatever breaks from here on, `release` gives it back.
            self._held[run_id] = {claim.batch: claim.intent for claim in claims}
            with self._access.reaching("take the lease"):
                self._intents.append(
                    [row for claim in claims for row in (*claim.ended, claim.intent)]
                )
            faults.reach("after_lease")
            with self._access.reaching("confirm the lease"):
                rivals = self._await_rivals(claimant, claims)
                if not rivals:
                    return self._confirmed(run_id, claims)
                self._intents.append(withdrawn(claims, claimant.now))
                del self._held[run_id]
            pause(number)
        raise AlreadyRunningError(
            f"run {run_id!r} lost the lease on {rivals[0].table_fqn} {CLAIMS_MAX} times to others, "
            f"last to run {rivals[0].run_id!r} ({rivals[0].owner}). Run again when it has finished"
        )

    def apply_hits(
        self,
        batch: Batch,
        run_id: str,
        rule_ids: Sequence[str],
        hits_view: str | None,
        now: datetime,
    ) -> Mapping[str, int]:
        return Assigner(self._access, batch, run_id, now).assign_all(rule_ids, hits_view)

    def has_begun(self, run_id: str) -> bool:
        return self._results.has_begun(run_id)

    def recorded_results(self, run_id: str) -> Mapping[str, CheckResult]:
        return self._results.recorded_results(run_id)

    def previous_measures(
        self, rule_ids: Sequence[str], run_id: str, *, is_repeated: bool
    ) -> Mapping[str, float]:
        return self._results.previous_measures(rule_ids, run_id, is_repeated=is_repeated)

    def record_results(self, results: Sequence[CheckResult]) -> int:
        return self._results.record(results) if results else 0

    def progress(self, rule_ids: Sequence[str]) -> Mapping[str, RuleProgress]:
        if not rule_ids:
            return {}
        found = self._look_up(rule_ids)
        return {rule_id: head.progress for rule_id, head in found.items()}

    def progress_of_suite(self, suite: str, table: TableName) -> Sequence[RuleProgress]:
        heads = self._progress.heads_of_table(table)
        asked = {name: head for name, head in heads.items() if head.progress.suite == suite}
        self._heads.update(asked)
        return [head.progress for head in asked.values()]

    def strays(self, rule_ids: Sequence[str]) -> frozenset[str]:
        return self._progress.strays(rule_ids) if rule_ids else frozenset()

    def kept(self, kept_id: str) -> str | None:
        head = self._look_up([kept_id]).get(kept_id)
        if head is None or not head.attempts:
            return None
        return KeptRows(self._access, kept_id).sql(head.attempts)

    def keep(self, batch: Batch, kept_id: str, relation: str, *, is_rebuilt: bool) -> None:
        head = None if is_rebuilt else self._head(kept_id)
        known = head.attempts if head else ()
        kept = KeptRows(self._access, kept_id)
        self._attempts[batch, kept_id] = kept.add(batch.batch_seq, relation, known)

    def add_weights(
        self, batch: Batch, run_id: str, weighed: Sequence[Weighed], views: Sequence[str]
    ) -> SparkTouched:
        heads = {
            one.rule_id: head for one in weighed if (head := self._head(one.rule_id)) is not None
        }
        if any(head.progress.batch_seq >= batch.batch_seq for head in heads.values()):
            raise lease_lost(batch, run_id)
        held = self._held.get(run_id, {}).get(batch)
        moment = held.created_at if held else datetime.now(UTC)
        touched = IndexLog(self._access).add(batch, weighed, views, heads, moment)
        for rule_id, attempts in touched.attempts.items():
            self._attempts[batch, rule_id] = attempts
        return touched

    def assign_touched(
        self,
        batch: Batch,
        run_id: str,
        weighed: Sequence[Weighed],
        touched: Touched,
        now: datetime,
    ) -> Mapping[str, int]:
        assigner = Assigner(self._access, batch, run_id, now)
        return assigner.assign_touched(weighed, cast("SparkTouched", touched))

    def known_keys(self, weighed: Sequence[Weighed], besides: Sequence[str]) -> str:
        """Out of the index as committed: violations may be those of a batch that is not."""
        ids = [one.rule_id for one in weighed]
        heads = {name: head for name in ids if (head := self._head(name)) is not None}
        self._access.refresh("key_index")
        columns = columns_of(self._access, besides)
        log = IndexLog(self._access)
        rules = BatchRules.of(weighed)
        sql = known_sql(log.visible(heads), log.tiles(heads), columns, rules)
        view = f"lakeproof_known_{uuid.uuid4().hex}"
        self._access.frame(sql).createOrReplaceTempView(view)
        return view

    def forget(self, view: str) -> None:
        self._access.spark.catalog.dropTempView(view)

    def suppressed(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, KeyTotals]:
        return self._open.suppressed(rule_ids, now) if rule_ids else {}

    def suppressed_hits(self, rule_ids: Sequence[str], now: datetime) -> str:
        return self._open.suppressed_hits(rule_ids, now)

    def sample_keys(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, tuple[str, ...]]:
        return self._open.sample_keys(rule_ids, now) if rule_ids else {}

    def index_sums(self, rule_id: str) -> str:
        """SQL of what each key of the rule weighs as committed: rule_id, side, key_hash, weight."""
        self._access.refresh("key_index")
        log, heads = IndexLog(self._access), self._progress.heads([rule_id])
        return sums_sql(log.visible(heads), log.tiles(heads))

    def retire(
        self, batch: Batch, run_id: str, rules: Mapping[str, Resolution], now: datetime
    ) -> None:
        Assigner(self._access, batch, run_id, now).close(dict(rules))

    def mark_unknown(
        self, batch: Batch, run_id: str, rule_ids: Sequence[str], now: datetime
    ) -> None:
        Assigner(self._access, batch, run_id, now).close(dict.fromkeys(rule_ids))

    def prune(self, now: datetime, *, drops_resolved: bool = False) -> Pruned:
        """Take out what no run will look at again, of tables that no run is at work on.

        `drops_resolved` also removes violations that were resolved before the last two batches.
        """
        self.prepare()
        run_id = f"prune-{uuid.uuid4().hex[:16]}"
        held: dict[Batch, Intent] = {}
        skipped: list[str] = []
        try:
            for work in Pruner.over(self._access).works():
                try:
                    self.begin(run_id, [work], now)
                except AlreadyRunningError:
                    skipped.append(str(work.table))
                else:
                    held |= self._held[run_id]
            # Looked at again, because it may have moved while the leases were taken.
            leased = {rule_id for one in held for rule_id in one.work.rule_ids}
            pruner = Pruner.over(self._access).within(leased)
            pruned = pruner.prune(list(held), run_id, now, drops_resolved=drops_resolved)
        finally:
            self._held[run_id] = held | self._held.get(run_id, {})
            self.release(run_id, now)
        return replace(pruned, skipped=tuple(skipped))

    def require_leases(self, batches: Sequence[Batch], run_id: str) -> None:
        self._assert_committed(batches, run_id, ())

    def commit(
        self, batches: Sequence[Batch], run_id: str, moves: Sequence[Move], now: datetime
    ) -> None:
        """Append the progress that is not overtaken, look, then close the intents.

        Where the write itself has told that every step was taken, only the leases are looked at.
        """
        if not batches:
            return
        claimant = self._claimant(run_id, now)
        steps = [self._step(batches, move) for move in moves]
        unsure: Sequence[Step] = ()
        if steps and self._access.retrying(
            lambda: self._progress.advance(steps, run_id, claimant.now)
        ) != len(steps):
            unsure = steps
        faults.reach("after_progress")
        self._assert_committed(batches, run_id, unsure)
        held = self._held.get(run_id, {})
        intents = [held.get(batch, claimant.intent(batch)) for batch in batches]
        self._intents.append(
            [intent.closed(IntentStatus.COMMITTED, claimant.now) for intent in intents]
        )
        for batch in batches:  # only now: a lease that is not closed is still to be given back
            held.pop(batch, None)

    def release(self, run_id: str, now: datetime) -> None:
        """Abandon what this object still holds. Does not raise: it runs while errors pass by."""
        held = self._held.pop(run_id, {})
        if not held:
            return
        moment = _utc(now)
        try:
            self._intents.append(
                [row.closed(IntentStatus.ABANDONED, moment) for row in held.values()]
            )
        except Exception as problem:  # noqa: BLE001 (must not hide the error that led here)
            _log.warning(
                "run %r could not give up its lease, which ends by itself: %s",
                run_id,
                short_message(problem),
            )

    def results_frame(self, run_id: str | None = None) -> DataFrame:
        """Stored results, of one run or of all, as a lazy DataFrame."""
        return self._frame("results", {"run_id": run_id})

    def violations_frame(
        self, status: str | None = None, table: str | None = None, rule_id: str | None = None
    ) -> DataFrame:
        """Stored violations; `table` is a full name as `table_fqn` has it."""
        return self._frame("violations", {"status": status, "table_fqn": table, "rule_id": rule_id})

    def frame_of(self, kind: str) -> DataFrame:
        """A state table as a lazy DataFrame."""
        return self._frame(kind, {})

    def _frame(self, kind: str, wanted: Mapping[str, str | None]) -> DataFrame:
        self._access.refresh(kind)
        conditions = [
            f"`{column}` = {literals.text(value)}"
            for column, value in wanted.items()
            if value is not None
        ]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return self._access.frame(f"SELECT * FROM {self._access.tables[kind].sql}{where}")

    def _claimant(self, run_id: str, now: datetime) -> Claimant:
        moment = _utc(now)
        return Claimant(run_id, this_owner(), moment, moment + self._lease, is_dead)

    def _confirmed(self, run_id: str, claims: Sequence[Claim]) -> list[Batch]:
        if not any(claim.batch.adopted for claim in claims):
            self._results.first_timers.add(run_id)
        return [claim.batch for claim in claims]

    def _await_rivals(self, claimant: Claimant, claims: Sequence[Claim]) -> list[Intent]:
        """Rivals that are left once those that yield to us had time to withdraw."""
        works = [claim.batch.work for claim in claims]
        rivals: list[Intent] = []
        for _ in range(POLLS_MAX):
            rivals = claimant.rivals(claims, self._intents.present(claimant.run_id, works))
            if not rivals or claimant.yields_to(rivals):
                break
            pause(1)
        return rivals

    def _look_up(self, rule_ids: Sequence[str]) -> dict[str, Head]:
        found = self._progress.heads(rule_ids)
        self._heads.update({rule_id: found.get(rule_id) for rule_id in rule_ids})
        return found

    def _head(self, rule_id: str) -> Head | None:
        """What `progress` last told of it."""
        if rule_id not in self._heads:
            self._look_up([rule_id])
        return self._heads[rule_id]

    def _step(self, batches: Sequence[Batch], move: Move) -> Step:
        """A move under its batch, with the attempts that its index is made of then."""
        head = self._heads.get(move.rule_id)
        for batch in batches:
            if (batch, move.rule_id) in self._attempts:
                return Step(batch, move, self._attempts[batch, move.rule_id])
        # Nothing was added to the index. It still counts unless the rule has done without.
        attempts: tuple[Attempt, ...] = ()
        if head is not None and head.progress.generation == move.generation:
            attempts = () if move.mode is Mode.SNAPSHOT else head.attempts
        return Step(_batch_of(batches, move, head), move, attempts)

    def _assert_committed(
        self, batches: Sequence[Batch], run_id: str, steps: Sequence[Step]
    ) -> None:
        """Progress stands where it should, and every lease is still ours: one look at both."""
        found = self._progress.committed(steps, batches, run_id)
        for batch in found.lost:
            raise lease_lost(batch, run_id)
        for step in found.overtaken:
            raise lease_lost(step.batch, run_id)


def _batch_of(batches: Sequence[Batch], move: Move, head: Head | None) -> Batch:
    """The batch that has the rule; of a rule that nobody asks for any more, that of its table."""
    table = head.progress.table if head is not None else ""
    for batch in batches:
        if move.rule_id in batch.work.rule_ids:
            return batch
    for batch in batches:
        if len(batches) == 1 or str(batch.work.table) == table:
            return batch
    raise LakeproofError(f"no batch of this run has rule {move.rule_id}, which is to move")


def _utc(moment: datetime) -> datetime:
    """Without zone, in UTC, as the tables hold moments."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
