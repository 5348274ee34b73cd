"""What the runner needs of a place that keeps state; `delta.py` and `iceberg.py` provide it.

The order of calls is the run order of the runner: `prepare`, `begin`, `apply_hits` per table,
`record_results`, `commit`, and `release` whatever happened.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.position import Position


@dataclass(frozen=True, slots=True)
class TableWork:
    """One checked table in one run: what is asked for before the store has answered.

    `table_id` is the table's own uuid, so that a dropped and re-created table is another one.
    `group` names the set of rules that move together; equal suites have equal groups.
    """

    table: TableName
    table_id: str
    group: str
    rule_ids: tuple[str, ...]
    position: Position | None


@dataclass(frozen=True, slots=True)
class Batch:
    """An intent that the store holds for this run: a pinned range under a growing number.

    `position` is the one to read: a repeated run_id gets its first position back, not the
    table's present one. `batch_seq` grows per table; a lower one never overwrites a higher.
    `epoch` grows each time the lease changes hands, so a driver that lost it can be told.
    """

    work: TableWork
    batch_seq: int
    position: Position | None
    adopted: bool
    epoch: int = 1


class Store(Protocol):
    """Results, violations, progress and intents of one namespace."""

    @property
    def description(self) -> str:
        """Where the state is, for people: `iceberg tables in iceberg.lakehouse`."""

    def prepare(self) -> None:
        """Create what is missing; refuse tables of a newer schema version."""

    def begin(self, run_id: str, works: Sequence[TableWork], now: datetime) -> list[Batch]:
        """Take the lease and write the intent of each table; adopt those of the same run_id."""

    def apply_hits(
        self,
        batch: Batch,
        run_id: str,
        rule_ids: Sequence[str],
        hits_view: str | None,
        now: datetime,
    ) -> Mapping[str, int]:
        """Assign the hits of `rule_ids` as of the batch; gives new (or reopened) hits per rule.

        `hits_view` names a view with rule_id, hit_id, violation_key, occurrences; None is an
        empty one. An open violation of these rules that is not in it becomes resolved.
        """

    def recorded_rules(self, run_id: str) -> Mapping[str, str]:
        """What this run has recorded so far: rule_key to rule_id."""

    def previous_measures(
        self, rule_ids: Sequence[str], run_id: str, *, is_repeated: bool
    ) -> Mapping[str, float]:
        """The measure of each rule's newest result in other runs; a rule without one is left out.

        To a run that is repeated, only what was there when it began is earlier.
        """

    def record_results(self, results: Sequence[CheckResult]) -> int:
        """Add the results that are not there yet, by (run_id, rule_key); gives how many."""

    def commit(
        self, batches: Sequence[Batch], run_id: str, rule_ids: Collection[str], now: datetime
    ) -> None:
        """Move progress of `rule_ids` to each batch, compare-and-set, and close the intents.

        A rule that could not be evaluated is not among them: its progress stays where it was.
        """

    def release(self, run_id: str, now: datetime) -> None:
        """Give up leases that this run still holds, so that the next one need not wait."""
