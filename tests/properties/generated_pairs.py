"""Pairs of tables that nearly agree, in ways chosen to hurt.

Hypothesis draws a few values per column, a seed puts them into rows. The two sides have different
types for most columns, other spellings of their names and another order of columns and fields.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from generated_tables import (
    DATE_EDGES,
    DOUBLE_EDGES,
    FLOAT_EDGES,
    INSTANT_EDGES,
    LOCAL_EDGES,
    TEXT_EDGES,
)
from hypothesis import strategies as st

from lakeproof.model.canonical import Struct
from oracle.multiset_diff import Compared, Row

KEY_SETS = (("id",), ("Code",), ("part", "Code", "day key"), ("price",))
# Column -> the source's type and the target's. Values drawn for a column fit into both.
KEY_TYPES = {
    "id": ("int", "bigint"),
    "Code": ("string", "string"),
    "part": ("bigint", "int"),
    "day key": ("date", "date"),
    "price": ("decimal(10,2)", "decimal(20,4)"),
}
VALUE_TYPES = {
    "bag": ("array<string>", "array<string>"),
    "bin'ary": ("binary", "binary"),
    "boxes": (
        "array<struct<p:double,q:string>>",
        "array<struct<q:string,p:double>>",
    ),
    "Amount": ("decimal(10,2)", "decimal(18,4)"),
    "box": ("struct<a:int,`b{0}`:string,c:float>", "struct<c:double,`b{0}`:string,a:bigint>"),
    "count": ("int", "bigint"),
    "day`s": ("date", "date"),
    "deep": ("array<array<int>>", "array<array<bigint>>"),
    "flag": ("boolean", "boolean"),
    "marks": ("map<string,double>", "map<string,double>"),
    'n"tz': ("timestamp_ntz", "timestamp_ntz"),
    "order": ("int", "decimal(12,3)"),
    "share": ("float", "double"),
    "text": ("string", "string"),
    "ts": ("timestamp", "timestamp"),
    "weight": ("double", "double"),
    "whole": ("int", "double"),
    "x": ("double", "double"),
    "ünï😀": ("string", "string"),
}
LOAD_MARK = "_dlt_load_id"  # differs in every row, and is left out for its name
TYPES = {**KEY_TYPES, **VALUE_TYPES, LOAD_MARK: ("string", "string")}
FLOATS = frozenset({"share", "weight", "whole", "x"})
TARGET_NAMES = {"Code": "CODE", "Amount": "amount", "box": "BOX"}


def single(number: float) -> float:
    """The nearest FLOAT."""
    return struct.unpack("f", struct.pack("f", number))[0]


def box(a: int | None, b: str | None, c: float | None) -> Struct:
    return Struct({"a": a, "b{0}": b, "c": c})


TEXTS = st.sampled_from([*TEXT_EDGES, "ab", "c", "a", "bc", "|", "__NULL__", "NaN", "007", "7"])
TEXTS |= st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
SMALL = st.integers(-3, 3) | st.sampled_from([-(2**31), 2**31 - 1])
SINGLES = st.sampled_from([*FLOAT_EDGES, *map(single, (0.1, 0.7, 1e6, 123456.78))])
DOUBLES = st.sampled_from([*DOUBLE_EDGES, 9e12, 0.1234565, -0.1234565, 1234.5678]) | st.floats()
CENTS = st.integers(-300, 300).map(lambda cents: Decimal(cents).scaleb(-2))
OR_NULL = st.none()
VALUES: dict[str, st.SearchStrategy[object]] = {
    "bag": st.lists(TEXTS | OR_NULL, max_size=3),
    "bin'ary": st.sampled_from([b"", b"\x00", b"\x00\x00", b"a", b"\xff"]) | st.binary(max_size=4),
    "boxes": st.lists(
        st.fixed_dictionaries({"p": DOUBLES | OR_NULL, "q": TEXTS | OR_NULL}).map(Struct) | OR_NULL,
        max_size=3,
    ),
    "Amount": CENTS,
    "box": st.fixed_dictionaries(
        {"a": SMALL | OR_NULL, "b{0}": TEXTS | OR_NULL, "c": SINGLES | OR_NULL}
    ).map(Struct),
    "Code": TEXTS,
    "count": SMALL,
    "day`s": st.sampled_from(DATE_EDGES) | st.dates(),
    "deep": st.lists(st.lists(SMALL | OR_NULL, max_size=2) | OR_NULL, max_size=3),
    "flag": st.booleans(),
    "marks": st.dictionaries(TEXTS, DOUBLES | OR_NULL, max_size=3),
    'n"tz': st.sampled_from(LOCAL_EDGES) | st.datetimes(),
    "order": st.integers(-5, 5),
    "share": SINGLES | st.floats(width=32),
    "text": TEXTS,
    "ts": st.sampled_from(INSTANT_EDGES) | st.datetimes(timezones=st.just(UTC)),
    "weight": st.integers(-40, 40).map(lambda eighths: eighths / 8)
    | st.sampled_from([math.inf, -math.inf, math.nan, 0.0, -0.0, 1e15]),
    "whole": SMALL,
    "x": DOUBLES,
    "ünï😀": TEXTS,
}
POOLS = st.fixed_dictionaries(
    {name: st.lists(values, min_size=3, max_size=6) for name, values in VALUES.items()}
)

# Values that are often taken for each other: a source's and a target's.
TWINS: dict[str, list[tuple[object, object]]] = {
    "bag": [(["a", "b"], ["b", "a"]), ([], None), ([None], []), (["a", "a", "b"], ["a", "b", "b"])],
    "bin'ary": [(b"", None), (b"\x00", b""), (b"a", b"a\x00")],
    "boxes": [
        ([Struct(p=None, q=None)], [None]),
        ([Struct(p=math.nan, q="a")], [Struct(p=None, q="a")]),
        ([Struct(p=-0.0, q="a")], [Struct(p=0.0, q="a")]),
        ([Struct(p=1.0000001, q="a")], [Struct(p=1.0000002, q="a")]),
        ([Struct(p=1.0, q="a"), None], [None, Struct(p=1.0, q="a")]),
    ],
    "Amount": [(Decimal("1.10"), Decimal("1.1000")), (Decimal("1.10"), Decimal("1.1001"))],
    "box": [
        (box(None, None, None), None),
        (box(1, None, None), box(None, "1", None)),
        (box(1, "a", single(0.1)), box(1, "a", 0.1)),
        (box(1, "", None), box(1, None, None)),
    ],
    "count": [(0, None), (1, 2**32 + 1), (-(2**31), 2**31)],
    "day`s": [(date(1970, 1, 1), None), (date(1582, 10, 4), date(1582, 10, 15))],
    "deep": [([[1], [2]], [[1, 2]]), ([[]], []), ([None], []), ([[1, None]], [[1]]), ([[]], None)],
    "flag": [(False, None)],
    "marks": [
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
        ({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 1.0}),
        ({}, None),
        ({"a": None}, {}),
        ({"a": math.nan}, {"a": None}),
        ({"a": -0.0}, {"a": 0.0}),
    ],
    'n"tz': [(datetime(2024, 3, 10, 2, 30), datetime(2024, 3, 10, 3, 30))],  # noqa: DTZ001
    "order": [(1, Decimal("1.000")), (1, Decimal("1.001")), (0, None)],
    "share": [(single(0.1), 0.1), (math.nan, None), (-0.0, 0.0), (single(0.1), 0.1000007)],
    "text": [
        ("", None),
        ("a", "a "),
        ("__NULL__", None),
        ("a", "A"),
        ("é", "e\u0301"),
        ("7", "07"),
    ],
    "ts": [
        (datetime(1970, 1, 1, tzinfo=UTC), None),
        (
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            datetime(1970, 1, 1, tzinfo=UTC),
        ),
        (datetime(2024, 3, 10, 7, 0, 0, 1, tzinfo=UTC), datetime(2024, 3, 10, 7, tzinfo=UTC)),
    ],
    "weight": [
        (2.0, 2.005),
        (2.0, 2.1),
        (100.0, 100.5),
        (math.inf, 1.0),
        (math.inf, -math.inf),
        (math.nan, 1.0),
        (1.0, math.nan),
        (1.0, math.inf),
        (0.0, 0.005),
        (None, 0.0),
    ],
    "whole": [(1, 1.0), (1, 1.0000001), (1, 1.5), (0, -0.0), (0, None), (0, math.nan)],
    "x": [
        (-0.0, 0.0),
        (math.nan, None),
        (0.1234565, 0.12345649999),  # on either side of a rounding edge
        (0.1234565, 0.1234585),
        (1.0000001, 1.0000004),
        (9e12, 9e12 + 0.01),
        (1e300, 1.0000000001e300),
        (math.inf, -math.inf),
    ],
    "ünï😀": [("\ufffd", None), ("\U0001f600", "\U0001f601"), ("${x}", "${y}")],
}


@dataclass(frozen=True)
class Pair:
    """Both tables as rows under the source's names; `key` is what tells rows apart."""

    key: tuple[str, ...]
    source: Sequence[Row]
    target: Sequence[Row]


