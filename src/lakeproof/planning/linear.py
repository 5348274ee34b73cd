"""Aggregates that add up: the same number over rows with weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from lakeproof.checks.kinds import column_expression
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.plan import Measurement

_SUMMED_DIGITS_MAX = 28
"""Nine digits of a weight and one more fit beside them into the 38 that Spark has."""


def measurement(
    of: Measurement, aggregates: Mapping[str, exp.Expr], column: Column | None, only: str
) -> Measurement:
    """The measurement with its form over weights, if it has one.

    `aggregates` are all that the rule takes, by name; `column` is what they are of, and `only`
    the FILTER clause behind each.
    """
    aggregate = aggregates[of.name]
    counted = _counted(aggregate)
    if counted:
        return replace(of, weighted=_sum(counted, only))
    scale = _scale(aggregate, column)
    counts = [name for name, other in aggregates.items() if _counts_values_of(other, column)]
    if scale is None or column is None or not counts:
        return of
    digits = 20 if column.family is TypeFamily.INTEGER else _SUMMED_DIGITS_MAX
    value = column_expression(column).sql("spark")
    weighed = (
        f"CAST({value} AS DECIMAL({digits}, {scale})) * CAST({quote(WEIGHT)} AS DECIMAL(9, 0))"
    )
    return replace(of, weighted=_sum(weighed, only), scale=scale, counted_by=counts[0])


def _sum(value: str, only: str) -> str:
    return f"coalesce(sum({value}){only}, 0)"


def _counted(aggregate: exp.Expr) -> str:
    """What a row counts for, if the aggregate counts rows; else ''."""
    if isinstance(aggregate, exp.Count):
        of = aggregate.this
        if isinstance(of, exp.Distinct) or aggregate.expressions:
            return ""
        return quote(WEIGHT) if isinstance(of, exp.Star) else _weight_if(f"{_sql(of)} IS NOT NULL")
    if isinstance(aggregate, exp.Sum) and isinstance(aggregate.this, exp.Case):
        branches, otherwise = aggregate.this.args["ifs"], aggregate.this.args.get("default")
        one = exp.Literal.number(1)
        if len(branches) == 1 and branches[0].args["true"] == one and _is_none(otherwise):
            return _weight_if(_sql(branches[0].this))
    return ""


def _is_none(value: exp.Expr | None) -> bool:
    return value is not None and value == exp.Literal.number(0)


def _weight_if(condition: str) -> str:
    return f"CASE WHEN {condition} THEN {quote(WEIGHT)} ELSE 0 END"


def _counts_values_of(aggregate: exp.Expr, column: Column | None) -> bool:
    return (
        column is not None
        and isinstance(aggregate, exp.Count)
        and aggregate.this == column_expression(column)
    )


def _scale(aggregate: exp.Expr, column: Column | None) -> int | None:
    """The digits behind the point of a plain sum; None if it is none, or not exact."""
    if column is None or not isinstance(aggregate, exp.Sum):
        return None
    value = column_expression(column)
    if column.family is TypeFamily.INTEGER:
        is_cast = isinstance(aggregate.this, exp.Cast) and aggregate.this.this == value
        return 0 if is_cast or aggregate.this == value else None
    if column.family is TypeFamily.DECIMAL and aggregate.this == value:
        inside = column.type_text.removeprefix("decimal(").removesuffix(")")
        digits, scale = map(int, inside.split(","))
        return scale if digits <= _SUMMED_DIGITS_MAX else None
    return None


def _sql(expression: exp.Expr) -> str:
    return expression.sql("spark")
