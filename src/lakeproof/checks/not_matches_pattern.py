from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck
from lakeproof.checks.patterns import (
    PATTERN_PARAMETERS,
    matches,
    require_pattern,
    shown_pattern,
    text_value,
)
from lakeproof.model.column import Column


class NotMatchesPattern(ColumnCheck):
    """Text does not match a regular expression: it is not found, or with `full` not end to end.

    The dialect is that of `matches_pattern`: Java's, as in Spark's RLIKE. NULL never violates.
    """

    name = "not_matches_pattern"
    dimension = "validity"
    parameters = PATTERN_PARAMETERS

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        require_pattern(self.name, arguments["pattern"])
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        value = text_value(self.name, column)
        pattern, full = str(arguments["pattern"]), bool(arguments["full"])
        return matches(value, pattern, full=full)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} with a match of " + shown_pattern(
            arguments["pattern"], full=arguments["full"]
        )
