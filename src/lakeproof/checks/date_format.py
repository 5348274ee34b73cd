from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck
from lakeproof.checks.moment_text import moment_of, spark_pattern
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.patterns import text_value
from lakeproof.errors import NothingToCheckError
from lakeproof.model.column import Column


class DateFormat(ColumnCheck):
    """Text is a date or time as the pattern writes it, from its first to its last character.

    The pattern has the letters of Java's DateTimeFormatter, such as `dd.MM.yyyy` or
    `yyyy-MM-dd'T'HH:mm:ssXXX`, as far as Spark reads by them: no weekdays, quarters or weeks. A
    day that the calendar does not have violates; NULL does not. A column of type DATE or TIMESTAMP
    has no format: there the rule is skipped.
    """

    name = "date_format"
    dimension = "validity"
    parameters = (
        Parameter("pattern", (str,), "a pattern in Java's letters for dates", required=True),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        return {"pattern": spark_pattern(self.name, str(arguments["pattern"]))}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        if column.family.is_moment or column.type_text.startswith("time("):
            raise NothingToCheckError(
                f"column {column.name!r} is {column.type_text.upper()}, which is kept without a "
                f"format: {arguments['pattern']!r} says how it is shown"
            )
        value = text_value(self.name, column)
        is_read = exp.Is(
            this=moment_of(value.copy(), str(arguments["pattern"])), expression=exp.Null()
        )
        there = exp.Is(this=value, expression=exp.Null()).not_()
        return exp.and_(there, is_read)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} not written as {arguments['pattern']}"
