"""What the measuring checks must say, computed from rows in plain Python, with fractions.

Nothing here is taken from the checks themselves.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from oracle.conditions import Condition, Row
from oracle.spark_values import as_column_value, base_type, micros, order

DOUBLE_FUNCTIONS = {"stddev", "variance", "percentile", "median", "correlation"}
DIGITS_MAX = 38


@dataclass(frozen=True)
class Answer:
    """`excess` and `share` are what a tolerance is held against; `slack` is what rounding may do.

    `kind` is "judged", "skipped" or "error"; "unsure" where rounding decides.
    """

    failing: int = 0
    excess: float | Fraction = 0
    share: float | Fraction = 0
    measures: Mapping[str, float] = field(default_factory=dict)
    kind: str = "judged"
    slack: float = 0.0
    unsure: bool = False


@dataclass(frozen=True)
class Found:
    """A number, or why there is none: "none", "nan", "error", "unsure"."""

    number: Fraction | None
    why: str = ""
    slack: float = 0.0


# --------------------------------------------------------------------------------- aggregate


def aggregate(
    params: Mapping[str, object], columns: Sequence[str], types: Mapping[str, str], rows: list[Row]
) -> Answer:
    function = str(params["function"])
    kind = types[columns[0]]
    found = _aggregated(function, params, columns, types, rows)
    if found.why in {"error", "unsure"}:
        return Answer(kind=found.why)
    if found.why == "none" and not rows:
        return Answer(kind="skipped")
    if found.number is None:
        return Answer(1, math.inf, math.inf)
    is_moment = base_type(kind) in {"date", "timestamp", "timestamp_ntz"} and function in {
        "min",
        "max",
    }
    distance, bound, near = Fraction(0), Fraction(0), False
    for name, sign in (("min_value", -1), ("max_value", 1)):
        if params.get(name) is not None:
            limit = _bound(params[name], kind, function)
            near |= abs(float(found.number - limit)) <= found.slack and found.slack > 0
            if sign * (found.number - limit) > 0:
                distance, bound = sign * (found.number - limit), limit
    if is_moment:
        unit = 1 if kind == "date" else 1_000_000
        return Answer(int(distance > 0), distance / unit, math.inf if distance else 0)
    share = 0 if not distance else distance / abs(bound) if bound else math.inf
    measures = {function: float(found.number)}
    return Answer(int(distance > 0), distance, share, measures, slack=found.slack, unsure=near)


def _bound(given: object, kind: str, function: str) -> Fraction:
    """A bound as the number that it is beside the aggregate."""
    if function in {"min", "max"}:
        value = as_column_value(given, kind)
        return _moment_number(value) if isinstance(value, date) else Fraction(value)  # type: ignore[arg-type]
    is_double = function in DOUBLE_FUNCTIONS or base_type(kind) in {"float", "double"}
    if is_double and function not in {"distinct_count", "approx_distinct_count", "null_share"}:
        return Fraction(float(str(given)))
    return Fraction(str(given))


def _moment_number(value: date) -> Fraction:
    if isinstance(value, datetime):
        return Fraction(micros(value))
    return Fraction(value.toordinal() - date(1970, 1, 1).toordinal())


def _aggregated(
    function: str,
    params: Mapping[str, object],
    columns: Sequence[str],
    types: Mapping[str, str],
    rows: list[Row],
) -> Found:
    values = [row[columns[0]] for row in rows if row[columns[0]] is not None]
    if function == "null_share":
        return Found(1 - Fraction(len(values), len(rows))) if rows else Found(None, "none")
    if function in {"distinct_count", "approx_distinct_count"}:
        return Found(Fraction(len({order(value) for value in values})))
    if function == "correlation":
        pairs = [[row[column] for column in columns] for row in rows]
        return _correlation([(float(a), float(b)) for a, b in pairs if None not in (a, b)])
    if not values:
        return Found(None, "none")
    return _of_values(function, params, values, types[columns[0]])


def _of_values(
    function: str, params: Mapping[str, object], values: list[object], kind: str
) -> Found:
    if function in {"min", "max"}:
        return _exactly((min if function == "min" else max)(values, key=order))
    if function in {"sum", "avg"}:
        return _total(values, kind, 1 if function == "sum" else len(values))
    doubles = [float(value) for value in values]  # type: ignore[arg-type]
    if function in {"stddev", "variance"}:
        return _spread(doubles, function)
    share = params.get("percentile")
    return _percentile(doubles, 0.5 if share is None else float(str(share)))


def _exactly(value: object) -> Found:
    if isinstance(value, date):
        return Found(_moment_number(value))
    return _of_float(value) if isinstance(value, float) else Found(Fraction(value))  # type: ignore[arg-type]


def _of_float(value: float, slack: float = 0.0) -> Found:
    return Found(Fraction(value), slack=slack) if math.isfinite(value) else Found(None, "nan")


def _total(values: list[object], kind: str, count: int) -> Found:
    if base_type(kind) in {"float", "double"}:
        if not all(math.isfinite(value) for value in values):  # type: ignore[arg-type]
            return Found(None, "nan")
        size = math.fsum(abs(value) for value in values)  # type: ignore[arg-type]
        return _of_float(math.fsum(values) / count, 1e-12 * size)  # type: ignore[arg-type]
    exact = [Fraction(value) for value in values]  # type: ignore[arg-type]
    scale = int(kind.split(",")[1].rstrip(")")) if "," in kind else 0
    # A total is lost as soon as any part of it may be: the order of adding is Spark's own affair.
    ups = sum(value for value in exact if value > 0)
    downs = sum(-value for value in exact if value < 0)
    limit = Fraction(10 ** (DIGITS_MAX - scale))
    if abs(sum(exact)) >= limit:
        return Found(None, "error")
    if ups >= limit or downs >= limit:
        return Found(None, "unsure")
    return Found(sum(exact, Fraction(0)) / count)


def _spread(values: list[float], function: str) -> Found:
    if len(values) < 2:
        return Found(None, "none")
    if not all(map(math.isfinite, values)):
        return Found(None, "nan")
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))
    largest = max(abs(value) for value in values)
    if function == "variance":
        return _of_float(variance, 1e-12 * largest**2)
    return _of_float(math.sqrt(variance), 1e-6 * largest)


def _percentile(values: list[float], share: float) -> Found:
    ranked = sorted(values, key=order)
    place = (len(ranked) - 1) * share
    below, above = math.floor(place), math.ceil(place)
    if below == above:
        return _of_float(ranked[below])
    found = (above - place) * ranked[below] + (place - below) * ranked[above]
    return _of_float(found, 1e-12 * max(abs(value) for value in ranked if math.isfinite(value)))


def _correlation(pairs: list[tuple[float, float]]) -> Found:
    if any(not math.isfinite(value) for pair in pairs for value in pair):
        # One pair has no spread to divide by, finite or not.
        return Found(None, "nan" if len(pairs) > 1 else "unsure")
    left, right = [Fraction(a) for a, _ in pairs], [Fraction(b) for _, b in pairs]
    if len(set(left)) < 2 or len(set(right)) < 2:
        return Found(None, "none")
    mean_left, mean_right = sum(left) / len(left), sum(right) / len(right)
    spread_left = sum((a - mean_left) ** 2 for a in left)
    spread_right = sum((b - mean_right) ** 2 for b in right)
    together = sum((a - mean_left) * (b - mean_right) for a, b in zip(left, right, strict=True))
    for values, spread in ((left, spread_left), (right, spread_right)):
        if spread < max(value**2 for value in values) / 10**6:
            return Found(None, "unsure")
    spread = math.sqrt(float(spread_left)) * math.sqrt(float(spread_right))
    if not spread:  # too small for a float
        return Found(None, "unsure")
    return _of_float(float(together) / spread, 1e-6)


# ---------------------------------------------------------------------------- the other checks


def ratio(params: Mapping[str, object], condition: Condition, rows: list[Row]) -> Answer:
    if not rows:
        return Answer(kind="skipped")
    fulfilled = sum(condition.holds(row) for row in rows)
    share = Fraction(fulfilled, len(rows))
    low, high = params.get("min_share"), params.get("max_share")
    distance = max(
        Fraction(0),
        Fraction(str(low)) - share if low is not None else Fraction(0),
        share - Fraction(str(high)) if high is not None else Fraction(0),
    )
    changed = next(
        count for count in range(len(rows) + 1) if Fraction(count, len(rows)) >= distance
    )
    measures = {"fulfilled": fulfilled, "share": float(share)}
    return Answer(changed, changed, distance, measures)


def freshness(
    params: Mapping[str, object], column: str, kind: str, rows: list[Row], clock: datetime
) -> Answer:
    values = [row[column] for row in rows if row[column] is not None]
    if not values:
        return Answer(1, math.inf, math.inf)
    newest = max(values, key=order)
    zone = ZoneInfo(str(params.get("timezone") or "UTC"))
    limit = Fraction(str(params["max_age"]))
    if kind == "date":
        age = Fraction((clock.astimezone(zone).date() - newest).days * 86_400)  # type: ignore[operator]
    else:
        offset = timedelta()
        if kind == "timestamp_ntz":
            offset = newest.replace(tzinfo=zone).utcoffset()  # type: ignore[attr-defined]
        moment = micros(newest) - offset // timedelta(microseconds=1)  # type: ignore[arg-type]
        age = Fraction(micros(clock.astimezone(UTC)) - moment, 1_000_000)
    age = max(age, Fraction(0))
    late = max(age - limit, Fraction(0))
    share = 0 if not late else late / limit if limit else math.inf
    return Answer(int(late > 0), late, share, {"age_seconds": float(age)})


def value_set(params: Mapping[str, object], column: str, kind: str, rows: list[Row]) -> Answer:
    listed = {
        order(as_column_value(_composed(value), kind))
        for value in params["values"]  # type: ignore[attr-defined]
    }
    found = [order(_composed(row[column])) for row in rows if row[column] is not None]
    mode = params.get("mode") or "equals"
    missing = len(listed - set(found)) if mode != "within" else 0
    others = sum(value not in listed for value in found) if mode != "contains" else 0
    share = max(Fraction(missing, len(listed)), Fraction(others, len(rows)) if rows else 0)
    measures = {"missing_values": missing, "unexpected_rows": others}
    return Answer(missing + others, missing + others, share, measures)


def _composed(value: object) -> object:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def row_count_change(params: Mapping[str, object], rows: list[Row]) -> Answer:
    before, now = Fraction(params["expected"]), len(rows)  # type: ignore[arg-type]
    down, up = params.get("max_decrease"), params.get("max_increase")
    limits = []
    if down is not None:
        limits.append(before - before * Fraction(str(down)) - now)
    if up is not None:
        limits.append(now - before - before * Fraction(str(up)))
    late = max(Fraction(0), *limits)
    share = 0 if not late else late / before if before else math.inf
    measures = {"rows": now, "previous": float(before)}
    if before or not now:
        measures["change"] = float((now - before) / before) if before else 0.0
    return Answer(int(late > 0), late, share, measures)
