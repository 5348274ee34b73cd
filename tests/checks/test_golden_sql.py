"""Each check's SQL in both dialects is what the golden files say; UPDATE_GOLDEN=1 rewrites them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import sqlglot
from golden_pairs import PAIR_SAMPLES, SPARK_ONLY
from golden_sql import SAMPLES, golden_text, statements_in

from lakeproof.checks.catalogue import check_names
from sqlglot_versions import run_with

FOLDER = Path(__file__).parent.parent / "golden" / "checks"
HEADING = "-- (spark|trino)(?:, [a-z ]+)?\n"
STATEMENT = re.compile(
    rf"^{HEADING}(.*?);\n(?={HEADING}|{SPARK_ONLY}|\n|\Z)", re.DOTALL | re.MULTILINE
)


def statements(check: str, dialect: str) -> list[str]:
    text = (FOLDER / f"{check}.sql").read_text(encoding="utf-8")
    return [sql for found, sql, _ in STATEMENT.findall(text) if found == dialect]


def test_every_check_has_a_golden_file_and_no_other_file_is_there():
    assert set(SAMPLES) == set(check_names())
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.sql" for name in check_names()}


@pytest.mark.parametrize("check", check_names())
def test_the_sql_of_a_check_is_as_its_golden_file_says(check):
    file = FOLDER / f"{check}.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(golden_text(check), encoding="utf-8", newline="\n")
    assert file.read_bytes().decode("utf-8") == golden_text(check), (
        "the SQL has changed; if it should have, run UPDATE_GOLDEN=1 pytest tests/checks"
    )


@pytest.mark.parametrize("check", check_names())
@pytest.mark.parametrize("dialect", ["spark", "trino"])
def test_golden_sql_parses_in_its_dialect(check, dialect):
    found = statements(check, dialect)
    rendered = [statements_in(check, sample, dialect) for sample in SAMPLES[check]]
    assert found == [sql for of_sample in rendered for sql in of_sample.values()]
    for sql in found:
        (tree,) = sqlglot.parse(sql, read=dialect)
        assert isinstance(tree, sqlglot.exp.Query)


def test_every_check_is_told_for_trino_but_comparisons_of_two_tables():
    without = {check for check in check_names() if not statements(check, "trino")}
    assert without == set(PAIR_SAMPLES)
    for check, samples in PAIR_SAMPLES.items():
        assert golden_text(check).count(f"\n{SPARK_ONLY}\n") == len(samples)


def test_golden_spark_sql_parses_with_sparks_own_parser(spark):
    parser = spark._jsparkSession.sessionState().sqlParser()
    for check in check_names():
        for sql in statements(check, "spark"):
            assert parser.parsePlan(sql) is not None


@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_another_sqlglot_gives_the_same_sql(end, request):
    found = json.loads(run_with(end, request.path.with_name("golden_sql.py")))
    assert found == {check: golden_text(check) for check in check_names()}
