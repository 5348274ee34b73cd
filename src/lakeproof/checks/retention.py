from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlglot import exp

from lakeproof.checks.durations import read_duration
from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression, require_family
from lakeproof.checks.literals import literal_for, timestamp_literal
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.durations import DURATION, DURATION_FORMS, Duration, duration_of
from lakeproof.model.column import Column, TypeFamily


class Retention(ColumnCheck):
    """No DATE or TIMESTAMP is more than `max_age` before the run's clock.

    What should be deleted by now is a bad row. Months and years are those of the calendar: three
    years before 29 February is 28 February. A DATE is as old as the days since it, so that on the
    last day of the period it may still be there. `timezone` says in which zone the date is today,
    in which zone months are counted and in which a TIMESTAMP_NTZ was written. NULL has no age.
    """

    name = "retention"
    dimension = "timeliness"
    uses_clock = True
    parameters = (
        Parameter("max_age", DURATION, f"how old at most: {DURATION_FORMS}", required=True),
        Parameter("timezone", (str,), "an IANA zone name", default="UTC"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        read_zone(self.name, arguments["timezone"])
        return {**arguments, "max_age": read_duration(self.name, "max_age", arguments["max_age"])}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        require_family(
            self.name, column, fits=column.family.is_moment, wanted="a DATE or TIMESTAMP column"
        )
        limit = duration_of(arguments["max_age"]) or Duration()
        local = now.astimezone(ZoneInfo(str(arguments["timezone"])))
        try:
            oldest = _oldest(column, limit, local)
        except OverflowError:  # older than the calendar
            return exp.false()
        return exp.LT(this=column_expression(column), expression=oldest)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} more than {arguments['max_age']} ago"


def _oldest(column: Column, limit: Duration, now: datetime) -> exp.Expr:
    if column.family is TypeFamily.DATE:
        wall = now.replace(tzinfo=None)  # days are counted on the calendar, whatever clocks do
        return literal_for(limit.whole_days.before(wall).date(), column, "date")
    oldest = limit.before(now)
    if column.family is TypeFamily.TIMESTAMP_NTZ:
        return timestamp_literal(oldest.replace(tzinfo=None), TypeFamily.TIMESTAMP_NTZ)
    return timestamp_literal(oldest, TypeFamily.TIMESTAMP)
