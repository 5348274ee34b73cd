"""SQL that moves violations from one batch to the next.

First the changes are computed, once: what the rules see now against what is stored. Then one
MERGE writes those that are changes. Everything is an assignment as of the batch, so a repeat finds
nothing left to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lakeproof.model.names import TableName, quote
from lakeproof.model.violation import ViolationStatus
from lakeproof.model.weighing import Resolution
from lakeproof.state import literals
from lakeproof.state.capping import Cap
from lakeproof.state.leases import IntentStatus
from lakeproof.state.store import Batch

OPEN = f"'{ViolationStatus.OPEN.value}'"
RESOLVED = f"'{ViolationStatus.RESOLVED.value}'"
GONE = f"'{Resolution.GONE.value}'"
HIT_ID = "sha2(concat(rule_id, '|', violation_key), 256)"
"""As `model.canonical.hit_id` has it."""
NO_HITS = "(SELECT '' AS hit_id, '' AS rule_id, '' AS violation_key, 0L AS occurrences WHERE false)"


@dataclass(frozen=True, slots=True)
class RulesOfBatch:
    """Some rules of a batch whose violations a run is about to write, and where they belong."""

    batch: Batch
    run_id: str
    rule_ids: tuple[str, ...]
    now: datetime
    violations: TableName
    progress: TableName
    intents: TableName

    @property
    def lease_is_lost(self) -> str:
        """Our intent was closed under us, or a second driver of this run has adopted it."""
        return lease_is_lost(self.intents, self.batch, self.run_id)


@dataclass(frozen=True, slots=True)
class Assignment(RulesOfBatch):
    """Every violation of the rules, by all that is bad.

    `unseen_as` says of a rule why stored violations that it does not see are resolved.
    """

    unseen_as: Mapping[str, Resolution] = field(default_factory=dict)

    def changes(self, hits_view: str | None) -> str:
        """Each hit that is seen or stored, with `action`: what has to be done about it.

        Rules that a newer batch has already moved are kept as they are, and so is each row that
        one has stamped: an old run that is repeated changes nothing. `is_new` is also true for
        rows that this run brought up earlier, so that a repeat gives the same count. A row that
        carries the stamp of a batch that was never committed gets ours, whatever it says.
        """
        seq = self.batch.batch_seq
        run = literals.text(self.run_id)
        hits = quote(hits_view) if hits_view else NO_HITS
        return f"""
WITH committed AS (
  SELECT DISTINCT rule_id, batch_seq FROM {self.progress.sql}
  WHERE rule_id IN ({literals.texts(self.rule_ids)})
), overtaken AS (
  SELECT DISTINCT rule_id FROM committed WHERE batch_seq > {seq}
), seen AS (
  SELECT hit_id, max(rule_id) AS rule_id, max(violation_key) AS violation_key,
         CAST(sum(occurrences) AS BIGINT) AS occurrences
  FROM {hits} WHERE rule_id IN ({literals.texts(self.rule_ids)}) GROUP BY hit_id
), stored AS (
  SELECT hit_id, v.rule_id, status, occurrences, v.batch_seq, first_run_id, reopened_run_id,
         committed.rule_id IS NULL AND v.batch_seq <> {seq} AS is_stray
  FROM {self.violations.sql} v
  LEFT JOIN committed ON committed.rule_id = v.rule_id AND committed.batch_seq = v.batch_seq
  WHERE v.rule_id IN ({literals.texts(self.rule_ids)})
), compared AS (
  SELECT coalesce(seen.hit_id, stored.hit_id) AS hit_id,
         coalesce(seen.rule_id, stored.rule_id) AS rule_id,
         seen.violation_key, seen.occurrences, stored.batch_seq,
         (seen.hit_id IS NOT NULL OR overtaken.rule_id IS NOT NULL)
           AND coalesce({run} IN (first_run_id, reopened_run_id), false) AS was_new,
         CASE
           WHEN overtaken.rule_id IS NOT NULL OR stored.batch_seq > {seq} THEN 'keep'
           WHEN seen.hit_id IS NULL THEN if(status <> {RESOLVED} OR is_stray, 'resolve', 'keep')
           WHEN stored.hit_id IS NULL THEN 'insert'
           WHEN status = {RESOLVED} THEN 'reopen'
           WHEN stored.batch_seq = {seq} AND status = {OPEN}
                AND stored.occurrences = seen.occurrences THEN 'keep'
           ELSE 'update'
         END AS action
  FROM seen FULL OUTER JOIN stored ON seen.hit_id = stored.hit_id
  LEFT JOIN overtaken ON overtaken.rule_id = coalesce(seen.rule_id, stored.rule_id)
)
SELECT hit_id, rule_id, violation_key, occurrences, action,
       action <> 'keep' OR batch_seq = {seq} AS is_stamped,
       was_new OR action IN ('insert', 'reopen') AS is_new
