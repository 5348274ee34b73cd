from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression
from lakeproof.checks.parameters import Parameter
from lakeproof.model.column import Column


class NotNull(ColumnCheck):
    """The column holds no NULL. An empty string and NaN are values.

    A field of a struct that is NULL itself is NULL too; with `parent_optional` it does not
    violate, so that a struct may be left out but not filled by halves.
    """

    name = "not_null"
    dimension = "completeness"
    parameters = (
        Parameter(
            "parent_optional",
            (bool,),
            "whether a NULL is fine where the struct around it is NULL",
            default=False,
        ),
    )

    def identity(self, arguments: Arguments) -> Arguments:
        return {name: value for name, value in arguments.items() if value}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        is_null = exp.Is(this=column_expression(column), expression=exp.Null())
        *around, _ = column.path or (column.name,)
        if not (arguments["parent_optional"] and around):
            return is_null
        parent = Column(column.name, column.type_text, path=tuple(around))
        there = exp.Is(this=column_expression(parent), expression=exp.Null()).not_()
        return exp.and_(there, is_null)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have NULL in {column}"
