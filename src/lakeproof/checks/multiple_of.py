from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from sqlglot import exp

from lakeproof.checks.bounds import NUMBER
from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression, require_family
from lakeproof.checks.literals import exact_decimal
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_DIGITS_MAX = 38
_ROUNDING = {"float": 2.0**-23, "double": 2.0**-51}
"""By how much a multiple may miss its number, as a share of it, when all three are rounded."""


class MultipleOf(ColumnCheck):
    """Numbers are whole multiples of `factor`. Zero is one; NaN, infinity are none; NULL is fine.

    Integers and decimals are divided exactly. A floating-point number counts as the multiple
    nearest to it if no more than the rounding of its type lies between them: a DOUBLE 0.3 is a
    multiple of 0.1.
    """

    name = "multiple_of"
    dimension = "validity"
    parameters = (Parameter("factor", NUMBER, "a number above 0", required=True),)

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        factor = exact_decimal(arguments["factor"])
        if not (factor.is_finite() and factor > 0 and _fits(factor)):
            raise CheckDefinitionError(
                f"parameter 'factor' of check 'multiple_of' is {factor}; it must be above 0 and "
                f"have at most {_DIGITS_MAX} digits"
            )
        return {"factor": factor}

    def identity(self, arguments: Arguments) -> Arguments:
        return {"factor": exact_decimal(arguments["factor"]).normalize()}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        require_family(self.name, column, fits=column.family.is_number, wanted="a numeric column")
        factor = exact_decimal(arguments["factor"])
        if column.family is TypeFamily.FLOAT:
            return _is_far_off(column, factor)
        left = exp.Mod(this=column_expression(column), expression=_number(factor))
        return exp.NEQ(this=left, expression=exp.Literal.number(0))

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} that is no multiple of {arguments['factor']}"


def _fits(factor: Decimal) -> bool:
    """Whether it can be written as a decimal: 1E999999 could not."""
    exponent = factor.as_tuple().exponent
    return (
        isinstance(exponent, int) and exponent >= -_DIGITS_MAX and factor.adjusted() < _DIGITS_MAX
    )


def _number(factor: Decimal) -> exp.Expr:
    return exp.Literal.number(format(factor, "f"))


def _is_far_off(column: Column, factor: Decimal) -> exp.Expr:
    value = exp.cast(column_expression(column), "DOUBLE")
    step = exp.cast(_number(factor), "DOUBLE")
    nearest = exp.Mul(
        this=exp.Round(this=exp.Div(this=value.copy(), expression=step)), expression=step.copy()
    )
    rounding = exp.cast(exp.Literal.string(repr(_ROUNDING[column.type_text])), "DOUBLE")
    distance = exp.Abs(this=exp.Sub(this=value.copy(), expression=nearest))
    allowed = exp.Mul(this=exp.Abs(this=value.copy()), expression=rounding)
    infinite = exp.EQ(
        this=exp.Abs(this=value.copy()),
        expression=exp.cast(exp.Literal.string("Infinity"), "DOUBLE"),
    )
    return exp.or_(exp.IsNan(this=value), infinite, exp.GT(this=distance, expression=allowed))
