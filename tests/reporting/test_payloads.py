"""Texts from outside in every report: none does anything, each is there to be read."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from made_results import hostile, report, whole
from markdown_it import MarkdownIt
from payloads import PAYLOADS
from runner_commands import commands_in

from lakeproof.gating.policy import decide
from lakeproof.model.printable import printable
from lakeproof.reporting.formats import REPORT_FORMATS
from lakeproof.reporting.kept import results_text, violations_text
from lakeproof.reporting.notebook import outcome_html
from lakeproof.reporting.run_report import Passed, RunReport
from lakeproof.reporting.trend import RuleTrend, trend_text

RESULTS = 4
FORMULA_STARTS = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


def drawn(kind, payload):
    results = hostile(payload)
    made = RunReport(payload, results, decide(results), see_more="lakeproof show violations")
    return REPORT_FORMATS[kind].render(made)


def assert_quiet(text):
    """Nothing that a terminal obeys, and nothing that the service obeys whose log this is."""
    assert [char for char in text if char != "\n" and not char.isprintable()] == []
    assert commands_in(text) == []


def console_shown(text, payload):
    heads = {line.split()[0] for line in text.splitlines() if line[0] != " "}
    assert heads == {"Run", "FAILED", "ERROR", "WARNED", "SKIPPED", "GATE", "See"}
    return text


def json_shown(text, payload):
    document = json.loads(text)
    assert text.isascii()
    assert [one["sample_values"] for one in document["results"]] == [[whole(payload)] * 2] * RESULTS
    assert document["results"][0]["tags"] == [whole(payload)] * 2
    return printable(document["results"][0]["check_name"])


def jsonl_shown(text, payload):
    lines = [json.loads(line) for line in text.split("\n")]
    assert [line["kind"] for line in lines] == ["run"] + ["result"] * RESULTS
    return printable(lines[1]["check_name"])


def junit_shown(text, payload):
    root = ET.fromstring(text)  # noqa: S314 (our own text)
    known = {"testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out"}
    assert {element.tag for element in root.iter()} == known
    assert [case.get("name") for case in root.iter("testcase")] == [printable(payload)] * RESULTS
    assert [len(case) for case in root.iter("testcase")] == [1] * RESULTS
    said = root.find("testsuite/testcase/failure")
    assert f"details: {printable(payload)}" in said.text.split("\n")
    return said.get("message")


def markdown_shown(text, payload):
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inlines = [token for token in tokens if token.type == "inline"]
    spoken = [child for token in inlines for child in token.children]
    assert {child.type for child in spoken} == {"text", "code_inline"}
    ours = {"status", "rule", "on", "found", "rows", "Lakeproof: gate closed", "Run", "at", "UTC:"}
    loose = [child.content for child in spoken if child.type == "text"]
    said = {re.sub(r"\||##", "", text).strip() for text in loose}
    assert said <= {*ours, ":", ",", "See the bad rows:", ""}
    cells = [token for token in tokens if token.type == "td_open"]
    assert len(cells) == RESULTS * 5
    assert [token.type for token in tokens].count("table_open") == 1
    names = ["".join(child.content for child in token.children) for token in inlines]
    return names[names.index("FAILED") + 1]


def github_shown(text, payload):
    *annotations, gate = text.split("\n")
    assert len(annotations) == RESULTS
    found = [command for line in annotations for command in commands_in(line)]
    assert [command.name for command in found] == ["error", "error", "warning", "notice"]
    for command in found:
        assert set(command.properties) == {"file", "line", "title"}
        assert command.properties["line"] == "7"
        assert printable(payload).strip() in command.properties["title"]
    assert commands_in(gate) == []
    return found[0].data


def csv_shown(text, payload):
    for delimiter in ",;":
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            assert not [cell for cell in row if cell.lstrip().startswith(FORMULA_STARTS)]
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    assert len(rows) == RESULTS
    assert not [row for row in rows if None in row or None in row.values()]
    assert text.count("\n") == RESULTS
    # What was put before a formula is the only thing that was added.
    guarded = rows[0]["check_name"]
    return guarded if guarded == printable(payload) else re.sub(r"(^|;)'", r"\1", guarded)


def observability_shown(text, payload):
    document = json.loads(text)
    assert text.isascii()
    assert [one["name"] for one in document["results"]] == [whole(payload)] * RESULTS
    return printable(document["results"][0]["name"])


JSON_KINDS = {"json", "jsonl", "observability"}
SHOWN = {
    "console": console_shown,
    "json": json_shown,
    "jsonl": jsonl_shown,
    "junit": junit_shown,
    "markdown": markdown_shown,
    "github": github_shown,
    "csv": csv_shown,
    "observability": observability_shown,
}


def test_there_are_payloads_enough_and_every_format_is_looked_at():
    assert len(PAYLOADS) == len(set(PAYLOADS)) >= 100
    assert set(SHOWN) == set(REPORT_FORMATS)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.parametrize("kind", REPORT_FORMATS)
def test_a_text_from_outside_does_nothing_and_is_shown(kind, payload):
    text = drawn(kind, payload)
    if kind == "github":
        assert [char for char in text if char != "\n" and not char.isprintable()] == []
    else:
        assert_quiet(text)
    shown = SHOWN[kind](text, payload).replace("#\\#", "##")
    assert printable(whole(payload) if kind in JSON_KINDS else payload) in shown


class Page(HTMLParser):
    """Tags, attributes and the text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_text_from_outside_does_nothing_in_a_notebook(payload):
    results = hostile(payload)
    html = outcome_html(payload, results, decide(results))
    assert html.isascii()
    assert [char for char in html if not char.isprintable()] == []
    page = Page()
    page.feed(html)
    page.close()
    assert page.tags == {"div", "p", "b", "table", "tr", "th", "td", "br", "code"}
    assert page.attributes == {"style"}
    assert printable(payload) in page.text


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_text_from_outside_does_nothing_in_what_show_draws(payload):
    results = hostile(payload)
    now = datetime(2025, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    violation = {
        "rule_id": payload,
        "table_fqn": payload,
        "violation_key": payload,
        "status": payload,
        "occurrences": 1,
        "first_seen": payload,
        "last_seen": payload,
        "resolved_at": payload,
        "reopen_count": 0,
        "hit_id": payload,
        "resolution": payload,
        "suppressed_until": now + timedelta(days=1),
        "suppressed_by": payload,
        "suppressed_why": payload,
    }
    for text in (
        results_text(payload, results, RESULTS),
        trend_text([RuleTrend(results)], 1),
        violations_text([violation], 1, {payload: payload}, now),
    ):
        assert_quiet(text)
        assert printable(payload) in re.sub(r"^\\", "", text.replace("#\\#", "##"))


def test_rules_that_passed_are_listed_on_demand_in_what_people_read():
    passed = report(*hostile("x"), passed=Passed.LISTED)
    assert "| `SKIPPED` | `x` |" in REPORT_FORMATS["markdown"].render(passed)
