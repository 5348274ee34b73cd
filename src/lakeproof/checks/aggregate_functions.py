"""The functions of the check `aggregate`: what each asks Spark, and what its answer is worth.

NULL is no value to any of them. Integers and decimals are summed and averaged exactly; doubles,
percentiles, deviations and correlations are doubles, and so are the bounds held against them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from lakeproof.checks.bounds import NUMBER, as_float, exact, nearest_float
from lakeproof.checks.kinds import Arguments, column_expression
from lakeproof.checks.literals import exact_decimal
from lakeproof.checks.moments import (
    MomentUnit,
    moment_number,
    moment_text,
    moment_unit,
    number_of_moment,
)
from lakeproof.checks.trino import TRY_SUM
from lakeproof.durations import MICROS_PER_SECOND
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_SUMMED_SAFELY_DIGITS_MAX = 28  # Spark adds ten digits to hold the total, up to 38
_SINGLE = "single"
_VALUE = "value"

Values = Mapping[str, object]
Measures: TypeAlias = "Callable[[Sequence[Column]], dict[str, exp.Expr]]"


class Fits(StrEnum):
    """The columns that a function has a meaning for, in the words of a refusal."""

    NUMBER = "a numeric column"
    ORDERED = "a numeric, date or timestamp column"
    PLAIN = "a column that is no struct, array or map"
    ANY = "a column"

    def admits(self, column: Column) -> bool:
        family = column.family
        return {
            Fits.NUMBER: family.is_number,
            Fits.ORDERED: family.is_number or family.is_moment,
            Fits.PLAIN: family is not TypeFamily.OTHER,
            Fits.ANY: True,
        }[self]


@dataclass(frozen=True, slots=True)
class Measured:
    """What an aggregate came to; `number` is None for NaN and the infinities.

    `bound_of` gives a bound as a number of the same kind, or None if it is of another kind.
    `unit` numbers make one of what a tolerance counts: 1, or a second's microseconds. `written`
    is the number as people write it: a float's shortest decimal, where `number` is what it holds.
    """

    number: Fraction | None
    shown: str
    bound_of: Callable[[object], Fraction | None]
    unit: int = 1
    is_moment: bool = False
    written: Fraction | None = None


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """`measures` is asked of Spark; `value` is made of the answer and of `rows`, their number."""

    fits: Fits
    measures: Measures
    value: Callable[[Values], Measured | None]
    columns: int = 1
    slows_scan: bool = False  # sketches, sets and maps cannot be part of compiled code


def bound_kind(column: Column, function: str) -> Callable[[object], Fraction | None]:
    """How bounds on this function of the column are read, before anything is measured."""
    if function in {"min", "max"} and column.family.is_moment:
        return _moment_bound(moment_unit(column))
    return _exact_bound


# ---------------------------------------------------------------------------- what Spark is asked


def _extreme(kind: type[exp.AggFunc]) -> Measures:
    def measures(columns: Sequence[Column]) -> dict[str, exp.Expr]:
        column = columns[0]
        if column.family.is_moment:
            return {moment_unit(column).value: kind(this=moment_number(column))}
        name = _SINGLE if column.type_text == "float" else _VALUE
        return {name: kind(this=column_expression(column))}

    return measures


def _sum_and_count(columns: Sequence[Column]) -> dict[str, exp.Expr]:
    column = columns[0]
    value = column_expression(column)
    total: exp.Expr = exp.Sum(this=value)
    if column.family is TypeFamily.INTEGER:
        total = exp.Sum(this=exp.cast(value, "DECIMAL(38, 0)"))  # a BIGINT total may overflow
    elif column.family is TypeFamily.DECIMAL and _digits(column) > _SUMMED_SAFELY_DIGITS_MAX:
        total = exp.Anonymous(this=TRY_SUM, expressions=[value])
    return {"sum": total, "count": exp.Count(this=value.copy())}


def _of_doubles(kind: type[exp.AggFunc]) -> Measures:
    return lambda columns: {_VALUE: kind(this=_as_double(columns[0]))}


def _percentile(share: object, kind: type[exp.AggFunc]) -> Measures:
    literal = exp.Literal.number(format(exact_decimal(share), "f"))
    return lambda columns: {_VALUE: kind(this=_as_double(columns[0]), quantile=literal.copy())}


def _distinct(columns: Sequence[Column]) -> dict[str, exp.Expr]:
    return {_VALUE: exp.Count(this=exp.Distinct(expressions=[column_expression(columns[0])]))}


def _distinct_about(columns: Sequence[Column]) -> dict[str, exp.Expr]:
    return {_VALUE: exp.ApproxDistinct(this=column_expression(columns[0]))}


def _distinct_and_count(columns: Sequence[Column]) -> dict[str, exp.Expr]:
    return {**_distinct(columns), **_present(columns)}


def _present(columns: Sequence[Column]) -> dict[str, exp.Expr]:
    return {"count": exp.Count(this=column_expression(columns[0]))}


def _correlation(columns: Sequence[Column]) -> dict[str, exp.Expr]:
    """By its parts: Spark's own `corr` divides by zero where a column is constant."""
    left, right = (_as_double(column) for column in columns)
    return {
        "covariance": exp.CovarPop(this=left, expression=right),
        "left": exp.VariancePop(this=_where_there(left, right)),
        "right": exp.VariancePop(this=_where_there(right, left)),
    }


