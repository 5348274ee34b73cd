"""The plan for people and programs: one more reader of the steps that the runner executes.

Works on the frozen plan alone and computes nothing of its own, so it cannot say anything else
than what will run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TypeAlias

from lakeproof.model.printable import counted, printable
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.weighing import WeighKind
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.pairs.steps import CompareStep, PairStep
from lakeproof.planning.parts import part_of
from lakeproof.planning.plan import (
    CallStep,
    KeyStep,
    MeasureStep,
    OwnStep,
    Plan,
    QueryStep,
    TablePlan,
    ValueStep,
)
from lakeproof.planning.read_mode import Part, Share
from lakeproof.planning.weights import keyed_of

_Beside: TypeAlias = QueryStep | MeasureStep | ValueStep | CallStep | PairStep
_WithSql: TypeAlias = QueryStep | MeasureStep | ValueStep


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement of the plan, word for word, and what it is for."""

    table: str
    purpose: str
    sql: str


@dataclass(frozen=True, slots=True)
class _Node:
    text: str
    below: tuple[_Node, ...] = ()


def total_actions(plan: Plan) -> int:
    """Spark actions that read checked tables if everything passes."""
    return sum(_actions(table) for table in plan.tables)


def _actions(table: TablePlan) -> int:
    """Those of the rules that are evaluated whole, of each share of changes, and of the rebuild.

    Rules are rebuilt together, whatever the reasons.
    """
    whole = _whole_part(table)
    changes = _shares(table, Part.CHANGES)
    return (whole.actions if whole else 0) + len(changes) + _rebuilding_actions(table)


def _rebuilding_actions(table: TablePlan) -> int:
    """One weighs all rows; one more looks at keys that tiles may tell."""
    rebuilt = {name for share in _shares(table, Part.REBUILD) for name in share.rule_ids}
    kinds = table.weighed
    tileable = {
        name
        for name, rows in keyed_of(table).items()
        if rows.number_sql and kinds[name] is WeighKind.UNIQUE
    }
    return int(bool(rebuilt)) + int(not rebuilt.isdisjoint(tileable))


def _shares(table: TablePlan, part: Part) -> list[Share]:
    return [share for share in table.reads if share.part is part]


def _whole_part(table: TablePlan) -> TablePlan | None:
    """The plan of the rules that are evaluated over the whole table; None if there are none."""
    if all(share.part is Part.WHOLE for share in table.reads):
        return table
    ids = [name for share in table.reads if share.part is Part.WHOLE for name in share.rule_ids]
    return part_of(table, ids, table.mode, table.mode_reason) if ids else None


def fused_rules(table: TablePlan) -> tuple[Rule, ...]:
    """The rules that the table's scan answers: all that have no action of their own."""
    own = {step.rule_id for step in table.own_steps}
    return tuple(rule for rule in table.rules if rule.rule_id not in own)


def statements_of(plan: Plan) -> tuple[Statement, ...]:
    """Every statement over a whole table in the order of the run.

    Changes are weighed by statements that the engine makes when it reads them. A table's bad rows
    are listed as if all its rules had failed; the run asks only for those of the rules that did.
    """
    wholes = [_whole_part(table) for table in plan.tables]
    return tuple(statement for table in wholes if table for statement in _statements(table))


def _statements(table: TablePlan) -> Iterable[Statement]:
    named = str(table.pinned.table)
    if table.needs_scan:
        purpose = f"scan for {counted(len(fused_rules(table)), 'rule')}"
        yield Statement(named, purpose, table.scan.sql)
    for key in table.keys:
        yield Statement(named, f"{_key_text(key)} for {_names(table, key.rule_id)}", key.sql)
    beside: tuple[_WithSql, ...] = (*table.queries, *table.measures, *table.values)
    for step in beside:
        yield Statement(named, f"{_what(step)} for {_names(table, step.rule_id)}", step.sql)
    for pair in table.pairs:
        for side in (pair.source, pair.target):
            purpose = f"{side.name} of {_names(table, pair.rule_id)}"
            yield Statement(str(side.pinned.table), purpose, side.sql)
    # What differs between two tables stands in a view that the run makes.
    pairs = {step.rule_id for step in table.pairs}
    bad_rows = bad_rows_sql(table, table.listable - pairs)
    if bad_rows:
        yield Statement(named, "bad rows, if every rule fails", bad_rows)


def plan_sql(plan: Plan) -> str:
    """The statements as a script: each under a comment that says what it is for."""
    blocks = [
        f"-- {printable(statement.table)}: {printable(statement.purpose)}\n"
        # Control characters that a comment in user SQL may hold must not reach a terminal.
        + "\n".join(printable(line) for line in statement.sql.split("\n"))
        + ";"
        for statement in statements_of(plan)
    ]
    return "\n\n".join(blocks)


