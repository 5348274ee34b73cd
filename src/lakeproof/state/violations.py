"""SQL that moves violations from one batch to the next.

First the changes are computed, once: what the rules see now against what is stored. Then one
MERGE writes those that are changes. Everything is an assignment as of the batch, so a repeat finds
nothing left to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lakeproof.model.names import TableName, quote
from lakeproof.model.violation import ViolationStatus
from lakeproof.state import literals
from lakeproof.state.leases import IntentStatus
from lakeproof.state.store import Batch

OPEN = f"'{ViolationStatus.OPEN.value}'"
RESOLVED = f"'{ViolationStatus.RESOLVED.value}'"
NO_HITS = "(SELECT '' AS hit_id, '' AS rule_id, '' AS violation_key, 0L AS occurrences WHERE false)"


@dataclass(frozen=True, slots=True)
class Assignment:
    """One batch's hits for some of its rules, and where they belong."""

    batch: Batch
    run_id: str
    rule_ids: tuple[str, ...]
    now: datetime
    violations: TableName
    progress: TableName
    intents: TableName

    def changes(self, hits_view: str | None) -> str:
        """Each hit that is seen or stored, with `action`: what has to be done about it.

        Rules that a newer batch has already moved are kept as they are, and so is each row that
        one has stamped: an old run that is repeated changes nothing. `is_new` is also true for
        rows that this run brought up earlier, so that a repeat gives the same count.
        """
        seq = self.batch.batch_seq
        run = literals.text(self.run_id)
        hits = quote(hits_view) if hits_view else NO_HITS
        return f"""
WITH overtaken AS (
  SELECT DISTINCT rule_id FROM {self.progress.sql}
  WHERE rule_id IN ({literals.texts(self.rule_ids)}) AND batch_seq > {seq}
), seen AS (
  SELECT hit_id, max(rule_id) AS rule_id, max(violation_key) AS violation_key,
         CAST(sum(occurrences) AS BIGINT) AS occurrences
  FROM {hits} WHERE rule_id IN ({literals.texts(self.rule_ids)}) GROUP BY hit_id
), stored AS (
  SELECT hit_id, rule_id, status, occurrences, batch_seq, first_run_id, reopened_run_id
  FROM {self.violations.sql} WHERE rule_id IN ({literals.texts(self.rule_ids)})
), compared AS (
  SELECT coalesce(seen.hit_id, stored.hit_id) AS hit_id,
         coalesce(seen.rule_id, stored.rule_id) AS rule_id,
         seen.violation_key, seen.occurrences, stored.batch_seq,
         (seen.hit_id IS NOT NULL OR overtaken.rule_id IS NOT NULL)
           AND coalesce({run} IN (first_run_id, reopened_run_id), false) AS was_new,
         CASE
           WHEN overtaken.rule_id IS NOT NULL OR stored.batch_seq > {seq} THEN 'keep'
           WHEN seen.hit_id IS NULL THEN if(status = {OPEN}, 'resolve', 'keep')
           WHEN stored.hit_id IS NULL THEN 'insert'
           WHEN status = {RESOLVED} THEN 'reopen'
           WHEN stored.batch_seq = {seq} AND stored.occurrences = seen.occurrences THEN 'keep'
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
        """Per rule: rows to write, rows that carry our stamp afterwards, new hits of this run."""
        return (
            "SELECT rule_id, count_if(action <> 'keep') AS to_write, "
            "count_if(is_stamped) AS stamped, count_if(is_new) AS new_hits "
            f"FROM {quote(changes_view)} GROUP BY rule_id"
        )

    def merge(self, changes_view: str) -> str:
        """The one write. It looks at the lease itself: a driver that lost it writes nothing."""
        seq = self.batch.batch_seq
        now = literals.moment(self.now)
        run = literals.text(self.run_id)
        position = literals.text(self.batch.position.to_json() if self.batch.position else None)
        return f"""
MERGE INTO {self.violations.sql} t
USING (
  SELECT hit_id, rule_id, violation_key, occurrences, action FROM {quote(changes_view)}
  WHERE action <> 'keep' AND NOT ({self.lease_is_lost})
) s
ON t.hit_id = s.hit_id AND t.rule_id IN ({literals.texts(self.rule_ids)})
WHEN MATCHED AND t.batch_seq <= {seq} AND s.action = 'resolve' THEN UPDATE SET
  status = {RESOLVED}, resolved_at = {now}, batch_seq = {seq}
WHEN MATCHED AND t.batch_seq <= {seq} THEN UPDATE SET
  reopen_count = t.reopen_count + if(t.status = {RESOLVED}, 1, 0),
  reopened_run_id = if(t.status = {RESOLVED}, {run}, t.reopened_run_id),
  status = {OPEN}, resolved_at = NULL, occurrences = s.occurrences,
  last_seen = {now}, last_run_id = {run}, last_position = {position}, batch_seq = {seq}
WHEN NOT MATCHED AND s.action = 'insert' THEN INSERT
  (hit_id, rule_id, table_fqn, violation_key, status, occurrences, first_seen, last_seen,
   resolved_at, reopen_count, first_run_id, last_run_id, reopened_run_id, first_position,
   last_position, batch_seq)
VALUES
  (s.hit_id, s.rule_id, {literals.text(str(self.batch.work.table))}, s.violation_key, {OPEN},
   s.occurrences, {now}, {now}, NULL, 0, {run}, {run}, NULL, {position}, {position}, {seq})"""

    @property
    def stamped(self) -> str:
        """How many rows carry this batch's stamp, and whether the lease is still ours."""
        return (
            f"SELECT count(*) AS stamped, {self.lease_is_lost} AS lost "
            f"FROM {self.violations.sql} WHERE batch_seq = {self.batch.batch_seq} "
            f"AND rule_id IN ({literals.texts(self.rule_ids)})"
        )

    @property
    def lease_is_lost(self) -> str:
        """Our intent was closed under us, or a second driver of this run has adopted it."""
        return lease_is_lost(self.intents, self.batch, self.run_id)


def lease_is_lost(intents: TableName, batch: Batch, run_id: str) -> str:
    """An SQL condition over the log of intents; also false when there is no such log entry."""
    return (
        f"(SELECT count(*) FROM {intents.sql} "
        f"WHERE table_fqn = {literals.text(str(batch.work.table))} "
        f"AND group_id = {literals.text(batch.work.group)} AND run_id = {literals.text(run_id)} "
        f"AND batch_seq = {batch.batch_seq} AND (epoch > {batch.epoch} "
        f"OR epoch = {batch.epoch} AND status <> '{IntentStatus.OPEN.value}')) > 0"
    )
