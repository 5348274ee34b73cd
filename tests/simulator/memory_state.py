"""The state tables in memory: logs and rows, each table atomic by itself, nothing across them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Flag, auto
from typing import TypeVar

from memory_table import Row

from lakeproof.model.outcome import CheckResult
from lakeproof.model.violation import ViolationStatus
from lakeproof.model.weighing import Side
from lakeproof.state.leases import Intent
from lakeproof.state.store import Move, RuleProgress


class Broken(Flag):
    """Ways to break the protocol, one at a time: the simulator must see each."""

    NOTHING = 0
    NO_FENCE = auto()
    """Stamps, epochs and leases are not looked at."""
    NO_INTENT = auto()
    """No lease is taken and no number is claimed."""
    ZERO_ROWS_DELETED = auto()
    """What is resolved is deleted, and with it its stamp."""
    PRE_IMAGES_SKIPPED = auto()
    """An update only adds."""
    NO_COMPARE_AND_SET = auto()
    """Progress is written whatever stands there."""
    STRAYS_LEFT = auto()
    """Violations of attempts that were never committed are left as they are."""


class ConflictError(Exception):
    """Somebody else committed first."""


Attempt = tuple[int, int, str]
"""Whose weights these are: the batch, the epoch of its lease, and the driver, for two drivers that
repeat one run at the same moment may have the same epoch."""


@dataclass(frozen=True, slots=True)
class Advance:
    """A row of the progress table; `attempts` are those that the rule's index is made of."""

    move: Move
    table: str
    batch_seq: int
    epoch: int
    run_id: str
    processed_at: datetime
    attempts: tuple[Attempt, ...] = ()

    @property
    def public(self) -> RuleProgress:
        move = self.move
        return RuleProgress(
            rule_id=move.rule_id,
            mode=move.mode,
            mark=move.mark,
            standing=move.standing,
            generation=move.generation,
            parent=move.parent,
            rule_key=move.rule_key,
            suite=move.suite,
            shape=move.shape,
            table=self.table,
            batch_seq=self.batch_seq,
            epoch=self.epoch,
            run_id=self.run_id,
            processed_at=self.processed_at,
        )


@dataclass(frozen=True, slots=True)
class Violation:
    """A row of the violations table; its place is (rule_id, key)."""

    rule_id: str
    key: str
    status: ViolationStatus
    occurrences: int
    batch_seq: int
    first_run_id: str
    first_position: str
    last_run_id: str
    reopened_run_id: str | None = None
    reopen_count: int = 0
    resolution: str | None = None


@dataclass(frozen=True, slots=True)
class WeighedKey:
    """A row of the view between engine and store."""

    rule_id: str
    side: Side
    key: str
    weight: int
    present: int


Key = TypeVar("Key")
Place = tuple[str, str]
Sided = tuple[Side, str]


@dataclass(slots=True)
class State:
    """All state tables of one namespace. `versions` counts the commits of each."""

    broken: Broken = Broken.NOTHING
    attempts_max: int = 4
    """Parts of a rule's log after which it is written anew."""
    intents: list[Intent] = field(default_factory=list)
    progress: list[Advance] = field(default_factory=list)
    index: dict[str, dict[Attempt, dict[Sided, int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    violations: dict[Place, Violation] = field(default_factory=dict)
    results: dict[tuple[str, str], CheckResult] = field(default_factory=dict)
    dropped: set[Place] = field(default_factory=set)
    """Resolved violations that upkeep was asked to remove."""
    versions: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    kept: dict[str, dict[Attempt, Mapping[Row, int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    views: dict[str, list[WeighedKey]] = field(default_factory=dict)
    relations: dict[str, Mapping[Row, int]] = field(default_factory=dict)
    number: int = 0

    def committed(self, table: str) -> None:
        self.versions[table] += 1

    def new_view(self, rows: list[WeighedKey]) -> str:
        self.number += 1
        name = f"view_{self.number}"
        self.views[name] = rows
        return name

    def new_relation(self, rows: Mapping[Row, int]) -> str:
        self.number += 1
        name = f"rows_{self.number}"
        self.relations[name] = rows
        return name

    def newest(self, rule_id: str) -> Advance | None:
        """The committed progress of a rule: its highest batch."""
        rows = [row for row in self.progress if row.move.rule_id == rule_id]
        if Broken.NO_COMPARE_AND_SET in self.broken:
            return rows[-1] if rows else None
        return max(rows, key=lambda row: (row.batch_seq, row.epoch), default=None)

    def weights(self, rule_id: str, attempts: Iterable[Attempt]) -> dict[Sided, int]:
        """What these attempts together have made of the keys."""
        parts = self.index[rule_id]
        return summed(parts.get(attempt, {}) for attempt in attempts)

    def keys_of(self, rule_id: str) -> set[str]:
        """Keys of the rule that have a violation, open or not."""
        return {row.key for row in self.violations.values() if row.rule_id == rule_id}

    def strays(self, rule_id: str, until: int | None = None) -> set[str]:
        """Keys of violations that carry the stamp of a batch which no progress of the rule names.

        `until` is the highest batch that is looked at: that on which a run builds.
        """
        if Broken.STRAYS_LEFT in self.broken:
            return set()
        named = {
            row.batch_seq
            for row in self.progress
            if row.move.rule_id == rule_id and (until is None or row.batch_seq <= until)
        }
        return {
            row.key
            for row in self.violations.values()
            if row.rule_id == rule_id and row.batch_seq not in named
        }


def summed(parts: Iterable[Mapping[Key, int]]) -> dict[Key, int]:
    """Weights of several attempts together."""
    total: dict[Key, int] = defaultdict(int)
    for part in parts:
        for key, weight in part.items():
            total[key] += weight
    return dict(total)
