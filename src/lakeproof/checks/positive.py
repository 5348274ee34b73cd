from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression, require_family
from lakeproof.checks.literals import zero_of
from lakeproof.model.column import Column, TypeFamily


class Positive(ColumnCheck):
    """Numbers are above 0. Zero and NaN violate, NULL does not."""

    name = "positive"
    dimension = "validity"

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        require_family(self.name, column, fits=column.family.is_number, wanted="a numeric column")
        value = column_expression(column)
        conditions: list[exp.Expr] = [exp.LTE(this=value, expression=zero_of(column))]
        if column.family is TypeFamily.FLOAT:
            conditions.append(exp.IsNan(this=value.copy()))
        return any_of(conditions)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} not above 0"
