"""Tolerances: a share, a number of rows, and either one is enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.model.threshold import Threshold


@pytest.mark.parametrize(
    ("threshold", "failing", "total", "allowed"),
    [
        (Threshold(), 0, 10, True),
        (Threshold(), 1, 10, False),
        (Threshold(share=0.0), 1, 10, False),
        (Threshold(share=0.1), 1, 10, True),
        (Threshold(share=0.1), 2, 10, False),
        (Threshold(share=1 / 3), 3, 9, True),
        (Threshold(share=0.07), 7, 100, True),
        (Threshold(share=1.0), 10, 10, True),
        (Threshold(rows=2), 2, 10, True),
        (Threshold(rows=2), 3, 10, False),
        (Threshold(share=0.01, rows=2), 2, 10, True),  # the rows are enough
        (Threshold(share=0.5, rows=0), 5, 10, True),  # the share is enough
        (Threshold(share=0.1, rows=1), 2, 10, False),
    ],
)
def test_satisfying_either_tolerance_is_enough(threshold, failing, total, allowed):
    assert threshold.allows(failing, failing / total) is allowed


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_share_written_as_a_quotient_holds_exactly(one, other):
    failing, total = sorted((one, other))
    assert Threshold(share=failing / total).allows(failing, failing / total)


@given(
    st.floats(0, 1) | st.none(),
    st.integers(0, 100) | st.none(),
    st.integers(0, 100),
    st.floats(0, 1),
)
def test_more_failing_rows_never_turn_a_failure_into_a_pass(share, rows, failing, found):
    threshold = Threshold(share, rows)
    if threshold.allows(failing + 1, found):
        assert threshold.allows(failing, found)


def test_a_threshold_says_what_it_allows():
    assert str(Threshold()) == "0 rows"
    assert str(Threshold(share=0.01)) == "share <= 0.01"
    assert str(Threshold(rows=5)) == "rows <= 5"
    assert str(Threshold(share=0.05, rows=3)) == "share <= 0.05 or rows <= 3"