def _where_there(value: exp.Expr, other: exp.Expr) -> exp.Expr:
    there = exp.Is(this=other.copy(), expression=exp.Null()).not_()
    return exp.case().when(there, value.copy())


def _as_double(column: Column) -> exp.Expr:
    value = column_expression(column)
    return value if column.type_text == "double" else exp.cast(value, "DOUBLE")


def _digits(column: Column) -> int:
    return int(column.type_text.removeprefix("decimal(").split(",", 1)[0])


# ------------------------------------------------------------------------ what the answer is worth


def _extreme_value(values: Values) -> Measured | None:
    name, found = next(iter(values.items()))
    if found is None:
        return None
    if name in {unit.value for unit in MomentUnit}:
        unit = MomentUnit(name)
        number = int(str(found))
        per_unit = 1 if unit is MomentUnit.DAYS else MICROS_PER_SECOND
        bound = _moment_bound(unit)
        return Measured(Fraction(number), moment_text(number, unit), bound, per_unit, True)
    return _measured(found, name)


def _plain_value(values: Values) -> Measured | None:
    found = values[_VALUE]
    return None if found is None else _measured(found)


def _sum_value(values: Values) -> Measured | None:
    found = values["sum"]
    if found is None and values["count"]:
        raise CheckDefinitionError(
            "the sum has more than 38 digits, which is more than Spark can hold. Aggregate an "
            "expression of smaller scale, such as CAST(x AS DOUBLE)"
        )
    return None if found is None else _measured(found)


def _average_value(values: Values) -> Measured | None:
    summed = _sum_value(values)
    if summed is None:
        return None
    count = int(str(values["count"]))
    if summed.number is None:
        return summed
    if isinstance(values["sum"], float):
        return _measured(values["sum"] / count)
    number = summed.number / count
    return Measured(number, _shown(number), _exact_bound)


def _distinct_share(values: Values) -> Measured | None:
    count = int(str(values["count"]))
    if not count:
        return None
    number = Fraction(int(str(values[_VALUE])), count)
    return Measured(number, _shown(number), _exact_bound)


def _null_share(values: Values) -> Measured | None:
    rows = int(str(values["rows"]))
    if not rows:
        return None
    number = 1 - Fraction(int(str(values["count"])), rows)
    return Measured(number, _shown(number), _exact_bound)


def _correlation_value(values: Values) -> Measured | None:
    covariance, left, right = (values[name] for name in ("covariance", "left", "right"))
    if not isinstance(covariance, float) or not left or not right:
        return None  # no pair of values, or a column that does not vary
    spread = math.sqrt(float(str(left))) * math.sqrt(float(str(right)))
    found = covariance / spread if spread else math.nan
    # Rounding may lead a little beyond 1, and `max_value: 1` would fail.
    return _measured(found if math.isnan(found) else min(max(found, -1.0), 1.0))


