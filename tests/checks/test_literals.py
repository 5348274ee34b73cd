"""Python values against columns: which fit, what they become, and what a refusal says."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.literals import literal_for
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

NOW = datetime(2024, 3, 10, tzinfo=UTC)
EAST = timezone(timedelta(hours=5, minutes=45))
FITTING = {
    "int": [1, -1, 2**70, 1.5, Decimal("0.1")],
    "decimal(10,2)": [1, 0.1, Decimal("1E-10")],
    "double": [1, 0.1, Decimal("0.1"), float("nan"), float("inf")],
    "string": ["", "a", "O'Brien", "${x}"],
    "boolean": [True, False],
    "date": [date(2024, 1, 1), "2024-01-01"],
    "timestamp": [NOW, date(2024, 1, 1), "2024-01-01", "2024-01-01T00:00:00+05:45"],
    "timestamp_ntz": [NOW, "2024-01-01 00:00:00"],
}
REFUSED = {
    "int": ["1", True, date(2024, 1, 1), b"1", [1]],
    "decimal(10,2)": ["0.1", False],
    "double": ["NaN", True],
    "string": [1, True, b"a", date(2024, 1, 1)],
    "boolean": [1, 0, "true"],
    "date": [NOW, "yesterday", "2024-13-01", 20240101, "2024-01-01T00:00:00"],
    "timestamp": ["noon", 0, time(12)],
    "timestamp_ntz": ["noon", 1.5],
    "binary": [b"a", "a"],
    "array<int>": [1, [1]],
}


@pytest.mark.parametrize(
    ("type_text", "value"), [(kind, value) for kind, values in FITTING.items() for value in values]
)
def test_a_value_that_fits_becomes_a_literal_in_both_dialects(type_text, value):
    literal = literal_for(value, Column("c", type_text), "value")
    for dialect in ("spark", "trino"):
        assert sqlglot.parse_one(literal.sql(dialect), read=dialect)


@pytest.mark.parametrize(
    ("type_text", "value"), [(kind, value) for kind, values in REFUSED.items() for value in values]
)
def test_a_value_that_does_not_fit_is_refused_with_both_types(type_text, value):
    with pytest.raises(CheckDefinitionError) as refusal:
        literal_for(value, Column("c", type_text), "min_value")
    text = str(refusal.value)
    assert "min_value" in text
    assert type(value).__name__ in text
    assert type_text.upper() in text


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_a_text_comes_out_of_its_literal_unchanged_and_without_a_variable(text):
    literal = literal_for(text, Column("c", "string"), "value")
    for dialect in ("spark", "trino"):
        sql = literal.sql(dialect)
        pieces = sqlglot.parse_one(sql, read=dialect).find_all(sqlglot.exp.Literal)
        assert "".join(piece.this for piece in pieces) == text
        assert "${" not in sql


def test_one_instant_is_one_literal_whatever_its_zone():
    for type_text in ("timestamp", "timestamp_ntz"):
        column = Column("c", type_text)
        noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
        # Both have one rule_id, so they must be one condition as well.
        assert literal_for(noon, column, "v") == literal_for(noon.astimezone(EAST), column, "v")


@pytest.mark.parametrize("zone", [EAST, timezone(-timedelta(hours=5))])
def test_an_instant_outside_the_calendar_is_refused_and_does_not_crash(zone):
    first = datetime(1, 1, 1, tzinfo=zone)
    last = datetime(9999, 12, 31, 23, 59, tzinfo=zone)
    for moment in (first, last):
        try:
            literal_for(moment, Column("c", "timestamp"), "min_value")
        except CheckDefinitionError as refusal:
            assert "min_value" in str(refusal)  # noqa: PT017 - either answer will do


@pytest.mark.parametrize(
    ("check", "type_text", "wanted"),
    [
        ("positive", "string", "numeric"),
        ("positive", "boolean", "numeric"),
        ("positive", "date", "numeric"),
        ("range", "string", "numeric, date or timestamp"),
        ("range", "boolean", "numeric, date or timestamp"),
        ("range", "binary", "numeric, date or timestamp"),
        ("no_future_dates", "string", "DATE or TIMESTAMP"),
        ("no_future_dates", "bigint", "DATE or TIMESTAMP"),
    ],
)
def test_a_check_refuses_a_column_whose_type_it_has_no_meaning_for(check, type_text, wanted):
    found = find_check(check)
    params = {"min_value": 1} if check == "range" else {}
    arguments = found.read(["my column"], params)
    with pytest.raises(CheckDefinitionError, match=wanted) as refusal:
        found.violates(Column("my column", type_text), arguments, NOW)
    assert "my column" in str(refusal.value)
    assert type_text.upper() in str(refusal.value)


@pytest.mark.parametrize("type_text", ["binary", "array<int>", "map<string,int>", "variant"])
def test_not_null_takes_every_type(type_text):
    assert find_check("not_null").violates(Column("c", type_text), {"parent_optional": False}, NOW)
