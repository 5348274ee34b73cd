"""What rows with weights do to rules, as SQL: numbers, and keys.

A relation has the columns of the table and the weight beside them. Rows of weighed keys are
(rule_id, side, violation_key, near, weight, present, has_null). A key that is one whole number has
it as `near` and no text, and may have several rows; other keys have one on each side of a view.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from lakeproof.model.names import quote
from lakeproof.model.number_keys import key_text
from lakeproof.model.standing import Measured, Standing
from lakeproof.model.weighing import WEIGHT, Side, WeighKind
from lakeproof.planning.fuse import narrow, not_pushed_down, within
from lakeproof.planning.keyed_rows import row_near_sql
from lakeproof.planning.number_tiles import before_sql, outside_sql, tiled_rows
from lakeproof.planning.plan import (
    KeyedRows,
    KeyStep,
    Measurement,
    QueryStep,
    TablePlan,
    Tally,
)

NO_KEYS = (
    "SELECT CAST(NULL AS STRING) AS rule_id, '' AS side, '' AS violation_key, "
    "0L AS near, 0L AS weight, 0L AS present, false AS has_null WHERE false"
)


def counts_sql(plan: TablePlan, rule_ids: Collection[str], relation: str, bad: str = "") -> str:
    """One row with the numbers of these rules, under the names that the table's scan has.

    `bad` is a relation of the rows that `bad_rows_sql` selects, where somebody holds it: then the
    other rows are not asked what is wrong with them, and `bad_rows` says how many there are.
    """
    step = narrow(plan, frozenset(rule_ids))
    of_all = [f"coalesce(sum({WEIGHT}), 0) AS table_rows"]
    of_all += [_sum_if(within(scope.filter), scope.alias) for scope in step.scopes]
    of_all += [f"{taken.weighted} AS {taken.alias}" for taken in step.measurements]
    of_bad = []
    for tally in step.tallies:
        condition = within(tally.scope, tally.violates)
        of_bad.append(_sum_if(condition, tally.alias))
        if tally.elements:
            each = f"size({tally.elements}) * {WEIGHT}"
            of_bad.append(_sum_if(condition, tally.elements_alias, each))
    if not bad:
        return _selected([*of_all, *of_bad], relation)
    counted = _selected(["count(*) AS bad_rows", *of_bad], bad)
    return f"SELECT * FROM ({_selected(of_all, relation)}) CROSS JOIN ({counted})"


def _selected(items: Sequence[str], relation: str) -> str:
    return "SELECT " + ",\n       ".join(items) + f"\nFROM {relation}"


def bad_rows_sql(plan: TablePlan, rule_ids: Collection[str], relation: str) -> str:
    """The rows that break one of these rules; '' if none of them is about single rows."""
    tallies = narrow(plan, frozenset(rule_ids)).tallies
    return f"SELECT * FROM {relation}\nWHERE {not_pushed_down(_is_bad(tallies))}" if tallies else ""


def beside_sql(plan: TablePlan, relation: str, bad: str) -> str:
    """The rows of a relation that have the key of a bad one; the bad are few, and sent to them."""
    return (
        f"(SELECT /*+ BROADCAST(bad) */ * FROM {relation}\n"
        f"LEFT SEMI JOIN (SELECT DISTINCT {plan.pinned.key_sql} AS {_KNOWN} FROM {bad}) AS bad\n"
        f"ON {plan.pinned.key_sql} = {_KNOWN})"
    )


def _is_bad(tallies: Sequence[Tally]) -> str:
    return "\n   OR ".join(f"({within(tally.scope, tally.violates)})" for tally in tallies)


def _sum_if(condition: str, alias: str, value: str = WEIGHT) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN {value} ELSE 0 END), 0) AS {alias}"


def standing_of(plan: TablePlan, rule_id: str, values: Mapping[str, object]) -> Standing:
    """The numbers of one rule, out of the row of `counts_sql`; the keys are not among them."""
    rows = _whole(values["table_rows"])
    scopes = [scope.alias for scope in plan.scan.scopes if rule_id in scope.rule_ids]
    tallies = [tally for tally in plan.scan.tallies if tally.rule_id == rule_id]
    return Standing(
        rows=rows,
        scope=_whole(values[scopes[0]]) if scopes else rows,
        bad=sum(_whole(values[tally.alias]) for tally in tallies),
        elements=sum(_whole(values[tally.elements_alias]) for tally in tallies if tally.elements),
        measures={
            taken.name: _units(taken, values[taken.alias])
            for taken in plan.scan.measurements
            if taken.rule_id == rule_id
        },
    )


def _whole(value: object) -> int:
    return int(str(value))


def _units(taken: Measurement, value: object) -> Measured:
    """A sum as a number of whole units; Python's own decimals would round it."""
    return int(Fraction(Decimal(str(value))) * 10**taken.scale)


