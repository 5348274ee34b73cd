from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column


class RowCountRange(MeasureCheck):
    """The number of rows lies within [min_count, max_count]; one bound may be left out.

    `failing_rows` is 0 or 1. A tolerance widens the bound that was missed: as a share of that
    bound, or by a number of rows.
    """

    name = "row_count_range"
    dimension = "completeness"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("min_count", (int,), "the fewest rows allowed"),
        Parameter("max_count", (int,), "the most rows allowed"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        low, high = _bounds(arguments)
        if low is not None and high is not None and low > high:
            raise CheckDefinitionError(
                f"check 'row_count_range' has min_count {low} above max_count {high}"
            )
        return arguments

    def require_limits(self, arguments: Arguments) -> None:
        if _bounds(arguments) == (None, None):
            raise CheckDefinitionError("check 'row_count_range' needs min_count, max_count or both")

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the scan counts the rows of every scope anyway

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        low, high = _bounds(arguments)
        total = facts.total
        bound, distance = 0, 0
        if low is not None and total < low:
            bound, distance = low, low - total
        elif high is not None and total > high:
            bound, distance = high, total - high
        share = 0.0 if distance == 0 else distance / bound if bound else float("inf")
        limits = f"{'' if low is None else f'{low} <= '}rows{'' if high is None else f' <= {high}'}"
        verb = "outside" if distance else "within"
        return Verdict(
            failing=1 if distance else 0,
            total=total,
            excess=distance,
            share=share,
            measure=float(total),
            details=f"{total} rows" if limits == "rows" else f"{total} rows, {verb} {limits}",
            measures={"rows": total},
            bound="" if limits == "rows" else limits,
            number=total,
        )


def _bounds(arguments: Arguments) -> tuple[int | None, int | None]:
    return arguments["min_count"], arguments["max_count"]  # type: ignore[return-value]
