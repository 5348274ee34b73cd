from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression, require_family
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.patterns import contains, text_value
from lakeproof.model.column import Column, TypeFamily

# Unicode's White_Space, spelled out: what \s means differs between engines.
_NOT_BLANK = r"[^\u0009-\u000D \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]"


class NotEmpty(ColumnCheck):
    """Text is not '', arrays and maps have elements.

    With `trim`, text of white space alone counts as empty too: Unicode's, so tabs, line breaks
    and no-break spaces as well as blanks. NULL never violates, and a NULL element is an element.
    """

    name = "not_empty"
    dimension = "completeness"
    parameters = (
        Parameter("trim", (bool,), "whether text of white space alone is empty", default=False),
    )

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        zero = exp.Literal.number(0)
        trim = bool(arguments["trim"])
        require_family(
            self.name,
            column,
            fits=column.family is TypeFamily.STRING or (column.is_collection and not trim),
            wanted="a text column to trim" if trim else "a text, array or map column",
        )
        if column.is_collection:
            return exp.EQ(this=exp.ArraySize(this=column_expression(column)), expression=zero)
        if trim:
            value = text_value(self.name, column)
            return exp.Not(this=exp.paren(contains(value, _NOT_BLANK), copy=False))
        # Not = '': a collation may find blanks equal to nothing.
        return exp.EQ(this=exp.Length(this=column_expression(column)), expression=zero)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} {'blank or ' if arguments['trim'] else ''}empty"
