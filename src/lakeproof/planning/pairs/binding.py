"""A rule over two tables bound to both: which rows of each side, then what is compared."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final, Protocol

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import PairCheck
from lakeproof.checks.literals import literal_for, texts_for
from lakeproof.errors import CheckDefinitionError, EngineUnavailableError, LakeproofError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import TableName, quote
from lakeproof.model.nearest import nearest
from lakeproof.model.places import place_named
from lakeproof.model.rule import Rule
from lakeproof.planning.fuse import within
from lakeproof.planning.pairs.aggregates import bind_aggregates, bind_counts
from lakeproof.planning.pairs.comparison import bind_compare
from lakeproof.planning.pairs.scopes import PairScopes
from lakeproof.planning.pairs.steps import CompareStep, PairStep
from lakeproof.planning.tables import PinnedTable, TableReader

_BINDINGS: Mapping[str, Callable[..., PairStep]] = {
    "reconciliation": bind_counts,
    "aggregate_consistency": bind_aggregates,
    "multi_aggregate_consistency": bind_aggregates,
    "key_parity": bind_compare,
    "checksum_reconciliation": bind_compare,
}
_ANOTHER_WAY = ("method", "output_table")
"""Arguments by which a comparison stays the same one, and is still made only once."""
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_FLOAT_MAX: Final = {"float": Decimal("3.4028234663852886e38")}
_DOUBLE_MAX: Final = Decimal(sys.float_info.max)


class Binder(Protocol):
    """What is needed of the binder of rules."""

    @property
    def reader(self) -> TableReader: ...

    def pin(self, table: TableName, /) -> PinnedTable: ...

    def resolve(self, table: TableName, /) -> TableName: ...

    def vetted_scope(self, pinned: PinnedTable, condition: str, where: str) -> str: ...


def bind_pair(binder: Binder, target: PinnedTable, rule: Rule, scope: str) -> PairStep:
    """The comparison that the rule asks for; `scope` is the filter of the target."""
    if not target.relation:
        raise CheckDefinitionError(
            "a comparison of two tables judges them as a whole. Check the table that the frame "
            "becomes"
        )
    try:
        source = binder.pin(place_named(str(rule.arguments["source_table"])))
    except EngineUnavailableError:
        raise
    except LakeproofError as problem:
        raise CheckDefinitionError(unreadable("source", problem)) from problem
    where = str(rule.arguments.get("where_clause") or "")
    of_source = binder.vetted_scope(source, where, "where_clause") if where else ""
    scopes = PairScopes(
        source=_in_partition(rule, source, "source", of_source),
        target=_in_partition(rule, target, "target", scope),
    )
    step = _BINDINGS[rule.check](rule, target, source, binder.reader, scopes)
    if rule.filter:
        step = replace(step, notes={**step.notes, "target_filtered": True})
    output = rule.arguments.get("output_table")
    if output is None or not isinstance(step, CompareStep):
        return step
    table = binder.resolve(TableName.parse(str(output)))
    return replace(step, output_table=table, notes={**step.notes, "output_table": str(table)})


def target_problem(rule: Rule, problem: LakeproofError) -> str:
    """Why the rule's own table cannot be read, in the words that its check has for that."""
    is_pair = isinstance(find_check(rule.check), PairCheck)
    return unreadable("target", problem) if is_pair else str(problem)


def refuse_another_way(first: Rule, rule: Rule) -> None:
    """Refuse a comparison that was asked for before, if it should be made in another way."""
    differs = any(first.arguments.get(name) != rule.arguments.get(name) for name in _ANOTHER_WAY)
    if differs and isinstance(find_check(rule.check), PairCheck):
        raise CheckDefinitionError(
            f"the same comparison as {first.key!r}, with another method or output_table; keep one"
        )


def unreadable(side: str, problem: LakeproofError) -> str:
    """One side cannot be read; no tolerance makes that a pass."""
    return f"Failed to query {side} table: {problem}"


def _in_partition(rule: Rule, pinned: PinnedTable, side: str, scope: str) -> str:
    """The scope within the partition that the run was asked for, if it was."""
    name, value = rule.arguments.get("partition_column"), rule.arguments.get("partition")
    if name is None or value is None:
        return scope
    column = pinned.column(str(name))
    if column is None:
        near = nearest(str(name), [known.name for known in pinned.columns])
        hint = f" Nearest: {', '.join(near)}." if near else ""
        raise CheckDefinitionError(
            f"partition_column {name!r} is not in the {side} table {pinned.table}.{hint}"
        )
    literal = literal_for(_typed(value, column), column, "partition").sql("spark")
    return within(scope, f"{quote(column.name)} = {literal}")


def _typed(value: object, column: Column) -> object:
    """A command line has texts only: one for a number or a truth value is read as such."""
    if not isinstance(value, str):
        return value
    if column.family is TypeFamily.BOOLEAN and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not column.family.is_number:
        return value
    if not _NUMBER.fullmatch(value):
        raise CheckDefinitionError(
            f"partition {value!r} is no number, and {column.name!r} is {column.type_text.upper()}"
        )
    number = Decimal(value)
    if not _can_hold(column, number):
        raise CheckDefinitionError(
            f"partition {value!r} is no value of {column.name!r}, which is "
            f"{column.type_text.upper()}"
        )
    return number


def _can_hold(column: Column, number: Decimal) -> bool:
    """Whether the number is one of the column's type; for floats, to its nearest."""
    if column.family is TypeFamily.FLOAT:
        return abs(number) <= _FLOAT_MAX.get(column.type_text, _DOUBLE_MAX)
    return bool(texts_for((number,), column, "partition"))