def _measured(found: object, name: str = _VALUE) -> Measured:
    if isinstance(found, float):
        number = Fraction(found) if math.isfinite(found) else None
        # Of 0.0 and -0.0, which are equal, it depends on the order of the rows which one comes.
        shown = "NaN" if math.isnan(found) else repr(found + 0.0)
        kind = "float" if name == _SINGLE else "double"
        written = None if number is None else _written(found, kind)
        return Measured(number, shown, _float_bound(kind), written=written)
    number = exact(found)
    return Measured(number, _decimal_shown(found), _exact_bound)


def _written(found: float, kind: str) -> Fraction:
    """The shortest decimal that is this float again: 0.1 for the FLOAT next to it."""
    texts = [f"{found:.{digits}g}" for digits in range(1, 10)] if kind == "float" else []
    short = [text for text in texts if nearest_float(text, kind) == found]
    return Fraction(short[0] if short else repr(found))


def _shown(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else repr(as_float(number))


def _decimal_shown(found: object) -> str:
    text = format(found, "f") if isinstance(found, Decimal) else str(found)
    return text.rstrip("0").rstrip(".") if "." in text else text


# ------------------------------------------------------------------------------------- bounds


def _exact_bound(bound: object) -> Fraction | None:
    return exact(bound) if isinstance(bound, NUMBER) else None


def _float_bound(type_text: str) -> Callable[[object], Fraction | None]:
    """Bounds on what a float came to, rounded as it is: 0.1 is the 0.1 that it can hold."""

    def bound_of(bound: object) -> Fraction | None:
        if not isinstance(bound, NUMBER):
            return None
        number = nearest_float(bound, type_text)
        return Fraction(number) if math.isfinite(number) else exact(bound)

    return bound_of


def _moment_bound(unit: MomentUnit) -> Callable[[object], Fraction | None]:
    def bound_of(bound: object) -> Fraction | None:
        number = number_of_moment(bound, unit)
        return None if number is None else Fraction(number)

    return bound_of


_MEDIAN = _percentile("0.5", exp.Quantile)

FUNCTIONS: dict[str, AggregateFunction] = {
    "min": AggregateFunction(Fits.ORDERED, _extreme(exp.Min), _extreme_value),
    "max": AggregateFunction(Fits.ORDERED, _extreme(exp.Max), _extreme_value),
    "sum": AggregateFunction(Fits.NUMBER, _sum_and_count, _sum_value),
    "avg": AggregateFunction(Fits.NUMBER, _sum_and_count, _average_value),
    "stddev": AggregateFunction(Fits.NUMBER, _of_doubles(exp.StddevSamp), _plain_value),
    "variance": AggregateFunction(Fits.NUMBER, _of_doubles(exp.Variance), _plain_value),
    "stddev_pop": AggregateFunction(Fits.NUMBER, _of_doubles(exp.StddevPop), _plain_value),
    "variance_pop": AggregateFunction(Fits.NUMBER, _of_doubles(exp.VariancePop), _plain_value),
    "percentile": AggregateFunction(Fits.NUMBER, _MEDIAN, _plain_value, slows_scan=True),
    "median": AggregateFunction(Fits.NUMBER, _MEDIAN, _plain_value, slows_scan=True),
    "distinct_count": AggregateFunction(Fits.PLAIN, _distinct, _plain_value, slows_scan=True),
    "approx_distinct_count": AggregateFunction(
        Fits.PLAIN, _distinct_about, _plain_value, slows_scan=True
    ),
    "distinct_share": AggregateFunction(
        Fits.PLAIN, _distinct_and_count, _distinct_share, slows_scan=True
    ),
    "null_share": AggregateFunction(Fits.ANY, _present, _null_share),
    "correlation": AggregateFunction(Fits.NUMBER, _correlation, _correlation_value, columns=2),
}


def function_of(arguments: Arguments) -> AggregateFunction:
    """The function that a rule asks for, with its own percentile."""
    found = FUNCTIONS[str(arguments["function"])]
    if found.measures is not _MEDIAN:
        return found
    share = "0.5" if arguments["percentile"] is None else arguments["percentile"]
    kind = exp.ApproxQuantile if arguments["approximate"] else exp.Quantile
    return replace(found, measures=_percentile(share, kind))
