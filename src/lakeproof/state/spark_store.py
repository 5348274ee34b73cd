"""The store over Spark SQL: the same statements for both formats, classic and Connect.

Nothing here spans tables atomically. So each step is safe to repeat, and the order makes a crash
between two of them harmless: violations before progress, progress before the lease is closed.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from lakeproof import faults
from lakeproof.config import StoreSettings
from lakeproof.errors import (
    AlreadyRunningError,
    FencedError,
    LakeproofError,
    short_message,
)
from lakeproof.model.outcome import CheckResult
from lakeproof.state import literals
from lakeproof.state.access import StateAccess, pause
from lakeproof.state.creation import create_missing
from lakeproof.state.leases import Claim, Claimant, Intent, IntentStatus, withdrawn
from lakeproof.state.owner import is_dead, this_owner
from lakeproof.state.statements import build_quality_result_insert, previous_measures_sql
from lakeproof.state.store import Batch, TableWork
from lakeproof.state.table_format import Fence
from lakeproof.state.tables import PROGRESS
from lakeproof.state.violations import Assignment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

CLAIMS_MAX = 3
POLLS_MAX = 6
EPOCHS_PER_BATCH = 10_000
"""Delta's fence is one number: the batch, and within it the epoch."""

_log = logging.getLogger(__name__)


