"""Rows without a partner: one anti-join, whatever the other side is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakeproof.checks.comparing import comparison_problem
from lakeproof.checks.kinds import column_expression
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, column_named
from lakeproof.model.value_path import has_elements, part_at, read_path


def not_among(columns: Sequence[Column], relation: str, theirs: Sequence[Column]) -> str:
    """Spark SQL: true for a row whose values are all there and meet none of the relation's.

    The other side's columns get names of ours inside, so that no name of theirs can be taken for
    one of the checked row. Spark makes an anti-join of it.
    """
    ours = [column_expression(column).sql("spark") for column in columns]
    for column, other in zip(columns, theirs, strict=True):
        _require_comparable(column, other)
    named = ", ".join(
        f"{column_expression(other).sql('spark')} AS _lakeproof_{number}"
        for number, other in enumerate(theirs)
    )
    alike = " AND ".join(f"_lakeproof_{number} = {sql}" for number, sql in enumerate(ours))
    present = " AND ".join(f"{sql} IS NOT NULL" for sql in ours)
    return (
        f"{present} AND NOT EXISTS (SELECT 1 FROM (SELECT {named} FROM {relation}) WHERE {alike})"
    )


def _require_comparable(column: Column, other: Column) -> None:
    """A join between types would cast row by row, and lose digits or fail on the way."""
    problem = comparison_problem(column, other)
    if not problem and {column.type_text, other.type_text} == {"float", "double"}:
        problem = "0.1 as FLOAT is another number than 0.1 as DOUBLE"
    if not problem and column.family is not other.family:
        problem = "the types are not alike"
    if problem:
        raise CheckDefinitionError(
            f"column {column.name!r} is {column.type_text.upper()} and {other.name!r} is "
            f"{other.type_text.upper()}: {problem}. Check a view that casts"
        )


def column_of(columns: Sequence[Column], name: str, table: str) -> Column:
    """The other table's column of that name, or the field of a struct that the path names."""
    found = column_named(columns, name)
    if found is not None:
        return found
    part = part_at(columns, name)
    if part is not None and not has_elements(name):
        steps = tuple(step for step, _ in read_path(name))
        return replace(part, name=name, path=steps)
    names = ", ".join(column.name for column in columns[:10])
    raise CheckDefinitionError(f"no column {name!r} in {table}. It has: {names}")
