"""What each check must say, computed from rows in plain Python: slow, simple, without Spark.

Nothing here is taken from the checks themselves. Only the canonical keys are shared with the
product; they have tests of their own.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

from lakeproof.model.canonical import encode_key, row_key
from lakeproof.model.suite import QualityCheck
from oracle.conditions import Condition, Row
from oracle.spark_values import as_column_value, base_type, identity, order

Violations = Counter[str]
Query = Callable[[Sequence[Row]], Sequence[Row]]


@dataclass(frozen=True)
class OracleTable:
    """Rows as Python values; `types` by column, `key` the columns by which people know a row."""

    types: Mapping[str, str]
    rows: Sequence[Row]
    key: tuple[str, ...] = ()

    def violation_key(self, row: Row) -> str:
        if self.key and all(column in row for column in self.key):
            return encode_key({column: row[column] for column in self.key})
        return row_key(row)


@dataclass(frozen=True)
class Expected:
    """The fields of a result that follow from the data, and its violations by key."""

    name: str
    status: str
    failing_rows: int
    total_rows: int
    table_rows: int
    measures: Mapping[str, float] = field(default_factory=dict)
    violations: Violations = field(default_factory=Counter)


@dataclass(frozen=True)
class _Count:
    """What a check counts before any tolerance; `excess` rows and `share` are what it tolerates."""

    failing: int
    excess: int
    share: Fraction | float
    violations: Violations
    measures: Mapping[str, float] = field(default_factory=dict)


def expect(
    check: QualityCheck,
    table: OracleTable,
    clock: datetime,
    scope: Condition | None = None,
    query: Query | None = None,
) -> list[Expected]:
    """One entry per result; `scope` and `query` mean what the check's SQL texts say."""
    if check.for_each_column:
        return [
            replace(found, name=f"{check.name}:{column}")
            for column in dict.fromkeys(check.for_each_column)
            for found in expect(
                replace(check, for_each_column=(), column_name=column), table, clock, scope, query
            )
        ]
    rows = [row for row in table.rows if scope is None or scope.holds(row)]
    count = _count(check, table, rows, clock, query)
    return [
        Expected(
            name=check.name,
            status=_status(check, count),
            failing_rows=count.failing,
            total_rows=len(rows),
            table_rows=len(table.rows),
            measures=count.measures,
            violations=count.violations,
        )
    ]


def _status(check: QualityCheck, count: _Count) -> str:
    tolerated = [count.excess == 0]
    if check.tolerance is not None:
        tolerated.append(float(count.share) <= check.tolerance)  # 3 of 9 rows are 1 / 3
    if check.absolute_tolerance is not None:
        tolerated.append(count.excess <= check.absolute_tolerance)
    if any(tolerated):
        return "passed"
    severity = check.severity or check.criticality or "error"
    return "failed" if severity == "error" else "warned"


def _count(
    check: QualityCheck,
    table: OracleTable,
    rows: Sequence[Row],
    clock: datetime,
    query: Query | None,
) -> _Count:
    if check.check_type in {"uniqueness", "is_unique"}:
        names = check.column_name
        columns = [names] if isinstance(names, str) else list(names or ())
        return _duplicates(columns, rows)
    if check.check_type == "row_count_range":
        return _row_count(check.params, len(rows))
    if query is not None:
        bad = list(query(rows))
        return _bad_rows(bad, table, len(rows), of_nothing=math.inf)
    column = str(check.column_name)
    asked = _Question(check.params, table.types[column], clock)
    bad = [row for row in rows if _violates(check.check_type, row[column], asked)]
    return _bad_rows(bad, table, len(rows), of_nothing=0)


def _bad_rows(bad: Sequence[Row], table: OracleTable, total: int, of_nothing: float) -> _Count:
    share = Fraction(len(bad), total) if total else of_nothing if bad else 0
    return _Count(len(bad), len(bad), share, Counter(table.violation_key(row) for row in bad))


def _duplicates(columns: Sequence[str], rows: Sequence[Row]) -> _Count:
    present = [row for row in rows if all(row[column] is not None for column in columns)]
    groups: dict[object, list[Row]] = {}
    for row in present:
        groups.setdefault(tuple(identity(row[column]) for column in columns), []).append(row)
    repeated = [group for group in groups.values() if len(group) > 1]
    involved = sum(len(group) for group in repeated)
    surplus = involved - len(repeated)
    return _Count(
        failing=len(repeated),
        excess=surplus,
        share=Fraction(surplus, len(rows)) if rows else 0,
        violations=Counter(
            {
                encode_key({column: group[0][column] for column in columns}): len(group)
                for group in repeated
            }
        ),
        measures={
            "duplicated_values": len(repeated),
            "surplus_rows": surplus,
            "rows_involved": involved,
        },
    )


def _row_count(params: Mapping[str, object], total: int) -> _Count:
    low, high = params.get("min_count"), params.get("max_count")
    distance, bound = 0, 1
    if isinstance(low, int) and total < low:
        distance, bound = low - total, low
    if isinstance(high, int) and total > high:
        distance, bound = total - high, high
    share = 0 if not distance else Fraction(distance, bound) if bound else math.inf
    return _Count(1 if distance else 0, distance, share, Counter(), {"rows": total})


# ------------------------------------------------------------------- when one value violates


@dataclass(frozen=True)
class _Question:
    params: Mapping[str, object]
    type_text: str
    clock: datetime

    def argument(self, name: str) -> object:
        """A parameter as a value of the column's type; None if it is not given."""
        given = self.params.get(name)
        return None if given is None else as_column_value(given, self.type_text)


def _violates(check_type: str, value: object, asked: _Question) -> bool:
    if value is None:
        return check_type == "not_null"
    match check_type:
        case "not_null":
            return False
        case "positive":
            return _is_nan(value) or not order(value) > order(0)
        case "range":
            low, high = asked.argument("min_value"), asked.argument("max_value")
            below = low is not None and order(value) < order(low)
            above = high is not None and order(value) > order(high)
            return below or above or _is_nan(value)
        case "accepted_values":
            return order(value) not in _accepted(asked)
        case "no_future_dates":
            return order(value) > order(_limit(asked))
    raise AssertionError(f"the oracle does not know {check_type!r}")


def _accepted(asked: _Question) -> set[object]:
    return {
        order(as_column_value(spelling, asked.type_text))
        for value in asked.params["accepted"]  # type: ignore[attr-defined]
        if value is not None
        for spelling in _spellings(value)
    }


def _limit(asked: _Question) -> object:
    local = asked.clock.astimezone(ZoneInfo(str(asked.params.get("timezone") or "UTC")))
    match base_type(asked.type_text):
        case "timestamp":
            return asked.clock.astimezone(UTC)
        case "timestamp_ntz":
            return local.replace(tzinfo=None)
    return local.date()


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _spellings(value: object) -> tuple[object, ...]:
    """A text composed and decomposed, since data may hold either."""
    if not isinstance(value, str):
        return (value,)
    return tuple(unicodedata.normalize(form, value) for form in ("NFC", "NFD"))
