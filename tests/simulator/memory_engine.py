"""The engine over tables in memory: statements are known by their texts, answers are Python.

It stands where Spark stands: what a rule asks of rows is in `meaning.py`; this only reads tables,
whole or by their feeds, at the positions that the plan has pinned.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from meaning import Meaning, everything, meanings, parent_key
from memory_changes import MemoryChanges, MemoryDifference, MemoryRows
from memory_state import State, WeighedKey
from memory_table import MemoryTable, Row
from scheduler import Scheduler

from lakeproof.config import TableSettings
from lakeproof.errors import EngineUnavailableError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import Standing
from lakeproof.model.violation import HitSummary, Samples
from lakeproof.model.weighing import Side, WeighKind
from lakeproof.planning.fuse import within
from lakeproof.planning.plan import Plan, TablePlan
from lakeproof.planning.read_mode import Abilities
from lakeproof.planning.tables import NOTHING_DECLARED, PinnedTable

_RELATION = re.compile(r"`(orders|codes)_life(\d+)_commit(\d+)`")
_COUNTED = re.compile(r"CASE WHEN (.*?) THEN 1 ELSE 0 END\), 0\) AS (\w+)", re.DOTALL)
_RULE = re.compile(r"'([0-9a-f]{64})'")
_VIEW = re.compile(r"`(view_\d+)`")


class BrokenReadError(Exception):
    """What a file that cannot be read raises."""


@dataclass(frozen=True, slots=True)
class MemoryWeights:
    standings: Mapping[str, Standing]
    errors: Mapping[str, str]
    view: str
    tile_view: str = ""

    def release(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class MemoryHits:
    """Bad rows by key, in a view that the store can read."""

    view: str
    rows: Sequence[WeighedKey]

    def summaries(self) -> Mapping[str, HitSummary]:
        found: dict[str, HitSummary] = {}
        for row in self.rows:
            old = found.get(row.rule_id, HitSummary(row.rule_id, 0, 0, 0))
            found[row.rule_id] = HitSummary(
                row.rule_id,
                old.hits + 1,
                old.occurrences + row.weight,
                old.excess + row.present,
            )
        return found

    def samples_without(self, rule_ids: Sequence[str], left_out: str) -> Mapping[str, Samples]:
        raise NotImplementedError("nobody suppresses in the simulator")

    def release(self) -> None:
        pass


@dataclass(slots=True)
class MemoryEngine:
    """Reads the tables of a world. `fails` says of a rule whether it breaks just now."""

    tables: Mapping[TableName, MemoryTable]
    state: State
    scheduler: Scheduler
    fails: Callable[[str], bool] = field(default=lambda _rule_id: False)
    conditions: dict[str, Callable[[Row], bool]] = field(default_factory=dict)
    keys: dict[str, tuple[str, str]] = field(default_factory=dict)

    # ------------------------------------------------------------------------ what planning asks

    def pin(
        self,
        table: TableName,
        key: Sequence[str],
        position: Position | None = None,
        sensitive: Sequence[str] = (),
        declared: TableSettings = NOTHING_DECLARED,
    ) -> PinnedTable:
        found = self.tables[table]
        life = len(found.lives) - 1
        at = found.position if position is None else position
        if at.value >= len(found.now.commits):
            raise EngineUnavailableError(f"{table}: {at} is not there")
        return PinnedTable(
            table=table,
            table_id=found.now.table_id,
            format="delta",
            position=at,
            columns=found.columns,
            relation=f"`{table.short}_life{life}_commit{at.value}`",
            key_columns=tuple(key),
            key_sql=f"key_of_{table.short}",
        )

    def head(self, table: TableName) -> Position | None:
        self.scheduler.step(f"read head of {table.short}")
        return self.tables[table].position

    def key_sql(self, pinned: PinnedTable, columns: Sequence[Column]) -> str:
        return f"key({', '.join(column.name for column in columns)})"

    def query_key_sql(self, sql: str, pinned: PinnedTable, hidden: Sequence[str] = ()) -> str:
        return pinned.key_sql

    def query_columns(self, sql: str) -> tuple[Column, ...]:
        return ()

    def element_key_sql(self, key_sql: str, position_sql: str) -> str:
        return f"element({key_sql}, {position_sql})"

    def hit_id_sql(self, rule_id: str, key_sql: str) -> str:
        return f"hit('{rule_id}', {key_sql})"

    def text_sql(self, values: Sequence[tuple[str, str]]) -> str:
        return "text"

    def values_relation(self, values: Sequence[str], type_text: str) -> str:
        return "(VALUES)"

    def ensure_query(self, sql: str) -> None:
        pass

    def ensure_aggregate(self, sql: str) -> None:
        pass

    def ensure_predicate(self, pinned: PinnedTable, sql: str) -> None:
        pass

    def expression_type(self, pinned: PinnedTable, sql: str) -> str:
        return "boolean"

    def learn(self, plan: Plan) -> None:
        """Note what the statements of a plan stand for."""
        for table in plan.tables:
            for tally in table.scan.tallies:
                meaning = meanings()[tally.rule_id]
                self.conditions[within(tally.scope, tally.violates)] = meaning.violates
            for scope in table.scan.scopes:
                meaning = meanings()[min(scope.rule_ids)]
                self.conditions[within(scope.filter)] = meaning.scope
            for step in table.keys:
                self.keys[step.sql] = (step.rule_id, table.pinned.relation)

    # ------------------------------------------------------------------------- whole tables

    def ensure_ready(self) -> None:
        pass

    def fetch_row(self, sql: str, timeout_seconds: float | None) -> Mapping[str, object]:
        self.scheduler.step("scan")
        if sql in self.keys:
            rule_id, relation = self.keys[sql]
            hits = self._bad_keys(meanings()[rule_id], relation)
            return {"surplus_rows": sum(row.present for row in hits)}
        rows = self._rows(sql)
        found: dict[str, object] = {"table_rows": sum(rows.values())}
        for condition, alias in _COUNTED.findall(sql):
            holds = self.conditions[condition]
            found[alias] = sum(count for row, count in rows.items() if holds(row))
        return found

    def hold_hits(self, sql: str, timeout_seconds: float | None) -> MemoryHits:
        self.scheduler.step("list bad rows")
        hits = [row for view in _VIEW.findall(sql) for row in self.state.views[view]]
        relations = [name for name in _relations(sql) if not name.startswith("`codes")]
        for rule_id in dict.fromkeys(_RULE.findall(sql)):
            if self.fails(rule_id):
                raise BrokenReadError
            hits += self._bad_keys(meanings()[rule_id], relations[0], sql)
        return MemoryHits(self.state.new_view(hits), hits)

    def _bad_keys(self, meaning: Meaning, relation: str, sql: str = "") -> list[WeighedKey]:
        """The violations of a rule over whole tables; `present` is the excess here."""
        counts: dict[str, int] = defaultdict(int)
        for row, count in self._rows(relation).items():
            key = meaning.key(row)
            is_bad = meaning.violates(row) or meaning.kind not in {WeighKind.ROW, None}
            if key is not None and meaning.scope(row) and is_bad:
                counts[key] += count
        if meaning.kind is WeighKind.REFERENCE:
            parents = next(name for name in _relations(sql) if name.startswith("`codes"))
            known = {parent_key(row) for row in self._rows(parents)}
            counts = {key: count for key, count in counts.items() if key not in known}
        rule_id, found = meaning.rule.rule_id, []
        for key, count in counts.items():
            excess = count
            if meaning.kind is WeighKind.UNIQUE and not meaning.is_bad_by_null(key):
                excess = count - 1
            if excess:
                found.append(WeighedKey(rule_id, Side.OWN, key, count, excess))
        return found

    def _rows(self, sql: str) -> Mapping[Row, int]:
        found = _RELATION.search(sql)
        assert found is not None, sql
        name, life, number = found.groups()
        table = next(one for one in self.tables.values() if one.name.short == name)
        return table.at(int(life), int(number)).rows

    # ------------------------------------------------------------------------------- changes

    def abilities(self, pinned: PinnedTable, settings: TableSettings) -> Abilities:
        table = self.tables[pinned.table]
        return Abilities(has_feed=table.now.feed_is_on, asked_for=True, no_feed="its feed is off")

    def change_source(
        self, pinned: PinnedTable, mode: Mode, settings: TableSettings, kept: str | None
    ) -> MemoryChanges | MemoryDifference:
        found = _RELATION.search(pinned.relation)
        assert found is not None
        life = self.tables[pinned.table].lives[int(found[2])]
        until = Mark(pinned.table_id, pinned.position)
        if mode is Mode.SNAPSHOT_DIFF:
            rows = self.state.relations[kept] if kept else None
            return MemoryDifference(life, until, self.scheduler, self.state, rows)
        return MemoryChanges(life, until, self.scheduler, self.state.broken)

    def weigh(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        rows: Sequence[MemoryRows],
        timeout_seconds: float | None,
    ) -> MemoryWeights:
        self.scheduler.step("weigh")
        errors = {name: "Error: a file is gone" for name in rule_ids if self.fails(name)}
        weights = _summed(rows)
        standings: dict[str, Standing] = {}
        keys: list[WeighedKey] = []
        for name in rule_ids:
            if name not in errors:
                meaning = meanings()[name]
                standings[name] = _standing(meaning, weights)
                keys += _weighed_keys(meaning, weights)
        return MemoryWeights(standings, errors, self.state.new_view(keys))

    def weigh_parents(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        rows: Sequence[MemoryRows],
        timeout_seconds: float | None,
    ) -> MemoryWeights:
        self.scheduler.step("weigh parents")
        counts = _by_key(_summed(rows), parent_key, everything)
        keys = [
            WeighedKey(name, Side.PARENT, key, weight, weight)
            for name in rule_ids
            for key, weight in counts.items()
        ]
        return MemoryWeights({}, {}, self.state.new_view(keys))

    def weigh_again(
        self, plan: TablePlan, rule_ids: Sequence[str], view: str, timeout_seconds: float | None
    ) -> MemoryWeights:
        raise NotImplementedError("no table of the simulator is read by watermark")


def _relations(sql: str) -> list[str]:
    return [found[0] for found in _RELATION.finditer(sql)]


def _summed(rows: Iterable[MemoryRows]) -> dict[Row, int]:
    total: dict[Row, int] = defaultdict(int)
    for part in rows:
        for row, weight in part.weights.items():
            total[row] += weight
    return total


def _by_key(
    weights: Mapping[Row, int],
    key_of: Callable[[Row], str | None],
    counts: Callable[[Row], bool],
) -> dict[str, int]:
    """What rows weigh by key; a key whose rows cancel out is there with 0: it was touched."""
    total: dict[str, int] = defaultdict(int)
    for row, weight in weights.items():
        key = key_of(row)
        if key is not None:
            total[key] += weight if counts(row) else 0
    return total


def _standing(meaning: Meaning, weights: Mapping[Row, int]) -> Standing:
    items = weights.items()
    return Standing(
        rows=sum(weights.values()),
        scope=sum(weight for row, weight in items if meaning.scope(row)),
        bad=sum(weight for row, weight in items if meaning.violates(row)),
    )


def _weighed_keys(meaning: Meaning, weights: Mapping[Row, int]) -> list[WeighedKey]:
    if meaning.kind is WeighKind.COUNT:
        return []
    name = meaning.rule.rule_id
    if meaning.kind is WeighKind.ROW:
        present = _by_key(weights, meaning.key, everything)
        bad = _by_key(weights, meaning.key, meaning.violates)
        return [WeighedKey(name, Side.OWN, key, bad[key], present[key]) for key in present]
    counts = _by_key(weights, meaning.key, meaning.scope)
    return [WeighedKey(name, Side.OWN, key, weight, weight) for key, weight in counts.items()]
