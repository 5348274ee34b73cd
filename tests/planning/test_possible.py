"""What is claimed of a file's rows, against every one of its rows; SQLite judges both."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import ColumnCheck
from lakeproof.model.column import Column
from lakeproof.planning.possible import ANYTHING, ColumnFacts, FileFacts, possible
from lakeproof.planning.statistics import Decided

NUMBERS, TEXTS = [None, -2, 0, 1, 5], [None, "", "a", "b", "zz"]
STATISTICS = ("nulls", "low", "high")


def facts_of(name: str, type_text: str, nans: str = "0") -> ColumnFacts:
    return ColumnFacts(
        Column(name, type_text),
        nulls=f"{name}_nulls",
        nans=nans,
        low=f"{name}_low",
        high=f"{name}_high",
        is_exact="true",
    )


FACTS = FileFacts(
    "files", {("n",): facts_of("n", "int"), ("s",): facts_of("s", "string")}, rows="row_count"
)


def a_condition(draw: random.Random, depth: int = 0) -> str:
    if depth < 3 and draw.random() < 0.6:
        some = a_condition(draw, depth + 1)
        other = a_condition(draw, depth + 1)
        return draw.choice([f"NOT ({some})", f"({some}) AND ({other})", f"({some}) OR ({other})"])
    column, values = draw.choice([("n", ["-3", "-2", "0", "1", "4"]), ("s", ["''", "'a'", "'c'"])])
    value, more = draw.choice(values), draw.choice(values)
    sign = draw.choice(["<", "<=", ">", ">=", "=", "<>"])
    return draw.choice(
        [
            f"{column} {sign} {value}",
            f"{value} {sign} {column}",
            f"{column} IS NULL",
            f"{column} IS NOT NULL",
            f"{column} IN ({value}, {more})",
            f"{column} NOT IN ({value}, {more})",
            f"{column} BETWEEN {value} AND {more}",
            "TRUE",
            "NULL",
        ]
    )


def a_file(draw: random.Random) -> tuple[list[tuple], dict[str, object]]:
    """Rows, and statistics of them, of which some are missing."""
    numbers, texts = draw.sample(NUMBERS, 2), draw.sample(TEXTS, 2)
    rows = [(draw.choice(numbers), draw.choice(texts)) for _ in range(draw.randint(1, 4))]
    told: dict[str, object] = {"row_count": len(rows)}
    for at, name in enumerate("ns"):
        held = [row[at] for row in rows if row[at] is not None]
        true = (len(rows) - len(held), min(held, default=None), max(held, default=None))
        for statistic, value in zip(STATISTICS, true, strict=True):
            told[f"{name}_{statistic}"] = value if draw.random() < 0.8 else None
    return rows, told


def test_no_row_is_what_its_file_cannot_be():
    draw = random.Random(7)  # noqa: S311 (a seed, not a secret)
    base = sqlite3.connect(":memory:")
    decided = 0
    for _ in range(4000):
        rows, told = a_file(draw)
        condition = a_condition(draw)
        claimed = possible(condition, FACTS)
        names = ", ".join(f"? AS {name}" for name in told)
        asked = f"SELECT {claimed.true}, {claimed.false}, {claimed.null} FROM (SELECT {names})"
        may_be = [bool(one) for one in base.execute(asked, list(told.values())).fetchone()]
        for row in rows:
            (is_so,) = base.execute(
                f"SELECT {condition} FROM (SELECT ? AS n, ? AS s)", row
            ).fetchone()
            outcome = 2 if is_so is None else 0 if is_so else 1
            assert may_be[outcome], (condition, row, told)
        decided += not all(may_be)
    assert decided > 1000


FLOATS = FileFacts("files", {("x",): facts_of("x", "double", "x_nans")}, rows="row_count")


@pytest.mark.parametrize(
    "condition",
    [
        "x = CAST('NaN' AS DOUBLE)",
        "x IN (-999.0, CAST('NaN' AS DOUBLE))",
        "n IN (1, 2.0)",
        "n IN (1, CAST(2 AS DOUBLE))",
        "s > (CAST('9' AS INT))",
        "s > -'5'",
        "+s > '50'",
        "s > + '50'",
        "NOT (\n+ (s) > '50')",
        "array_contains(array(n > 1, n > 2), true)",
        "array_contains(array(n > 1), false)",
        "s > 5",
        "n > '5'",
        "n + 1 > 5",
        "s LIKE 'a%'",
        "other > 5",
        "n <=> 5",
        f"n IN ({', '.join(map(str, range(51)))})",
        "this is not SQL",
    ],
)
def test_what_is_not_understood_may_be_anything(condition):
    facts = FLOATS if "x" in condition.split()[0] else FACTS
    assert possible(condition, facts) == ANYTHING


@pytest.mark.parametrize("condition", ["x >= 0", "NOT (x < 2.5)", "x = 1 OR isnan(x)"])
def test_a_condition_that_is_kept_from_being_pushed_down_is_read(condition):
    wrapped = f"array_contains(array(\n{condition}\n), true)"
    assert possible(wrapped, FLOATS) == possible(condition, FLOATS) != ANYTHING


def test_a_sum_is_no_sign():
    assert possible("n > 5 AND n + 1 > 2", FACTS).true != "true"


def test_a_word_that_may_be_a_column_is_not_asked_without_it():
    facts = replace(FACTS, partitions=frozenset({"part"}))
    assert possible("part = 'a'", facts) != ANYTHING
    assert possible("part = 'a' OR upper(CURRENT_USER) = 'A'", facts) == ANYTHING


NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = {"min_value": "2020-01-01", "max_value": "2030-01-01"}
NUMBERS_ASKED = [
    ("not_null", {}),
    ("positive", {}),
    ("range", {"min_value": 0, "max_value": 10}),
    ("range", {"min_value": -0.5, "max_value": 1e17}),
    ("range", {"min_value": 0, "min_exclusive": True, "max_value": 9.5, "max_exclusive": True}),
]
MOMENTS_ASKED = [("not_null", {}), ("range", DAYS), ("no_future_dates", {})]
ASKED = {
    **dict.fromkeys(["int", "bigint", "float", "double", "decimal(15,2)"], NUMBERS_ASKED),
    **dict.fromkeys(["date", "timestamp", "timestamp_ntz"], MOMENTS_ASKED),
    "decimal(38,38)": [("positive", {}), ("range", {"max_value": 0.5})],
    "string": [("not_null", {}), ("accepted_values", {"accepted": ["a", "b"]})],
}


@pytest.mark.parametrize("type_text", ASKED)
def test_what_the_checks_ask_of_a_column_is_decided(type_text):
    facts = FileFacts("files", {("c",): facts_of("c", type_text)}, rows="row_count")
    for name, params in ASKED[type_text]:
        check = find_check(name)
        assert isinstance(check, ColumnCheck)
        arguments = check.read(["c"], params)
        violates = check.violates(Column("c", type_text), arguments, NOW).sql("spark")
        found = possible(violates, facts)
        assert found.true != "true", (name, params, violates)


@pytest.mark.parametrize("values", [(float("nan"), 3.0), (3.0, float("nan"))])
def test_nan_is_above_every_number(values):
    for aggregate, wanted in (("min", "3.0"), ("max", "nan")):
        decided = Decided(2, 1, frozenset(), {}, {"a": values[0]}, {"a": aggregate})
        assert str(decided.completed({"a": values[1]})["a"]) == wanted
