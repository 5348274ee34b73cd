from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression, require_family
from lakeproof.model.column import Column


class UniqueItems(ColumnCheck):
    """No element occurs twice in one array; NULL is an element like any other.

    Structs and arrays inside are equal if all their parts are. An array that is NULL does not
    violate. Between rows nothing is compared: that is `uniqueness`.
    """

    name = "unique_items"
    dimension = "uniqueness"

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        is_array = column.element is not None and column.map_key is None
        require_family(
            self.name,
            column,
            fits=is_array and "map<" not in column.type_text,
            wanted="an array column without maps inside, which have no equality,",
        )
        value = column_expression(column)
        distinct = exp.Anonymous(this="array_distinct", expressions=[value.copy()])
        fewer = exp.LT(this=exp.ArraySize(this=distinct), expression=exp.ArraySize(this=value))
        # Spark's size(NULL) is -1 in sessions that keep the legacy.
        there = exp.Is(this=value.copy(), expression=exp.Null()).not_()
        return exp.and_(there, fewer)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} with an element twice"
