"""Row counts and aggregates of two tables, bound: one statement for each side."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakeproof.checks.literals import exact_decimal
from lakeproof.checks.user_sql import AggregateText, RollUp, parse_aggregate
from lakeproof.errors import CheckDefinitionError, UnsafeSqlError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest
from lakeproof.model.pairing import ColumnTolerance
from lakeproof.model.rule import Rule
from lakeproof.planning.fuse import within
from lakeproof.planning.pairs.scopes import PairScopes, partition_scope, positions_read
from lakeproof.planning.pairs.steps import Aggregate, AggregateStep, CountStep, Side
from lakeproof.planning.pairs.tolerances import equal_numbers_sql, null_safe
from lakeproof.planning.pairs.types import (
    common_type,
    converted_sql,
    key_obstacle,
    loses_digits,
)
from lakeproof.planning.tables import PinnedTable, TableReader

_SHOWN_NAMES_MAX = 5


def bind_counts(
    rule: Rule, target: PinnedTable, source: PinnedTable, _reader: TableReader, scopes: PairScopes
) -> CountStep:
    """The rows of both sides, counted in one statement each."""
    sides = [
        Side(name, pinned, scope, f"SELECT count(*) AS `rows`{_from(pinned, scope)}")
        for name, pinned, scope in (
            ("source", source, scopes.source),
            ("target", target, scopes.target),
        )
    ]
    return CountStep(
        rule_id=rule.rule_id,
        source=sides[0],
        target=sides[1],
        timeout_seconds=rule.timeout_seconds,
        notes=_notes(rule, *sides),
    )


def bind_aggregates(
    rule: Rule, target: PinnedTable, source: PinnedTable, reader: TableReader, scopes: PairScopes
) -> AggregateStep:
    """All aggregates of each side in one statement, by group if there are groups."""
    wanted = _wanted(rule, target, source, reader)
    groups = _groups(rule, target, source)
    of_source = _statement(
        [group.source_sql for group in groups],
        [_on_its_own_lines(one.expression) for one in wanted],
        _from(source, scopes.source),
    )
    of_target = _target_statement(wanted, groups, target, scopes.target)
    sides = (
        Side("source", source, scopes.source, of_source),
        Side("target", target, scopes.target, of_target),
    )
    types = [_value_types(reader, side, len(groups)) for side in sides]
    return AggregateStep(
        rule_id=rule.rule_id,
        source=sides[0],
        target=sides[1],
        groups=tuple(group.name for group in groups),
        aggregates=tuple(
            Aggregate(
                name=one.name,
                target_column=one.target_column,
                equal_sql=_equal_sql(one, left, right, _tolerance(rule)),
                is_hidden=_may_show_secret(one, source, target),
            )
            for one, left, right in zip(wanted, *types, strict=True)
        ),
        view=f"_lakeproof_pair_{uuid.uuid4().hex[:12]}",
        needs_one_row=() if groups else tuple(one.name for one in wanted if one.stands_as_it_is),
        hidden_groups=frozenset(group.name for group in groups if group.is_hidden),
        timeout_seconds=rule.timeout_seconds,
        notes={
            **_notes(rule, *sides),
            "group_by": [group.name for group in groups],
            "aggregates": [one.note for one in wanted],
        },
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One aggregate of a rule: what is computed on the source and held against the target."""

    name: str
    expression: AggregateText
    target_column: str
    target_expression: AggregateText | None

    @property
    def stands_as_it_is(self) -> bool:
        """Whether a whole target has no value of it that could be computed from its rows."""
        return self.target_expression is None and self.expression.roll_up is RollUp.IMPOSSIBLE

    @property
    def note(self) -> dict[str, str]:
        target = self.target_expression.text if self.target_expression else self.target_column
        return {"name": self.name, "source": self.expression.text, "target": target}


@dataclass(frozen=True, slots=True)
class _Group:
    """A column to group by, under one type on both sides and the target's name."""

    name: str
    source_sql: str
    target_sql: str
    is_hidden: bool


