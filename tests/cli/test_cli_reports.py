"""--format, --report and --output-dir of `lakeproof run`, and a run drawn again from its store."""

from __future__ import annotations

import itertools
import json

import junitparser
import pytest
from jsonschema import Draft202012Validator

from lakeproof.reporting.document import schema_text

SUITE = """
SALES = [
    QualityCheck("amount_positive", "positive", "sales", "amount"),
    QualityCheck("customer_known", "not_null", "sales", "customer", severity="warning"),
    QualityCheck("enough", "row_count_range", "sales", params={"min_count": 5}),
    QualityCheck("order_unique", "uniqueness", "sales", "order_id", tags=["key"]),
    QualityCheck("spelled", "not_null", "sales", "amont"),
]
"""
_numbers = itertools.count()


@pytest.fixture(scope="module")
def shop(spark):
    """2 amounts not above 0, 1 order twice, 2 without customer, among 10."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.report_shop")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.report_shop.sales USING iceberg AS "
        "SELECT CAST(if(id = 9, 8, id) AS BIGINT) AS order_id, "
        "CAST(if(id < 2, -1, 10) AS DOUBLE) AS amount, "
        "if(id IN (4, 5), NULL, 'C') AS customer FROM range(10)"
    )
    return "report_shop"


@pytest.fixture
def place(folder, shop, warehouse):
    (folder / "lakeproof.toml").write_text(
        f"default_namespace = '{shop}'\n"
        f"[store]\nnamespace = 'report_state_{next(_numbers)}'\n"
        "[tables.sales]\nkey = ['order_id']\n",
        encoding="utf-8",
    )
    return ("--warehouse", str(warehouse))


@pytest.fixture
def suite(suite_file):
    return f"{suite_file(SUITE)}:SALES"


def in_one_order(document):
    document["results"].sort(key=lambda result: result["rule_key"])
    document["gate"]["reasons"].sort()
    return document


@pytest.mark.parametrize("store", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def test_a_run_is_drawn_again_from_its_store_as_it_was(lakeproof, place, suite, folder, store):
    place = (*place, "--store", store)
    done = lakeproof("run", suite, *place, "--output-dir", "out", "--format", "json")
    assert done.exit_code == 1, done.stderr
    document = json.loads(done.stdout)
    assert json.loads((folder / "out" / "results.json").read_text()) == document
    Draft202012Validator(json.loads(schema_text())).validate(document)
    junit = junitparser.JUnitXml.fromfile(str(folder / "out" / "junit.xml"))
    assert (junit.tests, junit.failures, junit.errors) == (5, 2, 1)
    first = (folder / "out" / "report.txt").read_text()

    again = lakeproof("show", "run", *place, "--format", "json")
    assert again.exit_code == 0, again.stderr
    assert in_one_order(json.loads(again.stdout)) == in_one_order(document)
    redrawn = lakeproof("show", "run", document["run_id"], *place).stdout
    assert redrawn == first, "the suite is in the order of names, so that this one is the same"
    assert "2 of 10 rows have amount not above 0 (20 %); allowed 0 rows; all new" in redrawn


def test_annotations_name_the_line_where_the_rule_was_written(
    lakeproof, place, suite, folder, monkeypatch
):
    summary = folder / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    done = lakeproof("run", suite, *place, "--store", "none", "--format", "github")
    file = f"{folder.name}/{suite.partition(':')[0]}.py"
    written = (folder.parent / file).read_text().splitlines()
    lines = {
        name: written.index(next(line for line in written if f'"{name}"' in line)) + 1
        for name in ("order_unique", "amount_positive", "spelled", "customer_known")
    }
    told = [line.partition("::not_null")[0] for line in done.stdout.splitlines()]
    assert f"::error file={file},line={lines['spelled']},title=ERROR spelled" in told
    assert (
        f"::warning file={file},line={lines['customer_known']},title=WARNED customer_known" in told
    )
    assert f"::error file={file},line={lines['amount_positive']}," in done.stdout
    page = summary.read_text()
    assert page.startswith("before\n## Lakeproof: gate closed\n")
    assert page.endswith("|\n\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--report", "jnit=x.xml"), "'jnit' is not one of console, json"),
        (("--report", "x.html"), "the suffix is none of"),
        (("--report", "json=lakeproof.toml/x.json"), "cannot be written"),
        (("--output-dir", "lakeproof.toml"), "cannot be written"),
        (("--report", "a.json", "--report", "json=a.json"), "two reports"),
        (("--format", "html"), "'html' is not one of"),
    ],
)
def test_what_cannot_be_written_is_refused_before_spark_starts(
    lakeproof, folder, suite_file, monkeypatch, options, said
):
    (folder / "lakeproof.toml").write_text("")
    (folder / "lake").mkdir()

    def refuse(*_):
        raise AssertionError("Spark was asked")

    monkeypatch.setattr("lakeproof.cli.run.session_for", refuse)
    name = suite_file(SUITE)
    done = lakeproof("run", f"{name}:SALES", "--warehouse", str(folder / "lake"), *options)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert said in " ".join(done.stderr.split())
