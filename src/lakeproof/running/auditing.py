"""An audit of kept state: a part of the key space counted again from the table, where rules stand.

What is kept is a sum over every change since a rule began. Here the same numbers are taken once
more from the rows themselves, at the very position that progress names.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from lakeproof.config import TableSettings
from lakeproof.engines.engine import Engine, Weights
from lakeproof.errors import LakeproofError, error_text
from lakeproof.model.names import TableName, quote
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.standing import Standing
from lakeproof.model.tiles import tiled_weights_sql
from lakeproof.model.weighing import KEY_HASH, WeighKind
from lakeproof.planning.plan import Plan, TablePlan
from lakeproof.planning.tables import PinnedTable
from lakeproof.planning.weights import written_sql
from lakeproof.state.store import RuleProgress

SLICES = 256
"""The key space is cut by the first two hexadecimal digits of a key's hash."""

Replan = Callable[[Mapping[TableName, Position]], Plan]


class KeptState(Protocol):
    """What an audit needs of a store."""

    def progress(self, rule_ids: Sequence[str]) -> Mapping[str, RuleProgress]: ...

    def index_sums(self, rule_id: str) -> str:
        """SQL of what each key weighs by committed state: side, key_hash, weight."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What became of one rule.

    Of `keys` that were looked at, `different` weigh something else than the index says; `numbers`
    are those that differ among the rule's own. `skipped` says why there is nothing to count again,
    `failed` why what there is could not be counted: whether that is right is not known.
    """

    rule_key: str
    rule_id: str
    table: str
    keys: int = 0
    different: int = 0
    numbers: tuple[str, ...] = ()
    skipped: str = ""
    failed: str = ""

    @property
    def has_drifted(self) -> bool:
        return bool(self.different or self.numbers)


@dataclass(frozen=True, slots=True)
class Auditor:
    """Counts again. `replan` makes the plan of the same rules at given positions."""

    engine: Engine
    store: KeptState
    settings_of: Callable[[TableName], TableSettings]
    replan: Replan
    timeout_seconds: float | None = None

    def audit(self, plan: Plan, share: float, rule_keys: Collection[str] = ()) -> list[Audited]:
        """One answer for each rule, those that cannot be planned last; `share` of the keys."""
        rules = [rule for rule in plan.rules if not rule_keys or rule.key in rule_keys]
        known = self.store.progress(list(dict.fromkeys(rule.rule_id for rule in rules)))
        slices = _slices(share)
        tables = {table.pinned.table: table for table in plan.tables}
        answers: dict[str, Audited] = {}
        groups: dict[tuple[TableName, Mode, Mark, Mark | None], list[Rule]] = {}
        for rule in rules:
            stands = known.get(rule.rule_id)
            reason = _why_not(tables[rule.table], rule, stands)
            if reason or stands is None or stands.mark is None:
                answers[rule.rule_id] = _answer(rule, skipped=reason)
            else:
                stand = (rule.table, stands.mode, stands.mark, stands.parent)
                groups.setdefault(stand, []).append(rule)
        for (_, mode, mark, parent), together in groups.items():
            try:
                found = self._recount(mode, mark, parent, together, known, slices)
            except Exception as problem:  # noqa: BLE001 (its rows may be gone; others are counted)
                found = [_answer(rule, failed=error_text(problem)) for rule in together]
            answers.update({one.rule_id: self._settled(one, known) for one in found})
        unplanned = [rule for rule in plan.rejected if not rule_keys or rule.key in rule_keys]
        return [
            *(replace(answers[rule.rule_id], rule_key=rule.key) for rule in rules),
            *(_unplanned(rule) for rule in unplanned),
        ]

    def _settled(self, found: Audited, known: Mapping[str, RuleProgress]) -> Audited:
        """The same, unless a run moved the rule while its rows were counted."""
        if not found.has_drifted:
            return found
        now = self.store.progress([found.rule_id]).get(found.rule_id)
        if now is not None and now.batch_seq == known[found.rule_id].batch_seq:
            return found
        return Audited(
            found.rule_key,
            found.rule_id,
            found.table,
            failed="a run moved it while it was counted. Audit again",
        )

    def _recount(
        self,
        mode: Mode,
        mark: Mark,
        parent: Mark | None,
        rules: Sequence[Rule],
        known: Mapping[str, RuleProgress],
        slices: Sequence[str],
    ) -> list[Audited]:
        """Weigh every row of the table as of the mark, once for the rules that stand there."""
        plan = self._plan_at(rules, mark, parent)
        ids = list(dict.fromkeys(rule.rule_id for rule in rules))
        with ExitStack() as held:
            own = self._weighed(held, plan, ids, plan.pinned, mode)
            weights = [own, *self._weighed_parents(held, plan, ids)]
            errors = {name: why for one in weights for name, why in one.errors.items()}
            return [
                _answer(rule, failed=errors[rule.rule_id])
                if rule.rule_id in errors
                else self._compared(rule, plan, weights, known[rule.rule_id], slices)
                for rule in rules
            ]

    def _plan_at(self, rules: Sequence[Rule], mark: Mark, parent: Mark | None) -> TablePlan:
        """The table's plan where the rules stand, there and in the table that they refer to."""
        table = rules[0].table
        assert mark.position is not None  # noqa: S101 (_why_not has asked)
        here = {table: mark.position}
        plan = _table_of(self.replan(here), table)
        others = {
            plan.parents[rule.rule_id].table for rule in rules if rule.rule_id in plan.parents
        }
        if parent is None or parent.position is None or not others:
            return plan
        there = dict.fromkeys(others, parent.position)
        return _table_of(self.replan({**there, **here}), table)

    def _weighed(
        self, held: ExitStack, plan: TablePlan, ids: Sequence[str], pinned: PinnedTable, mode: Mode
    ) -> Weights:
        """What every row of a table weighs: of the checked one, or of one that is referred to."""
        source = self.engine.change_source(pinned, mode, self.settings_of(pinned.table), None)
        held.callback(source.release)
        rows = source.snapshot()
        held.callback(rows.release)
        weigh = self.engine.weigh if pinned is plan.pinned else self.engine.weigh_parents
        weights = weigh(plan, ids, [rows], self.timeout_seconds)
        held.callback(weights.release)
        return weights

    def _weighed_parents(
        self, held: ExitStack, plan: TablePlan, ids: Sequence[str]
    ) -> Iterable[Weights]:
        by_table: dict[TableName, list[str]] = {}
        for name in ids:
            if name in plan.parents:
                by_table.setdefault(plan.parents[name].table, []).append(name)
        for names in by_table.values():
            yield self._weighed(held, plan, names, plan.parents[names[0]], Mode.CDF)

    def _compared(
        self,
        rule: Rule,
        plan: TablePlan,
        weights: Sequence[Weights],
        stands: RuleProgress,
        slices: Sequence[str],
    ) -> Audited:
        found = sum(
            (one.standings[rule.rule_id] for one in weights if rule.rule_id in one.standings),
            Standing(),
        )
        kept = stands.standing or Standing()
        audited = Audited(
            rule.key, rule.rule_id, str(rule.table), numbers=tuple(_differing(kept, found))
        )
        if plan.weighed[rule.rule_id] is WeighKind.COUNT:
            return audited
        found_keys = [
            f"SELECT side, {KEY_HASH} AS key_hash, weight FROM ({written_sql(plan, one.view)}) "
            f"WHERE rule_id = '{rule.rule_id}'"
            for one in weights
        ]
        found_keys += [
            tiled_weights_sql(
                f"SELECT * FROM {quote(one.tile_view)} WHERE rule_id = '{rule.rule_id}'"
            )
            for one in weights
            if one.tile_view
        ]
        sql = _difference_sql(found_keys, self.store.index_sums(rule.rule_id), slices)
        row = self.engine.fetch_row(sql, self.timeout_seconds)
        return replace(
            audited, keys=int(str(row["keys"])), different=int(str(row["different"] or 0))
        )


