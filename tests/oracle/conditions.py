"""Row conditions that have a text for Spark and a meaning for Python, with SQL's third value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from oracle.spark_values import order

Row = Mapping[str, object]
Truth = bool | None

_COMPARISONS: dict[str, Callable[[object, object], bool]] = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,  # type: ignore[operator]
    "<=": lambda left, right: left <= right,  # type: ignore[operator]
    ">": lambda left, right: left > right,  # type: ignore[operator]
    ">=": lambda left, right: left >= right,  # type: ignore[operator]
}
COMPARISONS = tuple(_COMPARISONS)


@dataclass(frozen=True)
class Condition:
    """`sql` is what a user would write, `truth` what it is worth on one row: None is NULL."""

    sql: str
    truth: Callable[[Row], Truth]

    def holds(self, row: Row) -> bool:
        return self.truth(row) is True


def name_sql(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def text_sql(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\n", "\\n").replace("\r", "\\r") + "'"


def value_sql(value: object) -> str:
    if isinstance(value, str):
        return text_sql(value)
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, datetime):
        kind = "TIMESTAMP" if value.tzinfo else "TIMESTAMP_NTZ"
        return f"{kind}'{value.isoformat(sep=' ', timespec='microseconds')}'"
    if isinstance(value, date):
        return f"DATE'{value.isoformat()}'"
    return str(value)


def is_null(column: str) -> Condition:
    return Condition(f"{name_sql(column)} IS NULL", lambda row: row[column] is None)


def is_true(column: str) -> Condition:
    """A BOOLEAN column as its own condition."""
    return Condition(name_sql(column), lambda row: row[column])  # type: ignore[arg-type, return-value]


def compare(column: str, sign: str, value: object) -> Condition:
    def truth(row: Row) -> Truth:
        if row[column] is None:
            return None
        return _COMPARISONS[sign](order(row[column]), order(value))

    return Condition(f"{name_sql(column)} {sign} {value_sql(value)}", truth)


def negation(inner: Condition) -> Condition:
    def truth(row: Row) -> Truth:
        found = inner.truth(row)
        return None if found is None else not found

    return Condition(f"NOT ({inner.sql})", truth)


def both(left: Condition, right: Condition) -> Condition:
    def truth(row: Row) -> Truth:
        found = {left.truth(row), right.truth(row)}
        return False if False in found else None if None in found else True

    return Condition(f"({left.sql}) AND ({right.sql})", truth)


def either(left: Condition, right: Condition) -> Condition:
    def truth(row: Row) -> Truth:
        found = {left.truth(row), right.truth(row)}
        return True if True in found else None if None in found else False

    return Condition(f"({left.sql}) OR ({right.sql})", truth)
