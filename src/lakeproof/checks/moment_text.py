"""Dates and times that are kept as text, read by a pattern in Java's letters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time

from sqlglot import exp

from lakeproof.checks.literals import as_datetime, text_literal, timestamp_literal
from lakeproof.checks.trino import TRY_MOMENT
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import TypeFamily

_READ = frozenset("GyuMLdDhHkKmsSaVzOXxZ")
"""The letters by which Spark reads texts; others it only writes, or does not know."""
_ZONES = frozenset("VzOXxZ")
_RUN_MAX = 9


def spark_pattern(check: str, pattern: str) -> str:
    """The pattern as Spark reads by it; a letter that Spark cannot read is refused by name.

    `u`, a year of Java's that Spark does not know, becomes `y`: from year 1 on they are one.
    """
    pieces = []
    for text, is_quoted in _runs(check, pattern):
        letter = text[0]
        if is_quoted or not (letter.isascii() and letter.isalpha()):
            pieces.append(text)
            continue
        if letter not in _READ or len(text) > _RUN_MAX:
            hint = " A letter that stands for itself is put in single quotes." * (letter == "T")
            raise CheckDefinitionError(
                f"check {check!r}: Spark cannot read a text by {text!r} in the pattern "
                f"{pattern!r}.{hint}"
            )
        pieces.append(text.replace("u", "y"))
    if not any(letter in _READ for text, quoted in _runs(check, pattern) for letter in text[:1]):
        raise CheckDefinitionError(f"check {check!r}: no part of a date in pattern {pattern!r}")
    return "".join(pieces)


def _runs(check: str, pattern: str) -> Iterator[tuple[str, bool]]:
    """Equal letters together, quoted text with its quotes, every other sign alone."""
    at = 0
    while at < len(pattern):
        start = at
        if pattern[at] == "'":
            at = pattern.find("'", at + 1) + 1
            if not at:
                raise CheckDefinitionError(
                    f"check {check!r}: a single quote is not closed in the pattern {pattern!r}"
                )
            yield pattern[start:at], True
            continue
        while at < len(pattern) and pattern[at] == pattern[start]:
            at += 1
        yield pattern[start:at], False


def has_zone(pattern: str) -> bool:
    """Whether texts by this pattern name their zone, so that they are instants."""
    return any(text[0] in _ZONES for text, quoted in _runs("", pattern) if not quoted)


def moment_of(text: exp.Expr, pattern: str) -> exp.Expr:
    """The moment that the text says, NULL if it is not written so."""
    parsed = exp.Anonymous(this="try_to_timestamp", expressions=[text, text_literal(pattern)])
    parsed.meta[TRY_MOMENT] = (text, text_literal(pattern))
    # A wall time is made an instant by the session's zone, and taken out by the same.
    return parsed if has_zone(pattern) else exp.cast(parsed, "TIMESTAMPNTZ")


def moment_bound(value: object, pattern: str, what: str) -> exp.Expr:
    """A bound as such moments compare with it; a time of day is one of 1970-01-01."""
    moment = as_datetime(value)
    if moment is None and isinstance(value, str):
        try:
            moment = datetime.combine(date(1970, 1, 1), time.fromisoformat(value))
        except ValueError:
            moment = None
    if moment is None:
        raise CheckDefinitionError(f"{what} {value!r} is no date or time in ISO form")
    family = TypeFamily.TIMESTAMP if has_zone(pattern) else TypeFamily.TIMESTAMP_NTZ
    return timestamp_literal(moment, family)