def _slices(share: float) -> list[str]:
    """So many prefixes of hashes, by chance: two audits look at different keys."""
    number = min(max(math.ceil(share * SLICES), 1), SLICES)
    return [f"{one:02x}" for one in sorted(random.SystemRandom().sample(range(SLICES), number))]


def _why_not(plan: TablePlan, rule: Rule, stands: RuleProgress | None) -> str:
    """Why the rule cannot be audited; '' if it can."""
    if rule.rule_id not in plan.weighed:
        return f"it keeps no index: {plan.whole_reasons.get(rule.rule_id, 'it is read whole')}"
    if stands is None or stands.mark is None or stands.standing is None:
        return "it keeps no index: no run has built one yet"
    if stands.mode is Mode.SNAPSHOT:
        return "it keeps no index: its table is read whole"
    if stands.mode is Mode.WATERMARK:
        return "read by a watermark: the rows as of the last run cannot be had again"
    if stands.mark.position is None:
        return "its table has no history, so its rows as of the last run cannot be had again"
    return ""


def _answer(rule: Rule, *, skipped: str = "", failed: str = "") -> Audited:
    return Audited(rule.key, rule.rule_id, str(rule.table), skipped=skipped, failed=failed)


def _unplanned(rule: RejectedRule) -> Audited:
    """A rule whose table is gone, say: what is kept of it cannot be held against anything."""
    found = Audited(rule.key, rule.rule_id, str(rule.table or rule.table_label))
    if rule.is_skipped:
        return replace(found, skipped=rule.reason)
    return replace(found, failed=rule.reason)


def _table_of(plan: Plan, table: TableName) -> TablePlan:
    for one in plan.tables:
        if one.pinned.table == table:
            return one
    reasons = {rule.reason for rule in plan.rejected if rule.table == table}
    raise LakeproofError("; ".join(sorted(reasons)) or f"{table} cannot be read there")


def _differing(kept: Standing, found: Standing) -> Iterable[str]:
    """The names of the numbers that are not the same."""
    for name in ("rows", "scope", "bad", "elements"):
        if getattr(kept, name) != getattr(found, name):
            yield name
    for name in sorted({*kept.measures, *found.measures}):
        if (kept.measures.get(name) or 0) != (found.measures.get(name) or 0):
            yield name


def _difference_sql(found_sql: Sequence[str], index_sql: str, slices: Sequence[str]) -> str:
    """How many keys of the slices there are, and how many weigh one thing here and another there.

    A key that weighs nothing on both sides is no key: rows came and went.
    """
    wanted = ", ".join(f"'{one}'" for one in slices)
    inside = f"substring(key_hash, 1, 2) IN ({wanted})"
    found = "\nUNION ALL\n".join(
        f"SELECT side, key_hash, weight AS found, 0L AS kept FROM ({keys}) WHERE {inside}"
        for keys in found_sql
    )
    kept = f"SELECT side, key_hash, 0L, weight FROM ({index_sql}) WHERE {inside}"
    return (
        "SELECT count(*) AS keys, count_if(found <> kept) AS different FROM (\n"
        "SELECT sum(found) AS found, sum(kept) AS kept FROM (\n"
        f"{found}\nUNION ALL\n{kept}\n) GROUP BY side, key_hash\n"
        ") WHERE found <> 0 OR kept <> 0"
    )
