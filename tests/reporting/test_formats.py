"""What each format says about a run, read back by a reader of that format."""

from __future__ import annotations

import csv
import io
import json

import junitparser
import pytest
from jsonschema import Draft202012Validator
from made_results import RUN, failed, made, report
from runner_commands import commands_in

from lakeproof.gating.policy import decide
from lakeproof.model.outcome import CheckStatus
from lakeproof.reporting.document import run_document, schema_text
from lakeproof.reporting.formats import REPORT_FORMATS
from lakeproof.reporting.github import place_of

MIXED = (
    made("fine"),
    failed("bad", new_violations=2),
    failed("soft", status=CheckStatus.WARNED, severity="warning", source="suites/checks.py:9"),
    failed("hint", status=CheckStatus.WARNED, severity="info", table_fqn="iceberg.lakehouse.b"),
    made("broken", CheckStatus.ERROR, details="no column 'x'", table_fqn="", source="checks.py:3"),
    made("left_out", CheckStatus.SKIPPED, details="not this time"),
)


def drawn(kind, *results, **options):
    return REPORT_FORMATS[kind].render(report(*results, **options))


def test_the_schema_is_a_schema_and_lists_exactly_what_a_document_has():
    schema = json.loads(schema_text())
    Draft202012Validator.check_schema(schema)
    document = run_document(RUN, MIXED, decide(MIXED))
    assert list(schema["properties"]) == list(document) == schema["required"]
    result = schema["$defs"]["result"]
    assert list(result["properties"]) == list(document["results"][0]) == result["required"]


@pytest.mark.parametrize("results", [MIXED, MIXED[:1], ()], ids=["mixed", "passed", "nothing"])
def test_the_document_fits_its_schema(results):
    document = json.loads(drawn("json", *results))
    Draft202012Validator(json.loads(schema_text())).validate(document)
    assert document["counts"]["failed"] == (1 if results == MIXED else 0)
    assert document["gate"]["open"] is (results == MIXED[:1])


@pytest.mark.parametrize(
    "spoiled",
    [{"document_version": 2}, {"gate": {}}, {"results": [{}]}, {"executed_at": "yesterday"}],
)
def test_the_schema_refuses_what_is_no_document(spoiled):
    document = {**json.loads(drawn("json", *MIXED)), **spoiled}
    assert not Draft202012Validator(json.loads(schema_text())).is_valid(document)


def test_numbers_that_json_does_not_have_are_null_as_in_the_store():
    odd = failed("r", measure=float("nan"), measures={"b": 2, "a": float("inf")})
    (found,) = json.loads(drawn("json", odd))["results"]
    assert (found["measure"], found["measures"]) == (None, {"a": None, "b": 2.0})
    assert list(found["measures"]) == ["a", "b"]


def test_jsonl_tells_the_run_and_then_the_document_s_results():
    run, *results = [json.loads(line) for line in drawn("jsonl", *MIXED).split("\n")]
    document = json.loads(drawn("json", *MIXED))
    assert [one.pop("kind") for one in (run, *results)] == ["run"] + ["result"] * len(MIXED)
    assert {**run, "results": results} == document


def test_a_junit_parser_finds_a_suite_per_table_and_a_case_per_rule():
    suites = junitparser.JUnitXml.fromstring(drawn("junit", *MIXED).encode())
    assert (suites.tests, suites.failures, suites.errors, suites.skipped) == (6, 1, 1, 1)
    assert suites.time == pytest.approx(1.5)
    by_name = {suite.name: suite for suite in suites}
    assert list(by_name) == ["iceberg.lakehouse.sales", "iceberg.lakehouse.b", "sales"]
    assert by_name["iceberg.lakehouse.sales"].timestamp == "2025-01-02T03:04:05.000000"
    cases = {case.name: case for suite in suites for case in suite}
    assert {case.classname for case in cases.values()} == set(by_name)
    assert {name: [type(one).__name__ for one in case.result] for name, case in cases.items()} == {
        "fine": [],
        "bad": ["Failure"],
        "soft": [],
        "hint": [],
        "broken": ["Error"],
        "left_out": ["Skipped"],
    }
    (failure,) = cases["bad"].result
    assert failure.message == "5 of 1000 rows have NULL in amount"
    assert failure.type == "not_null"
    assert failure.text.split("\n") == [
        "details: 5 of 1000 rows have NULL in amount",
        "check: not_null on sales.amount",
        "found: 5 of 1,000 rows failed (0.5 %)",
        "threshold: 0 rows",
        "new: 2 new keys",
        "rows: order_id=1 (-3.0) | order_id=2 | order_id=3 (0.0) | ...",
        "source: suites/checks.py:7",
    ]
    assert "rows: order_id=1 (-3.0)" in cases["soft"].system_out


