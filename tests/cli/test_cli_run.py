"""`run`, `plan`, `show` and `store` on the shared session, which a command finds by its folder."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from lakeproof.state.tables import SCHEMA_VERSION

SUITE = """
SALES = [
    QualityCheck("order_known", "not_null", "sales", "order_id"),
    QualityCheck("order_unique", "uniqueness", "sales", "order_id"),
    QualityCheck("amount_positive", "positive", "sales", "amount"),
    QualityCheck("customer_known", "not_null", "sales", "customer", severity="warning"),
]
GOOD = SALES[:1]
SOFT = [SALES[0], SALES[3]]
BROKEN = [SALES[0], QualityCheck("spelled", "not_null", "sales", "amont")]
UNKNOWN = [SALES[0], QualityCheck("odd", "uniqe", "sales", "order_id")]
ONLY_BROKEN = BROKEN[1:]
NOTHING = []
print("a suite that talks")
"""
_numbers = itertools.count()


@pytest.fixture(scope="module")
def shop(spark):
    """A table with 3 amounts not above 0 and 1 duplicated order among 10; 2 lack a customer."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.cli_shop")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.cli_shop.sales USING iceberg AS "
        "SELECT CAST(if(id = 9, 8, id) AS BIGINT) AS order_id, "
        "CAST(if(id < 3, -1, 10) AS DOUBLE) AS amount, "
        "if(id IN (4, 5), NULL, 'C') AS customer FROM range(10)"
    )
    return "cli_shop"


@pytest.fixture
def place(folder, shop, warehouse):
    """A folder whose configuration names the shop and a store of its own; gives the options."""
    (folder / "lakeproof.toml").write_text(
        f"default_namespace = '{shop}'\n"
        f"[store]\nnamespace = 'cli_state_{next(_numbers)}'\n"
        "[tables.sales]\nkey = ['order_id']\n",
        encoding="utf-8",
    )
    return ("--warehouse", str(warehouse))


@pytest.fixture
def suites(suite_file):
    name = suite_file(SUITE)
    return lambda *names: [f"{name}:{one}" for one in names]


def test_the_report_names_bad_rows_and_the_command_that_lists_them(lakeproof, place, suites):
    done = lakeproof("run", *suites("SALES"), *place, "--run-id", "first", "-v")
    assert done.exit_code == 1, done.stderr
    assert "PASSED  order_known: not_null on sales.order_id" in done.stdout
    assert (
        "FAILED  amount_positive: positive on sales.amount\n"
        "        3 of 10 rows have amount not above 0 (30 %); allowed 0 rows; all new\n"
    ) in done.stdout
    assert re.search(r"\n {8}rows: order_id=0\b.* \| order_id=1\b.* \| order_id=2\b", done.stdout)
    assert "GATE CLOSED  2 failed, 1 warned, 1 passed" in done.stdout
    last = done.stdout.splitlines()[-1]
    told = "See the bad rows: lakeproof "
    assert last.startswith(f"{told}show violations --run first --warehouse ")

    shown = lakeproof(*last.removeprefix(told).split())
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert "amount_positive on iceberg.cli_shop.sales" in lines
    assert "  open      order_id=8  (2 rows)" in lines
    assert lines[-1] == "6 violations"

    again = lakeproof("run", *suites("SALES"), *place, "--quiet")
    assert "rows have amount not above 0 (30 %); allowed 0 rows; none new" in again.stdout


def test_json_is_one_document_while_progress_and_prints_go_to_stderr(lakeproof, place, suites):
    done = lakeproof("run", *suites("SALES"), *place, "--store", "none", "--format", "json")
    document = json.loads(done.stdout)
    assert list(document) == [
        "document_version", "run_id", "executed_at", "gate", "counts", "results",
    ]  # fmt: skip
    assert document["counts"] == {
        "passed": 1,
        "failed": 2,
        "warned": 1,
        "error": 0,
        "skipped": 0,
    }
    assert list(document["results"][0])[:9] == [
        "check_name", "check_type", "table_name", "column_name", "status",
        "failing_rows", "total_rows", "details", "executed_at",
    ]  # fmt: skip
    assert document["results"][0]["suite"] == suites("SALES")[0]
    told = done.stderr.splitlines()
    assert "a suite that talks" in told
    assert any(line.startswith("iceberg.cli_shop.sales: scanned 10 rows") for line in told)


def test_quiet_leaves_stderr_to_what_others_print(lakeproof, place, suites):
    done = lakeproof("run", *suites("GOOD"), *place, "--store", "none", "--quiet")
    assert done.stderr == "a suite that talks\n"
    assert "GATE OPEN  1 passed" in done.stdout
    assert "See the bad rows" not in done.stdout


@pytest.mark.parametrize(
    ("names", "options", "code"),
    [
        (["GOOD"], [], 0),
        (["SOFT"], [], 0),
        (["SOFT"], ["--fail-on", "warning"], 1),
        (["SALES"], ["--fail-on", "never"], 0),
        (["BROKEN"], [], 3),
        (["BROKEN"], ["--strict"], 2),
        (["UNKNOWN"], [], 3),
        (["UNKNOWN"], ["--strict"], 2),
        (["ONLY_BROKEN"], [], 3),
        (["NOTHING"], [], 5),
        (["GOOD"], ["--run-id", "Not A Slug"], 2),
    ],
)
def test_exit_codes(lakeproof, place, suites, names, options, code):
    done = lakeproof("run", *suites(*names), *place, "--store", "none", *options)
    assert done.exit_code == code, done.output


def test_strict_says_what_cannot_run_before_spark_is_asked(lakeproof, place, suites):
    done = lakeproof("run", *suites("UNKNOWN"), *place, "--strict")
    assert "--strict: 1 finding: " in done.stderr
    assert "Spark is ready" not in done.stderr
    assert done.stdout == ""


