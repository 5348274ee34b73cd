"""What the other measuring checks make of their numbers, without Spark."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from verdicts import NOW, X, judged, measures, refusal, same_logic

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.type_text import canonical_type
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.threshold import Threshold

# ------------------------------------------------------------------------------------- ratio


def ratio(fulfilled, total=10, **params):
    return judged("ratio", {"fulfilled": fulfilled}, {"condition": "a", **params}, total=total)


def test_the_share_is_compared_exactly_with_its_bounds():
    assert ratio(3, min_share=0.3, max_share=0.3).failing == 0  # 3 / 10 >= 0.3
    assert ratio(1, 3, min_share=Decimal("0.3333333333333333333333334")).failing == 1
    assert ratio(29, 100, min_share=0.3).failing == 1


@pytest.mark.parametrize(
    ("fulfilled", "params", "rows", "share"),
    [
        (9, {"min_share": 0.95}, 1, 0.05),
        (5, {"min_share": 0.95}, 5, 0.45),
        (5, {"max_share": 0.1}, 4, 0.4),
        (10, {"min_share": 1}, 0, 0.0),
    ],
)
def test_failing_rows_are_those_that_would_have_to_change(fulfilled, params, rows, share):
    found = ratio(fulfilled, **params)
    assert (found.failing, found.excess, found.share) == (rows, rows, pytest.approx(share))
    assert found.measure == fulfilled / 10


def test_no_rows_have_no_share():
    assert ratio(None, 0, min_share=1).skipped


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"condition": "a"}, "needs min_share, max_share or both"),
        ({"condition": "a", "min_share": 1.5}, "no share is above 1"),
        ({"condition": "a", "max_share": -1}, "must be a share"),
        ({"condition": "a", "max_share": math.nan}, "must be a share"),
        ({"condition": "a", "min_share": 0.9, "max_share": 0.1}, "above max_share"),
        ({"min_share": 0.9}, "needs parameter 'condition'"),
    ],
)
def test_a_ratio_that_makes_no_sense_is_refused(params, said):
    assert said in refusal("ratio", **params)


# --------------------------------------------------------------------------------- freshness


def fresh(name, newest, total=10, **params):
    return judged("freshness", {name: newest}, params, columns=[Column("at", "x")], total=total)


def micros_before_now(**ago):
    return round((NOW - timedelta(**ago)).timestamp() * 1_000_000)


@pytest.mark.parametrize("age", ["36h", "1d 12h", "2160m", "1.5d", 129_600, timedelta(hours=36)])
def test_an_age_may_be_written_in_many_ways(age):
    assert fresh("micros", micros_before_now(hours=36), max_age=age).failing == 0
    assert fresh("micros", micros_before_now(hours=36, microseconds=1), max_age=age).failing == 1
    assert same_logic("freshness", {"max_age": age}, {"max_age": "36H"}, ["at"])


@pytest.mark.parametrize("age", ["", "36", "h", "2 fortnights", "-1h", -1, math.nan, math.inf])
def test_an_age_that_is_none_is_refused(age):
    assert 'such as "36h"' in refusal("freshness", ["at"], max_age=age)


def test_a_stale_table_is_as_late_as_its_newest_value():
    found = fresh("micros", micros_before_now(hours=3), max_age="2h")
    assert (found.failing, found.excess, found.share) == (1, 3600, 0.5)
    assert (found.measure, found.measures) == (10_800.0, {"age_seconds": 10_800.0})
    assert found.details == "newest 2024-03-10 09:00:00Z, 3h old, outside age <= 2h"


def test_a_value_in_the_future_is_fresh_and_said_to_be_in_the_future():
    found = fresh("micros", micros_before_now(hours=-3), max_age=0)
    assert (found.failing, found.measure) == (0, 0.0)
    assert "in the future" in found.details
    assert fresh("micros", 2**62, max_age=0).failing == 0  # beyond the year 9999


@pytest.mark.parametrize("total", [0, 5])
def test_without_any_value_nothing_is_fresh(total):
    found = fresh("micros", None, total=total, max_age="9999d")
    assert (found.failing, found.measure) == (1, None)
    assert not Threshold(share=1.0, rows=10**9).allows(found.excess, found.share)


@pytest.mark.parametrize(
    ("zone", "age_days"), [("UTC", 0), ("Pacific/Kiritimati", 1), ("Pacific/Pago_Pago", 0)]
)
def test_a_date_is_as_old_as_the_days_since_it_in_the_zone(zone, age_days):
    days = date(2024, 3, 10).toordinal() - date(1970, 1, 1).toordinal()
    assert fresh("days", days, max_age="1d", timezone=zone).measure == age_days * 86_400
    assert fresh("days", days - 2, max_age="1d", timezone="UTC").failing == 1


def test_a_local_time_is_read_in_the_zone_of_its_day():
    # Clocks in New York went forward at 07:00 UTC: 01:30 there was 06:30 UTC.
    local = int(datetime(2024, 3, 10, 1, 30, tzinfo=UTC).timestamp()) * 1_000_000
    found = fresh("local_micros", local, max_age="6h", timezone="America/New_York")
    assert found.measure == 5.5 * 3600


def test_an_unknown_zone_is_refused():
    assert "not an IANA zone" in refusal("freshness", ["at"], max_age="1d", timezone="Mars/Base")


# ------------------------------------------------------------------------------------ schema

TABLE = (
    Column("Id", "bigint", nullable=False),
    Column("name", "string"),
    Column("price", "decimal(10,2)"),
    Column("trip", "struct<Start:date,stops:array<struct<km:bigint>>>"),
)


def schema(columns, **more):
    return judged("schema", {}, {"columns": columns, **more}, columns=(), table_columns=TABLE)


@pytest.mark.parametrize(
    "columns",
    [
        ["id", "NAME"],
        {"id": "LONG", "price": "numeric(10, 2)", "name": None},
        [{"name": "id", "type": "bigint", "nullable": False}, "price"],
        {"trip": "STRUCT<start: DATE, stops ARRAY<STRUCT<`km` LONG>>>"},
    ],
)
def test_a_table_with_the_listed_columns_passes_in_any_spelling(columns):
    assert (schema(columns).failing, schema(columns).measure) == (0, 0.0)


def test_each_difference_is_counted_and_told():
    found = schema(
        [
            {"name": "id", "type": "int", "nullable": True},
            "nope",
            {"name": "price", "type": "decimal"},
        ],
        extra=False,
        order=True,
    )
    assert found.details.split("; ") == [
        "id is bigint, not int",
        "id is not nullable",
        "nope is missing",
        "price is decimal(10,2), not decimal(10,0)",
        "name is not listed",
        "trip is not listed",
    ]
    assert (found.failing, found.excess, found.share) == (6, 6, 2.0)


def test_order_looks_at_the_listed_columns_only():
    assert schema(["id", "price"], order=True).failing == 0
    found = schema(["price", "id"], order=True)
    assert (found.failing, found.details) == (1, "the order is id, price, not price, id")


def test_only_the_first_ten_differences_are_told():
    found = schema([f"c{number}" for number in range(13)])
    assert (found.failing, found.details.count("missing")) == (13, 10)
    assert found.details.endswith("; and 3 more")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([], "is empty"),
        (["a", "A"], "names 'a' twice"),
        ([{"name": "a", "typ": "int"}], "unknown key 'typ'"),
        ([{"type": "int"}], "has no name"),
        ([7], "no name and no mapping"),
        ({"a": "number"}, "does not know"),
        ([{"name": "a", "nullable": "no"}], "neither true nor false"),
    ],
)
def test_a_list_of_columns_that_makes_no_sense_is_refused(columns, said):
    with pytest.raises(CheckDefinitionError, match=said):
        find_check("schema").read([], {"columns": columns})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Integer", "int"),
        ("DECIMAL", "decimal(10,0)"),
        ("dec(5)", "decimal(5,0)"),
        ("varchar( 10 )", "varchar(10)"),
        ("timestamp_ltz", "timestamp"),
        ("map < string , array<byte> >", "map<string,array<tinyint>>"),
        ("struct<a b:int,`c d`: long,e short>", "struct<a b:int,c d:bigint,e:smallint>"),
        ("INTERVAL  DAY TO SECOND", "interval day to second"),
        ("string collate UTF8_LCASE", "string collate utf8_lcase"),
    ],
)
def test_types_have_one_spelling(text, wanted):
    assert canonical_type(text) == wanted
    assert canonical_type(wanted) == wanted


@pytest.mark.parametrize(
    "text", ["", "foo", "int)", "int(3)", "array<int", "map<int>", "struct<a>", "int; drop", "text"]
)
def test_what_is_no_type_is_refused(text):
    with pytest.raises(ValueError, match=r"no type|no field|do not match"):
        canonical_type(text)


# -------------------------------------------------------------------------- row_count_change


def change(rows, previous=None, **params):
    return judged("row_count_change", {}, params, columns=(), total=rows, previous=previous)


@pytest.mark.parametrize(
    ("rows", "failing"), [(90, 0), (89, 1), (100, 0), (120, 0), (121, 1), (0, 1)]
)
def test_the_row_count_may_change_by_its_shares(rows, failing):
    found = change(rows, 100.0, max_decrease=0.1, max_increase=0.2)
    assert (found.failing, found.measure) == (failing, float(rows))
    assert found.measures == {"rows": rows, "previous": 100.0, "change": (rows - 100) / 100}


def test_shares_are_taken_exactly():
    # 0.1 as a double is a little more than a tenth: 27 - 2.7 would be 24.299999999999997.
    assert change(243, 270.0, max_decrease=0.1).failing == 0
    assert change(242, 270.0, max_decrease=0.1).failing == 1


def test_without_an_earlier_run_the_count_is_kept_for_the_next_one():
    found = change(7, max_decrease=0.1)
    assert (found.skipped, found.failing, found.measure) == (True, 0, 7.0)
    assert "no earlier run to compare with" in found.details


def test_a_given_number_stands_in_for_the_last_run():
    assert change(100, None, expected=100, max_increase=0).failing == 0
    assert change(101, 101.0, expected=100, max_increase=0).failing == 1


def test_from_no_rows_any_increase_is_beyond_every_share():
    found = change(1, 0.0, max_increase=5)
    assert (found.failing, found.share, "change" in found.measures) == (1, math.inf, False)
    assert change(0, 0.0, max_increase=0, max_decrease=0).failing == 0


def test_a_tolerance_widens_the_limit_by_rows_or_by_a_share_of_the_earlier_count():
    found = change(85, 100.0, max_decrease=0.1)
    assert (found.excess, found.share) == (5, 0.05)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "needs max_decrease, max_increase or both"),
        ({"max_decrease": -0.1}, "must be a share"),
        ({"max_increase": math.inf}, "must be a share"),
        ({"max_increase": 1, "expected": -1}, "below 0 rows"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(params, said):
    assert said in refusal("row_count_change", **params)


# --------------------------------------------------------------------------------- value_set


def value_set(kind, values, mode, *, total=10, **found):
    columns = [Column("x", kind)]
    return judged(
        "value_set", found, {"values": values, "mode": mode}, columns=columns, total=total
    )


def test_equals_counts_missing_values_and_unexpected_rows():
    found = value_set("string", ["a", "b"], "equals", outside=3, example="z", present=["a"])
    assert (found.failing, found.excess, found.share) == (4, 4, 0.5)
    assert found.measures == {"missing_values": 1, "unexpected_rows": 3}
    assert found.details == (
        "1 of 2 values missing (b); 3 of 10 rows have another value, such as z"
    )


def test_contains_looks_for_missing_values_and_within_for_others_only():
    assert set(measures("value_set", X, values=[1], mode="contains")) == {"present"}
    assert set(measures("value_set", X, values=[1], mode="within")) == {"outside", "example"}
    assert value_set("int", [1, 2], "contains", present=[2, 1]).failing == 0
    assert value_set("int", [1, 2], "within", outside=0, example=None).failing == 0


@pytest.mark.parametrize(
    ("kind", "listed", "present"),
    [
        ("decimal(5,2)", [0.1, 1], [Decimal("0.10"), Decimal("1.00")]),
        ("float", [0.1, math.nan, 0], [0.10000000149011612, math.nan, -0.0]),
        ("double", [Decimal("0.1")], [0.1]),
        ("string", ["caf\u00e9"], ["cafe\u0301"]),
        ("boolean", [True], [True]),
        ("date", ["1970-01-02"], [1]),
        ("timestamp", ["1970-01-01T01:00:00+01:00", date(1970, 1, 2)], [0, 86_400_000_000]),
        ("timestamp_ntz", ["1970-01-01T00:00:01"], [1_000_000]),
    ],
)
def test_a_value_is_found_in_whatever_form_spark_returns_it(kind, listed, present):
    assert value_set(kind, listed, "contains", present=present).failing == 0
    gone = value_set(kind, listed, "contains", present=present[1:])
    assert (gone.failing, gone.measures["missing_values"]) == (1, 1)


def test_a_value_that_the_column_cannot_hold_is_missing():
    assert value_set("int", [1, 0.5], "contains", present=[1]).failing == 1


def test_an_empty_table_lacks_every_value_but_has_no_other():
    empty = {"outside": None, "example": None, "present": []}
    assert value_set("int", [1, 2], "equals", total=0, **empty).failing == 2
    assert value_set("int", [1, 2], "within", total=0, outside=None, example=None).failing == 0


def test_a_long_or_strange_set_is_refused():
    assert "Use accepted_values" in refusal("value_set", ["x"], values=list(range(1001)))
    assert "equals, contains, within" in refusal("value_set", ["x"], values=[1], mode="subset")
    assert "is empty" in refusal("value_set", ["x"], values=[None])
    with pytest.raises(CheckDefinitionError, match="without collation"):
        measures("value_set", Column("x", "string collate UTF8_LCASE"), values=["a"])
    assert same_logic("value_set", {"values": [1, 2]}, {"values": "[2, 1]"}, ["x"])
