"""Every command on the demo's contract: no Python is written, and no rule is lost."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files

import pytest

from lakeproof.demo.lakehouse import PLANTED_BY_CONTRACT, build_lakehouse
from lakeproof.model.canonical import readable_key

SALES = "sales.odcs.yaml"
WORDS = """\
id: words
schema:
- name: sales
  quality:
  - type: text
    description: Nothing is sold twice.
  - type: custom
    engine: montecarlo
    implementation: a monitor
"""
CLOSERS = {key for key, rows in PLANTED_BY_CONTRACT.items() if rows} - {
    "demo-sales/not-in-the-future"  # a warning
}


@pytest.fixture
def sales(folder):
    """The contract of the demo, and one that holds nothing to run, in the current folder."""
    shutil.copyfile(str(files("lakeproof.demo") / SALES), folder / SALES)
    (folder / "words.yaml").write_text(WORDS, encoding="utf-8")
    return SALES


@pytest.fixture(scope="module")
def lakehouse(spark):
    build_lakehouse(spark)


@pytest.fixture
def place(folder, lakehouse, warehouse):
    """The options by which a command finds the demo's tables, and a store of its own."""
    text = "[store]\nnamespace = 'contract_cli_state'\n"
    (folder / "lakeproof.toml").write_text(text, encoding="utf-8")
    return ("--warehouse", str(warehouse))


def test_lint_finds_nothing_in_the_demo_s_contract(lakeproof, sales):
    done = lakeproof("lint", sales)
    assert (done.exit_code, done.stdout) == (0, "21 rules, no findings\n")


