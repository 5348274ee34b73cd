"""What will run, as a frozen value. `explain` prints it and the runner executes the same object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from html import escape
from typing import TypeAlias

from lakeproof.model.names import quote
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.standing import Measured
from lakeproof.model.weighing import WeighKind
from lakeproof.planning.pairs.steps import AggregateStep, CompareStep, PairStep
from lakeproof.planning.read_mode import Share
from lakeproof.planning.tables import PinnedTable
from lakeproof.planning.ways import BY_QUERY, ways_of


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
    """One aggregate of a measuring rule, taken in the scan under `alias`.

    `weighted` is the same over rows with weights, '' if it cannot be added up from them. A sum is
    then one of whole units, of which ten to the power of `scale` are 1; `counted_by` names the
    measure that counts its values, for the sum of none is NULL.
    """

    rule_id: str
    name: str
    alias: str
    sql: str
    weighted: str = ""
    scale: int = 0
    counted_by: str = ""

    def found(self, measures: Mapping[str, Measured]) -> Measured:
        """What a scan would have found, out of the rule's measures as they were kept."""
        kept = measures.get(self.name)
        if self.counted_by and not measures.get(self.counted_by):
            return None
        # From text: arithmetic would round to the 28 digits of Python's context.
        return Decimal(f"{kept}E-{self.scale}") if self.scale and isinstance(kept, int) else kept


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
class KeyedRows:
    """Rows counted by a key, in a run that reads changes.

    Those for which `inside` is true ('': all) are grouped by `group_sql`; `key_sql` is their key,
    `near_sql` a number that neighbouring keys have alike, `has_null_sql` true for a key that is
    bad by a NULL in it. `number_sql` is that number where it is the key itself, which is known by
    it then (`model.number_keys`), `number_name` the name it has in the key; '' where the key is
    another. Neither is in the text by which is remembered how a rule counts (`planning.shapes`).
    """

    key_sql: str
    inside: str = ""
    group_sql: str = ""
    near_sql: str = "0L"
    has_null_sql: str = "false"
    number_sql: str = field(default="", repr=False)
    number_name: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ParentSide:
    """The table that a rule's key must be found in, and its rows by the same key."""

    pinned: PinnedTable
    rows: KeyedRows


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
    rows: KeyedRows | None = None


@dataclass(frozen=True, slots=True)
class QueryStep:
    """Bad rows by a query of their own, the user's or ours: one action that lists them.

    `violates` marks the bad rows of the checked table, which `key_sql` names; a user's query
    marks none. With a `parent` both sides can be counted by key; else `why_whole` says why not.
    """

    rule_id: str
    what: str
    scope: str
    sql: str
    timeout_seconds: float | None
    violates: str = ""
    key_sql: str = ""
    rows: KeyedRows | None = None
    parent: ParentSide | None = None
    why_whole: str = BY_QUERY


@dataclass(frozen=True, slots=True)
class CallStep:
    """A user's function, called with the rows in scope, in as many actions as it starts.

    What it returns as bad rows is read from `sql`: a view that the engine makes after the call.
    """

    rule_id: str
    rule: Rule
    relation: str
    scope: str
    view: str
    timeout_seconds: float | None

    @property
    def value_alias(self) -> str:
        """Under which the value is found, if it returned one."""
        return f"{self.view}_value"

    @property
    def sql(self) -> str:
        return f"SELECT violation_key, occurrences, excess, observed FROM {quote(self.view)}"


@dataclass(frozen=True, slots=True)
class MeasureStep:
    """Aggregates that would slow the scan which all rules share: one action."""

    rule_id: str
    scope: str
    measurements: tuple[Measurement, ...]
    sql: str
    timeout_seconds: float | None


@dataclass(frozen=True, slots=True)
class ValueStep:
    """A user's query that returns one value: one action.

    `measurements` are the value and the number of rows, of which there must be one. Where the
    query counts rows, `rows_sql` lists them by key, as a `QueryStep` does. `may_show_secret`: the
    value may come out of a sensitive column, of whatever table the query reads.
    """

    rule_id: str
    scope: str
    measurements: tuple[Measurement, ...]
    sql: str
    timeout_seconds: float | None
    rows_sql: str = ""
    may_show_secret: bool = False

    def taken(self, values: Mapping[str, object]) -> dict[str, object]:
        """What was found under each measurement's name."""
        return {item.name: values.get(item.alias) for item in self.measurements}


