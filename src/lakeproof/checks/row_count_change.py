from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from lakeproof.checks.bounds import NUMBER, Bounds, exact, require_shares, share_of
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column


class RowCountChange(MeasureCheck):
    """The number of rows has not changed by more than a share since the last run.

    The last run is the last one that counted the rows of this rule, whether it passed or not;
    without one the check is skipped, and its count is what the next run compares with. Or it
    compares with a given number, `expected`. From 0 rows, any increase is beyond every share.
    `failing_rows` is 0 or 1. A tolerance widens the limit that was missed: as a share of the
    earlier count, or by a number of rows.
    """

    name = "row_count_change"
    dimension = "completeness"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("max_decrease", NUMBER, "the largest share of rows that may go: 0.1 is 10 %"),
        Parameter("max_increase", NUMBER, "the largest share of rows that may come"),
        Parameter("expected", (int,), "a number of rows, instead of the last run's"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if arguments["max_decrease"] is None and arguments["max_increase"] is None:
            raise CheckDefinitionError(
                "check 'row_count_change' needs max_decrease, max_increase or both"
            )
        require_shares(self.name, arguments, "max_decrease", "max_increase")
        expected = arguments["expected"]
        if isinstance(expected, int) and expected < 0:
            raise CheckDefinitionError(
                f"parameter 'expected' of check 'row_count_change' is {expected}, below 0 rows"
            )
        return arguments

    def needs_previous(self, arguments: Arguments) -> bool:
        return arguments["expected"] is None

    def identity(self, arguments: Arguments) -> Arguments:
        """Without the limits: a rule that is made stricter goes on from the counts it has."""
        return {"expected": arguments["expected"]}

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the scan counts the rows of every scope anyway

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        rows = facts.total
        earlier = arguments["expected"] if arguments["expected"] is not None else facts.previous
        if earlier is None:
            return Verdict(
                failing=0,
                total=rows,
                excess=0,
                share=0.0,
                measure=float(rows),
                details=f"{rows} rows, no earlier run to compare with",
                measures={"rows": rows},
                skipped=True,
            )
        before = exact(earlier)
        down, up = arguments["max_decrease"], arguments["max_increase"]
        low = None if down is None else before * (1 - exact(down))
        high = None if up is None else before * (1 + exact(up))
        distance, _ = Bounds(low, high).miss(Fraction(rows))
        limits = _limits(down, up)
        change = _change(rows, before)
        told = "" if change is None else f" ({change:+.4g})"
        return Verdict(
            failing=1 if distance else 0,
            total=rows,
            excess=math.ceil(distance),
            share=share_of(distance, before),
            measure=float(rows),
            details=f"{rows} rows after {before}{told}, {'outside' if distance else 'within'} "
            f"{limits}",
            measures={
                "rows": rows,
                "previous": float(before),
                **({} if change is None else {"change": change}),
            },
            bound=limits,
        )


def _change(rows: int, before: Fraction) -> float | None:
    """The change as a share of the earlier count; None where there was nothing."""
    if not before:
        return None if rows else 0.0
    return float((rows - before) / before)


def _limits(down: object, up: object) -> str:
    return f"{'' if down is None else f'-{down} <= '}change{'' if up is None else f' <= {up}'}"
