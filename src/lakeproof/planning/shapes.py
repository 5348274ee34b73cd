"""How a rule counts rows, remembered by a short name: kept counts fit as long as it is the same."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, replace

from lakeproof.model.rule import Rule
from lakeproof.planning.clock import user_sql_of
from lakeproof.planning.keyed_rows import row_near_sql
from lakeproof.planning.plan import KeyedRows, TablePlan
from lakeproof.planning.weights import keyed_of


def shapes_of(plan: TablePlan) -> dict[str, str]:
    """A short name for the way in which each rule that follows changes counts, by rule_id.

    It is another one where the same rule counts otherwise: by another key of the table, after a
    column was added to rows that have no other key than all of their columns, or where a user's SQL
    is read under another zone.
    """
    keyed, weighed = keyed_of(plan), plan.weighed
    return {
        rule.rule_id: _shape(plan, rule, keyed.get(rule.rule_id))
        for rule in plan.rules
        if rule.rule_id in weighed
    }


def _shape(plan: TablePlan, rule: Rule, by_key: KeyedRows | None) -> str:
    settings = plan.pinned.sql_settings if any(user_sql_of(rule)) else ""
    own, parents = _counting(plan, rule.rule_id, by_key), _parent_rows(plan, rule.rule_id)
    shape = (own.tallies, own.by_row, own.by_key, parents, own.measures, settings)
    numbers = [rows.number_sql for rows in (by_key, *parents) if rows and rows.number_sql]
    return hashlib.sha256(repr((shape, own.scopes, *numbers)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Counting:
    """The SQL by which a rule counts rows of its table.

    Not the aliases: they are numbered by the rule's place among those that are planned with it.
    """

    tallies: list[tuple[str, str, str]]
    by_row: tuple[str, ...]
    by_key: KeyedRows | None
    measures: list[str]
    scopes: list[str]


def _counting(plan: TablePlan, rule_id: str, by_key: KeyedRows | None) -> _Counting:
    tallies = [
        (tally.violates, tally.scope, tally.elements)
        for tally in plan.scan.tallies
        if tally.rule_id == rule_id
    ]
    by_row = (plan.pinned.key_sql, row_near_sql(plan.pinned), plan.element_key_sql)
    return _Counting(
        tallies=tallies,
        by_row=by_row if tallies else (),
        by_key=by_key,
        measures=[taken.weighted for taken in plan.scan.measurements if taken.rule_id == rule_id],
        scopes=[scope.filter for scope in plan.scan.scopes if rule_id in scope.rule_ids],
    )


def _parent_rows(plan: TablePlan, rule_id: str) -> list[KeyedRows]:
    return [step.parent.rows for step in plan.queries if step.rule_id == rule_id and step.parent]


def counting_texts(plan: TablePlan, rule_id: str) -> list[str]:
    """Every piece of SQL over the checked table by which a rule that follows changes counts."""
    own = _counting(plan, rule_id, keyed_of(plan).get(rule_id))
    texts = [text for tally in own.tallies for text in tally]
    keyed = _texts_of(own.by_key) if own.by_key else ()
    return [*texts, *own.by_row, *keyed, *own.measures, *own.scopes]


def parent_texts(plan: TablePlan, rule_id: str) -> list[str]:
    """The same over the table that the rule refers to."""
    return [text for rows in _parent_rows(plan, rule_id) for text in _texts_of(rows)]


def _texts_of(rows: KeyedRows) -> tuple[str, ...]:
    """Not the name of its numbers: it is the checked table's, also of the one referred to."""
    return astuple(replace(rows, number_name=""))