def keys_sql(
    plan: TablePlan,
    rule_ids: Collection[str],
    relation: str,
    *,
    is_snapshot: bool,
    tiled: Mapping[str, int] = MappingProxyType({}),
    beside_bad: str = "",
) -> str:
    """The keys of the checked table that these rows touch; '' if these rules have none.

    `is_snapshot`: each row has weight 1 and is there once, so only bad rows need to be looked at.
    Of `tiled` rules most keys are told by tiles: here are those of so many tiles that are crowded.
    `beside_bad`: as much of the relation as has to do with bad rows, if that is known.
    """
    kinds = plan.weighed
    branches = []
    tallies = [
        tally
        for tally in plan.scan.tallies
        if tally.rule_id in rule_ids and kinds.get(tally.rule_id) is WeighKind.ROW
    ]
    if tallies:
        rows = beside_bad or relation
        branches.append(_row_branch(plan, tallies, rows, is_snapshot=is_snapshot))
    for rule_id, keyed in keyed_of(plan).items():
        if rule_id in rule_ids and tiled.get(rule_id) != 0:
            left = outside_sql(keyed, relation) if rule_id in tiled else relation
            # Of a whole table many rows may have one key, of changes few.
            branches.append(_key_branch(rule_id, Side.OWN, keyed, left, is_summed=is_snapshot))
    return _united(branches)


def tiles_sql(plan: TablePlan, rule_ids: Collection[str], relation: str) -> str:
    """The keys of these rules as tiles, out of every row of the table; '' without such a rule."""
    return "\nUNION ALL\n".join(
        tiled_rows(rule_id, rows, relation)
        for rule_id, rows in keyed_of(plan).items()
        if rule_id in rule_ids
    )


def parents_sql(plan: TablePlan, rule_ids: Collection[str], relation: str) -> str:
    """The keys of the table referred to that these rows of it touch; '' if there are none."""
    return _united(
        [
            _key_branch(step.rule_id, Side.PARENT, step.parent.rows, relation, is_summed=False)
            for step in plan.queries
            if step.rule_id in rule_ids and step.parent
        ]
    )


def numbers_of(plan: TablePlan) -> dict[str, str]:
    """The rules whose keys are known by their numbers, with the name of these in the keys."""
    keyed = keyed_of(plan)
    return {rule_id: rows.number_name for rule_id, rows in keyed.items() if rows.number_sql}


def written_sql(plan: TablePlan, view: str) -> str:
    """Weights out of a view, each with its text: rule_id, side, violation_key, near, weight."""
    texts = "".join(
        f" WHEN '{rule_id}' THEN {key_text(before_sql(name), 'near')}"
        for rule_id, name in numbers_of(plan).items()
    )
    key = f"coalesce(violation_key, CASE rule_id{texts} END)" if texts else "violation_key"
    return f"SELECT rule_id, side, {key} AS violation_key, near, weight FROM {quote(view)}"