def plan_tree(plan: Plan) -> str:
    """The plan as a tree: per table how it is read and why, and what each action answers."""
    rules = len(plan.rules) + len(plan.rejected)
    moment = plan.now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    head = (
        f"Plan at {moment} UTC: {counted(rules, 'rule')}, "
        f"{counted(len(plan.tables), 'table')}, {counted(total_actions(plan), 'action')}"
    )
    below = [_table_node(table) for table in plan.tables]
    if plan.rejected:
        below.append(_rejected_node(plan.rejected))
    below.append(
        _Node(
            f"total: {counted(total_actions(plan), 'action')} if everything passes, "
            "one more for each table with bad rows"
        )
    )
    return "\n".join([head, *_drawn(below, "")])


def _table_node(table: TablePlan) -> _Node:
    pinned = table.pinned
    position = str(pinned.position) if pinned.position else "no history, not pinned"
    key = ", ".join(printable(name) for name in pinned.key_columns) or "hash of the whole row"
    aim = "make it incremental" if table.mode == Mode.SNAPSHOT else "see updates and deletes too"
    advice = f"to {aim}: {printable(table.mode_advice)}"
    whole = _whole_part(table)
    return _Node(
        f"{printable(pinned.table)} ({printable(pinned.format)}, {position})",
        (
            _Node(f"mode: {printable(table.mode)} ({printable(table.mode_reason)})"),
            *([_Node(table.statistics)] if table.statistics else []),
            *((_Node(advice),) if table.mode_advice else ()),
            _Node(f"bad rows known by: {key}"),
            # Where all rules are evaluated whole, the mode has said so and why.
            *(_share_node(table, share) for share in table.reads if whole is not table),
            *(_step_nodes(whole) if whole else ()),
        ),
    )


def _step_nodes(table: TablePlan) -> Iterable[_Node]:
    """What each action over the whole table answers."""
    fused = fused_rules(table)
    if fused or table.needs_scan:
        told = f"scan: 1 action, rules fused = {len(fused)}"
        rules = tuple(_Node(_rule_text(rule)) for rule in fused)
        yield _Node(told if table.needs_scan else "no scan: the file statistics decide", rules)
    beside: tuple[_Beside, ...] = (
        *table.queries,
        *table.measures,
        *table.values,
        *table.calls,
        *table.pairs,
    )
    yield from (_own_node(table, step, _key_text(step)) for step in table.keys)
    yield from (_own_node(table, step, _own_text(step)) for step in beside)


def _share_node(table: TablePlan, share: Share) -> _Node:
    """Rules that are read alike: from where to where, and why."""
    until = str(table.pinned.position) if table.pinned.position else "the present rows"
    is_told_above = share in _shares(table, Part.REBUILD)[1:]
    rebuilding = counted(_rebuilding_actions(table), "action")
    what = {
        Part.STILL: "nothing to read",
        Part.CHANGES: f"changes from {_mark_text(share.since)} to {until}, 1 action",
        Part.REBUILD: f"rebuilt from the whole table at {until}, "
        + ("with those above" if is_told_above else rebuilding),
        Part.WHOLE: "evaluated over the whole table, below",
    }[share.part]
    names = _names_in(table, share)
    told = f"{what}: {counted(len(names), 'rule')} ({printable(share.reason)})"
    return _Node(told, (_Node(printable(", ".join(names))),))


def _names_in(table: TablePlan, share: Share) -> list[str]:
    return [rule.key for rule in table.rules if rule.rule_id in share.rule_ids]


def _mark_text(mark: Mark | None) -> str:
    if mark is None:
        return "nothing"
    return printable(mark.watermark.value) if mark.watermark else str(mark.position)


def _own_node(table: TablePlan, step: OwnStep, text: str) -> _Node:
    rules = [rule for rule in table.rules if rule.rule_id == step.rule_id]
    reads = "1 action each side or more" if isinstance(step, PairStep) else "1 action"
    return _Node(f"{text}: {reads}", tuple(_Node(_rule_text(rule)) for rule in rules))


def _rejected_node(rejected: Sequence[RejectedRule]) -> _Node:
    return _Node(
        f"cannot run: {counted(len(rejected), 'rule')}",
        tuple(_Node(f"{printable(rule.key)}: {printable(rule.reason)}") for rule in rejected),
    )


def _rule_text(rule: Rule) -> str:
    column = f" {printable(rule.column_label)}" if rule.column_label else ""
    scope = f" where {printable(' '.join(rule.filter.split()))}" if rule.filter else ""
    return f"{printable(rule.key)}: {printable(rule.check)}{column}{scope}"


