"""Texts held against regular expressions, whatever the column's collation."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence

from sqlglot import exp

from lakeproof.checks.kinds import (
    Arguments,
    ColumnCheck,
    column_expression,
    require_family,
)
from lakeproof.checks.literals import text_literal
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_SHOWN_MAX = 60

_WRONG_IN_EVERY_DIALECT = (
    "missing ), unterminated subpattern",
    "unbalanced parenthesis",
    "unterminated character set",
    "nothing to repeat",
)


def require_pattern(check: str, pattern: object) -> None:
    """Refuse the empty pattern, which every text contains, and slips of the pen.

    Java's dialect is not Python's, so only what is wrong in both is refused here; the rest shows
    when the rule runs.
    """
    if not pattern:
        raise CheckDefinitionError(f"parameter 'pattern' of check {check!r} is empty")
    text = str(pattern)
    if "\\Q" in text:  # quotes in Java what Python would read
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except re.error as problem:
        if problem.msg in _WRONG_IN_EVERY_DIALECT:
            raise CheckDefinitionError(
                f"parameter 'pattern' of check {check!r} is no regular expression: {problem} "
                f"of {text!r}"
            ) from problem
    except (OverflowError, RecursionError):
        return


class PatternCheck(ColumnCheck):
    """A check that holds text against the user's pattern."""

    dimension = "validity"
    parameters = (
        Parameter("pattern", (str,), "a regular expression in Java's dialect", required=True),
        Parameter("full", (bool,), "whether it must span the whole text", default=False),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        require_pattern(self.name, arguments["pattern"])
        return arguments

    def found(self, column: Column, arguments: Arguments) -> exp.Expr:
        """True where the text matches."""
        value = text_value(self.name, column)
        return matches(value, str(arguments["pattern"]), full=bool(arguments["full"]))


def text_value(check: str, column: Column) -> exp.Expr:
    """The text column as plain text; columns of other types are refused."""
    require_family(check, column, fits=column.family is TypeFamily.STRING, wanted="a text column")
    value = column_expression(column)
    if column.is_collated:
        # Under a collation RLIKE ignores letter case or does not work at all.
        return exp.cast(value, "STRING", dialect="spark")
    return value


def contains(value: exp.Expr, pattern: str) -> exp.Expr:
    """True where the pattern is found anywhere in the text, NULL where there is none."""
    return exp.RegexpLike(this=value, expression=text_literal(pattern))


def matches(value: exp.Expr, pattern: str, *, full: bool) -> exp.Expr:
    """True where the pattern is found, with `full` from the text's first to last character."""
    found = contains(value, pattern)
    if not full:
        return exp.paren(found, copy=False)
    # The pattern by itself comes first, so that one with a surplus bracket is an error, as it
    # is without `full`, and does not break out of ours: "a)|(?:b".
    whole = contains(value.copy(), rf"\A(?:{pattern})\z")
    return exp.paren(exp.and_(found, whole, copy=False), copy=False)


def shown_pattern(pattern: object, *, full: object) -> str:
    """The pattern for a message, shortened, with what `full` means for it."""
    text = str(pattern)
    text = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
    return f"{text!r} in full" if full else repr(text)