def _wanted(
    rule: Rule, target: PinnedTable, source: PinnedTable, reader: TableReader
) -> list[_Wanted]:
    arguments: Mapping[str, Any] = rule.arguments
    given: Sequence[Mapping[str, Any]] = arguments.get("aggregates") or (
        {
            "name": arguments["aggregate_column"],
            "expression": arguments["source_expression"],
            "target_column": arguments["aggregate_column"],
            "target_expression": arguments.get("target_expression"),
        },
    )
    return [_one_wanted(one, target, source, reader) for one in given]


def _one_wanted(
    given: Mapping[str, Any], target: PinnedTable, source: PinnedTable, reader: TableReader
) -> _Wanted:
    name, column = str(given["name"]), str(given["target_column"])
    what = f"expression of {name!r}"
    expression = _vetted(reader, source, "source", str(given["expression"]), what)
    of_target = given.get("target_expression")
    if of_target:
        what = f"target_expression of {name!r}"
        of_target = _vetted(reader, target, "target", str(of_target), what)
    else:
        column = _find(target, "target", column, f"aggregate {name!r}").name
    return _Wanted(name, expression, column, of_target or None)


def _vetted(
    reader: TableReader, pinned: PinnedTable, side: str, text: str, what: str
) -> AggregateText:
    """A user's aggregate, after it was found harmless and its columns were found."""
    try:
        reader.ensure_aggregate(text)
        parsed = parse_aggregate(text)
    except UnsafeSqlError as problem:
        raise UnsafeSqlError(f"{what}: {problem}") from problem
    for name in parsed.columns:
        _find(pinned, side, name, what)
    return parsed


def _find(pinned: PinnedTable, side: str, name: str, what: str) -> Column:
    found = pinned.column(name)
    if found is None:
        names = [column.name for column in pinned.columns]
        near = ", ".join(nearest(name, names) or names[:_SHOWN_NAMES_MAX])
        raise CheckDefinitionError(
            f"{what}: column {name!r} not found in the {side} table {pinned.table}. Nearest: {near}"
        )
    return found


def _groups(rule: Rule, target: PinnedTable, source: PinnedTable) -> list[_Group]:
    names: Any = rule.arguments.get("group_by") or ()
    return [_group(str(name), target, source) for name in names]


def _group(name: str, target: PinnedTable, source: PinnedTable) -> _Group:
    of_source = _find(source, "source", name, "group_by")
    of_target = _find(target, "target", name, "group_by")
    common = common_type(of_source, of_target)
    sides = (of_source, of_target)
    if common is None or any(loses_digits(side, common) for side in sides):
        raise CheckDefinitionError(
            f"group_by: {name!r} is {of_source.type_text.upper()} in the source and "
            f"{of_target.type_text.upper()} in the target, so groups cannot be told to be the "
            "same. Give one of the tables a view that casts it"
        )
    if problem := key_obstacle(common):
        raise CheckDefinitionError(f"group_by: {name!r} cannot be grouped by: {problem}")
    return _Group(
        name=of_target.name,
        source_sql=converted_sql(quote(of_source.name), of_source, common),
        target_sql=converted_sql(quote(of_target.name), of_target, common),
        is_hidden=source.is_sensitive(of_source.name) or target.is_sensitive(of_target.name),
    )


def _target_statement(
    wanted: Sequence[_Wanted], groups: Sequence[_Group], target: PinnedTable, scope: str
) -> str:
    """The target's rows as they are if there are groups, else all of them as one."""
    if not groups:
        values = [_whole_value(one, target) for one in wanted]
        return _statement([], values, _from(target, scope))
    of_group = [group.target_sql for group in groups]
    computed = [one.target_expression for one in wanted if one.target_expression]
    if not computed:
        columns = [quote(one.target_column) for one in wanted]
        return f"SELECT {_items(of_group, columns)}{_from(target, scope)}"
    if len(computed) < len(wanted):
        raise CheckDefinitionError(
            "with group_by, give target_expression for every aggregate or for none: rows of the "
            "target are compared as they are, or computed anew by group"
        )
    return _statement(of_group, list(map(_on_its_own_lines, computed)), _from(target, scope))


