"""What will run, as a frozen value. `explain` prints it and the runner executes the same object."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from html import escape
from typing import TypeAlias

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
    """One row rule's place in the scan: bad rows are counted under `alias`.

    Over the elements of an array or map, `elements` is SQL of the bad ones as an array of
    (at, observed), and `violates` is true if there is any. `observed` is what a bad row holds.
    """

    rule_id: str
    alias: str
    violates: str
    scope: str
    observed: str = "''"
    elements: str = ""

    @property
    def elements_alias(self) -> str:
        return f"{self.alias}_elements"


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
    """One key set under one filter: one action.

    `violates` is true, along the table, for every row whose key is bad; `key_sql` names it.
    """

    rule_id: str
    columns: tuple[str, ...]
    scope: str
    strategy: KeyStrategy
    sql: str
    hits_sql: str
    violates: str
    key_sql: str


@dataclass(frozen=True, slots=True)
class QueryStep:
    """Bad rows by a query of their own, the user's or ours: one action that lists them.

    `violates` marks the bad rows of the checked table, which `key_sql` names; a user's query
    marks none.
    """

    rule_id: str
    what: str
    scope: str
    sql: str
    timeout_seconds: float | None
    violates: str = ""
    key_sql: str = ""


@dataclass(frozen=True, slots=True)
class MeasureStep:
    """Aggregates that would slow the scan which all rules share: one action."""

    rule_id: str
    scope: str
    measurements: tuple[Measurement, ...]
    sql: str
    timeout_seconds: float | None


OwnStep: TypeAlias = KeyStep | QueryStep | MeasureStep


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Everything to do over one table at one position.

    `element_key_sql` makes the key of an element out of `row_key` and `hit.at`.
    """

    pinned: PinnedTable
    rules: tuple[Rule, ...]
    scan: ScanStep
    keys: tuple[KeyStep, ...]
    queries: tuple[QueryStep, ...]
    measures: tuple[MeasureStep, ...]
    element_key_sql: str
    mode: str
    mode_reason: str

    @property
    def listable(self) -> frozenset[str]:
        """Rules whose bad rows can be named; a rule that measures the table has none."""
        steps: list[Tally | KeyStep | QueryStep] = [*self.scan.tallies, *self.keys, *self.queries]
        return frozenset(step.rule_id for step in steps)

    @property
    def marked(self) -> frozenset[str]:
        """Rules that say of each row of the table whether it is bad; a user's query does not."""
        own = {step.rule_id for step in self.queries if not step.violates}
        return self.listable - own

    @property
    def actions(self) -> int:
        """Spark actions that read the table if everything passes."""
        return 1 + len(self.own_steps)

    @property
    def own_steps(self) -> tuple[OwnStep, ...]:
        """The steps that are an action each, beside the scan."""
        return (*self.keys, *self.queries, *self.measures)

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Every number that is taken, in the scan or beside it."""
        beside = (taken for step in self.measures for taken in step.measurements)
        return (*self.scan.measurements, *beside)


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

    def __str__(self) -> str:
        from lakeproof.planning.explain import plan_tree

        return plan_tree(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
