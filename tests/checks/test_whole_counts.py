"""Columns counted, days counted, different values counted: exactly, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from verdicts import judged, refusal, same_logic

from lakeproof.checks.catalogue import find_check
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

THREE = (Column("id", "bigint"), Column("at", "date"), Column("trip", "struct<a:int,b:int>"))


def columns(**bounds):
    return judged("column_count_range", {}, bounds, columns=(), table_columns=THREE)


@pytest.mark.parametrize(
    ("bounds", "failing", "told"),
    [
        ({"min_count": 3, "max_count": 3}, 0, "3 columns, within 3 <= columns <= 3"),
        ({"min_count": 5}, 2, "3 columns, outside 5 <= columns"),
        ({"max_count": 2}, 1, "3 columns, outside columns <= 2"),
    ],
)
def test_a_struct_is_one_column(bounds, failing, told):
    found = columns(**bounds)
    assert (found.failing, found.excess, found.details) == (failing, failing, told)
    assert (found.number, found.measures) == (3, {"columns": 3})


def test_a_number_of_columns_needs_a_bound_unless_it_is_compared():
    check = find_check("column_count_range")
    assert columns().details == "3 columns"
    with pytest.raises(CheckDefinitionError, match="min_count, max_count or both"):
        check.require_limits(check.read([], {}))
    assert "above max_count" in refusal("column_count_range", min_count=4, max_count=3)


def newest(kind, moment, **params):
    name = {"timestamp": "micros", "timestamp_ntz": "local_micros", "date": "days"}[kind]
    number = (moment - datetime(1970, 1, 1, tzinfo=UTC)).days
    if kind != "date":
        number = round(moment.timestamp() * 1_000_000)
    return judged("freshness", {name: number}, params, columns=[Column("at", kind)])


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date"])
def test_by_day_yesterday_is_one_day_old_at_any_hour(kind):
    yesterday = datetime(2024, 3, 9, 0, 0, 1, tzinfo=UTC)
    assert newest(kind, yesterday, max_age="1d", by_day=True).failing == 0
    assert newest(kind, yesterday, max_age="23h", by_day=True).failing == 1
    assert newest(kind, yesterday, max_age="1d", by_day=True).number == 86_400


def test_the_day_is_that_of_the_zone():
    late = datetime(2024, 3, 9, 23, 30, tzinfo=UTC)  # in Berlin it is the 10th, as it is now
    assert newest("timestamp", late, max_age=0, by_day=True).failing == 1
    assert newest("timestamp", late, max_age=0, by_day=True, timezone="Europe/Berlin").failing == 0


def test_a_moment_beyond_the_calendar_still_has_a_day():
    found = judged("freshness", {"micros": 2**62}, {"max_age": 0, "by_day": True})
    assert (found.failing, found.number) == (0, 0)


def test_counting_by_day_is_other_logic_and_not_doing_so_is_as_before():
    plain = {"max_age": "1d"}
    assert same_logic("freshness", plain, {**plain, "by_day": False}, ["at"])
    assert not same_logic("freshness", plain, {**plain, "by_day": True}, ["at"])
    check = find_check("freshness")
    assert "by_day" not in check.identity(check.read(["at"], plain))


@pytest.mark.parametrize(
    ("values", "failing"), [({"value": 2, "count": 3}, 1), ({"value": 3, "count": 3}, 0)]
)
def test_a_distinct_share_is_exact(values, failing):
    params = {"function": "distinct_share", "min_value": 0.67}
    assert judged("aggregate", values, params).failing == failing


def test_no_values_have_no_distinct_share():
    params = {"function": "distinct_share", "min_value": 0}
    found = judged("aggregate", {"value": 0, "count": 0}, params)
    assert (found.failing, found.skipped) == (1, False)
    assert judged("aggregate", {"value": 0, "count": 0}, params, total=0).skipped