def test_annotations_stand_at_the_line_of_their_rule():
    found = commands_in(drawn("github", *MIXED, root="."))
    told = [
        (one.name, one.properties.get("file"), one.properties.get("line"), one.properties["title"])
        for one in found
    ]
    assert told == [
        ("error", "suites/checks.py", "7", "FAILED bad"),
        ("error", "checks.py", "3", "ERROR broken"),
        ("warning", "suites/checks.py", "9", "WARNED soft"),
        ("notice", "suites/checks.py", "7", "WARNED hint"),
        ("notice", None, None, "SKIPPED left_out"),
    ]
    assert found[0].data.split("\n") == [
        "not_null on sales.amount",
        "5 of 1000 rows have NULL in amount (0.5 %); allowed 0 rows; 2 new keys",
        "rows: order_id=1 (-3.0) | order_id=2 | order_id=3 (0.0) | ...",
    ]
    last = drawn("github", *MIXED).split("\n")[-1]
    assert last == "GATE CLOSED  1 failed, 1 error, 2 warned, 1 skipped, 1 passed"


@pytest.mark.parametrize(
    ("source", "root", "place"),
    [
        ("checks.py:7", "", ("checks.py", "7")),
        ("/repo/a/checks.py:7", "/repo", ("a/checks.py", "7")),
        ("/elsewhere/checks.py:7", "/repo", ("/elsewhere/checks.py", "7")),
        ("/repository/checks.py:7", "/repo", ("/repository/checks.py", "7")),
        ("/repo/odd:name.py:7", "/repo", ("odd:name.py", "7")),
        ("/repo/checks.py", "/repo", ("checks.py", "")),
        ("/repo/checks.py:seven", "/repo", ("checks.py:seven", "")),
        ("/repo/checks.py:\u0667", "/repo", ("checks.py:\u0667", "")),
        ("", "/repo", ("", "")),
        (":7", "/repo", ("", "")),
    ],
)
def test_a_place_is_split_from_the_right_and_named_from_the_repository(source, root, place):
    assert place_of(source, root) == place


def test_a_rule_below_the_repository_is_named_from_it_wherever_we_stand(tmp_path, monkeypatch):
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path / "jobs")
    assert place_of("checks.py:7", str(tmp_path)) == ("jobs/checks.py", "7")


def test_markdown_lists_what_did_not_pass_heaviest_first():
    lines = drawn("markdown", *MIXED, see_more="lakeproof show violations --run x").split("\n")
    assert lines[0] == "## Lakeproof: gate closed"
    assert lines[2].startswith(f"Run `{RUN}` at `2025-01-02 03:04:05.000000` UTC: `1 failed, ")
    rows = [line for line in lines if line.startswith("| `")]
    assert [row.split(" | ")[1] for row in rows] == [
        "`bad`",
        "`broken`",
        "`soft`",
        "`hint`",
        "`left_out`",
    ]
    assert rows[0] == (
        "| `FAILED` | `bad` | `sales.amount` "
        "| `5 of 1000 rows have NULL in amount (0.5 %); allowed 0 rows; 2 new keys` "
        "| `order_id=1 (-3.0)`, `order_id=2`, `order_id=3 (0.0)`, `...` |"
    )
    assert lines[-1] == "See the bad rows: `lakeproof show violations --run x`"


def test_markdown_of_nothing_says_why_the_gate_is_closed():
    assert "- closed because `nothing was evaluated`" in drawn("markdown")


def test_csv_has_a_line_per_result_with_every_field_and_numbers_as_numbers():
    odd = failed("r", measure=-1.5, tags=("a", "b"), measures={"low": -2.0})
    rows = list(csv.DictReader(io.StringIO(drawn("csv", *MIXED, odd))))
    assert [row["check_name"] for row in rows] == [*(one.check_name for one in MIXED), "r"]
    assert list(rows[0]) == list(MIXED[0].to_dict())
    last = rows[-1]
    assert (last["measure"], last["tags"], last["measures"]) == ("-1.5", "a, b", "low=-2")
    assert last["sample_keys"] == "order_id=1 | order_id=2 | order_id=3"
    assert last["sample_values"] == "'-3.0 |  | 0.0"
    assert rows[0]["new_violations"] == ""
