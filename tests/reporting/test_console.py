from __future__ import annotations

from pathlib import Path

import pytest
from made_results import RUN
from made_results import made as result

from lakeproof.gating.policy import decide
from lakeproof.model.canonical import encode_key
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.reporting.console import (
    WIDTH,
    coloured,
    found_text,
    news_text,
    outcome_text,
    sample_text,
    share_text,
)
from lakeproof.reporting.run_report import Passed

GOLDEN = Path(__file__).parent.parent / "golden"
HOSTILE = "\x1b[31mred\x07\nGATE OPEN  all fine\u202egnp"


def keys(*numbers: int) -> tuple[str, ...]:
    return tuple(encode_key({"order_id": number}) for number in numbers)


MIXED = (
    result("amount_known"),
    result(
        "customer_known",
        CheckStatus.WARNED,
        column_name="customer_id",
        failing_rows=40,
        measure=0.04,
        threshold="share <= 0.01",
        severity="warning",
        details="40 of 1000 rows have NULL in customer_id",
        new_violations=0,
        sample_keys=keys(11, 12, 13),
    ),
    result(
        "amount_positive",
        CheckStatus.FAILED,
        check_type="positive",
        failing_rows=5,
        measure=0.005,
        details="5 of 1000 rows have amount not above 0",
        new_violations=5,
        sample_keys=keys(1, 2, 3),
        sample_values=("-3.0", "", "0.0"),
    ),
    result(
        "country_spelled",
        CheckStatus.ERROR,
        column_name="contry",
        total_rows=0,
        details="column_name: no column 'contry' in iceberg.lakehouse.sales. Nearest: country.",
    ),
    result(
        "order_unique",
        CheckStatus.FAILED,
        check_type="uniqueness",
        column_name="order_id,line",
        failing_rows=2,
        measure=0.007,
        measures={"duplicated_values": 2, "surplus_rows": 7, "rows_involved": 9},
        details="2 duplicated values of order_id, line: 9 rows involved, 7 surplus of 1000 rows",
        new_violations=1,
        sample_keys=keys(7, 8),
    ),
    result(
        "enough_rows",
        CheckStatus.FAILED,
        check_type="row_count_range",
        column_name="",
        failing_rows=1,
        measure=1000.0,
        threshold="5000 <= rows; share <= 0.1",
        details="1000 rows, outside 5000 <= rows",
    ),
    result("amount_in_range"),
)


def report(*results: CheckResult, **options) -> str:
    return outcome_text(RUN, results, decide(results), **options)


def test_the_whole_report_is_as_agreed():
    text = report(*MIXED, see_more=f"lakeproof show violations --run {RUN}")
    assert text + "\n" == (GOLDEN / "console_outcome.txt").read_text(encoding="utf-8")


def test_failed_come_first_then_errors_then_warnings_and_passed_are_counted():
    words = [line.split()[0] for line in report(*MIXED).splitlines() if line[0] != " "]
    assert words == [
        "Run", "FAILED", "FAILED", "FAILED", "ERROR", "WARNED", "PASSED", "GATE",
    ]  # fmt: skip
    assert "PASSED  2 rules" in report(*MIXED)
    assert "amount_known" not in report(*MIXED)


def test_verbose_lists_what_passed():
    assert "PASSED  amount_known: not_null on sales.amount" in report(*MIXED, passed=Passed.LISTED)


def test_every_line_fits_80_columns():
    assert max(len(line) for line in report(*MIXED).splitlines()) <= WIDTH


def test_the_last_line_tells_the_gate():
    assert report(result("a"), result("b")).splitlines()[-1] == "GATE OPEN  2 passed"
    closed = report(*MIXED).splitlines()[-2:]
    assert closed[0] == "GATE CLOSED  3 failed, 1 error, 1 warned, 2 passed"
    named = "amount_positive, country_spelled, order_unique, enough_rows"
    assert closed[1].strip() == f"closed by {named}"


def test_an_empty_run_says_why_it_is_closed():
    assert report().splitlines()[-2:] == [
        "GATE CLOSED  no results",
        "        closed because nothing was evaluated",
    ]


def test_missing_results_are_a_reason():
    decision = decide([result("a")], rules_expected=2)
    assert "closed because 2 rules gave 1 results" in outcome_text(RUN, [result("a")], decision)


def test_many_closing_rules_are_counted_not_listed():
    failing = [result(f"r{n}", CheckStatus.FAILED, failing_rows=1) for n in range(30)]
    assert "22 more" in report(*failing)


@pytest.mark.parametrize(
    ("new", "failing", "said"),
    [(None, 5, ""), (5, 5, "all new"), (3, 5, "3 new keys"), (0, 5, "none new"), (0, 0, "")],
)
def test_news_are_told_only_if_a_store_knows(new, failing, said):
    found = result(
        "r",
        CheckStatus.FAILED,
        failing_rows=failing,
        new_violations=new,
        sample_keys=keys(*range(failing)),
    )
    assert news_text(found) == said


