from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from lakeproof.checks.bounds import limits_text, require_bounds, require_usable
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.model.column import Column
from lakeproof.model.printable import counted

_BOUND_NAMES = ("min_count", "max_count")


class ColumnCountRange(MeasureCheck):
    """The number of columns lies within [min_count, max_count]; one bound may be left out.

    A struct is one column, however many fields it has. `failing_rows` counts the columns that
    are too many or too few; a tolerance holds against that number, or its share of the columns
    that there are. Judged from the table's metadata: a filter has no meaning here.
    """

    name = "column_count_range"
    dimension = "conformity"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("min_count", (int,), "the fewest columns allowed"),
        Parameter("max_count", (int,), "the most columns allowed"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        require_usable(self.name, arguments, *_BOUND_NAMES)
        return arguments

    def require_limits(self, arguments: Arguments) -> None:
        require_bounds(self.name, arguments, *_BOUND_NAMES)

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the table's columns are known without reading it

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        low, high = (arguments[name] for name in _BOUND_NAMES)
        count = len(facts.table_columns)
        missing = low - count if isinstance(low, int) and count < low else 0
        surplus = count - high if isinstance(high, int) and count > high else 0
        limits = "" if low is None and high is None else limits_text(low, "columns", high)
        judged = f", {'outside' if missing or surplus else 'within'} {limits}" if limits else ""
        return Verdict(
            failing=missing + surplus,
            total=facts.total,
            excess=missing + surplus,
            share=(missing + surplus) / count if count else float(missing > 0),
            measure=float(count),
            details=counted(count, "column") + judged,
            measures={"columns": count},
            bound=limits,
            number=count,
        )