def again_sql(
    plan: TablePlan, rule_ids: Collection[str], known: str, relation: str, *, are_few: bool
) -> str:
    """By how much these keys weigh more in a relation of the table's rows than is known of them.

    `known` is a relation of rule_id, violation_key, occurrences and near; where they `are_few`,
    they are sent to the rows.
    """
    branches = []
    tallies = [tally for tally in plan.scan.tallies if tally.rule_id in rule_ids]
    if tallies:
        rows = _known_rows(plan, relation, plan.pinned.key_sql, known, are_few=are_few)
        branches.append(_row_branch(plan, tallies, rows, is_snapshot=False, with_rows=True))
    for rule_id, keyed in keyed_of(plan).items():
        if rule_id in rule_ids:
            of_rule = f"{known} WHERE rule_id = '{rule_id}'"
            rows = _known_rows(plan, relation, keyed.key_sql, of_rule, are_few=are_few)
            branches.append(_key_branch(rule_id, Side.OWN, replace(keyed, number_sql=""), rows))
    found = "\nUNION ALL\n".join(branches)
    asked = ", ".join(f"'{rule_id}'" for rule_id in rule_ids)
    by_row = ", ".join(f"'{tally.rule_id}'" for tally in tallies) or "''"
    # A key is found once for its rule, and once more if any row has it.
    matched = (
        "SELECT known.rule_id, known.violation_key, known.near, known.occurrences, "
        "coalesce(sum(if(found.rule_id = known.rule_id, found.weight, 0L)), 0L) "
        "- known.occurrences AS weight, "
        f"coalesce(bool_or(found.rule_id = '{_EVERY_ROW}'), false) AS is_there, "
        "coalesce(bool_or(found.rule_id = known.rule_id AND found.has_null), false) AS has_null\n"
        f"FROM {known} AS known\n"
        f"LEFT JOIN (\n{found}\n) AS found ON found.violation_key = known.violation_key "
        f"AND found.rule_id IN (known.rule_id, '{_EVERY_ROW}')\n"
        f"WHERE known.rule_id IN ({asked})\n"
        "GROUP BY known.rule_id, known.violation_key, known.near, known.occurrences"
    )
    by_number = ", ".join(f"'{rule_id}'" for rule_id in numbers_of(plan)) or "''"
    return (
        f"SELECT rule_id, '{Side.OWN}' AS side, "
        f"if(rule_id IN ({by_number}), NULL, violation_key) AS violation_key, near, weight, "
        f"CASE WHEN rule_id NOT IN ({by_row}) THEN weight "
        "WHEN is_there THEN 0L ELSE -occurrences END AS present, has_null\n"
        f"FROM ({matched})"
    )


def _known_rows(plan: TablePlan, relation: str, key_sql: str, known: str, *, are_few: bool) -> str:
    """The rows that have such a key now, each with weight 1."""
    columns = ", ".join(quote(column.name) for column in plan.pinned.columns)
    return (
        f"(SELECT {'/*+ BROADCAST(known) */ ' if are_few else ''}{columns}, 1L AS {WEIGHT} "
        f"FROM {relation}\n"
        f"LEFT SEMI JOIN (SELECT DISTINCT violation_key AS {_KNOWN} FROM {known}) AS known\n"
        f"ON {key_sql} = {_KNOWN})"
    )


def keyed_of(plan: TablePlan) -> dict[str, KeyedRows]:
    """The rules that count rows by a key of their own."""
    kinds = plan.weighed
    referring = (step for step in plan.queries if step.parent)
    steps: tuple[KeyStep | QueryStep, ...] = (*plan.keys, *referring)
    return {step.rule_id: step.rows for step in steps if step.rows and step.rule_id in kinds}


def _united(branches: Sequence[str]) -> str:
    return "\nUNION ALL\n".join(branches)


