"""Drafting without Spark: what holds on the evidence, what is kept private, what is written."""

from __future__ import annotations

import ast
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.profiling.draft import Draft, draft_rules, is_identifier
from lakeproof.profiling.privacy import is_private
from lakeproof.profiling.profile import ColumnProfile, TableProfile
from lakeproof.profiling.suite_text import suite_text

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = (
    "plain",
    "it's",
    'a "b"',
    'both \' and ""',
    "new\nline",
    "${spark.x}",
    "back\\slash",
    "tick`tick",
    "\x1b[31m",
    "\u202edrawkcab",
    "größe",
    "商品",
    '"""',
    "{}",
    "#",
    "a" * 120,
)


def profile(*columns, rows=1000):
    return TableProfile(TableName(("lake", "shop", "sales")), rows, columns)


def column(name="amount", type_text="bigint", nulls=0, **found):
    return ColumnProfile(Column(name, type_text), nulls, **found)


def drafted(*columns, rows=1000):
    """Check and parameters of what is drafted for the columns, the table's own rule aside."""
    return [
        (one.check, dict(one.params)) for one in draft_rules(profile(*columns, rows=rows), NOW)
    ][1:]


def test_a_column_without_null_is_drafted_not_null_with_its_evidence():
    (_, draft) = draft_rules(profile(column("x", "boolean")), NOW)
    assert (draft.name, draft.check, draft.column) == ("sales_x_not_null", "not_null", "x")
    assert draft.evidence == "0 NULLs in 1,000 rows"
    assert drafted(column("x", "boolean", nulls=1)) == []


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (5, 95, [("positive", {}), ("range", {"max_value": 190})]),
        (0, 95, [("range", {"min_value": 0, "max_value": 190})]),
        (-5, 95, [("range", {"min_value": -110, "max_value": 200})]),
        (-95, -5, [("range", {"min_value": -190, "max_value": 0})]),
        (7, 7, [("positive", {}), ("range", {"max_value": 14})]),
        (0, 0, [("range", {"min_value": 0, "max_value": 0})]),
        (0.5, 0.75, [("positive", {}), ("range", {"max_value": 1})]),
        (0.5, 0.52, [("positive", {}), ("range", {"max_value": 0.54})]),
    ],
)
def test_numbers_get_bounds_with_as_much_room_again(low, high, expected):
    found = column(type_text="double", nulls=1, low=low, high=high)
    assert drafted(found) == expected


number_pairs = st.one_of(
    st.tuples(st.just(kind), one, one)
    for kind, one in (
        ("decimal(38,0)", st.integers(-(10**38), 10**38)),
        ("double", st.floats(allow_nan=False, allow_infinity=False)),
        ("decimal(38,10)", st.decimals(allow_nan=False, allow_infinity=False, places=10)),
    )
)


@given(number_pairs)
def test_drafted_bounds_hold_on_what_was_seen(drawn):
    type_text, *pair = drawn
    low, high = sorted(pair)
    found = column(type_text=type_text, low=low, high=high)
    for check, params in drafted(found):
        if check == "positive":
            assert low > 0
        assert Decimal(params.get("min_value", low)) <= Decimal(low)
        assert Decimal(high) <= Decimal(params.get("max_value", high))


@pytest.mark.parametrize(
    "found",
    [
        column("order_id", low=1, high=9),
        column("customerKey", low=1, high=9),
        column("any", low=1, high=9, is_unique=True),
        column("with_nan", "double", low=1.0, high=9.0, nans=1),
        column("infinite", "double", low=1.0, high=float("inf")),
        column("unknown", "double"),
        column("salary", low=1, high=9, private=True),
    ],
    ids=lambda found: found.column.name,
)
def test_no_bounds_where_they_would_be_wrong_or_tell_too_much(found):
    assert {check for check, _ in drafted(found)} <= {"not_null", "uniqueness"}


def test_dates_get_no_future_and_an_earliest_year():
    seen = column("day", "date", nulls=1, low=date(2024, 3, 1), high=date(2025, 6, 1))
    assert drafted(seen) == [
        ("no_future_dates", {}),
        ("range", {"min_value": "2022-01-01"}),
    ]
    ahead = column("due", "date", nulls=1, low=date(2026, 1, 1), high=date(2026, 3, 2))
    assert [check for check, _ in drafted(ahead)] == ["range"]
    ancient = column("old", "date", nulls=1, low=date(1, 1, 1), high=date(2024, 1, 1))
    assert drafted(ancient) == [("no_future_dates", {})]


