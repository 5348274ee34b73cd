from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments
from lakeproof.checks.patterns import PatternCheck, shown_pattern
from lakeproof.model.column import Column


class MatchesPattern(PatternCheck):
    r"""Text matches a regular expression, found anywhere or, with `full`, from end to end.

    The dialect is Java's, as in Spark's RLIKE: letter case counts unless `(?i)` says otherwise,
    and `$` also matches before a line break at the end, where `\z` does not. The pattern is
    brought to Unicode form NFC, the data is not. NULL never violates.
    """

    name = "matches_pattern"

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        return exp.Not(this=self.found(column, arguments))

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} without a match of " + shown_pattern(
            arguments["pattern"], full=arguments["full"]
        )