def _key_branch(
    rule_id: str, side: Side, rows: KeyedRows, relation: str, *, is_summed: bool = True
) -> str:
    """Rows by the rule's key. Grouped by value: the key's text is written once for each key.

    A key whose rows cancel out, as an update's do that leaves it alone, is not touched. Keys that
    are numbers need not be grouped here (`is_summed`): the store brings them together, once.
    """
    where = f"\nWHERE {rows.inside}" if rows.inside else ""
    found = f"FROM {relation}{where}"
    weight = f"CAST({WEIGHT} AS BIGINT)"
    if not rows.number_sql:
        key, near = rows.key_sql, rows.near_sql
    else:
        key, near = "CAST(NULL AS STRING)", rows.number_sql
    if is_summed or not rows.number_sql:
        weight = f"sum({WEIGHT})"
        found += f"\nGROUP BY {rows.number_sql or rows.group_sql}\nHAVING {weight} <> 0"
    return (
        f"SELECT '{rule_id}' AS rule_id, '{side}' AS side, violation_key, near, weight, "
        "weight AS present, has_null\n"
        f"FROM (SELECT {key} AS violation_key, {near} AS near, {weight} AS weight, "
        f"{rows.has_null_sql} AS has_null\n{found})"
    )


_KNOWN = "_lakeproof_known_key"
_EVERY_ROW = ""
"""Stands for a rule that every row breaks: its weight is the number of rows with that key."""


def _row_branch(
    plan: TablePlan,
    tallies: Sequence[Tally],
    relation: str,
    *,
    is_snapshot: bool,
    with_rows: bool = False,
) -> str:
    """Bad rows, or bad elements of rows, by the key of the row: one pass for all rules.

    Rows that were changed are counted by their key whether they are bad or not: a bad row that
    went is told from one that was mended by whether rows with its key are fewer now. What was
    found in them stays together until rows that cancel out are gone; most are neither bad now nor
    were before, and are not taken apart at all.
    """
    is_bad = _is_bad(tallies)
    broken = ",\n".join(
        f"CASE WHEN {within(tally.scope, tally.violates)} THEN {_found(tally, number)} END"
        for number, tally in enumerate(tallies, start=1)
    )
    hits = f"flatten(array_compact(array({broken})))"
    columns = (
        f"{plan.pinned.key_sql} AS row_key, {row_near_sql(plan.pinned)} AS near, "
        f"{WEIGHT} AS weight\nFROM {relation}"
    )
    if with_rows:
        hits = f"concat(array({_hit(0)}), {hits})"
    elif not is_snapshot:
        hits = f"CASE WHEN {is_bad} THEN {hits} ELSE array() END"
    if is_snapshot:
        rows = f"SELECT {hits} AS hits,\n{columns}\nWHERE {is_bad}"
        present = "sum(weight)"
    else:
        rows = (
            "SELECT hits, row_key, near, weight, "
            "sum(weight) OVER (PARTITION BY row_key) AS present\n"
            "FROM (SELECT hits, row_key, min(near) AS near, sum(weight) AS weight\n"
            f"FROM (SELECT {hits} AS hits,\n{columns})\n"
            "GROUP BY row_key, hits HAVING sum(weight) <> 0)"
        )
        present = "max(present)"
    ids = ", ".join(f"'{name}'" for name in (_EVERY_ROW, *(tally.rule_id for tally in tallies)))
    key = "row_key"
    if any(tally.elements for tally in tallies):
        key = f"CASE WHEN hit.at IS NULL THEN row_key ELSE {plan.element_key_sql} END"
    return (
        f"SELECT element_at(array({ids}), hit.rule + 1) AS rule_id, '{Side.OWN}' AS side, "
        f"{key} AS violation_key, min(near) AS near, sum(weight) AS weight, "
        f"{present} AS present, false AS has_null\n"
        f"FROM (SELECT explode(hits) AS hit, * FROM (\n{rows}))\n"
        "GROUP BY hit.rule, hit.at, row_key HAVING sum(weight) <> 0"
    )


def _found(tally: Tally, number: int) -> str:
    """What one rule has against a row: one entry, or one for each bad element."""
    if not tally.elements:
        return f"array({_hit(number)})"
    return f"transform({tally.elements}, _lakeproof_hit -> {_hit(number, '_lakeproof_hit.at')})"


def _hit(number: int, at: str = "CAST(NULL AS STRING)") -> str:
    return f"named_struct('rule', {number}, 'at', {at})"