def compared(name: str, *, digits: int | None, **rules: object) -> Compared:
    """A column of these tables as the oracle sees it."""
    return Compared(name, is_float=name in FLOATS, digits=digits, **rules)  # type: ignore[arg-type]


@dataclass
class PairMaker:
    """Keys that are the same, lost, added, changed, nudged, and, if asked for, repeated."""

    pools: dict[str, list[object]]
    chance: random.Random
    has_copies: bool
    marks: int = field(default=0, init=False)

    def pair(self, key: tuple[str, ...], keys: int) -> Pair:
        source: list[Row] = []
        target: list[Row] = []
        for number in range(keys):
            left, right = self._rows_of_a_key()
            values = self._key(key, number)
            source += [{**row, **values} for row in left]
            target += [{**row, **values} for row in right]
        self.chance.shuffle(target)
        return Pair(key, self._marked(source), self._marked(target))

    def _rows_of_a_key(self) -> tuple[list[Row], list[Row]]:
        row = self._row()
        if self.has_copies and self.chance.random() < 0.25:
            return self._copies(row)
        match self.chance.choices(("same", "lost", "added", "changed", "twin"), (3, 1, 1, 2, 5))[0]:
            case "lost":
                return [row], []
            case "added":
                return [], [row]
            case "changed":
                return [row], [{**row, **self._some_values(self.chance.randint(1, 3))}]
            case "twin":
                one, other = self._twins(row)
                return [one], [other]
        return [row], [row]

    def _copies(self, row: Row) -> tuple[list[Row], list[Row]]:
        """Up to three rows on each side, some of them equal, some equal within a tolerance."""
        kinds = [(row, row), (row, {**row, **self._some_values(1)}), self._twins(row)]
        left: list[Row] = []
        right: list[Row] = []
        for _ in range(self.chance.randint(1, 3)):
            one, other = self.chance.choice(kinds)
            left += [one] * self.chance.choice((0, 1, 1, 2))
            right += [other] * self.chance.choice((0, 1, 1, 2))
        if not left and not right:
            left.append(row)
        return left, right

    def _row(self) -> dict[str, object]:
        return {**dict.fromkeys(KEY_TYPES), **self._some_values(len(VALUE_TYPES))}

    def _some_values(self, count: int) -> dict[str, object]:
        names = self.chance.sample(sorted(VALUE_TYPES), count)
        return {
            name: None if self.chance.random() < 0.15 else self.chance.choice(self.pools[name])
            for name in names
        }

    def _twins(self, row: Row) -> tuple[Row, Row]:
        name = self.chance.choice(sorted(TWINS))
        one, other = self.chance.choice(TWINS[name])
        return {**row, name: one}, {**row, name: other}

    def _key(self, key: tuple[str, ...], number: int) -> dict[str, object]:
        """Each number has a key of its own; one of them is NULL, or partly so."""
        texts: list[object] = list(dict.fromkeys(self.pools["Code"]))
        match key:
            case ("id",):
                return {"id": None if number == 7 else number - 50}
            case ("Code",):
                code = texts[number] if number < len(texts) else f"key {number:03d} é"
                return {"Code": None if number == len(texts) else code}
            case ("price",):
                return {"price": None if number == 7 else Decimal(number - 50).scaleb(-2)}
        day = None if number % 5 == 0 else date(1970, 1, 1) + timedelta(days=number - 40)
        code = f"no day {number}" if day is None else texts[number % len(texts)]
        part = None if number % 3 == 0 else number // 4
        return {"part": part, "Code": None if day and number % 7 == 0 else code, "day key": day}

    def _marked(self, rows: Sequence[Row]) -> list[Row]:
        marked: list[Row] = []
        for row in rows:
            self.marks += 1
            marked.append({**row, LOAD_MARK: f"load {self.marks}"})
        return marked
