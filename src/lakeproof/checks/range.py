from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from lakeproof.checks.bounds import is_above
from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression, require_family
from lakeproof.checks.literals import above, below
from lakeproof.checks.moment_text import moment_bound, moment_of, spark_pattern
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.patterns import text_value
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_BOUND = (int, float, Decimal, date, datetime, str)


class Range(ColumnCheck):
    """Values lie within [min_value, max_value], bounds included; one bound may be left out.

    For numbers, dates and timestamps (bounds of those as ISO text or Python values); and, with
    `pattern`, for text that holds a date, a timestamp or a time of day: text that is not written
    so violates. `min_exclusive` and `max_exclusive` leave out the bound itself.
    NaN violates, NULL does not.
    """

    name = "range"
    dimension = "validity"
    parameters = (
        Parameter("min_value", _BOUND, "the smallest allowed value"),
        Parameter("max_value", _BOUND, "the largest allowed value"),
        Parameter("min_exclusive", (bool,), "whether min_value is too small", default=False),
        Parameter("max_exclusive", (bool,), "whether max_value is too large", default=False),
        Parameter("pattern", (str,), "how text writes a date or time, in Java's letters for them"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        low, high = arguments["min_value"], arguments["max_value"]
        if low is None and high is None:
            raise CheckDefinitionError("check 'range' needs min_value, max_value or both")
        for name, bound in arguments.items():
            if isinstance(bound, (float, Decimal)) and Decimal(bound).is_nan():
                raise CheckDefinitionError(f"parameter {name!r} of check 'range' is NaN")
        if is_above(low, high):
            raise CheckDefinitionError(
                f"check 'range' has min_value {low!r} above max_value {high!r}"
            )
        if arguments["pattern"] is None:
            return arguments
        return {**arguments, "pattern": spark_pattern(self.name, str(arguments["pattern"]))}

    def identity(self, arguments: Arguments) -> Arguments:
        bounds = ("min_value", "max_value")
        return {name: value for name, value in arguments.items() if value or name in bounds}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        family = column.family
        if family is TypeFamily.STRING and arguments["pattern"] is not None:
            return self._text_violates(column, arguments)
        require_family(
            self.name,
            column,
            fits=family.is_number or family.is_moment,
            wanted="a numeric, date or timestamp column",
        )
        value = column_expression(column)
        low, high = arguments["min_value"], arguments["max_value"]
        conditions: list[exp.Expr] = []
        if low is not None and arguments["min_exclusive"]:
            conditions.append(_there_and_not(value, above(value.copy(), low, column, "min_value")))
        elif low is not None:
            conditions.append(below(value, low, column, "min_value"))
        if high is not None and arguments["max_exclusive"]:
            conditions.append(_there_and_not(value, below(value.copy(), high, column, "max_value")))
        elif high is not None:
            conditions.append(above(value.copy(), high, column, "max_value"))
        if family is TypeFamily.FLOAT:
            conditions.append(exp.IsNan(this=value.copy()))
        return any_of(conditions)

    def _text_violates(self, column: Column, arguments: Arguments) -> exp.Expr:
        pattern = str(arguments["pattern"])
        text = text_value(self.name, column)
        moment = moment_of(text.copy(), pattern)
        outside: list[exp.Expr] = [exp.Is(this=moment, expression=exp.Null())]
        kinds = {
            "min_value": exp.LTE if arguments["min_exclusive"] else exp.LT,
            "max_value": exp.GTE if arguments["max_exclusive"] else exp.GT,
        }
        for name, kind in kinds.items():
            if arguments[name] is not None:
                bound = moment_bound(arguments[name], pattern, name)
                outside.append(kind(this=moment.copy(), expression=bound))
        return exp.and_(exp.Is(this=text, expression=exp.Null()).not_(), exp.or_(*outside))

    def complaint(self, column: str, arguments: Arguments) -> str:
        low, high = arguments["min_value"], arguments["max_value"]
        opened = "(" if arguments["min_exclusive"] else "["
        closed = ")" if arguments["max_exclusive"] else "]"
        shown = f"{'-inf' if low is None else low}, {'inf' if high is None else high}"
        return f"have {column} outside {opened}{shown}{closed}"


def _there_and_not(value: exp.Expr, fine: exp.Expr) -> exp.Expr:
    """True where there is a value that is not fine: for NULL, `fine` may be false as well."""
    there = exp.Is(this=value.copy(), expression=exp.Null()).not_()
    return exp.and_(there, exp.Not(this=exp.paren(fine, copy=False)))
