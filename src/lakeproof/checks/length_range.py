from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression, require_family
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily


class LengthRange(ColumnCheck):
    """Lengths lie within [min_length, max_length]; one bound may be left out.

    Text is counted in characters (Unicode code points, blanks included), binary in bytes, arrays
    and maps in elements. NULL never violates.
    """

    name = "length_range"
    dimension = "validity"
    parameters = (
        Parameter("min_length", (int,), "the smallest allowed length"),
        Parameter("max_length", (int,), "the largest allowed length"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        low, high = _bounds(arguments)
        if low is None and high is None:
            raise CheckDefinitionError("check 'length_range' needs min_length, max_length or both")
        for name, bound in (("min_length", low), ("max_length", high)):
            if bound is not None and bound < 0:
                raise CheckDefinitionError(
                    f"parameter {name!r} of check 'length_range' is {bound}; no length is below 0"
                )
        if low is not None and high is not None and low > high:
            raise CheckDefinitionError(
                f"check 'length_range' has min_length {low} above max_length {high}"
            )
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        low, high = _bounds(arguments)
        length = self._length(column)
        outside: list[exp.Expr] = []
        if low is not None:
            outside.append(exp.LT(this=length, expression=exp.Literal.number(low)))
        if high is not None:
            outside.append(exp.GT(this=length.copy(), expression=exp.Literal.number(high)))
        if not column.is_collection:
            return any_of(outside)
        # Spark's size(NULL) is -1 in sessions that keep the legacy.
        there = exp.Is(this=column_expression(column), expression=exp.Null()).not_()
        return exp.and_(there, any_of(outside))

    def complaint(self, column: str, arguments: Arguments) -> str:
        low, high = _bounds(arguments)
        return f"have {column} of a length outside [{low or 0}, {'inf' if high is None else high}]"

    def _length(self, column: Column) -> exp.Expr:
        require_family(
            self.name,
            column,
            fits=column.is_collection or column.family in {TypeFamily.STRING, TypeFamily.BINARY},
            wanted="a text, binary, array or map column",
        )
        value = column_expression(column)
        return exp.ArraySize(this=value) if column.is_collection else exp.Length(this=value)


def _bounds(arguments: Arguments) -> tuple[int | None, int | None]:
    return arguments["min_length"], arguments["max_length"]  # type: ignore[return-value]
