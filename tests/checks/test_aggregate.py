"""What `aggregate` makes of its numbers, without Spark."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal

import pytest
from verdicts import NOW, X, judged, measures, refusal, same_logic

from lakeproof.checks.catalogue import find_check
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.column import Column
from lakeproof.model.threshold import Threshold


def aggregate(function, values, total=10, **params):
    columns = (X, Column("y", "double")) if function == "correlation" else (X,)
    return judged(
        "aggregate", values, {"function": function, **params}, columns=columns, total=total
    )


@pytest.mark.parametrize(
    ("value", "failing"),
    [(10, 0), (20, 0), (9, 1), (21, 1), (Decimal("20.0000000000000000001"), 1)],
)
def test_bounds_are_allowed_values_and_the_next_value_is_not(value, failing):
    assert aggregate("max", {"value": value}, min_value=10, max_value=20).failing == failing


def test_decimals_of_38_digits_are_compared_exactly():
    largest = Decimal(10**38 - 1)
    assert aggregate("sum", {"sum": largest, "count": 2}, max_value=10**38 - 1).failing == 0
    assert aggregate("sum", {"sum": largest, "count": 2}, max_value=10**38 - 2).failing == 1
    # As floats, all three are 1e38.
    assert aggregate("sum", {"sum": largest, "count": 2}, min_value=10**38).failing == 1


def test_an_average_of_decimals_is_an_exact_fraction():
    third = {"sum": Decimal(1), "count": 3}
    assert aggregate("avg", third, max_value=Decimal("0.3333333333333333333333333333")).failing
    assert not aggregate("avg", third, max_value=Decimal("0.3333333333333333333333333334")).failing


def test_a_bound_on_a_double_is_the_double_that_was_written():
    assert aggregate("max", {"value": 0.1}, max_value=Decimal("0.1")).failing == 0
    assert aggregate("max", {"value": math.nextafter(0.1, 1)}, max_value=0.1).failing == 1


def test_a_bound_on_a_float_column_has_the_width_of_the_column():
    stored = 0.10000000149011612  # 0.1 as a FLOAT
    assert aggregate("max", {"single": stored}, max_value=0.1).failing == 0
    assert aggregate("max", {"value": stored}, max_value=0.1).failing == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_fail_whatever_is_tolerated(value):
    found = aggregate("max", {"value": value}, min_value=-5)
    assert (found.failing, found.measure) == (1, None)
    assert not Threshold(share=1.0, rows=10**300).allows(found.excess, found.share)


def test_a_column_of_nulls_has_no_value_and_fails():
    for function, values in (
        ("min", {"value": None}),
        ("sum", {"sum": None, "count": 0}),
        ("avg", {"sum": None, "count": 0}),
        ("stddev", {"value": None}),
        ("correlation", {"covariance": None, "left": None, "right": None}),
    ):
        found = aggregate(function, values, max_value=5)
        assert (found.failing, found.skipped, found.measure) == (1, False, None)
        assert found.details.startswith("no value, outside ")


@pytest.mark.parametrize("function", ["min", "median", "stddev"])
def test_an_aggregate_over_no_rows_is_skipped(function):
    found = aggregate(function, {"value": None}, total=0, max_value=5)
    assert (found.skipped, found.failing, found.details) == (True, 0, "no rows to aggregate")


def test_no_rows_have_zero_distinct_values_which_is_a_value():
    found = aggregate("distinct_count", {"value": 0}, total=0, min_value=1)
    assert (found.skipped, found.failing) == (False, 1)


def test_a_sum_that_spark_cannot_hold_is_an_error_not_a_verdict():
    with pytest.raises(CheckDefinitionError, match="more than 38 digits"):
        aggregate("sum", {"sum": None, "count": 2}, max_value=5)


@pytest.mark.parametrize(
    ("params", "excess", "share"),
    [
        ({"min_value": 8}, 2, 0.2),  # 6.4 lies 1.6 below 8
        ({"max_value": 4}, 3, 0.6),
        ({"max_value": -2}, 9, 4.2),
        ({"max_value": 0}, 7, math.inf),
        ({"min_value": 6}, 0, 0.0),
    ],
)
def test_a_tolerance_is_the_distance_from_the_missed_bound(params, excess, share):
    found = aggregate("avg", {"sum": Decimal(64), "count": 10}, **params)
    assert (found.excess, found.share) == (excess, pytest.approx(share))


def test_a_distance_between_two_whole_tolerances_needs_the_larger():
    found = aggregate("max", {"value": 10.5}, max_value=10)
    assert not Threshold(rows=0).allows(found.excess, found.share)
    assert Threshold(rows=1).allows(found.excess, found.share)


def test_a_share_beyond_all_floats_is_infinite():
    found = aggregate("max", {"value": 1e6}, max_value=5e-324)
    assert (found.failing, found.share) == (1, math.inf)


def test_the_share_of_nulls_is_exact():
    assert aggregate("null_share", {"count": 7}, max_value=0.3).failing == 0
    assert aggregate("null_share", {"count": 6}, max_value=0.3).failing == 1
    assert aggregate("null_share", {"count": 0}, min_value=1).failing == 0
    assert aggregate("null_share", {"count": 0}, total=0, min_value=1).skipped


def test_a_correlation_needs_columns_that_vary_and_never_exceeds_one():
    parts = {"covariance": 2.0000000000000004, "left": 2.0, "right": 2.0}
    assert aggregate("correlation", parts, max_value=1).failing == 0
    constant = {"covariance": 0.0, "left": 0.0, "right": 2.0}
    assert aggregate("correlation", constant, min_value=-1).details.startswith("no value")
    broken = {"covariance": math.nan, "left": math.nan, "right": 2.0}
    assert aggregate("correlation", broken, min_value=-1).details.startswith("NaN")


def test_dates_are_judged_in_days_and_timestamps_in_seconds():
    day = aggregate("max", {"days": 19_793}, max_value="2024-03-09")
    assert (day.failing, day.excess, day.share, day.measure) == (1, 2, math.inf, None)
    assert day.details == "2024-03-11, outside max(x) <= 2024-03-09"
    micros = int(NOW.timestamp()) * 1_000_000
    late = aggregate("max", {"micros": micros + 1}, max_value="2024-03-10T13:00:00+01:00")
    assert (late.failing, late.excess) == (1, 1)
    assert aggregate("max", {"micros": micros}, max_value=NOW).failing == 0
    local = aggregate("max", {"local_micros": micros}, max_value="2024-03-10T12:00:00")
    assert (local.failing, local.details.split(",")[0]) == (0, "2024-03-10 12:00:00")


def test_a_year_beyond_9999_fails_its_bound_instead_of_breaking():
    found = aggregate("max", {"days": 6_659_831}, max_value=date(2100, 1, 1))
    assert (found.failing, found.details.split(",")[0]) == (1, "a moment after the year 9999")
    early = aggregate("min", {"micros": -(2**62)}, min_value="1900-01-01")
    assert (early.failing, early.details.split(",")[0]) == (1, "a moment before the year 1")


def test_integers_are_summed_as_decimals_and_wide_decimals_without_overflow():
    assert "SUM(CAST(`x` AS DECIMAL(38, 0)))" in str(
        measures("aggregate", Column("x", "bigint"), function="sum", max_value=1)
    )
    assert "TRY_SUM(`x`)" in str(
        measures("aggregate", Column("x", "decimal(38,2)"), function="avg", max_value=1)
    )


def test_what_would_slow_the_shared_scan_runs_by_itself():
    check = find_check("aggregate")
    slow = {"percentile", "median", "distinct_count", "approx_distinct_count", "distinct_share"}
    for function in ("min", "sum", "stddev", "null_share", *slow):
        more = {"percentile": 0.9} if function == "percentile" else {}
        arguments = check.read(["x"], {"function": function, "max_value": 1, **more})
        assert check.needs_own_action(arguments) == (function in slow)
    assert find_check("value_set").needs_own_action({})


@pytest.mark.parametrize(
    ("column", "params", "said"),
    [
        (Column("x", "string"), {"function": "sum", "max_value": 1}, "needs a numeric column"),
        (Column("x", "date"), {"function": "avg", "max_value": 1}, "needs a numeric column"),
        (Column("x", "boolean"), {"function": "max", "max_value": 1}, "date or timestamp column"),
        (Column("x", "map<int,int>"), {"function": "distinct_count", "max_value": 1}, "no struct"),
        (Column("x", "date"), {"function": "max", "max_value": 1}, "cannot be compared"),
        (Column("x", "int"), {"function": "max", "max_value": "2024-01-01"}, "cannot be compared"),
    ],
)
def test_a_column_or_bound_of_the_wrong_type_is_refused(column, params, said):
    with pytest.raises(CheckDefinitionError, match=said):
        measures("aggregate", column, **params)


@pytest.mark.parametrize(
    ("columns", "params", "said"),
    [
        (["x"], {"function": "mean", "max_value": 1}, "Known: min, max, sum"),
        (["x"], {"function": "avg"}, "needs min_value, max_value or both"),
        (["x"], {"function": "avg", "min_value": 2, "max_value": 1}, "above max_value"),
        (["x"], {"function": "avg", "max_value": math.inf}, "leave out a bound"),
        (["x"], {"function": "avg", "max_value": math.nan}, "leave out a bound"),
        (["x"], {"function": "avg", "max_value": Decimal("1E+999999")}, "leave out a bound"),
        ([], {"function": "avg", "max_value": 1}, "needs one column or expression"),
        (["x", "y"], {"function": "avg", "max_value": 1}, "needs one column or expression"),
        (["x"], {"function": "avg", "expression": "a", "max_value": 1}, "needs one column"),
        (["x"], {"function": "correlation", "max_value": 1}, "needs 2 columns"),
        (["x"], {"function": "percentile", "max_value": 1}, "needs parameter 'percentile'"),
        (["x"], {"function": "median", "percentile": 0.5, "max_value": 1}, "takes no parameter"),
        (["x"], {"function": "percentile", "percentile": 95, "max_value": 1}, "from 0 to 1"),
        (["x"], {"function": "avg", "approximate": True, "max_value": 1}, "for percentile"),
    ],
)
def test_an_aggregate_that_makes_no_sense_is_refused(columns, params, said):
    assert said in refusal("aggregate", columns, **params)


def test_an_expression_is_one_row_expression_and_its_layout_is_no_logic():
    with pytest.raises(LakeproofError):
        find_check("aggregate").read(
            [], {"function": "sum", "expression": "(SELECT 1)", "max_value": 1}
        )
    first = {"function": "sum", "expression": "a  *  b", "max_value": 1}
    second = {"function": "sum", "expression": "a*b", "max_value": Decimal("1.0")}
    assert same_logic("aggregate", first, second)
    assert not same_logic("aggregate", first, {**second, "expression": "a+b"})
