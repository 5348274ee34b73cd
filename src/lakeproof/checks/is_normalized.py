from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.bounds import NUMBER
from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression, require_family
from lakeproof.checks.literals import exact_decimal
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column


class IsNormalized(ColumnCheck):
    """Vectors, as arrays of numbers, have the length 1 in Euclid's sense, within `tolerance`.

    A vector with a NULL or NaN inside has no length and violates; so does the empty one. A vector
    that is NULL does not.
    """

    name = "is_normalized"
    dimension = "validity"
    parameters = (
        Parameter("tolerance", NUMBER, "how far from 1 the length may be", default=0.001),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        tolerance = exact_decimal(arguments["tolerance"])
        if not 0 <= tolerance < 1:
            raise CheckDefinitionError(
                f"parameter 'tolerance' of check 'is_normalized' is {tolerance}; it must be at "
                "least 0 and below 1"
            )
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        element = column.element
        require_family(
            self.name,
            column,
            fits=element is not None and column.map_key is None and element.family.is_number,
            wanted="an array of numbers",
        )
        value = column_expression(column)
        length = exp.Sqrt(this=_sum_of_squares(value.copy()))
        off = exp.Abs(this=exp.Sub(this=length, expression=_double("1.0")))
        allowed = _double(str(float(str(arguments["tolerance"]))))
        within = exp.func("coalesce", exp.LTE(this=off, expression=allowed), exp.false())
        there = exp.Is(this=value, expression=exp.Null()).not_()
        return exp.and_(there, exp.Not(this=within))

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} of a length other than 1"


def _double(text: str) -> exp.Expr:
    return exp.cast(exp.Literal.string(text), "DOUBLE")


def _sum_of_squares(vector: exp.Expr) -> exp.Expr:
    total, item = exp.to_identifier("total"), exp.to_identifier("item")
    number = exp.cast(exp.column("item"), "DOUBLE")
    added = exp.Add(
        this=exp.column("total"), expression=exp.Mul(this=number, expression=number.copy())
    )
    return exp.Reduce(
        this=vector,
        initial=_double("0.0"),
        merge=exp.Lambda(this=added, expressions=[total, item]),
        finish=exp.Lambda(this=exp.column("total"), expressions=[total.copy()]),
    )
