from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments
from lakeproof.checks.patterns import PatternCheck, shown_pattern
from lakeproof.model.column import Column


class NotMatchesPattern(PatternCheck):
    """Text does not match a regular expression: it is not found, or with `full` not end to end.

    The dialect is that of `matches_pattern`: Java's, as in Spark's RLIKE. NULL never violates.
    """

    name = "not_matches_pattern"

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        return self.found(column, arguments)

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} with a match of " + shown_pattern(
            arguments["pattern"], full=arguments["full"]
        )
