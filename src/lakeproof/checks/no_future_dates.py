from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, column_expression, require_family
from lakeproof.checks.literals import literal_for, timestamp_literal
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.model.column import Column, TypeFamily


class NoFutureDates(ColumnCheck):
    """No DATE lies after the clock's date, no TIMESTAMP after the clock's instant.

    The clock is the run's, not the database's: every rule of a run sees one moment. `timezone`
    says in which zone the date is today and in which zone a TIMESTAMP_NTZ was written.
    """

    name = "no_future_dates"
    dimension = "timeliness"
    uses_clock = True
    mends_with_time = True
    parameters = (Parameter("timezone", (str,), "an IANA zone name", default="UTC"),)

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        read_zone(self.name, arguments["timezone"])
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        require_family(
            self.name,
            column,
            fits=column.family.is_moment,
            wanted="a DATE or TIMESTAMP column",
        )
        local = now.astimezone(ZoneInfo(str(arguments["timezone"])))
        if column.family is TypeFamily.DATE:
            limit = literal_for(local.date(), column, "date")
        elif column.family is TypeFamily.TIMESTAMP_NTZ:
            limit = timestamp_literal(local.replace(tzinfo=None), TypeFamily.TIMESTAMP_NTZ)
        else:
            limit = timestamp_literal(now, TypeFamily.TIMESTAMP)
        return exp.GT(this=column_expression(column), expression=limit)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} in the future"
