from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from lakeproof.checks.durations import lies_beyond, micros_of, read_duration
from lakeproof.checks.kinds import (
    Arguments,
    Lookup,
    RelatedCheck,
    Verdict,
    column_expression,
    require_family,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.durations import DURATION, DURATION_FORMS, Duration, duration_of
from lakeproof.model.column import Column
from lakeproof.model.printable import counted


class MaxGap(RelatedCheck):
    """Between a moment in a column and the next one there is never more than `max_gap`.

    Equal moments are one. Bad is the row that ends a gap, one row for each gap: its value comes
    too long after the value before it. How long ago the newest one is does not matter here; that
    is `freshness`. Rows with NULL are left out; a single moment has no gap. Months and years are
    those of the calendar, in UTC. The whole table is one sequence, which one task of Spark must
    sort.
    """

    name = "max_gap"
    dimension = "timeliness"
    is_windowed = True
    parameters = (
        Parameter("max_gap", DURATION, f"how long at most: {DURATION_FORMS}", required=True),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        return {"max_gap": read_duration(self.name, "max_gap", arguments["max_gap"])}

    def row_violates(self, columns: Sequence[Column], arguments: Arguments, lookup: Lookup) -> str:
        column = columns[0]
        require_family(
            self.name, column, fits=column.family.is_moment, wanted="a DATE or TIMESTAMP column"
        )
        moment = micros_of(column).sql("spark")
        # Rows that do not take part stand in a group of their own, where nobody asks.
        takes_part = f"({lookup.scope}) AND {column_expression(column).sql('spark')} IS NOT NULL"
        window = f"PARTITION BY coalesce({takes_part}, false) ORDER BY {moment}, {lookup.key}"
        before = exp.Var(this=f"lag({moment}) OVER ({window})")
        limit = duration_of(arguments["max_gap"]) or Duration()
        too_late = lies_beyond(micros_of(column), before, limit)
        return f"{takes_part} AND {too_late.sql('spark')}"

    def judge(
        self, failing: int, total: int, keys: int, column: str, arguments: Arguments
    ) -> Verdict:
        share = failing / total if total else 0.0
        told = counted(failing, "gap") if failing else "no gap"
        return Verdict(
            failing=failing,
            total=total,
            excess=failing,
            share=share,
            measure=share,
            details=f"{told} of more than {arguments['max_gap']} in {column}, {total} rows",
        )
