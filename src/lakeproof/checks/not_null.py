from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression
from lakeproof.model.column import Column


class NotNull(ColumnCheck):
    """The column holds no NULL. An empty string and NaN are values."""

    name = "not_null"
    dimension = "completeness"

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        return exp.Is(this=column_expression(column), expression=exp.Null())

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have NULL in {column}"
