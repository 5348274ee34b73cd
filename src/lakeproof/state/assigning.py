"""Violations written: is there anything to write, one MERGE, was it written."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from lakeproof.errors import FencedError, LakeproofError
from lakeproof.model.weighing import Resolution
from lakeproof.state.access import StateAccess
from lakeproof.state.capping import Cap, stored_sql
from lakeproof.state.index_log import SparkTouched, name_view, settled
from lakeproof.state.store import Batch, Weighed
from lakeproof.state.table_format import Fence
from lakeproof.state.touched import Closing, TouchedAssignment
from lakeproof.state.violations import Assignment, RulesOfBatch

if TYPE_CHECKING:
    from pyspark.sql import Row

EPOCHS_PER_BATCH = 10_000
"""Delta's fence is one number: the batch, and within it the epoch."""


@dataclass(frozen=True, slots=True)
class Assigner:
    """One run's hand on the violations of one batch."""

    access: StateAccess
    batch: Batch
    run_id: str
    now: datetime

    def assign_all(
        self,
        rule_ids: Sequence[str],
        hits_view: str | None,
        unseen_as: Mapping[str, Resolution] | None = None,
    ) -> dict[str, int]:
        """Every violation of these rules, by all that is bad; gives new hits per rule."""
        if not rule_ids:
            return {}
        tables = self.access.tables
        assignment = Assignment(
            batch=self.batch,
            run_id=self.run_id,
            rule_ids=tuple(rule_ids),
            now=self.now,
            violations=tables["violations"],
            progress=tables["progress"],
            intents=tables["intents"],
            unseen_as=unseen_as or {},
        )
        return self.access.retrying(lambda: self._assign(assignment, hits_view))

    def assign_touched(self, weighed: Sequence[Weighed], touched: SparkTouched) -> dict[str, int]:
        """Violations of rules that began anew all, of those that went on the touched ones."""
        anew = {one.rule_id: one.unseen_as for one in weighed if one.is_rebuilt}
        onward = [one.rule_id for one in weighed if not one.is_rebuilt]
        capped = [one.rule_id for one in weighed if not one.is_rebuilt and one.is_capped]
        counts = self.assign_all(tuple(anew), touched.open_view or None, anew)
        if any(touched.to_write.get(rule_id) for rule_id in onward):
            tables = self.access.tables
            assignment = TouchedAssignment(
                batch=self.batch,
                run_id=self.run_id,
                rule_ids=tuple(onward),
                now=self.now,
                violations=tables["violations"],
                progress=tables["progress"],
                intents=tables["intents"],
            )
            self.access.retrying(lambda: self._assign_keys(assignment, touched, capped))
        return counts | {rule_id: touched.new_hits.get(rule_id, 0) for rule_id in onward}

    def close(self, why: Mapping[str, Resolution | None]) -> None:
        """Resolve what these rules have open, or make it unknown; see `Closing`."""
        if why:
            tables = self.access.tables
            closing = Closing(
                batch=self.batch,
                run_id=self.run_id,
                why=why,
                now=self.now,
                violations=tables["violations"],
                intents=tables["intents"],
            )
            self.access.retrying(lambda: self._close(closing))

    def _assign(self, assignment: Assignment, hits_view: str | None) -> dict[str, int]:
        self.access.refresh("violations", "progress", "intents")
        with self._changes(assignment, hits_view) as changes_view:
            summary = self.access.read(assignment.summary(changes_view))
            new_hits = {str(row["rule_id"]): int(row["new_hits"]) for row in summary}
            counts = {rule_id: new_hits.get(rule_id, 0) for rule_id in assignment.rule_ids}
            if not any(row["to_write"] for row in summary):
                return counts
            cap, left = self._cap(summary)
            self.access.refresh("intents")
            fence = self._fence("all", assignment.rule_ids)
            self.access.write(assignment.merge(changes_view, cap), fence)
        found = self.access.read(assignment.stamped)[0]
        expected = sum(int(row["stamped"]) - left.get(row["rule_id"], 0) for row in summary)
        if found["stamped"] != expected:
            self._refuse(
                assignment,
                f"{found['stamped']} violations carry batch {self.batch.batch_seq} of "
                f"{self.batch.work.table} where {expected} were written",
            )
        return counts

    def _cap(self, summary: Sequence[Row]) -> tuple[Cap, dict[str, int]]:
        """The room of rules that have more hits than may be stored; how many are left out."""
        most = self.access.max_hits
        rooms = {
            str(row["rule_id"]): max(0, most - row["stored"])
            for row in summary
            if most is not None and row["inserts"] > max(0, most - row["stored"])
        }
        left = {
            row["rule_id"]: row["inserts"] - rooms[row["rule_id"]]
            for row in summary
            if row["rule_id"] in rooms
        }
        return Cap(rooms), left

    @contextmanager
    def _changes(self, assignment: Assignment, hits_view: str | None) -> Iterator[str]:
        """The changes as a view that is computed once: reading the checked table is what costs."""
        name = f"lakeproof_changes_{uuid.uuid4().hex}"
        changes = self.access.frame(assignment.changes(hits_view)).persist()
        changes.createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self.access.spark.catalog.dropTempView(name)
            changes.unpersist()

    def _assign_keys(
        self, assignment: TouchedAssignment, touched: SparkTouched, capped: Sequence[str]
    ) -> None:
        self.access.refresh("violations", "progress", "intents")
        view = self._within_cap(assignment, touched, capped) if capped else touched.view
        fence = self._fence("touched", assignment.rule_ids)
        written = self.access.write(assignment.merge(view), fence)
        if written == sum(touched.to_write.get(name, 0) for name in assignment.rule_ids):
            return
        self.access.refresh("violations")
        found = self.access.read(assignment.unlike(view))[0]
        if found["wrong"]:
            self._refuse(
                assignment,
                f"{found['wrong']} violations of {self.batch.work.table} are not as batch "
                f"{self.batch.batch_seq} has written them",
            )

    def _within_cap(
        self, assignment: TouchedAssignment, touched: SparkTouched, capped: Sequence[str]
    ) -> str:
        """A view of the touched keys without those that there is no room for."""
        most = self.access.max_hits
        assert most is not None  # noqa: S101 (nothing is capped without)
        closing = assignment.closing(touched.view)
        found = self.access.read(stored_sql(assignment.violations, capped, closing))
        stored = {row["rule_id"]: row["stored"] for row in found}
        cap = Cap({rule_id: max(0, most - stored.get(rule_id, 0)) for rule_id in capped})
        frame = settled(self.access.frame(assignment.stored_or_not(touched.view)))
        view = name_view(self.access, frame, touched.held)
        within = cap.within(view, frame.columns, "is_open AND NOT is_stored")
        return name_view(self.access, self.access.frame(f"SELECT * FROM {within}"), touched.held)

    def _close(self, closing: Closing) -> None:
        self.access.refresh("violations", "intents")
        if self.access.read(closing.concerned)[0]["rows"]:
            fence = self._fence("closing", sorted(closing.why))
            self.access.write(closing.merge, fence)

    def _fence(self, what: str, rule_ids: Sequence[str]) -> Fence:
        """One application per state table, checked table, group, kind of write and set of rules.

        The rules are in it because Delta skips a known number whatever the data: rules that
        failed to run at first and now have hits must not be taken for written.
        """
        work = self.batch.work
        table = str(self.access.tables["violations"])
        parts = (table, work.table_id, str(work.table), work.group, what, *sorted(rule_ids))
        identity = "\n".join(parts)
        return Fence(
            application=f"lakeproof-{sha256(identity.encode()).hexdigest()[:32]}",
            version=self.batch.batch_seq * EPOCHS_PER_BATCH
            + min(self.batch.epoch, EPOCHS_PER_BATCH - 1),
        )

    def _refuse(self, assignment: RulesOfBatch, told: str) -> None:
        self.access.refresh("intents")
        if self.access.read(f"SELECT {assignment.lease_is_lost} AS lost")[0]["lost"]:
            raise lease_lost(self.batch, self.run_id)
        raise LakeproofError(
            f"{self.access.tables['violations']}: {told}; another program writes to this table. "
            "Run again"
        )


def lease_lost(batch: Batch, run_id: str) -> FencedError:
    return FencedError(
        f"run {run_id!r} lost its lease on {batch.work.table} while it worked on batch "
        f"{batch.batch_seq}: another driver took over. Nothing more is written; look at that "
        "driver's results, or raise [store] lease_seconds if runs take this long"
    )
