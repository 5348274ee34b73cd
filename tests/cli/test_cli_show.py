"""`lakeproof show` on kept results, without Spark."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from kept_store import kept_result, kept_violation, write_store

from lakeproof.gating.policy import decide
from lakeproof.model.canonical import encode_key
from lakeproof.model.outcome import CheckStatus
from lakeproof.reporting.document import run_document, schema_text
from lakeproof.reporting.formats import REPORT_FORMATS

KEYS = [encode_key({"order_id": number}) for number in (1, 2)]
LAST = (
    kept_result("order_known", 3),
    kept_result(
        "amount_positive",
        3,
        CheckStatus.FAILED,
        failing_rows=2,
        measure=0.2,
        details="2 of 10 rows have amount not above 0",
        new_violations=1,
        sample_keys=tuple(KEYS),
        sample_values=("-1.0", ""),
        measures={"surplus": 0.5, "odd": float("nan")},
        tags=("a", "b"),
        try_number=2,
    ),
    kept_result("spelled", 3, CheckStatus.ERROR, details="no column", table_fqn="", measure=None),
)
BEFORE = (
    kept_result("amount_positive", 1),
    kept_result("amount_positive", 2, CheckStatus.FAILED, failing_rows=1, measure=0.1),
    kept_result("order_known", 1, CheckStatus.ERROR, measure=None),
)


@pytest.fixture
def place(folder):
    found = [kept_violation("amount_positive", key, 3) for key in KEYS]
    return write_store(folder / "lake", [*BEFORE, *LAST], found)


@pytest.mark.parametrize("kind", REPORT_FORMATS)
def test_the_latest_run_is_drawn_again_in_every_format(lakeproof, place, kind):
    done = lakeproof("show", "run", *place, "--format", kind)
    assert done.exit_code == 0, done.output
    assert "amount_positive" in done.stdout
    assert "run-1" not in done.stdout


def test_a_run_drawn_again_equals_the_document_of_the_run(lakeproof, place):
    done = lakeproof("show", "run", "run-3", *place, "--format", "json")
    again = json.loads(done.stdout)
    first = json.loads(json.dumps(run_document("run-3", LAST, decide(LAST))))
    for document in (again, first):
        document["results"].sort(key=lambda one: one["rule_key"])
        document["gate"]["reasons"].sort()
    assert again == first
    assert again["results"][0]["try_number"] == 2


def test_heaviest_first_then_by_name(lakeproof, place):
    done = lakeproof("show", "run", *place, "--format", "json")
    names = [one["rule_key"] for one in json.loads(done.stdout)["results"]]
    assert names == ["amount_positive", "spelled", "order_known"]


def test_a_past_run_is_written_to_files_too(lakeproof, place, folder):
    done = lakeproof("show", "run", "run-1", *place, "--report", "out/junit.xml")
    assert done.exit_code == 0, done.output
    assert 'name="amount_positive"' in (folder / "out" / "junit.xml").read_text()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("run", "run-33"), "no results of run 'run-33' are kept. Nearest: run-3"),
        (("results", "--run", "run-33"), "no results of run 'run-33' are kept. Nearest: run-3"),
        (
            ("results", "--table", "saless"),
            "no results of table 'saless' are kept. Nearest: sales",
        ),
        (
            ("results", "--trend", "--table", "saless"),
            "no results of table 'saless' are kept. Nearest: sales",
        ),
        (
            ("violations", "--rule", "amount_postive"),
            "no results of rule 'amount_postive' are kept. Nearest: amount_positive",
        ),
        (("violations", "--run", "run-9"), "no results of run 'run-9' are kept. Nearest: run-"),
        (
            ("violations", "--table", "lakehouse.sale"),
            "no results of table 'lakehouse.sale' are kept. Nearest: iceberg.lakehouse.sales",
        ),
        (("violations", "--rule", "\x1b[2J"), "no results of rule '\\x1b[2J' are kept"),
    ],
)
def test_a_name_that_nothing_has_is_an_error_with_the_nearest(lakeproof, place, call, said):
    done = lakeproof("show", *call, *place)
    assert (done.exit_code, done.stdout) == (5, "")
    assert done.stderr.startswith(f"lakeproof: {said}")


def test_a_rule_without_bad_rows_is_no_error(lakeproof, place):
    done = lakeproof("show", "violations", *place, "--rule", "order_known")
    assert (done.exit_code, done.stdout) == (0, "0 violations\n")


def test_nothing_kept_is_nothing_to_show(lakeproof, folder):
    place = write_store(folder / "lake")
    for call in (
        ("run",),
        ("results",),
        ("results", "--trend"),
        ("violations", "--run", "latest"),
    ):
        done = lakeproof("show", *call, *place)
        assert (done.exit_code, done.stdout) == (5, "")
        assert done.stderr == "lakeproof: no run is kept\n"
    done = lakeproof("show", "violations", *place)
    assert (done.exit_code, done.stdout) == (0, "0 violations\n")


def test_violations_as_csv_have_a_readable_key(lakeproof, place):
    done = lakeproof("show", "violations", *place, "--format", "csv", "--limit", "1")
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["rule"], row["key"], row["status"]) == ("amount_positive", "order_id=1", "open")
    assert row["first_seen"] == "2025-01-01 00:00:00.000000"
    assert row["resolved_at"] == ""


def test_results_as_csv(lakeproof, place):
    done = lakeproof("show", "results", *place, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["rule_key"] for row in rows] == ["amount_positive", "spelled", "order_known"]


TREND = [
    "STATUS  RUNS  NOT PASSED  RULE",
    "FAILED   ▁▅█      2 of 3  amount_positive (iceberg.lakehouse.sales.amount)",
    "ERROR      E      1 of 1  spelled (sales.amount)",
    "PASSED    E▁      1 of 2  order_known (iceberg.lakehouse.sales.amount)",
    "3 rules",
]


def test_the_trend_of_each_rule_is_a_line_of_blocks(lakeproof, place):
    done = lakeproof("show", "results", "--trend", *place)
    assert done.stdout.splitlines() == TREND
    done = lakeproof("show", "results", "--trend", "--runs", "2", "--limit", "1", *place)
    assert done.stdout.splitlines()[1:] == [
        "FAILED    ▅█      2 of 2  amount_positive (iceberg.lakehouse.sales.amount)",
        "1 of 3 rules shown; --limit shows more",
    ]


def test_the_trend_as_document_and_as_csv(lakeproof, place):
    done = lakeproof("show", "results", "--trend", *place, "--format", "json")
    document = json.loads(done.stdout)
    assert document["total"] == 3
    first = document["rules"][0]
    assert (first["check_name"], first["status"]) == ("amount_positive", "failed")
    assert [point["measure"] for point in first["results"]] == [0.0, 0.1, 0.2]
    assert [point["run_id"] for point in first["results"]] == ["run-1", "run-2", "run-3"]
    done = lakeproof("show", "results", "--trend", *place, "--format", "csv")
    assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 6


def test_a_terminal_without_blocks_gets_plain_characters(place):
    command = [sys.executable, "-m", "lakeproof.cli.main", "show", "results", "--trend", *place]
    done = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("ascii").splitlines()[1].split()[:2] == ["FAILED", "_=#"]


def test_no_file_is_read_through_python(lakeproof, place, monkeypatch):
    """A thread of Arrow that calls Python when the command is over aborts the process."""

    def refused(*_):
        raise AssertionError("Arrow reads through Python")

    monkeypatch.setattr("pyarrow.fs.PyFileSystem", refused)
    done = lakeproof("show", "results", "--trend", *place)
    assert done.exit_code == 0, done.output


def test_trend_and_one_run_exclude_each_other(lakeproof, place):
    done = lakeproof("show", "results", "--trend", "--run", "run-1", *place)
    assert done.exit_code == 2
    assert "--run or --trend" in done.stderr


def test_the_schema_is_printed(lakeproof):
    done = lakeproof("show", "schema")
    assert done.stdout == schema_text() + "\n"
    assert json.loads(done.stdout)["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("name", ["run", "schema"])
def test_help_fits_a_screen(lakeproof, name):
    lines = lakeproof("show", name, "--help", env={"COLUMNS": "80"}).stdout.splitlines()
    assert len(lines) < 40
    assert max(len(line) for line in lines) <= 80
