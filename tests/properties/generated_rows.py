"""Rows with structs, arrays and maps in them, and a suite that asks every row check of them.

Hypothesis draws a few values per type; a seed puts them into rows, elements and arguments.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from generated_tables import CLOCK, DOUBLE_EDGES, TEXT_EDGES, ZONES
from hypothesis import strategies as st

from lakeproof.model.canonical import Struct
from lakeproof.model.suite import QualityCheck
from oracle.conditions import COMPARISONS, Condition, Row, both, compare, either, negation
from oracle.row_checks import FORMATS, PATTERNS
from oracle.spark_values import order

TABLE = "generated_rows"
KEY = ("k",)
NULL_SHARES = (0.0, 0.15, 0.5)

# The fields of a struct and the plain columns of the same names: type by name.
SCALARS = {
    "text": "string",
    "n": "int",
    "big": "bigint",
    "d": "decimal(10,2)",
    "x": "double",
    "flag": "boolean",
    "day": "date",
    "ts": "timestamp",
    "ntz": "timestamp_ntz",
}
BOX = f"struct<{','.join(f'{name}:{kind}' for name, kind in SCALARS.items())},tags:array<string>>"
TYPES = {
    "k": "bigint",
    **SCALARS,
    "n2": "int",
    "wide": "decimal(20,4)",
    "x2": "double",
    "f": "float",
    "text2": "string",
    "day2": "date",
    "ts2": "timestamp",
    "bin": "binary",
    "tags": "array<string>",
    "marks": "map<string,int>",
    "deep": "array<array<int>>",
    "lists": "map<string,array<string>>",
    "box": BOX,
    "boxes": f"array<{BOX}>",
    "by_key": f"map<string,{BOX}>",
}
SCALAR_PLACES = {
    **SCALARS,
    "bin": "binary",
    **{
        f"{holder}.{name}": kind
        for holder in ("box", "boxes[]", "by_key{}")
        for name, kind in SCALARS.items()
    },
    "tags[]": "string",
    "box.tags[]": "string",
    "boxes[].tags[]": "string",
    "lists{}[]": "string",
    "marks{}": "int",
    "deep[][]": "int",
}
COLLECTION_PLACES = (
    "tags",
    "marks",
    "deep",
    "deep[]",
    "lists",
    "lists{}",
    "box.tags",
    "boxes[].tags",
)
HOLDER_PLACES = ("box", "boxes", "boxes[]", "by_key{}")
PAIRS = (
    *(("n", "n2"), ("n", "big"), ("big", "d"), ("d", "wide"), ("x", "x2"), ("x", "f"), ("n", "f")),
    *(("n", "x"), ("text", "text2"), ("day", "day2"), ("ts", "ts2"), ("box.n", "n2")),
    *(("box.ts", "ts"), ("box.x", "f"), ("day2", "box.day"), ("flag", "box.flag")),
)
OPERATORS = ("<", "<=", "=", "!=", ">=", ">")

FORMATTED = [
    *("123e4567-e89b-12d3-a456-426614174000", "a@b.co", "https://a/b?c#d", "a.b", "1.2.3.4", "::1"),
    *("2024-02-29", "2023-02-29", "2024-01-01T00:00:00Z", '{"a":[1]}', "1 2", "a@b.co\n", "null"),
]
VALUES: dict[str, st.SearchStrategy[object]] = {
    "string": st.sampled_from([*TEXT_EDGES, *FORMATTED, "ab", "NuLL", "xx", "\u00a0\t", "\n", "7"])
    | st.text(st.characters(exclude_categories=("Cs",)), max_size=4),
    "int": st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31)]) | st.integers(-4, 4),
    "bigint": st.sampled_from([0, 1, 2**53 + 1, -(2**63)]) | st.integers(-4, 4),
    "decimal(10,2)": st.integers(-300, 300).map(lambda cents: Decimal(cents).scaleb(-2)),
    "decimal(20,4)": st.integers(-30000, 30000).map(lambda part: Decimal(part).scaleb(-4)),
    "double": st.sampled_from(DOUBLE_EDGES) | st.integers(-4, 4).map(float),
    "float": st.sampled_from([0.0, -0.0, math.nan, math.inf, 16777216.0]) | st.floats(width=32),
    "boolean": st.booleans(),
    "date": st.dates(date(2024, 3, 6), date(2024, 3, 12)) | st.dates(),
    "timestamp": st.sampled_from([CLOCK, datetime(1970, 1, 1, tzinfo=UTC)])
    | st.datetimes(datetime(1900, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    "timestamp_ntz": st.datetimes(datetime(2024, 3, 9), datetime(2024, 3, 11)),  # noqa: DTZ001
    "binary": st.binary(max_size=4),
}
POOLS = st.fixed_dictionaries(
    {name: st.lists(values, min_size=5, max_size=9) for name, values in VALUES.items()}
)
MAP_KEYS = ("a", "B", "ü'\\", 'q"}.', "", "${x}")


@dataclass(frozen=True)
class Asked:
    """A check and what its SQL texts mean to the oracle; `kind` is the type of its value."""

    check: QualityCheck
    scope: Condition | None = None
    condition: Condition | None = None
    kind: str = ""


@dataclass
class RowMaker:
    """Rows out of the pools: NULL at every level, empty arrays, repeated rows and keys."""

    pools: dict[str, list[object]]
    chance: random.Random

    def rows(self, count: int) -> list[Row]:
        made: list[Row] = []
        for number in range(count):
            if made and self.chance.random() < 0.1:
                made.append(self.chance.choice(made))
                continue
            self.nulls = self.chance.choice(NULL_SHARES)
            row = {name: self._value(kind) for name, kind in TYPES.items()}
            made.append({**row, "k": number // 2})
        return made

    def _value(self, kind: str) -> object:
        if self.chance.random() < self.nulls:
            return None
        if kind in self.pools:
            return self.chance.choice(self.pools[kind])
        if kind == BOX:
            fields = {name: self._value(inner) for name, inner in SCALARS.items()}
            return Struct({**fields, "tags": self._value("array<string>")})
        inner = kind[kind.index("<") + 1 : -1]
        if kind.startswith("array"):
            return [self._value(inner) for _ in range(self.chance.choice([0, 0, 1, 2, 4]))]
        keys = self.chance.sample(MAP_KEYS, self.chance.choice([0, 0, 1, 2, 4]))
        return {key: self._value(inner.partition(",")[2]) for key in keys}


@dataclass
class RowSuiteMaker:
    """Every row check at places of every kind, with arguments out of the rows' own values."""

    pools: dict[str, list[object]]
    chance: random.Random

    def suite(self, rules: int) -> list[Asked]:
        """`rules` questions, each check in its turn, so that none is left out."""
        makers: Sequence[Callable[[], tuple[str, object, dict[str, object]]]] = (
            self._not_null,
            self._positive,
            self._range,
            self._accepted,
            self._no_future,
            self._not_empty,
            self._pattern,
            self._pattern,
            self._length,
            self._format,
            self._pair,
        )
        asked = [self._asked(number, makers[number % len(makers)]()) for number in range(rules)]
        return [*asked, *(self._expression(number) for number in range(rules // len(makers)))]

    def _asked(self, number: int, made: tuple[str, object, dict[str, object]]) -> Asked:
        check_type, column, params = made
        scope = self._condition() if self.chance.random() < 0.2 else None
        check = QualityCheck(
            f"{number}_{check_type}",
            check_type,
            TABLE,
            column,  # type: ignore[arg-type]
            params,
            filter=scope.sql if scope else None,
            tolerance=self.chance.choice([None, None, 0.1, 0.5]),
        )
        return Asked(check, scope, kind=SCALAR_PLACES.get(str(column), ""))

    def _expression(self, number: int) -> Asked:
        condition = self._condition()
        params = {"expression": f"{condition.sql} -- good"}
        check = QualityCheck(f"{number}_expression", "row_expression", TABLE, params=params)
        return Asked(check, condition=condition)

    def _place(self, *kinds: str) -> str:
        return self.chance.choice([p for p, kind in SCALAR_PLACES.items() if kind in kinds])

    def _not_null(self) -> tuple[str, object, dict[str, object]]:
        places = (*SCALAR_PLACES, *COLLECTION_PLACES, *HOLDER_PLACES)
        return "not_null", self.chance.choice(places), {}

    def _positive(self) -> tuple[str, object, dict[str, object]]:
        return "positive", self._place("int", "bigint", "decimal(10,2)", "double"), {}

    def _range(self) -> tuple[str, object, dict[str, object]]:
        place = self._place("int", "bigint", "decimal(10,2)", "double", "date", "timestamp")
        values = [value for value in self.pools[SCALAR_PLACES[place]] if value == value]  # noqa: PLR0124
        low, high = sorted(self.chance.choices(values or [0], k=2), key=order)
        return "range", place, {"min_value": low, "max_value": high}

    def _accepted(self) -> tuple[str, object, dict[str, object]]:
        place = self._place("string", "int", "decimal(10,2)", "double", "boolean", "date")
        chosen = self.chance.choices(self.pools[SCALAR_PLACES[place]], k=3)
        return "accepted_values", place, {"accepted": chosen}

    def _no_future(self) -> tuple[str, object, dict[str, object]]:
        place = self._place("date", "timestamp", "timestamp_ntz")
        return "no_future_dates", place, {"timezone": self.chance.choice(ZONES)}

    def _not_empty(self) -> tuple[str, object, dict[str, object]]:
        if self.chance.random() < 0.4:
            return "not_empty", self.chance.choice(COLLECTION_PLACES), {}
        return "not_empty", self._place("string"), {"trim": self.chance.choice([True, False])}

    def _pattern(self) -> tuple[str, object, dict[str, object]]:
        name = self.chance.choice(["matches_pattern", "not_matches_pattern"])
        pattern, full = self.chance.choice(list(PATTERNS)), self.chance.choice([True, False])
        return name, self._place("string"), {"pattern": pattern, "full": full}

    def _length(self) -> tuple[str, object, dict[str, object]]:
        low, high = sorted(self.chance.choices(range(5), k=2))
        bounds: dict[str, object] = {"min_length": low, "max_length": high}
        if self.chance.random() < 0.3:
            bounds.pop(self.chance.choice(list(bounds)))
        place = self.chance.choice([self._place("string", "binary"), *COLLECTION_PLACES])
        return "length_range", place, bounds

    def _format(self) -> tuple[str, object, dict[str, object]]:
        return "format", self._place("string"), {"kind": self.chance.choice(list(FORMATS))}

    def _pair(self) -> tuple[str, object, dict[str, object]]:
        left, right = self.chance.choice(PAIRS)
        pair = [left, right] if self.chance.random() < 0.5 else [right, left]
        return "column_pair", pair, {"operator": self.chance.choice(OPERATORS)}

    def _condition(self) -> Condition:
        """True, false or NULL, depending on the row; doubles are what file statistics get wrong."""
        pick = self.chance.choice

        def simple() -> Condition:
            column, kind = pick([("n", "int"), ("x", "double"), ("day", "date"), ("x2", "double")])
            return compare(column, pick(COMPARISONS), pick(self.pools[kind]))

        left, right = simple(), simple()
        return pick([left, negation(left), both(left, right), either(left, negation(right))])
