from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression, require_family
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column


class FieldCount(ColumnCheck):
    """Structs have between `min_fields` and `max_fields` fields that are not NULL.

    For a map, its entries are counted. A struct or map that is NULL does not violate.
    """

    name = "field_count"
    dimension = "completeness"
    parameters = (
        Parameter("min_fields", (int,), "the smallest allowed number"),
        Parameter("max_fields", (int,), "the largest allowed number"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        low, high = _bounds(arguments)
        if low is None and high is None:
            raise CheckDefinitionError("check 'field_count' needs min_fields, max_fields or both")
        if low is not None and high is not None and low > high:
            raise CheckDefinitionError(
                f"check 'field_count' has min_fields {low} above max_fields {high}"
            )
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        is_map = column.map_key is not None
        require_family(
            self.name, column, fits=bool(column.fields) or is_map, wanted="a struct or map column"
        )
        low, high = _bounds(arguments)
        value = column_expression(column)
        number = exp.ArraySize(this=value.copy()) if is_map else _fields_there(column)
        outside: list[exp.Expr] = []
        if low is not None:
            outside.append(exp.LT(this=number, expression=exp.Literal.number(low)))
        if high is not None:
            outside.append(exp.GT(this=number.copy(), expression=exp.Literal.number(high)))
        there = exp.Is(this=value, expression=exp.Null()).not_()
        return exp.and_(there, any_of(outside))

    def complaint(self, column: str, arguments: Arguments) -> str:
        low, high = _bounds(arguments)
        limits = f"[{low or 0}, {'inf' if high is None else high}]"
        return f"have {column} with a number of fields outside {limits}"


def _bounds(arguments: Arguments) -> tuple[int | None, int | None]:
    return arguments["min_fields"], arguments["max_fields"]  # type: ignore[return-value]


def _fields_there(column: Column) -> exp.Expr:
    total: exp.Expr | None = None
    for field in column.fields:
        path = (*(column.path or (column.name,)), field.name)
        value = column_expression(Column(field.name, field.type_text, path=path))
        there = exp.Is(this=value, expression=exp.Null()).not_()
        one = exp.case().when(there, exp.Literal.number(1)).else_(exp.Literal.number(0))
        total = one if total is None else exp.Add(this=total, expression=one)
    return exp.paren(total or exp.Literal.number(0), copy=False)