OwnStep: TypeAlias = KeyStep | QueryStep | MeasureStep | ValueStep | CallStep | PairStep


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Everything to do over one table at one position.

    `element_key_sql` makes the key of an element out of `row_key` and `hit.at`. `clocked` are the
    rules whose answer changes with the clock, `mending` those of them where time can only make bad
    rows good, `alone` those that read no other table. `reads` says
    what each rule is about to read, and `mode_advice` what would make the table incremental; both
    are known only where state is kept. `statistics` tells what those of the files decide, if they
    were asked, and `proven` are the rules that they decide.
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
    values: tuple[ValueStep, ...] = ()
    calls: tuple[CallStep, ...] = ()
    pairs: tuple[PairStep, ...] = ()
    clocked: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    mending: frozenset[str] = frozenset()
    reads: tuple[Share, ...] = ()
    mode_advice: str = ""
    statistics: str = ""
    proven: frozenset[str] = frozenset()

    @property
    def weighed(self) -> Mapping[str, WeighKind]:
        """The rules that can follow changes, and how."""
        return {name: way for name, way in ways_of(self).items() if isinstance(way, WeighKind)}

    @property
    def whole_reasons(self) -> Mapping[str, str]:
        """Why the other rules need the whole table, each in words for people."""
        return {name: way for name, way in ways_of(self).items() if not isinstance(way, WeighKind)}

    @property
    def parents(self) -> Mapping[str, PinnedTable]:
        """The tables that rules refer to whose own changes count as well, by rule."""
        return {step.rule_id: step.parent.pinned for step in self.queries if step.parent}

    @property
    def rechecked(self) -> frozenset[str]:
        """Rules whose known violations can be counted again by key.

        Not those over elements: a violation is an element there, and rows are counted beside.
        """
        of_elements = {tally.rule_id for tally in self.scan.tallies if tally.elements}
        keyed = {name for name, kind in self.weighed.items() if kind is not WeighKind.COUNT}
        return frozenset(keyed - of_elements)

    @property
    def needs_scan(self) -> bool:
        """Whether a rule looks at the table itself; comparisons with another one read it anew."""
        rules = {rule.rule_id for rule in self.rules}
        return rules > {step.rule_id for step in self.pairs} and not rules <= self.proven

    @property
    def listing_pairs(self) -> tuple[CompareStep | AggregateStep, ...]:
        """The comparisons that name what differs; one of row counts does not."""
        return tuple(step for step in self.pairs if isinstance(step, CompareStep | AggregateStep))

    @property
    def counting_bad(self) -> frozenset[str]:
        """Rules whose number counts what is bad; rows of a lower bound or a range are not."""
        return frozenset(rule.rule_id for rule in self.rules if rule.lists_rows)

    @property
    def listable(self) -> frozenset[str]:
        """Rules whose rows are listed; a rule that measures the table has none.

        A key's or query's rows are listed even if they are not bad: its number comes from there.
        """
        counted = {tally.rule_id for tally in self.scan.tallies}
        counted |= {step.rule_id for step in self.values if step.rows_sql}
        keys = {step.rule_id for step in self.keys}
        queries = {step.rule_id for step in (*self.queries, *self.calls, *self.listing_pairs)}
        return frozenset(counted & self.counting_bad | keys | queries)

    @property
    def withheld(self) -> frozenset[str]:
        """Rules whose value must not be told, for it may come out of a sensitive column."""
        return frozenset(step.rule_id for step in self.values if step.may_show_secret)

    @property
    def marked(self) -> frozenset[str]:
        """Rules that say of each row of the table whether it is bad; a user's query does not."""
        own = {step.rule_id for step in self.queries if not step.violates}
        own |= {step.rule_id for step in (*self.values, *self.calls, *self.pairs)}
        return self.listable & self.counting_bad - own

    @property
    def actions(self) -> int:
        """Spark actions that read the table if everything passes."""
        return int(self.needs_scan) + len(self.own_steps)

    @property
    def own_steps(self) -> tuple[OwnStep, ...]:
        """The steps that are an action each, beside the scan."""
        return (
            *self.keys,
            *self.queries,
            *self.measures,
            *self.values,
            *self.calls,
            *self.pairs,
        )

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Every number that is taken, in the scan or beside it."""
        steps: tuple[MeasureStep | ValueStep, ...] = (*self.measures, *self.values)
        beside = (taken for step in steps for taken in step.measurements)
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
