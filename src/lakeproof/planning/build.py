"""Rules in, plan out: each rule bound to its table's columns or rejected with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lakeproof.config import TableSettings
from lakeproof.errors import (
    EngineUnavailableError,
    LakeproofError,
    NothingToCheckError,
    short_message,
)
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.planning.alone import reads_alone
from lakeproof.planning.bind import Bound, RuleBinder
from lakeproof.planning.clock import depends_on_clock, only_mends
from lakeproof.planning.fuse import WHOLE_TABLE, fuse
from lakeproof.planning.pairs.binding import refuse_another_way, target_problem
from lakeproof.planning.pairs.steps import PairStep
from lakeproof.planning.plan import (
    CallStep,
    KeyStep,
    MeasureStep,
    Plan,
    QueryStep,
    ScanStep,
    TablePlan,
    Tally,
    ValueStep,
)
from lakeproof.planning.tables import NOTHING_DECLARED, PinnedTable, TableReader


@dataclass(frozen=True, slots=True)
class Defaults:
    """How short table names are completed; each table's key columns and sensitive columns.

    `declared_of` gives those that a contract declares, which may not all be there.
    """

    resolve: Callable[[TableName], TableName]
    key_of: Callable[[TableName], Sequence[str]]
    sensitive_of: Callable[[TableName], Sequence[str]] = lambda _table: ()
    declared_of: Callable[[TableName], TableSettings] = lambda _table: NOTHING_DECLARED


def build_plan(
    rules: Sequence[Rule | RejectedRule],
    reader: TableReader,
    defaults: Defaults,
    now: datetime,
    positions: Mapping[TableName, Position] | None = None,
) -> Plan:
    """The plan over these rules. One table that cannot be read rejects its own rules only."""
    rejected = [rule for rule in rules if isinstance(rule, RejectedRule)]
    binder = _Binder(reader, defaults, now, positions or {})
    tables: list[TablePlan] = []
    for table, of_table in _by_table(rules).items():
        try:
            pinned = binder.pin(table)
        except EngineUnavailableError:
            raise
        except LakeproofError as problem:
            rejected += [reject(rule, target_problem(rule, problem)) for rule in of_table]
            continue
        plan, refused = binder.bind_table(pinned, of_table)
        rejected += refused
        if plan.rules:
            tables.append(plan)
    checked = {plan.pinned.table for plan in tables}
    return Plan(
        now=now,
        tables=tuple(tables),
        joined=tuple(pin for table, pin in binder.pins.items() if table not in checked),
        rejected=tuple(rejected),
        order=tuple(rule.key for rule in rules),
    )


def reject(rule: Rule, reason: str) -> RejectedRule:
    """The same rule as one that cannot run."""
    return RejectedRule(
        key=rule.key,
        check=rule.check,
        table_label=rule.table_label,
        table=rule.table,
        column_label=rule.column_label,
        reason=reason,
        severity=rule.severity,
        rule_id=rule.rule_id,
        dimension=rule.dimension,
        tags=rule.tags,
        source=rule.source,
        declared=rule.declared,
    )


def _by_table(rules: Sequence[Rule | RejectedRule]) -> dict[TableName, list[Rule]]:
    grouped: dict[TableName, list[Rule]] = {}
    for rule in rules:
        if isinstance(rule, Rule):
            grouped.setdefault(rule.table, []).append(rule)
    return grouped


class _Binder:
    """Binds rules to tables; remembers each table's pin so that a run reads one position."""

    def __init__(
        self,
        reader: TableReader,
        defaults: Defaults,
        now: datetime,
        positions: Mapping[TableName, Position],
    ) -> None:
        self.reader = reader
        self.defaults = defaults
        self.positions = positions
        self.pins: dict[TableName, PinnedTable] = {}
        self.rules = RuleBinder(
            reader, lambda name: self.pin(defaults.resolve(name)), now, defaults.resolve
        )

    def pin(self, table: TableName) -> PinnedTable:
        if table not in self.pins:
            self.pins[table] = self.reader.pin(
                table,
                self.defaults.key_of(table),
                self.positions.get(table),
                self.defaults.sensitive_of(table),
                self.defaults.declared_of(table),
            )
        return self.pins[table]

    def bind_table(
        self, pinned: PinnedTable, rules: Sequence[Rule]
    ) -> tuple[TablePlan, list[RejectedRule]]:
        bound: dict[str, Bound] = {}
        scopes: dict[str, str] = {}
        first: dict[str, Rule] = {}
        kept: list[Rule] = []
        refused: list[RejectedRule] = []
        for rule in rules:
            try:
                if rule.rule_id in bound:  # equal logic is evaluated once
                    refuse_another_way(first[rule.rule_id], rule)
                else:
                    scope = self.rules.scope_of(pinned, rule)
                    bound[rule.rule_id] = self.rules.bind(pinned, rule, scope, len(bound))
                    is_pair = isinstance(bound[rule.rule_id], PairStep)
                    scopes[rule.rule_id] = WHOLE_TABLE if is_pair else scope
                    first[rule.rule_id] = rule
            except EngineUnavailableError:
                raise
            except Exception as problem:  # noqa: BLE001 (one rule's trouble is its own result)
                nothing = isinstance(problem, NothingToCheckError)
                refused.append(replace(reject(rule, short_message(problem)), is_skipped=nothing))
            else:
                kept.append(rule)
        steps = list(bound.values())
        plan = TablePlan(
            pinned=pinned,
            rules=tuple(kept),
            scan=_scan(pinned, scopes, steps),
            keys=tuple(step for step in steps if isinstance(step, KeyStep)),
            queries=tuple(step for step in steps if isinstance(step, QueryStep)),
            measures=tuple(step for step in steps if isinstance(step, MeasureStep)),
            values=tuple(step for step in steps if isinstance(step, ValueStep)),
            calls=tuple(step for step in steps if isinstance(step, CallStep)),
            pairs=tuple(step for step in steps if isinstance(step, PairStep)),
            element_key_sql=self.reader.element_key_sql("row_key", "hit.at"),
            mode="snapshot",
            mode_reason=_why_snapshot(pinned),
            clocked=frozenset(rule.rule_id for rule in first.values() if depends_on_clock(rule)),
            mending=frozenset(rule.rule_id for rule in first.values() if only_mends(rule)),
            alone=frozenset(rule.rule_id for rule in first.values() if reads_alone(rule)),
        )
        return plan, refused


def _why_snapshot(pinned: PinnedTable) -> str:
    if pinned.position is not None:
        return f"the whole table at {pinned.position}"
    if pinned.relation.startswith("("):
        return "the table has no snapshot yet: it is empty"
    if pinned.format == "iceberg":
        return "the whole table, not pinned: its schema changed after its last snapshot"
    return f"the whole table, not pinned: a {pinned.format} keeps no history"


def _scan(pinned: PinnedTable, scopes: Mapping[str, str], steps: Sequence[object]) -> ScanStep:
    measurements = [taken for step in steps if isinstance(step, list) for taken in step]
    return fuse(
        pinned,
        scopes=scopes,
        tallies=[step for step in steps if isinstance(step, Tally)],
        measurements=measurements,
    )
