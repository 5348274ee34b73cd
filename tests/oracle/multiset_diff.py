"""What two tables disagree on, in plain Python: multisets of rows by key, no hash and no Spark.

Rows are mappings by column name. A list is an array, a `Struct` a struct, any other dict a map.
Written from the rules alone; nothing here is taken from the product.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from lakeproof.model.canonical import Struct
from oracle.spark_values import micros, order

Row = Mapping[str, object]
Key = tuple[Hashable, ...]
MICROS_PER_SECOND = 1_000_000
EXACT_FROM = 9e18  # where rounding no longer fits into a BIGINT, the exact number counts


@dataclass(frozen=True)
class Compared:
    """How the values of a column are held against each other.

    `is_float`: the column itself is FLOAT or DOUBLE under its common type. `digits` after the
    point are what counts of its floats, also of those inside nested values; None is all of them.
    """

    name: str
    is_float: bool = False
    digits: int | None = None
    absolute: Decimal | None = None
    relative: Decimal | None = None
    unit_micros: int = 1
    is_unordered: bool = False

    @property
    def has_tolerance(self) -> bool:
        return self.absolute is not None or self.relative is not None

    @property
    def is_exact(self) -> bool:
        """Whether only values of one form are equal."""
        return not self.has_tolerance and not (self.is_float and self.digits is not None)

    def form(self, value: object) -> Hashable:
        """What stands for the value in its row: a tolerance is no part of it."""
        if self.is_float and isinstance(value, (int, Decimal)):
            value = float(value)
        digits = None if self.has_tolerance else self.digits
        return _form(value, digits, self.unit_micros, is_bag=self.is_unordered)

    def equal(self, source: object, target: object) -> bool:
        if self.form(source) == self.form(target):
            return True
        if source is None or target is None or self.is_exact:
            return False
        if self.has_tolerance:
            return _within(source, target, self.absolute, self.relative)
        source, target = float(source), float(target)  # type: ignore[arg-type]
        assert self.digits is not None
        return _are_finite(source, target) and abs(source - target) <= 0.5 * 10.0**-self.digits


@dataclass(frozen=True)
class KeyDifference:
    """One key that is listed. `differing` columns are certain for a row on each side only."""

    kind: str
    source_rows: int
    target_rows: int
    excess: int
    differing: frozenset[str] | None = None


@dataclass(frozen=True)
class Disagreement:
    """All numbers, the listed keys, and of each column how many paired single rows differ."""

    numbers: Mapping[str, int | float | None]
    keys: Mapping[Key, KeyDifference]
    null_key_rows: tuple[int, int]
    repeated_keys: tuple[int, int]

    @property
    def mismatches(self) -> int:
        return sum(one.excess for one in self.keys.values())

    @property
    def column_mismatches(self) -> Counter[str]:
        """Exact where no key of the listed ones repeats."""
        return Counter(
            name for one in self.keys.values() if one.differing for name in one.differing
        )


def key_of(row: Row, key: Sequence[Compared]) -> Key:
    return tuple(column.form(row[column.name]) for column in key)


def multiset_diff(
    source: Iterable[Row],
    target: Iterable[Row],
    key: Sequence[Compared],
    columns: Sequence[Compared],
    *,
    policy: str = "fail",
    null_keys: str = "count",
) -> Disagreement:
    """`policy` and `null_keys` as users write them; `columns` without the key."""
    columns = sorted(columns, key=lambda column: column.name)
    sides = _by_key(source, key), _by_key(target, key)
    keys: dict[Key, KeyDifference] = {}
    numbers: Counter[str] = Counter()
    for one in [*sides[0], *(other for other in sides[1] if other not in sides[0])]:
        rows = sides[0].get(one, []), sides[1].get(one, [])
        found = _judge_key(rows, columns, policy)
        if found is None and null_keys == "fail" and None in one:
            found = KeyDifference("null_key", len(rows[0]), len(rows[1]), 1)
        if found is not None:
            keys[one] = found
        numbers.update(_counts(rows, found, policy))
    return Disagreement(
        numbers=_metric(numbers, sum(one.excess for one in keys.values()), policy),
        keys=keys,
        null_key_rows=_count_by_side(sides, lambda one, rows: len(rows) * (None in one)),
        repeated_keys=_count_by_side(sides, lambda _, rows: len(rows) > 1),
    )


def _by_key(rows: Iterable[Row], key: Sequence[Compared]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[key_of(row, key)].append(row)
    return dict(found)


def _count_by_side(
    sides: tuple[dict[Key, list[Row]], dict[Key, list[Row]]],
    count: Callable[[Key, list[Row]], int],
) -> tuple[int, int]:
    source, target = (sum(count(one, rows) for one, rows in side.items()) for side in sides)
    return source, target


def _judge_key(
    rows: tuple[list[Row], list[Row]], columns: Sequence[Compared], policy: str
) -> KeyDifference | None:
    counts = len(rows[0]), len(rows[1])
    if not counts[1]:
        return KeyDifference("missing_in_target", *counts, excess=counts[0])
    if not counts[0]:
        return KeyDifference("missing_in_source", *counts, excess=counts[1])
    left = unmatched(rows[0], rows[1], columns)
    changed = bool(left[0] and left[1])
    surplus = abs(counts[0] - counts[1]) if policy == "multiset" else counts[0] + counts[1] - 2
    if not changed and not surplus:
        return None
    differing = frozenset[str]()
    if changed:
        (one, *_), (other, *_) = left
        differing = frozenset(
            column.name
            for column in columns
            if not column.equal(one[column.name], other[column.name])
        )
    return KeyDifference(
        "changed" if changed else "surplus",
        *counts,
        excess=changed + surplus,
        differing=differing if counts == (1, 1) else None,
    )


def unmatched(
    source: Sequence[Row], target: Sequence[Row], columns: Sequence[Compared]
) -> tuple[list[Row], list[Row]]:
    """Rows of one key without a partner: equal ones first, then those that count as equal.

    Those have the same exact values and NULLs, and are paired by rank. Of rows of one form, which
    may differ within its rounding, the smallest are taken first.
    """
    exact = [column for column in columns if column.is_exact]
    inexact = [column for column in columns if not column.is_exact]

    def rank(row: Row) -> list[tuple[int, object]]:
        return [_rank(row[column.name]) for column in inexact]

    left = _without_equals(sorted(source, key=rank), sorted(target, key=rank), columns)
    groups: dict[Key, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side in (0, 1):
        for row in left[side]:
            nulls = tuple(row[column.name] is None for column in inexact)
            groups[key_of(row, exact) + nulls][side].append(row)
    kept: tuple[list[Row], list[Row]] = ([], [])
    for group in groups.values():
        for rows in group:
            rows.sort(key=rank)
        pairs = min(len(group[0]), len(group[1]))
        for side in (0, 1):
            kept[side].extend(group[side][pairs:])
        for one, other in zip(group[0], group[1], strict=False):
            if not all(column.equal(one[column.name], other[column.name]) for column in inexact):
                kept[0].append(one)
                kept[1].append(other)
    return kept


def _without_equals(
    source: Sequence[Row], target: Sequence[Row], columns: Sequence[Compared]
) -> tuple[list[Row], list[Row]]:
    forms = Counter(key_of(row, columns) for row in source)
    common = forms & Counter(key_of(row, columns) for row in target)
    kept: tuple[list[Row], list[Row]] = ([], [])
    for side, rows in enumerate((source, target)):
        matched = Counter(common)
        for row in rows:
            form = key_of(row, columns)
            if matched[form]:
                matched[form] -= 1
            else:
                kept[side].append(row)
    return kept


def _counts(
    rows: tuple[list[Row], list[Row]], found: KeyDifference | None, policy: str
) -> dict[str, int]:
    counts = len(rows[0]), len(rows[1])
    kind = found.kind if found else ""
    surplus = sum(max(count - 1, 0) for count in counts)
    if policy == "multiset" and all(counts):
        surplus = abs(counts[0] - counts[1])
    numbers = {
        "missing_in_target": int(kind == "missing_in_target"),
        "missing_in_source": int(kind == "missing_in_source"),
        "hash_mismatches": int(kind == "changed"),
        "surplus_rows": surplus,
        "source_rows": counts[0],
        "target_rows": counts[1],
        "total_keys": 1,
        "shared_keys": int(all(counts)),
        "duplicate_keys": int(max(counts) > 1),
    }
    if policy == "multiset":
        numbers |= {"total_keys": max(counts), "shared_keys": min(counts)}
    return numbers


def _metric(
    numbers: Mapping[str, int], mismatches: int, policy: str
) -> dict[str, int | float | None]:
    names = (
        *("missing_in_target", "missing_in_source", "hash_mismatches", "surplus_rows"),
        *("source_rows", "target_rows", "total_keys", "shared_keys", "duplicate_keys"),
    )
    metric: dict[str, int | float | None] = {name: numbers.get(name, 0) for name in names}
    total = numbers.get("total_keys", 0)
    if policy == "multiset":
        metric["duplicate_keys"] = None
    else:
        total += numbers.get("surplus_rows", 0)
    metric["total_compared"] = total
    metric["mismatch_pct"] = mismatches / total if total else 0.0
    return metric


# --------------------------------------------------------------------------------- single values


def _form(value: object, digits: int | None, unit_micros: int, *, is_bag: bool) -> Hashable:
    def inner(part: object) -> Hashable:
        return _form(part, digits, unit_micros, is_bag=False)

    match value:
        case list() if is_bag:
            return ("bag", frozenset(Counter(map(inner, value)).items()))
        case list():
            return ("array", tuple(map(inner, value)))
        case Struct():
            return ("struct", frozenset((name, inner(part)) for name, part in value.items()))
        case dict():
            return ("map", frozenset((inner(name), inner(part)) for name, part in value.items()))
    return _scalar_form(value, digits, unit_micros)


def _scalar_form(value: object, digits: int | None, unit_micros: int) -> Hashable:
    match value:
        case float():
            return _float_form(value, digits)
        case datetime():
            return ("moment", micros(value) // unit_micros)
        case None | bool() | str() | bytes() | date():
            return None if value is None else (type(value).__name__, value)
        case int() | Decimal():
            return ("number", Fraction(value))
    raise AssertionError(f"the oracle does not know {value!r}")


def _float_form(value: float, digits: int | None) -> Hashable:
    if not math.isfinite(value):
        return ("float", str(value))
    if digits is None or abs(value) * 10.0**digits >= EXACT_FROM:
        return ("number", Fraction(value))
    return ("rounded", round(value * 10.0**digits))


def _within(
    source: object, target: object, absolute: Decimal | None, relative: Decimal | None
) -> bool:
    """Infinity and NaN are near to nothing but themselves; that they are equal was seen before."""
    if isinstance(source, float) or isinstance(target, float):
        source, target = float(source), float(target)  # type: ignore[arg-type]
        if not _are_finite(source, target):
            return False
        distance = abs(target - source)
        near = absolute is not None and distance <= float(absolute)
        return near or (relative is not None and distance <= float(relative) * abs(source))
    one, other = _exact_number(source), _exact_number(target)
    near = absolute is not None and abs(other - one) <= Fraction(absolute)
    return near or (relative is not None and abs(other - one) <= Fraction(relative) * abs(one))


def _exact_number(value: object) -> Fraction:
    if isinstance(value, datetime):
        return Fraction(micros(value), MICROS_PER_SECOND)
    assert isinstance(value, (int, Decimal))
    return Fraction(value)


def _are_finite(*numbers: float) -> bool:
    return all(map(math.isfinite, numbers))


def _rank(value: object) -> tuple[int, object]:
    """NULL first and NaN last, as Spark sorts."""
    return (0, 0) if value is None else (1, order(value))