FROM compared
WHERE action <> 'keep' OR batch_seq = {seq} OR was_new"""

    def summary(self, changes_view: str) -> str:
        """Per rule: rows to write, rows that carry our stamp afterwards, new hits of this run.

        `inserts` are hits that are not stored, `stored` those that are and stay so.
        """
        return (
            "SELECT rule_id, count_if(action <> 'keep') AS to_write, "
            "count_if(is_stamped) AS stamped, count_if(is_new) AS new_hits, "
            "count_if(action = 'insert') AS inserts, "
            "count_if(action <> 'insert' AND occurrences IS NOT NULL) AS stored "
            f"FROM {quote(changes_view)} GROUP BY rule_id"
        )

    def merge(self, changes_view: str, cap: Cap) -> str:
        """The one write. It looks at the lease itself: a driver that lost it writes nothing."""
        columns = ("hit_id", "rule_id", "violation_key", "occurrences", "action")
        seq = self.batch.batch_seq
        now = literals.moment(self.now)
        run = literals.text(self.run_id)
        position = literals.text(self.batch.position.to_json() if self.batch.position else None)
        return f"""
MERGE INTO {self.violations.sql} t
USING (
  SELECT {", ".join(columns)} FROM {cap.within(changes_view, columns, "action = 'insert'")}
  WHERE action <> 'keep' AND NOT ({self.lease_is_lost})
) s
ON t.hit_id = s.hit_id AND t.rule_id IN ({literals.texts(self.rule_ids)})
WHEN MATCHED AND t.batch_seq <= {seq} AND s.action = 'resolve' THEN UPDATE SET
  resolution = if(t.status = {RESOLVED}, t.resolution, {self._resolution}),
  resolved_at = if(t.status = {RESOLVED}, t.resolved_at, {now}),
  status = {RESOLVED}, batch_seq = {seq}
WHEN MATCHED AND t.batch_seq <= {seq} THEN UPDATE SET
  reopen_count = t.reopen_count + if(t.status = {RESOLVED}, 1, 0),
  reopened_run_id = if(t.status = {RESOLVED}, {run}, t.reopened_run_id),
  status = {OPEN}, resolved_at = NULL, resolution = NULL, occurrences = s.occurrences,
  last_seen = {now}, last_run_id = {run}, last_position = {position}, batch_seq = {seq}
WHEN NOT MATCHED AND s.action = 'insert' THEN INSERT
  (hit_id, rule_id, table_fqn, violation_key, status, occurrences, first_seen, last_seen,
   resolved_at, reopen_count, first_run_id, last_run_id, reopened_run_id, first_position,
   last_position, batch_seq)
VALUES
  (s.hit_id, s.rule_id, {literals.text(str(self.batch.work.table))}, s.violation_key, {OPEN},
   s.occurrences, {now}, {now}, NULL, 0, {run}, {run}, NULL, {position}, {position}, {seq})"""

    @property
    def _resolution(self) -> str:
        named = "".join(
            f" WHEN {literals.text(rule_id)} THEN '{why.value}'"
            for rule_id, why in self.unseen_as.items()
        )
        return f"CASE s.rule_id{named} ELSE {GONE} END" if named else GONE

    @property
    def stamped(self) -> str:
        """How many rows carry this batch's stamp."""
        return (
            "SELECT count(*) AS stamped "
            f"FROM {self.violations.sql} WHERE batch_seq = {self.batch.batch_seq} "
            f"AND rule_id IN ({literals.texts(self.rule_ids)})"
        )


def lease_is_lost(intents: TableName, batch: Batch, run_id: str) -> str:
    """An SQL condition over the log of intents; also false when there is no such log entry."""
    return (
        f"(SELECT count(*) FROM {intents.sql} "
        f"WHERE table_fqn = {literals.text(str(batch.work.table))} "
        f"AND group_id = {literals.text(batch.work.group)} AND run_id = {literals.text(run_id)} "
        f"AND batch_seq = {batch.batch_seq} AND (epoch > {batch.epoch} "
        f"OR epoch = {batch.epoch} AND status <> '{IntentStatus.OPEN.value}')) > 0"
    )
