from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.comparing import comparison_problem
from lakeproof.checks.kinds import Arguments, RowCheck, column_expression
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_OPERATORS: dict[str, type[exp.Binary]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    "=": exp.EQ,
    "!=": exp.NEQ,
    ">=": exp.GTE,
    ">": exp.GT,
}
"""The DECIMAL that Spark makes of each when it meets one."""


class ColumnPair(RowCheck):
    """Two columns of a row stand in a relation, such as `start_at <= end_at`.

    A row violates where both values are there and the relation is false; with a NULL on either
    side it passes. Types must be alike, or numbers that compare without rounding: BIGINT or
    DECIMAL beside DOUBLE is refused, and so is DATE beside TIMESTAMP; convert one of them in a
    `row_expression`. NaN violates every order and equals only NaN; -0.0 equals 0.0.
    """

    name = "column_pair"
    dimension = "consistency"
    columns_min = 2
    columns_max = 2
    parameters = (Parameter("operator", (str,), f"one of {' '.join(_OPERATORS)}", required=True),)

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if arguments["operator"] not in _OPERATORS:
            raise CheckDefinitionError(
                f"parameter 'operator' of check 'column_pair' is {arguments['operator']!r}, "
                f"not one of {' '.join(_OPERATORS)}"
            )
        if columns[0].casefold() == columns[1].casefold():
            raise CheckDefinitionError(
                f"check 'column_pair' compares column {columns[0]!r} with itself"
            )
        return arguments

    def row_violates(
        self, columns: Sequence[Column], arguments: Arguments, now: datetime
    ) -> exp.Expr:
        left, right = columns
        _require_comparable(left, right)
        operator = str(arguments["operator"])
        if left.family is TypeFamily.FLOAT or right.family is TypeFamily.FLOAT:
            return _floats_violate(left, right, operator)
        compared = _OPERATORS[operator](
            this=column_expression(left), expression=column_expression(right)
        )
        return exp.Not(this=exp.paren(compared, copy=False))

    def complaint(self, column: str, arguments: Arguments) -> str:
        operator = arguments["operator"]
        if column.count(",") == 1:
            return f"break {column.replace(',', f' {operator} ')}"
        return f"break {operator} between {column}"


def _require_comparable(left: Column, right: Column) -> None:
    problem = comparison_problem(left, right)
    if problem:
        raise CheckDefinitionError(
            f"check 'column_pair' cannot compare {left.name!r} ({left.type_text.upper()}) "
            f"with {right.name!r} ({right.type_text.upper()}): {problem}. "
            "Next: convert one of them in a row_expression"
        )


def _as_double(column: Column) -> exp.Expr:
    """Exact for what is let through; left alone, Spark may compare INT with FLOAT as FLOAT."""
    value = column_expression(column)
    return value if column.type_text == "double" else exp.cast(value, "DOUBLE")


def _floats_violate(left: Column, right: Column, operator: str) -> exp.Expr:
    """Spelled out for NaN: Spark takes it for the largest number, Trino compares it with none."""
    there = [
        exp.Is(this=column_expression(side), expression=exp.Null()).not_() for side in (left, right)
    ]
    one, other = _as_double(left), _as_double(right)
    nans = [exp.IsNan(this=side.copy()) for side in (one, other)]
    if operator in {"=", "!="}:
        equal = exp.or_(exp.EQ(this=one, expression=other), exp.and_(*nans))
        return exp.and_(*there, equal if operator == "!=" else exp.not_(equal))
    compared = _OPERATORS[operator](this=one, expression=other)
    return exp.and_(*there, exp.or_(exp.not_(compared), *nans))
