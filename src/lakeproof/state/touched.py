"""SQL that moves violations by the keys that a batch touches, instead of by all that are bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from lakeproof.model.names import TableName, quote
from lakeproof.model.violation import ViolationStatus
from lakeproof.model.weighing import Resolution
from lakeproof.state import literals
from lakeproof.state.store import Batch
from lakeproof.state.violations import HIT_ID, OPEN, RESOLVED, RulesOfBatch, lease_is_lost

UNKNOWN = f"'{ViolationStatus.UNKNOWN.value}'"


@dataclass(frozen=True, slots=True)
class TouchedAssignment(RulesOfBatch):
    """The keys of one batch in a view as `key_index.touched_sql` makes it."""

    def closing(self, touched_view: str) -> str:
        """The hits that are not open after the batch."""
        return f"SELECT {HIT_ID} AS hit_id FROM {quote(touched_view)} WHERE NOT is_open"

    def stored_or_not(self, touched_view: str) -> str:
        """The same with hit_id, and whether a violation is stored of it."""
        return (
            "SELECT s.*, t.hit_id IS NOT NULL AS is_stored "
            f"FROM (SELECT *, {HIT_ID} AS hit_id FROM {quote(touched_view)}) s "
            f"LEFT JOIN (SELECT hit_id FROM {self.violations.sql} "
            f"WHERE rule_id IN ({literals.texts(self.rule_ids)})) t ON t.hit_id = s.hit_id"
        )

    def merge(self, touched_view: str) -> str:
        """One write for every key whose violation is not as it was, and for strays.

        A violation that was open as committed is not reopened, even if a batch that was never
        committed has resolved it. What this batch has written already stays as it is.
        """
        numbers = literals.numbers(
            "own", seq=f"{self.batch.batch_seq}L", moment=literals.moment(self.now)
        )
        run = literals.text(self.run_id)
        position = literals.text(self.batch.position.to_json() if self.batch.position else None)
        rules = literals.texts(self.rule_ids)
        is_back = f"t.status = {RESOLVED} AND NOT s.was_open"
        return f"""
MERGE INTO {self.violations.sql} t
USING (
  SELECT {HIT_ID} AS hit_id, rule_id, violation_key, occurrences, was_open, is_open, resolution,
         seq, moment
  FROM {quote(touched_view)} CROSS JOIN {numbers}
  WHERE to_write AND rule_id IN ({rules}) AND rule_id NOT IN (
    SELECT rule_id FROM {self.progress.sql}
    WHERE rule_id IN ({rules}) AND batch_seq > {self.batch.batch_seq}
  ) AND NOT ({self.lease_is_lost})
) s
ON t.hit_id = s.hit_id AND t.rule_id IN ({rules})
WHEN MATCHED AND t.batch_seq <= s.seq AND NOT s.is_open
  AND NOT (t.batch_seq = s.seq AND t.status = {RESOLVED}) THEN UPDATE SET
  resolution = if(t.status = {RESOLVED}, t.resolution, s.resolution),
  resolved_at = if(t.status = {RESOLVED}, t.resolved_at, s.moment),
  status = {RESOLVED}, batch_seq = s.seq
WHEN MATCHED AND t.batch_seq <= s.seq AND s.is_open
  AND NOT (t.batch_seq = s.seq AND t.status = {OPEN} AND t.occurrences = s.occurrences)
  THEN UPDATE SET
  reopen_count = t.reopen_count + if({is_back}, 1, 0),
  reopened_run_id = if({is_back}, {run}, t.reopened_run_id),
  status = {OPEN}, resolved_at = NULL, resolution = NULL, occurrences = s.occurrences,
  last_seen = s.moment, last_run_id = {run}, last_position = {position}, batch_seq = s.seq
WHEN NOT MATCHED AND s.is_open THEN INSERT
  (hit_id, rule_id, table_fqn, violation_key, status, occurrences, first_seen, last_seen,
   resolved_at, reopen_count, first_run_id, last_run_id, reopened_run_id, first_position,
   last_position, batch_seq)
VALUES
  (s.hit_id, s.rule_id, {literals.text(str(self.batch.work.table))}, s.violation_key, {OPEN},
   s.occurrences, s.moment, s.moment, NULL, 0, {run}, {run}, NULL, {position}, {position}, s.seq)"""

    def unlike(self, touched_view: str) -> str:
        """How many keys are not stored as they should be.

        By text and by a number that is the same for many batches: see `literals.numbers`.
        """
        seq = self.batch.batch_seq
        written = f"batch_seq >= {seq - seq % 64} AND CAST(batch_seq AS STRING) = '{seq}'"
        rules = literals.texts(self.rule_ids)
        return f"""
SELECT count_if(s.is_open AND (t.hit_id IS NULL OR t.status <> {OPEN}
                               OR t.occurrences <> s.occurrences)
             OR NOT s.is_open AND t.status <> {RESOLVED}) AS wrong
FROM (SELECT {HIT_ID} AS hit_id, is_open, occurrences FROM {quote(touched_view)}
      WHERE to_write AND rule_id IN ({rules})) s
LEFT JOIN (SELECT hit_id, status, occurrences FROM {self.violations.sql}
           WHERE rule_id IN ({rules}) AND {written}) t
ON t.hit_id = s.hit_id"""


@dataclass(frozen=True, slots=True)
class Closing:
    """Every violation of some rules that is not resolved is resolved, or becomes unknown.

    `why` has the reason of each rule; None makes it unknown.
    """

    batch: Batch
    run_id: str
    why: Mapping[str, Resolution | None]
    now: datetime
    violations: TableName
    intents: TableName

    @property
    def concerned(self) -> str:
        """How many there are to change."""
        return f"SELECT count(*) AS rows FROM {self.violations.sql} WHERE {self._condition}"

    @property
    def merge(self) -> str:
        """A MERGE with the table itself: Delta takes no subquery in an UPDATE."""
        seq = self.batch.batch_seq
        status = "".join(
            f" WHEN {literals.text(rule_id)} THEN {RESOLVED if why else UNKNOWN}"
            for rule_id, why in self.why.items()
        )
        reason = "".join(
            f" WHEN {literals.text(rule_id)} THEN {literals.text(why.value if why else None)}"
            for rule_id, why in self.why.items()
        )
        return f"""
MERGE INTO {self.violations.sql} t
USING (
  SELECT hit_id, CASE rule_id{status} END AS status, CASE rule_id{reason} END AS resolution
  FROM {self.violations.sql}
  WHERE {self._condition} AND NOT ({lease_is_lost(self.intents, self.batch, self.run_id)})
) s
ON t.hit_id = s.hit_id AND t.rule_id IN ({literals.texts(self.why)})
WHEN MATCHED AND t.batch_seq <= {seq} THEN UPDATE SET
  status = s.status, resolution = s.resolution,
  resolved_at = if(s.status = {RESOLVED}, {literals.moment(self.now)}, NULL), batch_seq = {seq}"""

    @property
    def _condition(self) -> str:
        """Nothing is done about one that is unknown already and stays so."""
        gone = literals.texts(rule_id for rule_id, why in self.why.items() if why)
        unsure = literals.texts(rule_id for rule_id, why in self.why.items() if not why)
        return (
            f"batch_seq <= {self.batch.batch_seq} AND (rule_id IN ({gone}) "
            f"AND status <> {RESOLVED} OR rule_id IN ({unsure}) AND status = {OPEN})"
        )
