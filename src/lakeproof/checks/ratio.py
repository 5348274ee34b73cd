from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from lakeproof.checks.bounds import (
    NUMBER,
    Bounds,
    exact,
    limits_text,
    require_bounds,
    require_shares,
    require_usable,
)
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict, count_where, user_sql
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.user_sql import canonical_sql, parse_predicate
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

_SHOWN_MAX = 80


class Ratio(MeasureCheck):
    """The share of rows that fulfil a condition lies within [min_share, max_share].

    A row where the condition is NULL does not fulfil it. `failing_rows` counts the rows that
    would have to change for the share to fit; tolerances are held against it, as a number or as
    the share's distance from the bound. Without rows there is no share: it is skipped.
    """

    name = "ratio"
    dimension = "validity"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("condition", (str,), "SQL over a row that is true or false", required=True),
        Parameter("min_share", NUMBER, "the smallest allowed share, from 0 to 1"),
        Parameter("max_share", NUMBER, "the largest allowed share, from 0 to 1"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        require_shares(self.name, arguments, "min_share", "max_share")
        require_usable(self.name, arguments, "min_share", "max_share")
        least = arguments["min_share"]
        if isinstance(least, NUMBER) and least > 1:
            raise CheckDefinitionError(
                f"parameter 'min_share' of check 'ratio' is {least}; no share is above 1"
            )
        condition = parse_predicate(str(arguments["condition"])).text
        return {**arguments, "condition": condition}

    def require_limits(self, arguments: Arguments) -> None:
        require_bounds(self.name, arguments, "min_share", "max_share")

    def identity(self, arguments: Arguments) -> Arguments:
        return {**arguments, "condition": canonical_sql(self.condition(arguments))}

    def condition(self, arguments: Arguments) -> str:
        return str(arguments["condition"])

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {"fulfilled": count_where(user_sql(self.condition(arguments)))}

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        total = facts.total
        if not total:
            return Verdict(0, 0, 0, 0.0, None, "no rows to take a share of", skipped=True)
        fulfilled = int(str(values["fulfilled"]))
        low, high = arguments["min_share"], arguments["max_share"]
        bounds = Bounds(*(None if bound is None else exact(bound) for bound in (low, high)))
        distance, _ = bounds.miss(Fraction(fulfilled, total))
        rows = math.ceil(distance * total)
        limits = limits_text(low, "share", high)
        text = " ".join(self.condition(arguments).split())
        shown = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
        verb = "outside" if distance else "within"
        return Verdict(
            failing=rows,
            total=total,
            excess=rows,
            share=float(distance),
            measure=fulfilled / total,
            details=f"{fulfilled} of {total} rows fulfil {shown}, {verb} {limits}",
            measures={"fulfilled": fulfilled, "share": fulfilled / total},
            bound=limits,
        )
