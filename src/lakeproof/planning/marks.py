"""Which rules a row breaks, said beside the row itself: for splitting and for quarantine."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from lakeproof.planning.fuse import within
from lakeproof.planning.places import text_sql
from lakeproof.planning.plan import TablePlan


@dataclass(frozen=True, slots=True)
class Mark:
    """One rule's condition over a row; `keys` is SQL of the keys that the rule has against it."""

    rule_id: str
    violates: str
    keys: str


def marks_of(plan: TablePlan, element_key: Callable[[str, str], str]) -> tuple[Mark, ...]:
    """A mark for every rule that judges rows; a rule over the table as a whole has none.

    Nor has one that asks for at least so many of them: the rows that it counts are not bad.
    `element_key` makes the key of an element out of SQL of the row's key and of its position.
    """
    key = plan.pinned.key_sql
    marks = []
    for tally in plan.scan.tallies:
        keys = f"array({key})"
        if tally.elements:
            inner = element_key(key, "_lakeproof_hit.at")
            keys = f"transform({tally.elements}, _lakeproof_hit -> {inner})"
        marks.append(Mark(tally.rule_id, within(tally.scope, tally.violates), keys))
    marks += [Mark(step.rule_id, step.violates, f"array({step.key_sql})") for step in plan.keys]
    marks += [
        Mark(step.rule_id, step.violates, f"array({step.key_sql})")
        for step in plan.queries
        if step.violates
    ]
    return tuple(mark for mark in marks if mark.rule_id in plan.counting_bad)


def broken_rules_sql(marks: Collection[Mark]) -> str:
    """SQL of the ids of the rules that a row breaks, as an array."""
    ids = ", ".join(f"CASE WHEN {mark.violates} THEN '{mark.rule_id}' END" for mark in marks)
    return f"array_compact(array({ids}))"


def broken_hits_sql(marks: Collection[Mark], hit_id: Callable[[str, str], str]) -> str:
    """SQL of a row's hits as an array of (rule_id, hit_id), one for each bad element."""
    found = ",\n".join(
        f"CASE WHEN {mark.violates} THEN transform({mark.keys}, _lakeproof_key -> named_struct("
        f"'rule_id', '{mark.rule_id}', 'hit_id', {hit_id(mark.rule_id, '_lakeproof_key')})) END"
        for mark in marks
    )
    return f"flatten(array_compact(array({found})))"


def names_sql(plan: TablePlan, ids_sql: str) -> str:
    """SQL of the names of rules out of an array of their ids; equal rules share an id."""
    names: dict[str, list[str]] = {}
    for rule in plan.rules:
        if rule.lists_rows:
            names.setdefault(rule.rule_id, []).append(text_sql(rule.key))
    pairs = ", ".join(f"'{rule_id}', array({', '.join(of)})" for rule_id, of in names.items())
    return (
        f"flatten(transform({ids_sql}, _lakeproof_id -> element_at(map({pairs}), _lakeproof_id)))"
    )
