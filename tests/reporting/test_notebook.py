from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from lakeproof.gating.policy import decide
from lakeproof.model.canonical import encode_key
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.reporting.notebook import outcome_html

HOSTILE = "</td><script>alert(1)</script><img src=x onerror='alert(2)'>\"&\x1b[31m\u202e"
VOID = {"br"}


class Tags(HTMLParser):
    """Every tag with its attributes, and whether each was closed in order."""

    def __init__(self):
        super().__init__()
        self.seen = []
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def result(name, status=CheckStatus.FAILED, **fields):
    given = {
        "check_type": "not_null",
        "table_name": "sales",
        "column_name": "amount",
        "failing_rows": 3,
        "total_rows": 10,
        "details": "3 of 10 rows have NULL in amount",
        "executed_at": "2025-01-02 03:04:05.000000",
        "measure": 0.3,
        "threshold": "0 rows",
    }
    return CheckResult(check_name=name, status=status, **{**given, **fields})


def html_of(*results):
    return outcome_html("run-1", results, decide(results))


def tags_of(html):
    parser = Tags()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser.seen


def test_hostile_text_stays_text():
    found = result(
        HOSTILE,
        table_name=HOSTILE,
        column_name=HOSTILE,
        details=HOSTILE,
        threshold=HOSTILE,
        sample_keys=(HOSTILE, encode_key({HOSTILE: HOSTILE})),
    )
    html = outcome_html(HOSTILE, [found], decide([found]))
    tags = tags_of(html)
    assert {tag for tag, _ in tags} <= {"div", "p", "b", "br", "table", "tr", "th", "td", "code"}
    assert {name for _, attributes in tags for name in attributes} == {"style"}
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_nothing_is_loaded_and_no_script_runs():
    html = html_of(result("a"), result("b", CheckStatus.ERROR))
    assert not re.search(r"script|https?:|url\(|@import|<link|<style", html)


def test_text_and_ground_are_left_to_the_notebook():
    styles = " ".join(
        attributes.get("style", "") for _, attributes in tags_of(html_of(result("a")))
    )
    assert "background" not in styles
    assert set(re.findall(r"[^-]color:(#\w+)", f" {styles}")) == {"#d33"}


@pytest.mark.parametrize("status", [CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.ERROR])
def test_a_thousand_results_stay_under_100_kb(status):
    results = [
        result(
            f"rule_{n}_" + "é" * 500, status, details="ü<&" * 333, sample_keys=("\U0001f600" * 400,)
        )
        for n in range(1000)
    ]
    html = html_of(*results)
    assert len(html.encode()) < 100_000
    tags_of(html)
    if status == CheckStatus.PASSED:
        assert "1,000 passed" in html
        assert "<table" not in html
    else:
        assert re.search(r"\d+ more are not shown here", html)


def test_what_did_not_pass_is_listed_heaviest_first():
    html = html_of(
        result("fine", CheckStatus.PASSED),
        result("soft", CheckStatus.WARNED),
        result("broken", CheckStatus.ERROR),
        result(
            "bad", new_violations=1, sample_keys=(encode_key({"id": 7}),), sample_values=("-3.0",)
        ),
    )
    places = [html.index(name) for name in ("GATE CLOSED", ">bad<", ">broken<", ">soft<")]
    assert places == sorted(places)
    assert "fine" not in html
    assert "3 of 10 rows have NULL in amount (30 %); allowed 0 rows; 1 new key" in html
    assert "<code>id=7 (-3.0)</code>" in html


def test_an_empty_run_says_why():
    assert "closed because nothing was evaluated" in html_of()
