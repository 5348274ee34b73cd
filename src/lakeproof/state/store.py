"""What the runner needs of a place that keeps state; `delta.py` and `iceberg.py` provide it.

The order of calls is the run order of the runner: `prepare`, `begin`, `apply_hits` per table,
`record_results`, `commit`, and `release` whatever happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import KeyTotals, Standing
from lakeproof.model.weighing import Resolution, WeighKind


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


@dataclass(frozen=True, slots=True)
class Move:
    """Where a rule comes to stand when the batch is committed.

    `parent` is how far it has come in the table that it refers to. `generation` is the one of its
    key index that counts from then on; 0 is a rule without index. Without `standing` the rule
    cannot be told without reading. `rule_key` and `suite` say by
    whom the rule was asked for, so that one that is no longer asked for can be told. `shape` is a
    hash of how its keys are made: under another one the index says nothing. `previous` is the
    batch that it builds on; a rule that was moved since is not moved.
    """

    rule_id: str
    mode: Mode
    mark: Mark
    standing: Standing | None
    generation: int = 0
    parent: Mark | None = None
    rule_key: str = ""
    suite: str = ""
    shape: str = ""
    previous: int = 0
    watermark_col: str = ""


@dataclass(frozen=True, slots=True)
class RuleProgress:
    """A move that was committed: where the rule stands. `standing` is None in old state."""

    rule_id: str
    mode: Mode
    mark: Mark | None
    standing: Standing | None
    generation: int
    parent: Mark | None
    rule_key: str
    suite: str
    shape: str
    table: str
    batch_seq: int
    epoch: int
    run_id: str
    processed_at: datetime


@dataclass(frozen=True, slots=True)
class Weighed:
    """One rule of a batch whose keys were weighed.

    `generation` is the one that the weights belong to. `is_rebuilt`: they are all there is, a new
    generation begins with them, and stored violations that it does not see are resolved as
    `unseen_as`; else they come on top of what is committed under it. `is_capped`: it has more open
    violations than may be stored. `number_name`: its keys are whole numbers, which have this name
    there (`model.number_keys`); '' of other keys.
    """

    rule_id: str
    kind: WeighKind
    generation: int
    is_rebuilt: bool
    unseen_as: Resolution = Resolution.GONE
    is_capped: bool = False
    number_name: str = ""


class Touched(Protocol):
    """Keys that a batch touches, with what they weighed before and weigh after it."""

    @property
    def totals(self) -> Mapping[str, KeyTotals]:
        """By how much the open violations of each rule grow, by rule_id."""

    @property
    def problems(self) -> Mapping[str, str]:
        """What does not add up about the keys of a rule, by rule_id; a sound one is left out."""

    @property
    def generations(self) -> Mapping[str, int]:
        """The generation that counts from now on, by rule_id."""

    def release(self) -> None:
        """Forget them."""


class Store(Protocol):
    """Results, violations, progress, intents and key index of one namespace.

    Weights are added under the token of an attempt, and count once progress names that attempt:
    what a driver that died or was overtaken has added never counts. Violations are assigned
    before that, so the next batch assigns again those that no committed batch stamped.
    """

    @property
    def description(self) -> str:
        """Where the state is, for people: `iceberg tables in iceberg.lakehouse`."""

    @property
    def max_hits(self) -> int | None:
        """How many open violations of one rule are stored at most; None is all."""

    def exists(self) -> bool:
        """Whether there is any state yet; creates nothing."""

    def prepare(self) -> None:
        """Create what is missing; refuse tables of a newer schema version."""

    def begin(
        self,
        run_id: str,
        works: Sequence[TableWork],
        now: datetime,
        head_of: Callable[[TableName], Position | None] | None = None,
    ) -> list[Batch]:
        """Take the lease and write the intent of each table; adopt those of the same run_id.

        TableMovedError if a table that is not adopted stands elsewhere than `head_of` says.
        """

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
        empty one. An open violation of these rules that is not in it becomes resolved. A hit that
        is not stored, because its rule has too many, is new each time.
        """

    def has_begun(self, run_id: str) -> bool:
        """Whether a run of this id has taken a lease before."""

    def recorded_results(self, run_id: str) -> Mapping[str, CheckResult]:
        """What this run has said so far, by rule_key."""

    def previous_measures(
        self, rule_ids: Sequence[str], run_id: str, *, is_repeated: bool
    ) -> Mapping[str, float]:
        """The measure of each rule's newest result in other runs; a rule without one is left out.

        To a run that is repeated, only what was there when it began is earlier.
        """

    def record_results(self, results: Sequence[CheckResult]) -> int:
        """Add the results that are not there yet, by (run_id, rule_key); gives how many."""

    def progress(self, rule_ids: Sequence[str]) -> Mapping[str, RuleProgress]:
        """Where these rules stand, as committed; a rule that never ran is left out."""

    def progress_of_suite(self, suite: str, table: TableName) -> Sequence[RuleProgress]:
        """Where every rule stands that this suite has asked for on the table."""

    def strays(self, rule_ids: Sequence[str]) -> frozenset[str]:
        """Those of these rules that have violations which no committed batch has written."""

    def kept(self, kept_id: str) -> str | None:
        """SQL of the rows that committed batches have kept under this id; None if there are none.

        They are a log: columns as they were given, among them the weight.
        """

    def keep(self, batch: Batch, kept_id: str, relation: str, *, is_rebuilt: bool) -> None:
        """Keep the rows of a relation for the next run; they count once `kept_id` has a move.

        `is_rebuilt`: what was kept before no longer counts then.
        """

    def add_weights(
        self, batch: Batch, run_id: str, weighed: Sequence[Weighed], views: Sequence[str]
    ) -> Touched:
        """Add what the keys of these rules weigh in this batch to the index.

        A view has rule_id, side, violation_key, near, weight, present: `near` is a number by which
        neighbouring keys can be found together, `present` the change in the number of rows that
        have this key, violating or not. A key that is a number is `near`, and has no violation_key.
        A view of tiles has rule_id, near, weight, tile instead (`model.tiles`), of rules that begin
        anew.
        """

    def assign_touched(
        self,
        batch: Batch,
        run_id: str,
        weighed: Sequence[Weighed],
        touched: Touched,
        now: datetime,
    ) -> Mapping[str, int]:
        """Assign violations as of the batch; gives new (or reopened) hits per rule.

        Of a rebuilt rule every violation is assigned, else those of the keys that were touched
        and those that a batch wrote which was never committed.
        """

    def forget(self, view: str) -> None:
        """Drop a view that this store has made."""

    def known_keys(self, weighed: Sequence[Weighed], besides: Sequence[str]) -> str:
        """A view of keys of these rules: rule_id, violation_key, occurrences, near.

        All that are open as committed, and those that the weights of `besides` would open;
        `occurrences` are those of the committed index.
        """

    def retire(
        self, batch: Batch, run_id: str, rules: Mapping[str, Resolution], now: datetime
    ) -> None:
        """Resolve every open violation of these rules, for the reason given."""

    def mark_unknown(
        self, batch: Batch, run_id: str, rule_ids: Sequence[str], now: datetime
    ) -> None:
        """Open violations of these rules are unknown until they are assigned again."""

    def suppressed(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, KeyTotals]:
        """Open violations that are suppressed at this moment; rules without are left out."""

    def suppressed_hits(self, rule_ids: Sequence[str], now: datetime) -> str:
        """SQL of the hit_id of each of these violations."""

    def sample_keys(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, tuple[str, ...]]:
        """A few keys of open violations, smallest first, by rule.

        What is suppressed at this moment is left out where there is anything else.
        """

    def require_leases(self, batches: Sequence[Batch], run_id: str) -> None:
        """FencedError if another driver has taken over one of these meanwhile."""

    def commit(
        self, batches: Sequence[Batch], run_id: str, moves: Sequence[Move], now: datetime
    ) -> None:
        """Move progress of each batch's rules, compare-and-set, and close the intents.

        A rule that could not be evaluated has no move: its progress stays where it was.
        """

    def release(self, run_id: str, now: datetime) -> None:
        """Give up leases that this run still holds, so that the next one need not wait."""