def _whole_value(one: _Wanted, target: PinnedTable) -> str:
    """The value that stands for all rows of the target."""
    if one.target_expression:
        return _on_its_own_lines(one.target_expression)
    column = _find(target, "target", one.target_column, f"aggregate {one.name!r}")
    value = quote(column.name)
    if one.stands_as_it_is:
        return f"any_value({value})"
    if not column.family.is_number:
        raise CheckDefinitionError(
            f"aggregate {one.name!r}: column {column.name!r} of the target is "
            f"{column.type_text.upper()} and cannot be summed. Give target_expression"
        )
    if one.expression.roll_up is RollUp.SUM:
        return f"sum({value})"
    # Counts of no parts are 0; that of a part which is NULL is not known.
    return f"if(count(*) = 0, 0, sum({value}))"


def _statement(groups: Sequence[str], values: Sequence[str], from_sql: str) -> str:
    if groups:
        return f"SELECT {_items(groups, values)}{from_sql}\nGROUP BY {', '.join(groups)}"
    return f"SELECT {_items((), values)},\n       count(*) AS `rows`{from_sql}"


def _items(groups: Sequence[str], values: Sequence[str]) -> str:
    named = [f"{sql} AS group_{number}" for number, sql in enumerate(groups)]
    named += [f"{sql} AS value_{number}" for number, sql in enumerate(values)]
    return ",\n       ".join(named)


def _on_its_own_lines(expression: AggregateText) -> str:
    return f"(\n{expression.text}\n)"


def _from(pinned: PinnedTable, scope: str) -> str:
    where = f"\nWHERE {within(scope)}" if scope else ""
    return f"\nFROM {pinned.relation}{where}"


def _value_types(reader: TableReader, side: Side, groups: int) -> tuple[Column, ...]:
    try:
        columns = reader.query_columns(side.sql)
    except CheckDefinitionError as problem:
        raise CheckDefinitionError(
            f"Failed to query {side.name} table {side.pinned.table}: {problem}"
        ) from problem
    return tuple(column for column in columns[groups:] if column.name != "rows")


def _tolerance(rule: Rule) -> ColumnTolerance:
    absolute, relative = (
        "" if value is None else str(exact_decimal(value))
        for value in (rule.arguments.get("absolute_tolerance"), rule.arguments.get("tolerance"))
    )
    return ColumnTolerance(absolute, relative)


def _equal_sql(one: _Wanted, source: Column, target: Column, tolerance: ColumnTolerance) -> str:
    if source.family.is_number and target.family.is_number:
        return equal_numbers_sql(source, target, tolerance)
    is_known = source.family is target.family is not TypeFamily.OTHER
    is_collated = source.is_collated or target.is_collated
    if not is_known or (is_collated and source.type_text != target.type_text):
        raise CheckDefinitionError(
            f"aggregate {one.name!r} is {source.type_text.upper()} on the source and "
            f"{target.type_text.upper()} on the target, which cannot be compared. Cast it in the "
            "expression or in target_expression"
        )
    return null_safe("({source} = {target})")


def _may_show_secret(one: _Wanted, source: PinnedTable, target: PinnedTable) -> bool:
    """Whether a value of the aggregate may tell one of a sensitive column; a count does not."""
    of_target = one.target_expression.columns if one.target_expression else (one.target_column,)
    of_source = () if one.expression.roll_up is RollUp.COUNT else one.expression.columns
    return any(
        pinned.is_sensitive(_find(pinned, side, name, one.name).name)
        for pinned, side, names in ((source, "source", of_source), (target, "target", of_target))
        for name in names
    )


def _notes(rule: Rule, source: Side, target: Side) -> dict[str, object]:
    return {
        "source_sql": source.sql,
        "target_sql": target.sql,
        "positions": positions_read(source.pinned, target.pinned),
        "partition_scope": partition_scope(rule),
    }