def _key_text(step: KeyStep) -> str:
    return f"key set ({', '.join(printable(name) for name in step.columns)}), {step.strategy}"


def _own_text(step: _Beside) -> str:
    limit = "" if step.timeout_seconds is None else f", limit {step.timeout_seconds:g} s"
    return f"{_what(step)}{limit}"


def _what(step: _Beside) -> str:
    if isinstance(step, QueryStep):
        return step.what
    if isinstance(step, PairStep):
        why = f" ({step.method_reason})" if isinstance(step, CompareStep) else ""
        return f"compared with {step.what}{why}"
    if isinstance(step, CallStep):
        return f"function of engine {step.rule.arguments['engine']}, in actions of its own"
    return "measure" if isinstance(step, MeasureStep) else "value"


def _names(table: TablePlan, rule_id: str) -> str:
    return ", ".join(rule.key for rule in table.rules if rule.rule_id == rule_id)


def _drawn(nodes: Sequence[_Node], indent: str) -> Iterable[str]:
    for place, node in enumerate(nodes, start=1):
        is_last = place == len(nodes)
        yield f"{indent}{'└─' if is_last else '├─'} {node.text}"
        yield from _drawn(node.below, indent + ("   " if is_last else "│  "))


def plan_document(plan: Plan, statements: Sequence[Statement] = ()) -> dict[str, object]:
    """The plan in plain values; with `statements`, those of `statements_of`, their SQL too."""
    document: dict[str, object] = {
        "now": plan.now.astimezone(UTC).isoformat(),
        "rules": len(plan.rules) + len(plan.rejected),
        "actions": total_actions(plan),
        "tables": [_table_document(table) for table in plan.tables],
        "rejected": [
            {
                "rule": rule.key,
                "check": rule.check,
                "table": str(rule.table) if rule.table else rule.table_label,
                "column": rule.column_label,
                "reason": rule.reason,
            }
            for rule in plan.rejected
        ],
    }
    if statements:
        document["statements"] = [
            {"table": item.table, "purpose": item.purpose, "sql": item.sql} for item in statements
        ]
    return document


def _table_document(table: TablePlan) -> dict[str, object]:
    pinned = table.pinned
    position = pinned.position
    return {
        "table": str(pinned.table),
        "format": pinned.format,
        "position": {"kind": position.kind, "value": position.value} if position else None,
        "key": list(pinned.key_columns),
        "mode": table.mode,
        "mode_reason": table.mode_reason,
        "mode_advice": table.mode_advice,
        "reads": [_share_document(table, share) for share in table.reads],
        "actions": _actions(table),
        **_steps_document(_whole_part(table)),
    }


def _share_document(table: TablePlan, share: Share) -> dict[str, object]:
    return {
        "part": share.part.value,
        "since": _mark_document(share.since),
        "gap": share.code,
        "reason": share.reason,
        "rules": _names_in(table, share),
    }


def _mark_document(mark: Mark | None) -> dict[str, object] | None:
    if mark is None:
        return None
    position, watermark = mark.position, mark.watermark
    return {
        "position": {"kind": position.kind, "value": position.value} if position else None,
        "watermark": {"type": watermark.type, "value": watermark.value} if watermark else None,
    }


def _steps_document(table: TablePlan | None) -> dict[str, object]:
    """What each action over the whole table answers."""
    if table is None:
        return {"scan": {"actions": 0, "rules": []}, "keys": [], "queries": [], "measures": []}
    queries: tuple[_Beside, ...] = (*table.queries, *table.values, *table.calls, *table.pairs)
    return {
        "scan": {
            "actions": int(table.needs_scan),
            "rules": [_rule_document(rule) for rule in fused_rules(table)],
        },
        "keys": [
            {
                "columns": list(step.columns),
                "strategy": step.strategy.value,
                "rules": _rules_of(table, step.rule_id),
            }
            for step in table.keys
        ],
        "queries": [
            {
                "what": _what(step),
                "timeout_seconds": step.timeout_seconds,
                "rules": _rules_of(table, step.rule_id),
            }
            for step in queries
        ],
        "measures": [
            {
                "timeout_seconds": step.timeout_seconds,
                "rules": _rules_of(table, step.rule_id),
            }
            for step in table.measures
        ],
    }


def _rules_of(table: TablePlan, rule_id: str) -> list[dict[str, object]]:
    return [_rule_document(rule) for rule in table.rules if rule.rule_id == rule_id]


def _rule_document(rule: Rule) -> dict[str, object]:
    return {
        "rule": rule.key,
        "rule_id": rule.rule_id,
        "check": rule.check,
        "columns": list(rule.columns),
        "filter": rule.filter,
        "severity": rule.severity.value,
        "threshold": rule.limit,
    }
