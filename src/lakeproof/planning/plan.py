"""What will run, as a frozen value. `explain` prints it and the runner executes the same object."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.planning.tables import PinnedTable


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that a filter lets through, and the rules that look at these only."""

    alias: str
    filter: str
    rule_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Tally:
    """One row rule's place in the scan: bad rows are counted under `alias`."""

    rule_id: str
    alias: str
    violates: str
    scope: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """One aggregate of a measuring rule, taken in the scan under `alias`."""

    rule_id: str
    name: str
    alias: str
    sql: str


@dataclass(frozen=True, slots=True)
class ScanStep:
    """All row and aggregate rules of one table: one action, whatever their number."""

    relation: str
    scopes: tuple[Scope, ...]
    tallies: tuple[Tally, ...]
    measurements: tuple[Measurement, ...]
    sql: str


class KeyStrategy(StrEnum):
    """How repeated keys are found; all three are exact in the end.

    `TILED`: integers and dates. A group is a tile of 64 neighbouring keys held in one word of
    bits, so that far fewer groups than rows are made, and only tiles travel.
    `GROUPED`: other narrow keys, grouped as they are.
    `HASHED`: wide keys. Equal hashes are suspects; the bad-rows pass confirms them by value.
    """

    TILED = "tiled"
    GROUPED = "grouped"
    HASHED = "hashed"


@dataclass(frozen=True, slots=True)
class KeyStep:
    """One key set under one filter: one action."""

    rule_id: str
    columns: tuple[str, ...]
    scope: str
    strategy: KeyStrategy
    sql: str
    hits_sql: str


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One user query: one action."""

    rule_id: str
    scope: str
    sql: str
    hits_sql: str
    timeout_seconds: float | None


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Everything to do over one table at one position."""

    pinned: PinnedTable
    rules: tuple[Rule, ...]
    scan: ScanStep
    keys: tuple[KeyStep, ...]
    queries: tuple[QueryStep, ...]
    mode: str
    mode_reason: str

    @property
    def listable(self) -> frozenset[str]:
        """Rules whose bad rows can be named; a rule that measures the table has none."""
        steps: list[Tally | KeyStep | QueryStep] = [*self.scan.tallies, *self.keys, *self.queries]
        return frozenset(step.rule_id for step in steps)

    @property
    def actions(self) -> int:
        """Spark actions that read the table if everything passes."""
        return 1 + len(self.keys) + len(self.queries)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole run. `order` is the rules' order in the suite, by rule_key.

    `joined` are the tables that only queries name; they are pinned like the checked ones.
    """

    now: datetime
    tables: tuple[TablePlan, ...]
    joined: tuple[PinnedTable, ...]
    rejected: tuple[RejectedRule, ...]
    order: tuple[str, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for table in self.tables for rule in table.rules)
