from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from lakeproof.checks.bounds import is_above
from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression, require_family
from lakeproof.checks.literals import above, below
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_BOUND = (int, float, Decimal, date, datetime, str)


class Range(ColumnCheck):
    """Values lie within [min_value, max_value], bounds included; one bound may be left out.

    For numbers, dates and timestamps (bounds of those as ISO text or Python values).
    NaN violates, NULL does not.
    """

    name = "range"
    dimension = "validity"
    parameters = (
        Parameter("min_value", _BOUND, "the smallest allowed value"),
        Parameter("max_value", _BOUND, "the largest allowed value"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        low, high = arguments["min_value"], arguments["max_value"]
        if low is None and high is None:
            raise CheckDefinitionError("check 'range' needs min_value, max_value or both")
        for name, bound in arguments.items():
            if isinstance(bound, (float, Decimal)) and Decimal(bound).is_nan():
                raise CheckDefinitionError(f"parameter {name!r} of check 'range' is NaN")
        if is_above(low, high):
            raise CheckDefinitionError(
                f"check 'range' has min_value {low!r} above max_value {high!r}"
            )
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        family = column.family
        require_family(
            self.name,
            column,
            fits=family.is_number or family.is_moment,
            wanted="a numeric, date or timestamp column",
        )
        value = column_expression(column)
        conditions: list[exp.Expr] = []
        if arguments["min_value"] is not None:
            conditions.append(below(value, arguments["min_value"], column, "min_value"))
        if arguments["max_value"] is not None:
            conditions.append(above(value.copy(), arguments["max_value"], column, "max_value"))
        if family is TypeFamily.FLOAT:
            conditions.append(exp.IsNan(this=value.copy()))
        return any_of(conditions)

    def complaint(self, column: str, arguments: Arguments) -> str:
        low, high = arguments["min_value"], arguments["max_value"]
        shown = f"[{'-inf' if low is None else low}, {'inf' if high is None else high}]"
        return f"have {column} outside {shown}"