def test_the_same_name_in_two_suites_is_an_error_of_the_second(lakeproof, place, suites):
    done = lakeproof("run", *suites("GOOD", "GOOD"), *place, "--store", "none")
    assert done.exit_code == 3
    assert "ERROR   order_known#2" in done.stdout
    assert "GATE CLOSED  1 error, 1 passed" in done.stdout


def test_keys_on_the_command_line_name_the_bad_rows(lakeproof, place, suites):
    done = lakeproof(
        "run", *suites("SALES"), *place, "--store", "none", "--key", "sales=order_id,amount"
    )
    assert re.search(
        r"rows: amount=-1\.0, order_id=0\b.* \| amount=-1\.0,\s+order_id=1\b", done.stdout
    )


def test_the_plan_is_shown_as_tree_as_document_and_as_sql(lakeproof, place, suites):
    options = (*suites("SALES", "ONLY_BROKEN"), *place)
    tree = lakeproof("plan", *options)
    assert tree.exit_code == 0, tree.stderr
    assert "5 rules, 1 table, 2 actions" in tree.stdout
    assert "scan: 1 action, rules fused = 3" in tree.stdout
    assert "key set (order_id), tiled: 1 action" in tree.stdout
    assert "bad rows known by: order_id" in tree.stdout
    assert "spelled: column_name: no column 'amont'" in tree.stdout
    assert lakeproof("plan", *options, "--strict").exit_code == 2

    document = json.loads(lakeproof("plan", *options, "--format", "json", "--sql").stdout)
    assert list(document) == ["now", "rules", "actions", "tables", "rejected", "statements"]
    script = lakeproof("plan", *options, "--sql").stdout
    for statement in document["statements"]:
        assert statement["sql"] in script


def test_the_sql_of_the_plan_runs_as_it_is_printed(lakeproof, place, suites, spark):
    options = (*suites("SALES"), *place, "--format", "json", "--sql")
    statements = json.loads(lakeproof("plan", *options).stdout)["statements"]
    assert [item["purpose"].split()[0] for item in statements] == ["scan", "key", "bad"]
    scan, key, bad_rows = [spark.sql(item["sql"]).collect() for item in statements]
    assert scan[0]["table_rows"] == 10
    assert key[0]["surplus_rows"] == 1
    assert len(bad_rows) == 6


@pytest.mark.parametrize("store", ["iceberg", "delta"])
def test_init_creates_the_tables_and_tells_their_names_and_version(lakeproof, place, spark, store):
    done = lakeproof("store", "init", *place, "--store", store)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[1] for line in lines] == [f"{store}, version {SCHEMA_VERSION}"] * 5
    for line in lines:
        assert spark.catalog.tableExists(line.split("  ")[0])
    document = json.loads(lakeproof("store", "init", *place, "--format", "json").stdout)
    assert list(document) == ["format", "version", "tables"]


def test_before_the_first_run_there_is_nothing_to_show(lakeproof, place):
    done = lakeproof("show", "results", *place)
    assert done.exit_code == 3
    assert "Next: lakeproof store init" in done.stderr
    assert lakeproof("store", "init", *place).exit_code == 0
    empty = lakeproof("show", "results", *place)
    assert (empty.exit_code, empty.stderr) == (5, "lakeproof: no run is kept\n")
    none = lakeproof("show", "violations", *place)
    assert (none.exit_code, none.stdout) == (0, "0 violations\n")


SHOWN = [
    ("results",),
    ("results", "--table", "iceberg.cli_shop.sales", "--limit", "2"),
    ("results", "--run", "never"),
    ("violations", "--limit", "2"),
    ("violations", "--status", "all", "--table", "sales", "--run", "one"),
    ("violations", "--rule", "amount_positive"),
]


@pytest.mark.parametrize("store", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def test_show_says_the_same_with_and_without_spark(lakeproof, place, suites, store, monkeypatch):
    run = lakeproof("run", *suites("SALES"), *place, "--store", store, "--run-id", "one")
    assert run.exit_code == 1, run.stderr

    def shown(*call, style="json"):
        done = lakeproof("show", *call, *place, "--store", store, "--format", style)
        return done.exit_code, done.stdout

    quick = [shown(*call) for call in SHOWN]
    code, text = shown("results", style="console")
    assert code == 0
    assert text.startswith("Run one at ")
    words = [line.split()[0] for line in text.splitlines()[2:]]
    assert words == ["FAILED", "FAILED", "WARNED", "PASSED", "4"]
    assert shown("results", "--run", "never", style="console") == (5, "")
    _, text = shown("violations", "--limit", "2", style="console")
    assert text.endswith("2 of 6 violations shown; --limit shows more\n")
    assert shown("violations", "--rule", "no_such_rule", style="console") == (5, "")
    assert shown("violations", "--status", "resolved", style="console") == (0, "0 violations\n")
    document = json.loads(quick[-1][1])
    assert document["total"] == 3
    assert {row["rule"] for row in document["violations"]} == {"amount_positive"}

    monkeypatch.setattr("lakeproof.cli.state_reader.reader_without_spark", lambda *_: None)
    assert [shown(*call) for call in SHOWN] == quick


def test_show_reads_the_embedded_store_without_asking_spark(lakeproof, place, suites, monkeypatch):
    assert lakeproof("run", *suites("SALES"), *place).exit_code == 1

    def refuse(*_):
        raise AssertionError("Spark was asked")

    monkeypatch.setattr("lakeproof.cli.state_reader.session_for", refuse)
    assert lakeproof("show", "violations", *place).stdout.endswith("6 violations\n")
