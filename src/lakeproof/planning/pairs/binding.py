"""A rule over two tables bound to both: which rows of each side, then what is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Protocol

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import PairCheck
from lakeproof.checks.literals import literal_for
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
    output = rule.arguments.get("output_table")
    if output is None or not isinstance(step, CompareStep):
        return step
    table = binder.resolve(TableName.parse(str(output)))
    return replace(step, output_table=table, notes={**step.notes, "output_table": str(table)})


def target_problem(rule: Rule, problem: LakeproofError) -> str:
    """Why the rule's own table cannot be read, in the words that its check has for that."""
    is_pair = isinstance(find_check(rule.check), PairCheck)
    return unreadable("target", problem) if is_pair else str(problem)


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
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise CheckDefinitionError(
            f"partition {value!r} is no number, and {column.name!r} is {column.type_text.upper()}"
        ) from None
    return int(number) if number == number.to_integral_value() else number
