from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.durations import lies_beyond, micros_of, read_duration
from lakeproof.checks.kinds import Arguments, RowCheck, require_family
from lakeproof.checks.parameters import Parameter
from lakeproof.durations import DURATION, DURATION_FORMS, Duration, duration_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column


class Delay(RowCheck):
    """The second column comes at most `max_delay` after the first, in every row.

    Such as the time of processing after that of the event. A row where it comes before the first
    passes, and so does one with a NULL on either side. A DATE stands for the start of its day, and
    a TIMESTAMP_NTZ is read in UTC. Months and years are those of the calendar, in UTC.
    """

    name = "delay"
    dimension = "timeliness"
    columns_min = 2
    columns_max = 2
    parameters = (
        Parameter("max_delay", DURATION, f"how long at most: {DURATION_FORMS}", required=True),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if columns[0].casefold() == columns[1].casefold():
            raise CheckDefinitionError(f"check 'delay' holds column {columns[0]!r} against itself")
        return {"max_delay": read_duration(self.name, "max_delay", arguments["max_delay"])}

    def row_violates(
        self, columns: Sequence[Column], arguments: Arguments, now: datetime
    ) -> exp.Expr:
        for column in columns:
            require_family(
                self.name, column, fits=column.family.is_moment, wanted="DATE or TIMESTAMP columns"
            )
        first, second = map(micros_of, columns)
        return lies_beyond(second, first, duration_of(arguments["max_delay"]) or Duration())

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have a delay of more than {arguments['max_delay']} between {column}"