@pytest.mark.parametrize(
    ("high", "is_future"),
    [
        (datetime(2026, 3, 1, 11, 59, tzinfo=UTC), False),
        (datetime(2026, 3, 1, 12, 1, tzinfo=UTC), True),
        (datetime(2026, 3, 1, 11, 59), False),  # noqa: DTZ001
        (datetime(2026, 3, 1, 12, 1), True),  # noqa: DTZ001
    ],
)
def test_a_moment_of_today_is_future_only_after_the_clock(high, is_future):
    found = column("at", "timestamp" if high.tzinfo else "timestamp_ntz", low=high, high=high)
    assert ("no_future_dates", {}) not in drafted(found) or not is_future
    assert ("no_future_dates", {}) in drafted(found) or is_future


def test_few_values_are_accepted_if_each_has_enough_rows():
    found = column("country", "string", nulls=1, values=("it", "de"))
    assert drafted(found) == [("accepted_values", {"accepted": ["de", "it"]})]
    assert drafted(found, rows=10) == []
    assert drafted(column("city", "string", nulls=1, values=("x",), private=True)) == []


def test_the_rows_are_drafted_first_and_an_empty_table_gives_nothing():
    first = draft_rules(profile(column("x")), NOW)[0]
    assert (first.check, first.params) == ("row_count_range", {"min_count": 500})
    assert draft_rules(profile(column("x"), rows=1), NOW)[0].params == {"min_count": 1}
    assert draft_rules(profile(column("x"), rows=0), NOW) == []


def test_names_are_unique_even_of_columns_that_read_alike():
    drafts = draft_rules(
        profile(*(column(name, "binary") for name in ("a b", "a-b", "!", "?"))), NOW
    )
    names = [draft.name for draft in drafts]
    assert len(set(names)) == len(names) == 5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("email", True),
        ("customer_name", True),
        ("customerName", True),
        ("EMAIL_ADDRESS", True),
        ("IBAN", True),
        ("ip", True),
        ("home_phone2", True),
        ("country", False),
        ("shipped", False),
        ("amount", False),
        ("recipe", False),
        ("Declared", True),
    ],
)
def test_columns_named_like_personal_data_or_declared_are_private(name, expected):
    assert is_private(name, ["declared"]) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("id", True), ("order_id", True), ("orderId", True), ("ORDER_ID", True), ("paid", False)],
)
def test_identifiers_are_known_by_their_ending(name, expected):
    assert is_identifier(name) == expected


def formatted(text, folder):
    path = folder / "checks.py"
    path.write_text(text, encoding="utf-8")
    settings = ("--isolated", "--line-length", "100", "--target-version", "py311")
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "format", "--diff", *settings, str(path)], check=True)
    subprocess.run(
        [*ruff, "check", "--select", "E9,F,I", *settings, str(path)], check=True, stdout=2
    )


def written(drafts, folder, notes=(), table="sales"):
    """The checks that the written module makes, after ruff had nothing to change."""
    text = suite_text(table, drafts, notes)
    formatted(text, folder)
    ast.parse(text)
    space: dict[str, object] = {}
    exec(compile(text, "checks.py", "exec"), space)  # noqa: S102 (it is our own text)
    return space["CHECKS"]


def test_hostile_names_and_values_come_back_as_they_were_and_stay_formatted(tmp_path):
    drafts = [
        Draft(f"rule {name}", "accepted_values", f"evidence {name}", name, {"accepted": [*HOSTILE]})
        for name in HOSTILE
    ]
    drafts += [Draft(name, "not_null", name, name) for name in HOSTILE]
    checks = written(drafts, tmp_path, notes=HOSTILE, table="a`b.'c\"d")
    assert [check.column_name for check in checks] == [*HOSTILE, *HOSTILE]
    assert [check.name for check in checks] == [*(f"rule {name}" for name in HOSTILE), *HOSTILE]
    assert all(check.params["accepted"] == [*HOSTILE] for check in checks[: len(HOSTILE)])
    assert {check.table_name for check in checks} == {"a`b.'c\"d"}
    assert "\u202e" not in (tmp_path / "checks.py").read_text(encoding="utf-8")


def test_numbers_come_back_as_they_were(tmp_path):
    bounds = {"min_value": Decimal("-0.05"), "max_value": 1e300}
    drafts = [
        Draft("a", "range", "e", "x", bounds),
        Draft("a" * 90, "range", "e", "x", bounds),
        Draft("rows", "row_count_range", "e", params={"min_count": 2500}),
        Draft("r" * 90, "row_count_range", "e", params={"min_count": 2500}),
    ]
    checks = written(drafts, tmp_path)
    assert [check.params for check in checks[:2]] == [bounds, bounds]
    assert [check.params for check in checks[2:]] == [{"min_count": 2500}] * 2


def test_no_drafts_are_an_empty_list_with_the_reason(tmp_path):
    assert written([], tmp_path, notes=["The table had no rows"]) == []
    assert "# The table had no rows" in (tmp_path / "checks.py").read_text(encoding="utf-8")
