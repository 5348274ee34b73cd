from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from lakeproof.checks.aggregate_functions import FUNCTIONS, bound_kind, function_of
from lakeproof.checks.bounds import (
    NUMBER,
    OUT_OF_REACH,
    Bounds,
    as_float,
    limits_text,
    require_bounds,
    require_usable,
    share_of,
)
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict, require_family
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.user_sql import canonical_sql, parse_predicate
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.nearest import nearest

_BOUND = (int, float, Decimal, date, datetime, str)
_BOUND_NAMES = ("min_value", "max_value")
_SHOWN_MAX = 80


class Aggregate(MeasureCheck):
    """An aggregate of a column or expression lies within [min_value, max_value].

    `stddev` and `variance` are those of a sample; `percentile` (linear between two values) and
    `median` are exact unless `approximate`. NULL is ignored, except by `null_share`. Integers and
    decimals are summed, averaged and compared exactly, everything else as doubles. `min` and
    `max` also take dates and timestamps, with bounds as ISO text.

    `failing_rows` is 0 or 1. NaN and infinity fail, and so does an aggregate that has no value
    although there are rows (all NULL, or one value for a deviation); without rows it is skipped.
    A tolerance widens the bound that was missed: as a share of that bound, or by a number; for
    dates by days, for timestamps by seconds, not by a share. `distinct_share` is that of different
    values among all. Distinct counts, their share and percentiles are an action of their own.
    """

    name = "aggregate"
    dimension = "validity"
    columns_min = 0
    columns_max = 2
    shows_values = True
    parameters = (
        Parameter("function", (str,), f"one of {', '.join(FUNCTIONS)}", required=True),
        Parameter("min_value", _BOUND, "the smallest allowed value"),
        Parameter("max_value", _BOUND, "the largest allowed value"),
        Parameter("expression", (str,), "SQL over a row, instead of a column"),
        Parameter("percentile", NUMBER, "which percentile, from 0 to 1; 0.5 is the median"),
        Parameter("approximate", (bool,), "percentiles by a sketch, quicker", default=False),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        function = str(arguments["function"])
        if function not in FUNCTIONS:
            near = nearest(function, FUNCTIONS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise CheckDefinitionError(
                f"parameter 'function' of check 'aggregate' is {function!r}.{hint} "
                f"Known: {', '.join(FUNCTIONS)}."
            )
        require_usable(self.name, arguments, *_BOUND_NAMES)
        _require_columns(function, columns, arguments["expression"])
        _require_percentile(function, arguments)
        if arguments["expression"] is not None:
            arguments["expression"] = parse_predicate(str(arguments["expression"])).text
        return arguments

    def require_limits(self, arguments: Arguments) -> None:
        require_bounds(self.name, arguments, *_BOUND_NAMES)

    def identity(self, arguments: Arguments) -> Arguments:
        expression = self.expression(arguments)
        return {**arguments, "expression": canonical_sql(expression) if expression else None}

    def expression(self, arguments: Arguments) -> str:
        return str(arguments["expression"] or "")

    def needs_own_action(self, arguments: Arguments) -> bool:
        return function_of(arguments).slows_scan

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        name = str(arguments["function"])
        function = function_of(arguments)
        for column in columns:
            require_family(
                f"{self.name}: {name}",
                column,
                fits=function.fits.admits(column),
                wanted=function.fits.value,
            )
        bound_of = bound_kind(columns[0], name)
        for parameter in _BOUND_NAMES:
            bound = arguments[parameter]
            if bound is not None and bound_of(bound) is None:
                raise CheckDefinitionError(
                    f"{parameter} {bound!r} cannot be compared with the {name} of "
                    f"{columns[0].name!r}, which is {columns[0].type_text.upper()}"
                )
        return function.measures(columns)

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        name = str(arguments["function"])
        found = function_of(arguments).value({**values, "rows": facts.total})
        if found is None and not facts.total:
            return Verdict(0, 0, 0, 0.0, None, "no rows to aggregate", skipped=True)
        low, high = (arguments[parameter] for parameter in _BOUND_NAMES)
        subject = _subject(arguments, facts)
        limits = limits_text(low, subject, high)
        is_free = low is None and high is None
        if found is None or found.number is None:
            shown = "no value" if found is None else found.shown
            details = f"{subject} has {shown}" if is_free else f"{shown}, outside {limits}"
            return Verdict(1, facts.total, OUT_OF_REACH, math.inf, None, details, bound=limits)
        distance, bound = Bounds(found.bound_of(low), found.bound_of(high)).miss(found.number)
        measure = None if found.is_moment else as_float(found.number)
        return Verdict(
            failing=1 if distance else 0,
            total=facts.total,
            excess=math.ceil(distance / found.unit),
            share=math.inf if distance and found.is_moment else share_of(distance, bound),
            measure=measure,
            details=f"{subject} is {found.shown}"
            if is_free
            else f"{found.shown}, {'outside' if distance else 'within'} {limits}",
            measures={} if measure is None else {name: measure},
            bound="" if is_free else limits,
            number=None if found.is_moment else found.written or found.number,
        )


def _require_columns(function: str, columns: Sequence[str], expression: object) -> None:
    given = len(columns) + (expression is not None)
    wanted = FUNCTIONS[function].columns
    if given == wanted:
        return
    asked = "one column or expression" if wanted == 1 else f"{wanted} columns"
    raise CheckDefinitionError(f"function {function!r} of check 'aggregate' needs {asked}")


def _require_percentile(function: str, arguments: Arguments) -> None:
    share = arguments["percentile"]
    if (function == "percentile") != (share is not None):
        wanted = "needs" if share is None else "takes no"
        raise CheckDefinitionError(
            f"function {function!r} of check 'aggregate' {wanted} parameter 'percentile'"
        )
    if isinstance(share, NUMBER) and not 0 <= share <= 1:
        raise CheckDefinitionError(
            f"parameter 'percentile' of check 'aggregate' is {share}, not a share from 0 to 1"
        )
    if arguments["approximate"] and function not in {"percentile", "median"}:
        raise CheckDefinitionError(
            f"parameter 'approximate' of check 'aggregate' is for percentile and median, not for "
            f"{function!r}"
        )


def _subject(arguments: Arguments, facts: Facts) -> str:
    names = [column.name for column in facts.columns]
    expression = " ".join(str(arguments["expression"] or "").split())
    if expression and expression not in names:
        names.append(expression[:_SHOWN_MAX])
    if arguments["percentile"] is not None:
        names.append(str(arguments["percentile"]))
    return f"{arguments['function']}({', '.join(names)})"