class SparkStore:
    """Results, violations, progress and intents of one namespace; see `Store` for the calls."""

    def __init__(self, spark: SparkSession, settings: StoreSettings) -> None:
        self._access = StateAccess(spark, settings)
        self._lease = timedelta(seconds=settings.lease_seconds)
        self._is_prepared = False
        self._held: dict[str, dict[Batch, Intent]] = {}
        self._first_timers: set[str] = set()

    @property
    def description(self) -> str:
        return self._access.description

    def prepare(self) -> None:
        """Once per object: four looks at table properties when everything is there."""
        if self._is_prepared:
            return
        with self._access.reaching("prepare the state tables"):
            create_missing(self._access)
        self._is_prepared = True

    def begin(self, run_id: str, works: Sequence[TableWork], now: datetime) -> list[Batch]:
        if not works:
            return []
        claimant = self._claimant(run_id, now)
        for number in range(1, CLAIMS_MAX + 1):
            with self._access.reaching("read who is at work"):
                known = self._intents(run_id, works)
            claims = [claimant.claim(work, known) for work in works]
            with self._access.reaching("take the lease"):
                self._append([row for claim in claims for row in (*claim.ended, claim.intent)])
            faults.reach("after_lease")
            with self._access.reaching("confirm the lease"):
                rivals = self._await_rivals(claimant, claims)
                if not rivals:
                    return self._hold(run_id, claims)
                self._append(withdrawn(claims, claimant.now))
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
        if not rule_ids:
            return {}
        assignment = Assignment(
            batch=batch,
            run_id=run_id,
            rule_ids=tuple(rule_ids),
            now=now,
            violations=self._access.tables["violations"],
            progress=self._access.tables["progress"],
            intents=self._access.tables["intents"],
        )
        return self._access.retrying(lambda: self._assign(assignment, hits_view))

    def recorded_rules(self, run_id: str) -> Mapping[str, str]:
        self._access.refresh("results")
        rows = self._access.read(
            f"SELECT rule_key, rule_id FROM {self._access.tables['results'].sql} "
            f"WHERE run_id = {literals.text(run_id)}"
        )
        return {str(row["rule_key"]): str(row["rule_id"]) for row in rows}

    def previous_measures(
        self, rule_ids: Sequence[str], run_id: str, *, is_repeated: bool
    ) -> Mapping[str, float]:
        self._access.refresh("results", "intents")
        tables = self._access.tables
        sql = previous_measures_sql(tables["results"], rule_ids, run_id)
        if is_repeated:
            sql = previous_measures_sql(tables["results"], rule_ids, run_id, tables["intents"])
        rows = self._access.read(sql)
        return {str(row["rule_id"]): float(str(row["measure"])) for row in rows}

    def record_results(self, results: Sequence[CheckResult]) -> int:
        if not results:
            return 0
        return self._access.retrying(lambda: self._record(results))

    def commit(
        self,
        batches: Sequence[Batch],
        run_id: str,
        rule_ids: Collection[str],
        now: datetime,
    ) -> None:
        """Append the progress that is not overtaken, look, then close the intents."""
        if not batches:
            return
        claimant = self._claimant(run_id, now)
        rows = [
            _progress_row(batch, rule_id, claimant)
            for batch in batches
            for rule_id in dict.fromkeys(batch.work.rule_ids)
            if rule_id in rule_ids
        ]
        self._access.refresh("progress", "intents")
        if rows:
            self._access.retrying(lambda: self._advance(rows))
        faults.reach("after_progress")
        self._assert_committed(batches, run_id, rows)
        held = self._held.get(run_id, {})
        intents = [held.pop(batch, claimant.intent(batch)) for batch in batches]
        self._append([intent.closed(IntentStatus.COMMITTED, claimant.now) for intent in intents])

    def release(self, run_id: str, now: datetime) -> None:
        """Abandon what this object still holds. Does not raise: it runs while errors pass by."""
        held = self._held.pop(run_id, {})
        if not held:
            return
        moment = _utc(now)
        try:
            self._append([row.closed(IntentStatus.ABANDONED, moment) for row in held.values()])
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

    def _intents(self, run_id: str, works: Sequence[TableWork]) -> list[Intent]:
        """The present of every intent that can matter: open, of this run, or of highest number."""
        self._access.refresh("intents")
        names = literals.texts(str(work.table) for work in works)
        ids = literals.texts(work.table_id for work in works if work.table_id)
        is_open = f"status = '{IntentStatus.OPEN.value}'"
        # The wider window is the inner one: then both need a single shuffle.
        rows = self._access.read(f"""
SELECT * EXCEPT (age, highest) FROM (
  SELECT *, row_number() OVER (PARTITION BY table_id, table_fqn, group_id, run_id, batch_seq
                               ORDER BY epoch DESC, {is_open}) AS age
  FROM (
    SELECT *, max(batch_seq) OVER (PARTITION BY table_id, table_fqn) AS highest
    FROM {self._access.tables["intents"].sql}
    WHERE table_fqn IN ({names}) OR table_id IN ({ids})
  )
) WHERE age = 1 AND ({is_open} OR run_id = {literals.text(run_id)} OR batch_seq = highest)""")
        return [
            Intent(**{**row.asDict(), "rule_ids": tuple(row["rule_ids"] or ())}) for row in rows
        ]

    def _hold(self, run_id: str, claims: Sequence[Claim]) -> list[Batch]:
        self._held[run_id] = {claim.batch: claim.intent for claim in claims}
        if not any(claim.batch.adopted for claim in claims):
            self._first_timers.add(run_id)
        return [claim.batch for claim in claims]

    def _append(self, intents: Sequence[Intent]) -> None:
        self._access.append("intents", [asdict(intent) for intent in intents])

    def _await_rivals(self, claimant: Claimant, claims: Sequence[Claim]) -> list[Intent]:
        """Rivals that are left once those that yield to us had time to withdraw."""
        works = [claim.batch.work for claim in claims]
        rivals: list[Intent] = []
        for _ in range(POLLS_MAX):
            rivals = claimant.rivals(claims, self._intents(claimant.run_id, works))
            if not rivals or claimant.yields_to(rivals):
                break
            pause(1)
        return rivals

    def _assign(self, assignment: Assignment, hits_view: str | None) -> dict[str, int]:
        self._access.refresh("violations", "progress", "intents")
        with self._changes(assignment, hits_view) as changes_view:
            summary = self._access.read(assignment.summary(changes_view))
            new_hits = {str(row["rule_id"]): int(row["new_hits"]) for row in summary}
            counts = {rule_id: new_hits.get(rule_id, 0) for rule_id in assignment.rule_ids}
            if not any(row["to_write"] for row in summary):
                return counts
            self._access.refresh("intents")
            self._access.write(assignment.merge(changes_view), self._fence(assignment))
        self._assert_assigned(assignment, sum(int(row["stamped"]) for row in summary))
        return counts

    @contextmanager
    def _changes(self, assignment: Assignment, hits_view: str | None) -> Iterator[str]:
        """The changes as a view that is computed once: reading the checked table is what costs."""
        name = f"lakeproof_changes_{uuid.uuid4().hex}"
        changes = self._access.frame(assignment.changes(hits_view)).persist()
        changes.createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self._access.spark.catalog.dropTempView(name)
            changes.unpersist()

    def _fence(self, assignment: Assignment) -> Fence:
        """One application per state table, checked table, group and set of rules.

        The rules are in it because Delta skips a known number whatever the data: rules that
        failed to run at first and now have hits must not be taken for written.
        """
        work = assignment.batch.work
        parts = (str(assignment.violations), work.table_id, str(work.table), work.group)
        identity = "\n".join((*parts, *sorted(assignment.rule_ids)))
        return Fence(
            application=f"lakeproof-{sha256(identity.encode()).hexdigest()[:32]}",
            version=assignment.batch.batch_seq * EPOCHS_PER_BATCH
            + min(assignment.batch.epoch, EPOCHS_PER_BATCH - 1),
        )

    def _assert_assigned(self, assignment: Assignment, expected: int) -> None:
        found = self._access.read(assignment.stamped)[0]
        if found["stamped"] == expected:
            return
        if found["lost"]:
            raise _fenced(assignment.batch, assignment.run_id)
        raise LakeproofError(
            f"{assignment.violations}: {found['stamped']} violations carry batch "
            f"{assignment.batch.batch_seq} of {assignment.batch.work.table} where {expected} were "
            "written; another program writes to this table. Run again"
        )

    def _record(self, results: Sequence[CheckResult]) -> int:
        table = self._access.tables["results"]
        wanted = Counter(
            (literals.storable(result.run_id), literals.storable(result.rule_key))
            for result in results
        )
        self._access.refresh("results")
        added = len(wanted.keys() - self._recorded_before(results).keys())
        if added:
            self._access.write(
                build_quality_result_insert(results, table.sql, self._access.format.name)
            )
            found = self._recorded(results)
            wrong = [key for key in wanted if found[key] != 1]
            if wrong:
                raise LakeproofError(
                    f"{table}: result {wrong[0]} is there {found[wrong[0]]} times after writing it "
                    "once; another program writes to this table"
                )
        return added

    def _recorded_before(self, results: Sequence[CheckResult]) -> Counter[tuple[str, str]]:
        """What these runs had recorded; a run that began just now, nothing, without a look."""
        run_ids = {result.run_id for result in results}
        is_first_time = run_ids <= self._first_timers
        self._first_timers -= run_ids
        return Counter() if is_first_time else self._recorded(results)

    def _recorded(self, results: Sequence[CheckResult]) -> Counter[tuple[str, str]]:
        run_ids = literals.texts(sorted({result.run_id for result in results}))
        rows = self._access.read(
            f"SELECT run_id, rule_key FROM {self._access.tables['results'].sql} "
            f"WHERE run_id IN ({run_ids})"
        )
        return Counter((str(row["run_id"]), str(row["rule_key"])) for row in rows)

    def _advance(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Compare and set in one statement: a rule that stands as far or further gets no row."""
        table = self._access.tables["progress"].sql
        self._access.write(
            f"INSERT INTO {table} SELECT s.* FROM ({literals.rows(PROGRESS, rows)}) s "
            f"LEFT ANTI JOIN {table} p ON p.rule_id = s.rule_id AND p.batch_seq >= s.batch_seq"
        )

    def _assert_committed(
        self, batches: Sequence[Batch], run_id: str, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Progress stands where it should, and every lease is still ours: one look at both."""
        tables = self._access.tables
        names = literals.texts(str(batch.work.table) for batch in batches)
        rules = literals.texts(str(row["rule_id"]) for row in rows)
        found = self._access.read(f"""
SELECT rule_id AS name, max(batch_seq) AS batch_seq, CAST(NULL AS BIGINT) AS epoch, '' AS status
FROM {tables["progress"].sql} WHERE rule_id IN ({rules}) GROUP BY rule_id
UNION ALL
SELECT table_fqn, batch_seq, epoch, status FROM {tables["intents"].sql}
WHERE run_id = {literals.text(run_id)} AND table_fqn IN ({names})""")
        reached = {row["name"]: row["batch_seq"] for row in found if row["epoch"] is None}
        for row in rows:
            if reached.get(row["rule_id"], 0) < row["batch_seq"]:
                raise LakeproofError(
                    f"{tables['progress']}: rule {row['rule_id']} did not move to batch "
                    f"{row['batch_seq']}; another program writes to this table. Run again"
                )
        for batch in batches:
            if any(_is_lost(batch, entry) for entry in found if entry["epoch"] is not None):
                raise _fenced(batch, run_id)


def _is_lost(batch: Batch, entry: Row) -> bool:
    """Whether an entry of the log says that another driver ended or adopted our intent."""
    if (entry["name"], entry["batch_seq"]) != (str(batch.work.table), batch.batch_seq):
        return False
    was_ended = entry["epoch"] == batch.epoch and entry["status"] == IntentStatus.ABANDONED
    return was_ended or bool(entry["epoch"] > batch.epoch)


def _progress_row(batch: Batch, rule_id: str, claimant: Claimant) -> dict[str, object]:
    return {
        "table_id": batch.work.table_id,
        "table_fqn": str(batch.work.table),
        "group_id": batch.work.group,
        "rule_id": rule_id,
        "mode": "snapshot",
        "position": batch.position.to_json() if batch.position else None,
        "batch_seq": batch.batch_seq,
        "run_id": claimant.run_id,
        "updated_at": claimant.now,
    }


def _fenced(batch: Batch, run_id: str) -> FencedError:
    return FencedError(
        f"run {run_id!r} lost its lease on {batch.work.table} while it worked on batch "
        f"{batch.batch_seq}: another driver took over. Nothing more is written; look at that "
        "driver's results, or raise [store] lease_seconds if runs take this long"
    )


def _utc(moment: datetime) -> datetime:
    """Without zone, in UTC, as the tables hold moments."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