def test_a_count_of_rows_blames_no_row_and_so_has_no_news():
    found = result("r", CheckStatus.FAILED, failing_rows=1, new_violations=0)
    assert news_text(found) == ""


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0 %"), (0.00001, "< 0.01 %"), (0.005, "0.5 %"), (0.9999999, "> 99.99 %"), (1, "100 %")],
)
def test_a_share_is_never_rounded_to_nothing_or_to_all(share, said):
    assert share_text(share) == said


def test_three_sample_keys_and_a_hint_that_there_are_more():
    found = result("r", CheckStatus.FAILED, failing_rows=9, sample_keys=keys(1, 2, 3, 4))
    assert sample_text(found) == "order_id=1 | order_id=2 | order_id=3 | ..."


def test_rows_that_share_one_key_are_not_more_keys():
    found = result("r", CheckStatus.FAILED, failing_rows=9, sample_keys=keys(1))
    assert sample_text(found) == "order_id=1"


def test_a_value_stands_beside_its_key_and_a_long_one_is_cut():
    found = result(
        "r", CheckStatus.FAILED, failing_rows=2, sample_keys=keys(1, 2), sample_values=("x" * 101,)
    )
    assert sample_text(found) == f"order_id=1 ({'x' * 97}...) | order_id=2"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"details": "3 of 10 rows have a > b", "failing_rows": 3, "total_rows": 10},
            "3 of 10 rows have a > b (30 %); allowed 0 rows",
        ),
        (
            {"details": "", "failing_rows": 3, "total_rows": 10, "measure": 0.3},
            "3 of 10 rows failed (30 %); allowed 0 rows",
        ),
        (
            {"details": "7 days old", "measure": 7.0, "threshold": "age <= 1 day; 0 rows"},
            "7 days old; allowed age <= 1 day",
        ),
        (
            {"details": "7, not age <= 1", "measure": 7.0, "threshold": "age <= 1; 0 rows"},
            "7, not age <= 1",
        ),
        (
            {"details": "", "measure": 7.0, "threshold": "age <= 1; 0 rows"},
            "observed 7; allowed age <= 1",
        ),
    ],
)
def test_one_line_says_what_was_found_and_what_is_allowed_but_nothing_twice(changes, said):
    given = {"failing_rows": 1, "total_rows": 1, "measure": None, **changes}
    assert found_text(result("r", CheckStatus.FAILED, **given)) == said


def test_the_share_of_a_comparison_is_that_of_its_mismatches_not_of_surplus_rows():
    compared = result(
        "copied",
        CheckStatus.FAILED,
        check_type="checksum_reconciliation",
        failing_rows=5,
        total_rows=20,
        measure=0.25,
        measures={"surplus_rows": 1.0, "mismatch_pct": 0.25},
        details="5 of 20 keys and surplus rows differ",
    )
    assert found_text(compared).startswith("5 of 20 keys and surplus rows differ (25 %); ")


def test_a_failure_takes_three_lines_at_most_when_they_fit():
    (failure,) = [one for one in MIXED if one.check_name == "amount_positive"]
    assert len(report(failure).splitlines()) == 1 + 3 + 2


def test_text_from_outside_can_neither_move_the_cursor_nor_start_a_line():
    found = result(
        HOSTILE,
        CheckStatus.FAILED,
        table_name=HOSTILE,
        column_name=HOSTILE,
        details=HOSTILE,
        threshold=HOSTILE,
        check_type=HOSTILE,
        sample_keys=(HOSTILE, encode_key({HOSTILE: HOSTILE})),
        failing_rows=2,
    )
    text = outcome_text(HOSTILE, [found], decide([found]))
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == [
        "Run",
        "FAILED",
        "GATE",
    ]


def test_a_status_that_nobody_knows_is_shown_and_closes_the_gate():
    odd = result("r", "perhaps")  # type: ignore[arg-type]
    assert "PERHAPS r:" in report(odd)
    assert "GATE CLOSED" in report(odd)


def test_colour_is_laid_over_the_same_text():
    text = report(*MIXED)
    dressed = coloured(text)
    assert dressed.plain == text
    assert {text[span.start : span.end] for span in dressed.spans} == {
        "FAILED",
        "ERROR",
        "WARNED",
        "PASSED",
        "GATE CLOSED",
    }


def test_a_rule_that_passed_because_rows_are_suppressed_is_named():
    hushed = result(
        "amount_known",
        failing_rows=3,
        suppressed_rows=3,
        details="3 of 1000 rows have NULL in amount, 3 suppressed",
    )
    lines = outcome_text(RUN, [hushed, result("fine")], decide([hushed])).splitlines()
    assert lines[1:4] == [
        "PASSED  amount_known: not_null on sales.amount",
        "        3 of 1000 rows have NULL in amount, 3 suppressed",
        "PASSED  1 other rule",
    ]


def test_what_a_watermark_cannot_see_is_told():
    blind = result("a", coverage="append-only")
    bad = result("b", CheckStatus.FAILED, coverage="append-only", failing_rows=1, details="1 row")
    text = outcome_text(RUN, [blind, result("c"), bad], decide([blind]))
    assert "PASSED  2 rules, 1 by new rows only (append-only)" in text
    assert "coverage append-only" in text
    assert found_text(bad).endswith("; coverage append-only")
