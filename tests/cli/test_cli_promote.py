"""`lakeproof promote` in text, in JSON, and by its exit codes."""

from __future__ import annotations

import json
import re

import pytest

SUITE = """
def checks(table):
    return [QualityCheck("id_positive", "positive", table, "id")]
SALES = checks("iceberg.shown.sales")
"""


@pytest.fixture(scope="module")
def sales(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.shown")
    spark.sql("CREATE OR REPLACE TABLE iceberg.shown.sales USING iceberg AS SELECT 1 AS id")
    return "iceberg.shown.sales"


@pytest.fixture
def where(folder, warehouse):
    (folder / "lakeproof.toml").write_text('[store]\nnamespace = "shown_state"\n')
    return ("--warehouse", warehouse, "--quiet")


def steady(text):
    return re.sub(r"snapshot \d+", "snapshot N", text)


def test_a_table_is_promoted_shown_and_taken_back(spark, lakeproof, suite_file, sales, where):
    suite = suite_file(SUITE)
    assert lakeproof("run", f"{suite}:SALES", "--run-id", "good", *where).exit_code == 0
    promoted = lakeproof("promote", sales, *where)
    assert (promoted.exit_code, promoted.stderr) == (0, "")
    assert steady(promoted.stdout) == (
        "Run good: gate open, 1 result\n"
        "PROMOTED    iceberg.shown.sales.branch_trusted: nothing -> snapshot N\n"
    )
    again = lakeproof("promote", sales, "--run", "good", "--format", "json", *where)
    document = json.loads(again.stdout)
    assert (document["run_id"], document["changed"]) == ("good", False)
    assert document["tables"][0]["status"] == "unchanged"

    spark.sql("INSERT INTO iceberg.shown.sales VALUES (-1)")
    assert lakeproof("run", f"{suite}:SALES", "--run-id", "bad", *where).exit_code == 1
    closed = lakeproof("promote", sales, *where)
    assert closed.exit_code == 1
    assert steady(closed.stdout) == (
        "Run bad: gate closed: 1 quality check(s) failed: id_positive: 1 of 2 rows have id not "
        "above 0\n"
        "REFUSED     iceberg.shown.sales.branch_trusted: the gate is closed; shows snapshot N "
        "as before\n"
    )
    # The record is no result: neither the latest run nor the number of its rules has changed.
    shown = lakeproof("show", "results", "--run", "good", *where).stdout
    assert "1 result\n" in shown
    assert "promotion" not in shown
    assert lakeproof("show", "run", *where).stdout.startswith("Run bad: 1 rule\n")
    trend = lakeproof("show", "results", "--trend", *where).stdout
    assert "1 rule\n" in trend

    back = lakeproof("promote", sales, "--rollback", *where)
    assert back.exit_code == 0
    assert steady(back.stdout) == (
        "ROLLED BACK iceberg.shown.sales.branch_trusted: snapshot N -> nothing, the promotion of "
        "run good is taken back\n"
    )
    refused = lakeproof("promote", sales, "--run", "good", *where)
    assert refused.exit_code == 4
    assert "by run 'good' and rolled back. Commit to" in refused.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--run", "godo"), 5, "no results of run 'godo' are kept"),
        (("iceberg.shown.nothing",), 4, "nothing to promote: table iceberg.shown.nothing"),
        (("--rollback",), 2, "--rollback needs a TABLE or --run"),
        (("--rollback", "--run", "none"), 5, "no promotion of run 'none' is kept"),
        (("--rollback", "--run", "x", "--ledger", "d"), 2, "takes no --ledger"),
        (("--ledger", "nowhere", "--run", "good"), 2, "nowhere"),
        (("--mode", "audit", "--run", "good"), 5, "has no results of"),
    ],
)
def test_what_cannot_be_promoted_says_so_by_its_exit_code(
    spark, lakeproof, suite_file, sales, where, words, code, told
):
    if not spark.catalog.tableExists("iceberg.shown_state._quality_results"):
        lakeproof("run", f"{suite_file(SUITE)}:SALES", "--run-id", "good", *where)
    done = lakeproof("promote", *words, *where)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
