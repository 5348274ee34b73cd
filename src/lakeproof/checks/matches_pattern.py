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


class MatchesPattern(ColumnCheck):
    r"""Text matches a regular expression, found anywhere or, with `full`, from end to end.

    The dialect is Java's, as in Spark's RLIKE: letter case counts unless `(?i)` says otherwise,
    and `$` also matches before a line break at the end, where `\z` does not. The pattern is
    brought to Unicode form NFC, the data is not. NULL never violates.
    """

    name = "matches_pattern"
    dimension = "validity"
    parameters = PATTERN_PARAMETERS

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        require_pattern(self.name, arguments["pattern"])
        return arguments

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        value = text_value(self.name, column)
        pattern, full = str(arguments["pattern"]), bool(arguments["full"])
        return exp.Not(this=matches(value, pattern, full=full))

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} without a match of " + shown_pattern(
            arguments["pattern"], full=arguments["full"]
        )
