"""Each check's SQL in both dialects is what the golden files say; UPDATE_GOLDEN=1 rewrites them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import sqlglot
from golden_sql import SAMPLES, golden_text, spark_sql, trino_sql

from lakeproof.checks.catalogue import check_names
from sqlglot_versions import run_with

FOLDER = Path(__file__).parent.parent / "golden" / "checks"
STATEMENT = re.compile(r"^-- (spark|trino)\n(.*?);\n(?=-- trino\n|\n|\Z)", re.DOTALL | re.MULTILINE)


def statements(check: str, dialect: str) -> list[str]:
    text = (FOLDER / f"{check}.sql").read_text(encoding="utf-8")
    return [sql for found, sql in STATEMENT.findall(text) if found == dialect]


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
    render = {"spark": spark_sql, "trino": trino_sql}[dialect]
    assert found == [render(check, sample) for sample in SAMPLES[check]]
    for sql in found:
        (tree,) = sqlglot.parse(sql, read=dialect)
        assert isinstance(tree, sqlglot.exp.Query)


def test_golden_spark_sql_parses_with_sparks_own_parser(spark):
    parser = spark._jsparkSession.sessionState().sqlParser()
    for check in check_names():
        for sql in statements(check, "spark"):
            assert parser.parsePlan(sql) is not None


@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_another_sqlglot_gives_the_same_sql(end, request):
    found = json.loads(run_with(end, request.path.with_name("golden_sql.py")))
    assert found == {check: golden_text(check) for check in check_names()}
