"""The gate fails closed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakeproof import CheckResult, CheckStatus, GateClosedError, gate
from lakeproof.gating.policy import decide, exit_code

PASSED = CheckResult(
    check_name="fine",
    check_type="not_null",
    table_name="sales",
    column_name="id",
    status=CheckStatus.PASSED,
    failing_rows=0,
    total_rows=10,
    details="none of 10 rows have NULL in id",
    executed_at="2026-01-01 00:00:00.000000",
)
FAILED = replace(PASSED, check_name="bad", status=CheckStatus.FAILED, details="3 of 10 rows")
WARNED = replace(PASSED, check_name="meh", status=CheckStatus.WARNED, severity="warning")
BROKEN = replace(PASSED, check_name="broken", status=CheckStatus.ERROR, details="no column")
SKIPPED = replace(PASSED, check_name="skipped", status=CheckStatus.SKIPPED)
UNKNOWN = replace(PASSED, check_name="odd", status="perhaps")
QUIET_ERROR = replace(BROKEN, severity="info")


@pytest.mark.parametrize(
    ("results", "is_open", "code"),
    [
        ([PASSED], True, 0),
        ([PASSED, WARNED], True, 0),
        ([PASSED, SKIPPED], True, 0),
        ([PASSED, FAILED], False, 1),
        ([FAILED, BROKEN], False, 1),
        ([PASSED, BROKEN], False, 3),
        ([PASSED, QUIET_ERROR], False, 3),
        ([BROKEN], False, 3),
        ([PASSED, UNKNOWN], False, 3),
        ([SKIPPED], False, 5),
        ([], False, 5),
    ],
)
def test_doubt_closes_the_gate_and_the_exit_code_says_why(results, is_open, code):
    decision = decide(results)
    assert decision.is_open is is_open
    assert bool(decision.reasons) is not is_open
    assert exit_code(results, decision, "error") == code


def test_a_missing_result_closes_the_gate():
    decision = decide([PASSED], rules_expected=2)
    assert not decision.is_open
    assert decision.reasons == ("2 rules gave 1 results",)


def test_the_error_has_the_text_of_the_seed():
    with pytest.raises(GateClosedError) as closed:
        gate([PASSED, FAILED, BROKEN]).raise_for_status()
    expected = "2 quality check(s) failed: bad: 3 of 10 rows; broken: no column"
    assert str(closed.value) == expected


def test_an_open_gate_does_not_raise():
    gate([PASSED, WARNED]).raise_for_status()
    assert gate([PASSED]).is_open


@pytest.mark.parametrize(
    ("fail_on", "results", "code"),
    [
        ("warning", [PASSED, WARNED], 1),
        ("warning", [PASSED], 0),
        ("never", [PASSED, FAILED], 0),
        ("never", [PASSED, BROKEN], 0),
        ("never", [], 5),
    ],
)
def test_fail_on_shifts_the_exit_code_and_not_the_decision(fail_on, results, code):
    decision = decide(results)
    assert exit_code(results, decision, fail_on) == code
    assert decision == decide(results)
