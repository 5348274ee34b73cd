"""Whether a rule's answer changes as time passes, with no change in the data."""

from __future__ import annotations

from collections.abc import Iterable

import sqlglot
from sqlglot import exp

from lakeproof.checks.catalogue import find_check
from lakeproof.model.rule import Rule

_CLOCKS = (
    exp.CurrentDate,
    exp.CurrentDatetime,
    exp.CurrentTime,
    exp.CurrentTimestamp,
)
_CLOCK_NAMES = {
    *("now", "curdate", "localtimestamp", "current_timezone", "unix_timestamp"),
    *("rand", "randn", "random", "uuid", "shuffle"),
    *("monotonically_increasing_id", "spark_partition_id"),
}
"""Functions that sqlglot has no class for; those of chance are no better than a clock."""

_BARE_CLOCKS = {"current_date", "current_time", "current_timestamp", "localtimestamp"}
"""Spark calls these without brackets too, where there is no column of that name."""

_CLOCK_WORDS = {"now", "today", "tomorrow", "yesterday"}
"""As a text these are moments too: DATE 'today'."""


def depends_on_clock(rule: Rule) -> bool:
    """By its check, or by what the user's SQL in it calls."""
    if find_check(rule.check).uses_clock:
        return True
    return any(_asks_the_clock(text) for text in user_sql_of(rule))


def only_mends(rule: Rule) -> bool:
    """Whether time alone can only make bad rows good: where there are none, there stay none."""
    has_clock = any(_asks_the_clock(text) for text in user_sql_of(rule))
    return find_check(rule.check).mends_with_time and not has_clock


def user_sql_of(rule: Rule) -> Iterable[str]:
    """What the user wrote in SQL in this rule; empty texts among it."""
    check = find_check(rule.check).for_arguments(rule.arguments)
    yield from (
        rule.filter or "",
        check.condition(rule.arguments),
        check.expression(rule.arguments),
    )
    query = getattr(check, "query", None)
    if query is not None:
        yield str(query(rule.arguments))


def _asks_the_clock(text: str) -> bool:
    if not text:
        return False
    try:
        parsed = sqlglot.parse_one(text, dialect="spark")
    except sqlglot.errors.SqlglotError:
        return True  # what cannot be read may ask for anything
    return any(
        isinstance(node, _CLOCKS)
        or (isinstance(node, exp.Column) and node.name.lower() in _BARE_CLOCKS)
        or (isinstance(node, exp.Literal) and _first_word(node.name) in _CLOCK_WORDS)
        or (isinstance(node, exp.Func) and _name(node).lower() in _CLOCK_NAMES)
        for node in parsed.walk()
    )


def _first_word(text: str) -> str:
    """A moment may have a zone behind it: 'now UTC'."""
    return text.split(maxsplit=1)[0].lower() if text.split() else ""


def _name(function: exp.Func) -> str:
    return function.name if isinstance(function, exp.Anonymous) else function.sql_name()