def test_coverage_lists_every_rule_with_its_line(lakeproof, sales):
    done = lakeproof("contract", "coverage", sales)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "21 rules: 20 run, 1 skipped, 0 errors"
    lines = (line.split() for line in done.stdout.splitlines())
    text = (files("lakeproof.demo") / SALES).read_text(encoding="utf-8").splitlines()
    placed = {words[1]: words for words in lines if words and words[0] in {"runs", "skipped"}}
    number = next(n for n, line in enumerate(text, 1) if "- id: known-customers" in line)
    assert placed[f"{number}:9"][0] == "skipped"


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("dimension:timeliness", ["demo-sales/not-in-the-future", "demo-sales/sales:endOfSupport"]),
        ("id:rows", ["demo-sales/rows"]),
        ("id:rows,schedule-due:2026-01-15T06:00Z", ["demo-sales/rows"]),
        ("tag:money", ["demo-sales/amount-positive"]),
        ("check:foreign_key", ["demo-sales/sales.customer_id:foreignKey"]),
    ],
)
def test_ls_selects_by_what_rules_say_of_themselves(lakeproof, sales, terms, expected):
    done = lakeproof("ls", sales, "--select", terms, "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert [rule["name"] for rule in json.loads(done.stdout)["rules"]] == expected


def test_a_rule_is_due_by_its_schedule_for_due_and_for_select(lakeproof, sales):
    at = "2026-01-15T07:00Z"
    listed = lakeproof("contract", "due", sales, "--at", at, "--format", "json")
    due = [rule["key"] for rule in json.loads(listed.stdout)["rules"]]
    chosen = lakeproof("ls", sales, "--select", f"schedule-due:{at}", "--format", "json")
    assert [rule["name"] for rule in json.loads(chosen.stdout)["rules"]] == due
    assert "demo-sales/rows" not in due
    assert len(due) == 20


def test_export_gives_a_contract_with_the_same_rules(lakeproof, sales, folder):
    done = lakeproof("contract", "export", sales, "-o", "again.yaml")
    assert done.exit_code == 0, done.stderr
    assert "# It names no server" in (folder / "again.yaml").read_text(encoding="utf-8")
    told = [lakeproof("contract", "coverage", file).stdout for file in (sales, "again.yaml")]
    assert told[0].splitlines()[-1] == told[1].splitlines()[-1]
    assert lakeproof("lint", "again.yaml").exit_code == 0


def test_a_contract_runs_with_no_python_and_finds_what_was_planted(lakeproof, sales, place):
    done = lakeproof("run", sales, *place, "--run-id", "contract", "--format", "json")
    assert done.exit_code == 1, done.stderr
    document = json.loads(done.stdout)
    found = {result["check_name"]: result for result in document["results"]}
    assert len(found) == 21
    counts = {name: found[name]["failing_rows"] for name in PLANTED_BY_CONTRACT}
    assert counts == PLANTED_BY_CONTRACT
    failed = {name for name, result in found.items() if result["status"] == "failed"}
    assert failed == CLOSERS
    assert found["demo-sales/rows"]["source"].startswith(f"{SALES}:")
    first = found["demo-sales/amount-positive"]["sample_keys"][0]
    assert readable_key(first) == "order_id=3001"
    assert done.stderr.count("warning") == 0

    kept = lakeproof("show", "run", "contract", *place, "--format", "json")
    assert kept.exit_code in {0, 1}, kept.stderr
    again = {result["check_name"]: result for result in json.loads(kept.stdout)["results"]}
    assert {name: one["declared"] for name, one in again.items()} == {
        name: one["declared"] for name, one in found.items()
    }
    assert again["demo-sales/rows"]["declared"]["schedule"] == "0 6 * * *"


def test_the_report_says_why_a_rule_is_skipped_and_what_a_number_must_be(lakeproof, sales, place):
    select = ("--select", "id:rows id:amount-positive id:known-customers")
    done = lakeproof("run", sales, *place, *select, "--store", "none", "--quiet")
    assert done.exit_code == 1, done.stderr
    assert done.stdout.splitlines()[1:-2] == [
        "FAILED  demo-sales/rows: row_count_range on sales",
        "        100020 rows, must be between 1 and 100000 rows",
        "FAILED  demo-sales/amount-positive: sql_value on sales.amount",
        "        the query returned 5, must be 0",
        "        rows: order_id=3001 | order_id=3002 | order_id=3003 | ...",
        "SKIPPED demo-sales/known-customers: text on sales",
        "        a text for people, with nothing in it to run: Orders are taken from",
        "        customers who have an account.",
    ]


def test_plan_shows_every_table_of_a_contract(lakeproof, sales, place):
    done = lakeproof("plan", sales, *place)
    assert done.exit_code == 0, done.stderr
    assert "iceberg.lakehouse.sales" in done.stdout
    assert "iceberg.lakehouse.customers" in done.stdout
    assert "demo-sales/known-customers" in done.stdout


def test_a_contract_of_texts_closes_the_gate_and_allow_empty_accepts_it(lakeproof, sales, place):
    call = ("run", "words.yaml", *place, "--store", "none", "--quiet")
    done = lakeproof(*call)
    assert done.exit_code == 5, done.stderr
    assert done.stdout.count("SKIPPED ") == 2
    assert "GATE CLOSED  2 skipped\n        closed because nothing was evaluated" in done.stdout
    accepted = lakeproof(*call, "--allow-empty")
    assert accepted.exit_code == 0
    assert "lakeproof: nothing was evaluated (--allow-empty)" in accepted.stderr
    assert "GATE CLOSED" in accepted.stdout, "the decision stays as it is"


def test_allow_empty_accepts_nothing_but_emptiness(lakeproof, sales, place):
    call = ("run", *place, "--store", "none", "--quiet", "--allow-empty")
    assert lakeproof(*call, sales, "--select", "id:rows").exit_code == 1
    missing = lakeproof(*call, sales, "--table", "sales=nowhere.at.all", "--select", "id:rows")
    assert missing.exit_code == 3


def test_coverage_of_a_contract_of_texts_lists_them_as_skipped(lakeproof, sales):
    done = lakeproof("contract", "coverage", "words.yaml")
    assert done.stdout.splitlines()[-1] == "2 rules: 0 run, 2 skipped, 0 errors"
