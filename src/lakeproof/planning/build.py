"""Rules in, plan out: each rule bound to its table's columns or rejected with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import KeyCheck, MeasureCheck, QueryCheck, RowCheck
from lakeproof.checks.user_sql import parse_predicate, parse_query
from lakeproof.errors import (
    CheckDefinitionError,
    EngineUnavailableError,
    LakeproofError,
    short_message,
)
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import TableName, quote
from lakeproof.model.position import Position
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.planning.fuse import fuse, within
from lakeproof.planning.key_sql import key_step
from lakeproof.planning.plan import (
    KeyStep,
    Measurement,
    Plan,
    QueryStep,
    ScanStep,
    TablePlan,
    Tally,
)
from lakeproof.planning.tables import PinnedTable, TableReader

DIALECT = "spark"


@dataclass(frozen=True, slots=True)
class Defaults:
    """How short table names in queries are completed, and each table's key columns."""

    resolve: Callable[[TableName], TableName]
    key_of: Callable[[TableName], Sequence[str]]


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
            rejected += [reject(rule, str(problem)) for rule in of_table]
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
    )


def _by_table(rules: Sequence[Rule | RejectedRule]) -> dict[TableName, list[Rule]]:
    grouped: dict[TableName, list[Rule]] = {}
    for rule in rules:
        if isinstance(rule, Rule):
            grouped.setdefault(rule.table, []).append(rule)
    return grouped


class _Binder:
    """Binds rules to columns; remembers each table's pin so that a run reads one position."""

    def __init__(
        self,
        reader: TableReader,
        defaults: Defaults,
        now: datetime,
        positions: Mapping[TableName, Position],
    ) -> None:
        self.reader = reader
        self.defaults = defaults
        self.now = now
        self.positions = positions
        self.pins: dict[TableName, PinnedTable] = {}

    def pin(self, table: TableName) -> PinnedTable:
        if table not in self.pins:
            key = self.defaults.key_of(table)
            self.pins[table] = self.reader.pin(table, key, self.positions.get(table))
        return self.pins[table]

    def bind_table(
        self, pinned: PinnedTable, rules: Sequence[Rule]
    ) -> tuple[TablePlan, list[RejectedRule]]:
        bound: dict[str, Tally | KeyStep | QueryStep | list[Measurement]] = {}
        scopes: dict[str, str] = {}
        kept: list[Rule] = []
        refused: list[RejectedRule] = []
        for rule in rules:
            try:
                if rule.rule_id not in bound:  # equal logic is evaluated once
                    scope = self._scope(pinned, rule)
                    bound[rule.rule_id] = self._bind(pinned, rule, scope, len(bound))
                    scopes[rule.rule_id] = scope
            except EngineUnavailableError:
                raise
            except Exception as problem:  # noqa: BLE001 (one rule's trouble is its own result)
                refused.append(reject(rule, short_message(problem)))
            else:
                kept.append(rule)
        steps = list(bound.values())
        plan = TablePlan(
            pinned=pinned,
            rules=tuple(kept),
            scan=_scan(pinned, scopes, steps),
            keys=tuple(step for step in steps if isinstance(step, KeyStep)),
            queries=tuple(step for step in steps if isinstance(step, QueryStep)),
            mode="snapshot",
            mode_reason=_why_snapshot(pinned),
        )
        return plan, refused

    def _bind(
        self, pinned: PinnedTable, rule: Rule, scope: str, number: int
    ) -> Tally | KeyStep | QueryStep | list[Measurement]:
        check = find_check(rule.check)
        columns = [find_column(pinned, name) for name in rule.columns]
        if isinstance(check, RowCheck):
            violates = check.violates(columns[0], rule.arguments, self.now)
            return Tally(rule.rule_id, f"rule_{number}", violates.sql(DIALECT), scope)
        if isinstance(check, KeyCheck):
            key = self.reader.key_sql(pinned, columns)
            return key_step(pinned, rule.rule_id, columns, scope, key)
        if isinstance(check, MeasureCheck):
            only = f" FILTER (WHERE {within(scope)})" if scope else ""
            return [
                Measurement(
                    rule.rule_id, name, f"rule_{number}_{name}", f"{sql.sql(DIALECT)}{only}"
                )
                for name, sql in check.measures(columns, rule.arguments).items()
            ]
        if isinstance(check, QueryCheck):
            return self._query(pinned, rule, check.query(rule.arguments), scope)
        raise CheckDefinitionError(f"check {rule.check!r} has a shape that cannot be planned")

    def _scope(self, pinned: PinnedTable, rule: Rule) -> str:
        if not rule.filter:
            return ""
        names = parse_predicate(rule.filter).columns
        columns = [find_column(pinned, name, "filter") for name in names]
        self.reader.ensure_predicate(pinned, rule.filter)
        if any(column.family is TypeFamily.FLOAT for column in columns):
            # Pushed down, Iceberg's file statistics would drop NaN, and -0.0 where 0.0 is asked
            # for. An array is never pushed down. (greatest() would be, and breaks Spark on AND.)
            return f"array_contains(array(\n{rule.filter}\n), true)"
        return rule.filter

    def _query(self, pinned: PinnedTable, rule: Rule, text: str, scope: str) -> QueryStep:
        self.reader.ensure_query(text)
        query = parse_query(text)
        sql = query.with_tables(
            lambda found: self._relation(TableName(found.parts), pinned, scope, found.alias)
        )
        key = self.reader.query_key_sql(sql, pinned.key_columns)
        return QueryStep(
            rule_id=rule.rule_id,
            scope=scope,
            # By key, not by count(*): Spark would leave out what the query selects, and a column
            # that cannot be computed would show only when the bad rows are listed.
            sql=(
                "SELECT count_if(length(violation_key) >= 0) AS failing_rows\n"
                f"FROM (SELECT {key} AS violation_key FROM (\n{sql}\n))"
            ),
            hits_sql=(
                "SELECT violation_key, count(*) AS occurrences\n"
                f"FROM (SELECT {key} AS violation_key FROM (\n{sql}\n))\nGROUP BY violation_key"
            ),
            timeout_seconds=rule.timeout_seconds,
        )

    def _relation(
        self, name: TableName, checked: PinnedTable, scope: str, alias: str | None
    ) -> str:
        found = self.pin(self.defaults.resolve(name))
        if found.table == checked.table and scope:
            called = "" if alias else f" AS {quote(name.short)}"
            return f"(SELECT * FROM {found.relation} WHERE {within(scope)}){called}"
        if found.relation.startswith("(") and not alias:
            return f"{found.relation} AS {quote(name.short)}"
        return found.relation


def find_column(pinned: PinnedTable, name: str, where: str = "column_name") -> Column:
    """The column, or an error that names the nearest ones."""
    found = pinned.column(name)
    if found is not None:
        return found
    names = [column.name for column in pinned.columns]
    near = get_close_matches(name, names, n=3) or names[:5]
    raise CheckDefinitionError(
        f"{where}: no column {name!r} in {pinned.table}. Nearest: {', '.join(near)}."
    )


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
