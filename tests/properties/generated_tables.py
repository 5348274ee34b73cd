"""Tables whose values are chosen to hurt, and for each of them a suite that asks every check.

Many small tables share one physical table: `case_id` says which one a row belongs to, and each
rule of a case has a filter on it. That keeps a run of a dozen tables at the price of one, and
puts every rule through a filter as well. Hypothesis draws the values, a seed arranges them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from lakeproof.model.suite import QualityCheck
from oracle.conditions import (
    COMPARISONS,
    Condition,
    Row,
    both,
    compare,
    either,
    is_null,
    is_true,
    name_sql,
    negation,
)
from oracle.expected import Query
from oracle.spark_values import order

CASE = "case_id"
KEY = (CASE, "k")
TABLE = "generated"

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
BIGINT_MIN, BIGINT_MAX = -(2**63), 2**63 - 1
CLOCK = datetime(2024, 3, 10, 3, 29, 59, 999999, tzinfo=UTC)  # 23:59:59.999999 in Newfoundland
ZONES = ("UTC", "America/St_Johns", "Pacific/Kiritimati", "Asia/Kathmandu")
MICROSECOND = timedelta(microseconds=1)
WIDE = Context(prec=60)

# Column -> type. Names with dots, blanks, quotes, backticks, reserved words, unicode.
TYPES = {
    CASE: "int",
    "k": "bigint",
    "order": "int",
    "big.int": "bigint",
    "tiny": "tinyint",
    "decimal 38": "decimal(38,0)",
    "m": "decimal(38,18)",
    "x": "double",
    "FLOAT": "float",
    "ünï😀": "string",
    "flag": "boolean",
    "bin'ary": "binary",
    "day`s": "date",
    "ts": "timestamp",
    'n"tz': "timestamp_ntz",
}
NUMERIC = ("k", "order", "big.int", "tiny", "decimal 38", "m", "x", "FLOAT")
MOMENTS = ("day`s", "ts", 'n"tz')
# By the way in which the planner finds duplicates.
TILED_KEYS = (
    ["order"],
    ["big.int"],
    ["day`s"],
    ["tiny", "order"],
    ["big.int", "order", "day`s"],
    ["k", "order", "tiny", "big.int", "day`s"],
)
HASHED_KEYS = (
    ["ünï😀"],
    ["bin'ary"],
    ["ünï😀", "x"],
    ["order", "flag", "FLOAT", "x"],
    ["k", "order", "tiny", "big.int", "day`s", "ts"],
)
GROUPED_KEYS = (
    ["x"],
    ["FLOAT", "x"],
    ["flag", "order"],
    ["decimal 38"],
    ["m", "flag"],
    ["ts"],
    ['n"tz', "ts"],
)
KEY_SETS = (*TILED_KEYS, *HASHED_KEYS, *GROUPED_KEYS)


def _decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    whole = st.integers(-(10**digits) + 1, 10**digits - 1)
    return whole.map(lambda number: Decimal(number).scaleb(-scale, WIDE))


def _near(moments: Sequence[datetime]) -> list[datetime]:
    return [moment + step * MICROSECOND for moment in moments for step in (-1, 0, 1)]


def _local_clocks() -> list[datetime]:
    return [CLOCK.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for zone in ZONES]


INSTANT_EDGES = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1582, 10, 10, tzinfo=UTC),
    datetime(2024, 3, 10, 7, 0, tzinfo=UTC),
    *_near([CLOCK, datetime(1970, 1, 1, tzinfo=UTC)]),
]
LOCAL_EDGES = [
    datetime(1, 1, 1),  # noqa: DTZ001
    datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
    datetime(2024, 3, 10, 2, 30),  # noqa: DTZ001 - does not exist in most of North America
    *_near(_local_clocks()),
]
DATE_EDGES = [
    date(1, 1, 1),
    date(9999, 12, 31),
    date(1582, 10, 10),
    date(1970, 1, 1),
    date(1969, 12, 31),
    *(date(2024, 3, day) for day in (8, 9, 10, 11)),
]
TEXT_EDGES = [
    *("", " ", "a", "A", "a ", "O'Brien", 'say "x"', "back\\slash", "\\", "line\nbreak", "\r"),
    *("caf\u00e9", "cafe\u0301", "\U0001f600", "\U0001f600\u0301", "\ufffd", "\x00", "\u2028"),
    *("${spark.app.name}", "$", "${", "%", "NULL", "--", "/*", "a" * 70, "\U0010ffff" * 20),
]
DOUBLE_EDGES = [
    *(0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, -5e-324, 2.2250738585072014e-308),
    *(1.7976931348623157e308, 0.1, 1.0, -1.0, 2.0**53, 2.0**53 + 2),
]
FLOAT_EDGES = [0.0, -0.0, math.nan, math.inf, -math.inf, 2.0**-149, 1.0, 0.10000000149011612]

# What Hypothesis draws per column: a few values, from which rows and arguments are then made.
VALUES: dict[str, st.SearchStrategy[object]] = {
    "k": st.sampled_from([0, 1, 2, -1, BIGINT_MIN, BIGINT_MAX]) | st.integers(-70, 70),
    "order": st.sampled_from([INT_MIN, INT_MAX, INT_MIN + 1, 0, -1, 63, 64, -64, -65])
    | st.integers(-130, 130)
    | st.integers(INT_MIN, INT_MAX),
    "big.int": st.sampled_from([BIGINT_MIN, BIGINT_MAX, BIGINT_MIN + 1, 2**53 + 1, 0, -1, 7, 8])
    | st.integers(-20, 20)
    | st.integers(BIGINT_MIN, BIGINT_MAX),
    "tiny": st.integers(-128, 127) | st.sampled_from([0, 1, -1, -128, 127]),
    "decimal 38": st.sampled_from([Decimal(0), Decimal(1), Decimal(10**38 - 1)])
    | _decimals(2, 0)
    | _decimals(38, 0),
    "m": st.sampled_from([Decimal(0), Decimal("0.5"), Decimal("-1E-18"), Decimal("1E-18")])
    | _decimals(3, 1)
    | _decimals(38, 18),
    "x": st.sampled_from(DOUBLE_EDGES) | st.floats(),
    "FLOAT": st.sampled_from(FLOAT_EDGES) | st.floats(width=32),
    "ünï😀": st.sampled_from(TEXT_EDGES)
    | st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
    "flag": st.booleans(),
    "bin'ary": st.sampled_from([b"", b"\x00", b"a", b"\xff\xfe"]) | st.binary(max_size=4),
    "day`s": st.sampled_from(DATE_EDGES) | st.dates(),
    "ts": st.sampled_from(INSTANT_EDGES)
    | st.datetimes(timezones=st.just(UTC), min_value=datetime(1, 1, 1)),  # noqa: DTZ001
    'n"tz': st.sampled_from(LOCAL_EDGES) | st.datetimes(),
}
POOLS = st.fixed_dictionaries(
    {name: st.lists(values, min_size=4, max_size=7) for name, values in VALUES.items()}
)
SEEDS = st.integers(0, 2**63)


@dataclass(frozen=True)
class Asked:
    """A check and what its texts mean to the oracle."""

    check: QualityCheck
    scope: Condition | None = None
    query: Query | None = None


def arrange_rows(pools: dict[str, list[object]], chance: random.Random, cases: int) -> list[Row]:
    """Rows of all cases: some empty, some with one row, many duplicates, NULLs in varying share."""
    rows: list[Row] = []
    for case in range(cases):
        nulls = chance.choice([0.0, 0.15, 0.5])
        made: list[Row] = []
        for _ in range(chance.choice([0, 1, 2, 5, 9, 14])):
            if made and chance.random() < 0.3:
                made.append(chance.choice(made))
                continue
            row: dict[str, object] = {CASE: case}
            for name in VALUES:
                row[name] = None if chance.random() < nulls else chance.choice(pools[name])
            row["k"] = chance.choice(pools["k"])
            made.append(row)
        rows += made
    chance.shuffle(rows)
    return rows


@dataclass
class SuiteMaker:
    """Asks each case every check, with arguments out of the values that the rows are made of."""

    pools: dict[str, list[object]]
    chance: random.Random

    def suite(self, cases: int) -> list[Asked]:
        """Row and count checks for each case; keys and queries, which cost more, for some.

        The rest of the cases get theirs from the whole table: a key set that begins with
        `case_id` and a query that returns it name the case of every duplicate and every row.
        """
        asked: list[Asked] = []
        costly = set(self.chance.sample(range(cases), min(cases, 3)))
        for case in range(cases):
            scope = self._scope(case)
            asked += [Asked(check, scope) for check in self._row_checks(f"case_{case}", scope.sql)]
            if case in costly:
                key = self.chance.choice(KEY_SETS)
                asked.append(Asked(self._unique(f"case_{case}", key, scope.sql), scope))
                asked.append(self._query(f"case_{case}", scope))
        return asked + self._of_the_whole()

    def _scope(self, case: int) -> Condition:
        here = compare(CASE, "=", case)
        return both(here, self._condition()) if self.chance.random() < 0.3 else here

    def _of_the_whole(self) -> list[Asked]:
        pick = self.chance.choice
        asked = [Asked(check) for check in self._row_checks("whole", None)]
        keys = [[CASE, *pick(keys)] for keys in (TILED_KEYS, HASHED_KEYS, GROUPED_KEYS)]
        keys.append(pick(KEY_SETS))
        asked += [
            Asked(self._unique(f"whole_{place}", key, None)) for place, key in enumerate(keys)
        ]
        return [*asked, self._query("whole", None)]

    def _row_checks(self, label: str, scope: str | None) -> list[QualityCheck]:
        pick = self.chance.choice
        number, moment = pick(NUMERIC), pick(MOMENTS)
        listed = pick(("order", "big.int", "decimal 38", "m", "x", "FLOAT", "ünï😀", "flag", "ts"))
        made = [
            ("not_null", None, {}, {"for_each_column": self.chance.sample(sorted(VALUES), 2)}),
            ("positive", pick(NUMERIC), {}, {}),
            ("range", number, self._range(number), {}),
            ("range", moment, self._range(moment), {}),
            ("accepted_values", listed, {"accepted": self._accepted(listed)}, {}),
            ("accepted_values", "ünï😀", {"accepted": self._accepted("ünï😀")}, {}),
            ("no_future_dates", pick(MOMENTS), {"timezone": pick(ZONES)}, {}),
            ("row_count_range", None, self._row_counts(), {}),
        ]
        return [
            QualityCheck(
                f"{label}_{place}_{kind}",
                kind,
                TABLE,
                column,
                params,
                filter=scope,
                **self._grade(),
                **more,
            )
            for place, (kind, column, params, more) in enumerate(made)
        ]

    def _unique(self, label: str, columns: Sequence[str], scope: str | None) -> QualityCheck:
        name = self.chance.choice(["uniqueness", "is_unique"])
        column = columns[0] if len(columns) == 1 else columns
        return QualityCheck(f"{label}_unique", name, TABLE, column, filter=scope, **self._grade())

    def _query(self, label: str, scope: Condition | None) -> Asked:
        condition = self._condition()
        columns = self.chance.choice([list(TYPES), [*KEY, "x"], ["ünï😀", "x"]])
        listed = "*" if columns == list(TYPES) else ", ".join(name_sql(name) for name in columns)
        text = f"SELECT {listed} FROM {TABLE} WHERE {condition.sql};"

        def returned(rows: Sequence[Row]) -> Sequence[Row]:
            found = [row for row in rows if condition.holds(row)]
            return [{name: row[name] for name in columns} for row in found]

        name = self.chance.choice(["custom_sql", "sql_query", "sql_expression"])
        check = QualityCheck(
            f"{label}_query",
            name,
            TABLE,
            params={"sql": text},
            filter=scope.sql if scope else None,
            **self._grade(),
        )
        return Asked(check, scope, returned)

    def _grade(self) -> dict[str, object]:
        """Tolerances and severity in all their spellings."""
        pick = self.chance.choice
        severity = pick([{}, {"severity": "error"}, {"severity": "warning"}, {"severity": "info"}])
        return {
            "tolerance": pick([None, None, 0, 0.01, 0.1, 0.25, 1 / 3, 0.5, 1]),
            "absolute_tolerance": pick([None, None, 0, 1, 2, 100]),
            **pick([severity, {"criticality": "warn"}]),
        }

    def _row_counts(self) -> dict[str, object]:
        low = self.chance.choice([None, 0, 1, 2, 5, 9])
        high = self.chance.choice([None, 0, 1, 5, 10]) if low is not None else 4
        if low is not None and high is not None and low > high:
            low, high = high, low
        return {"min_count": low, "max_count": high}

    def _range(self, column: str) -> dict[str, object]:
        candidates = [value for value in self._arguments(column) if value == value]  # noqa: PLR0124
        low, high = sorted(self.chance.choices(candidates, k=2), key=order)
        bounds = {"min_value": self._spelled(low), "max_value": self._spelled(high)}
        if self.chance.random() < 0.3:
            bounds[self.chance.choice(list(bounds))] = None
        return bounds

    def _accepted(self, column: str) -> list[object]:
        many = self.chance.choice([1, 3, 12])
        chosen = self.chance.choices(self._arguments(column), k=many)
        return [self._spelled(value) for value in chosen]

    def _arguments(self, column: str) -> list[object]:
        """Values of the column and, for numbers, some that lie between two of its values."""
        between = [Decimal("0.5"), Decimal("1E-30"), -1, 10**37]
        exact = TYPES[column] in {"int", "bigint", "tinyint"} or "decimal" in TYPES[column]
        return [*self.pools[column], *(between if exact else [])]

    def _spelled(self, value: object) -> object:
        """The same value in another Python form, where it has one."""
        if self.chance.random() < 0.5:
            return value
        if isinstance(value, (date, datetime)) and value.year > 1:
            return value.isoformat()
        if isinstance(value, int) and not isinstance(value, bool):
            return Decimal(value)
        if isinstance(value, float) and math.isfinite(value) and abs(value) < 1e15:
            return Decimal(repr(value))
        return value

    def _condition(self) -> Condition:
        """A filter that is true, false or NULL, depending on the row."""
        pick = self.chance.choice
        number = pick(("order", "big.int", "x", "FLOAT"))
        other = pick(("ünï😀", *MOMENTS))
        simple = [
            compare(number, pick(COMPARISONS), self._comparable(number)),
            compare(other, pick(COMPARISONS), self._comparable(other)),
            is_true("flag"),
            is_null(pick(sorted(VALUES))),
        ]
        left, right = self.chance.choice(simple), self.chance.choice(simple)
        return pick([left, negation(left), both(left, right), either(left, negation(right))])

    def _comparable(self, column: str) -> object:
        """A value that a filter can spell: `${` is refused there, and text is brought to NFC."""
        values = [value for value in self.pools[column] if _can_be_written(value)]
        fallback = {"ünï😀": "a"}.get(column, self.pools[column][0])
        return self.chance.choice(values) if values else fallback


def _can_be_written(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.isprintable() and "$" not in value
    return True
