"""`init`: the files it writes, what it refuses, and rules drafted from real tables."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import re
import sys

import pytest

from lakeproof.api import run_checks
from lakeproof.cli.first_config import config_text
from lakeproof.config import (
    Config,
    GateSettings,
    SessionSettings,
    StoreSettings,
    TableSettings,
    load_config,
)
from lakeproof.demo.lakehouse import build_lakehouse
from lakeproof.model.outcome import CheckStatus

_numbers = itertools.count()


def uncommented(text):
    return re.sub(r"^#(?=[\w\[])", "", text, flags=re.MULTILINE)


def test_the_configuration_shows_every_key_with_its_default(lakeproof, folder):
    assert lakeproof("init").exit_code == 0
    path = folder / "lakeproof.toml"
    text = path.read_text(encoding="utf-8")
    assert dataclasses.replace(load_config(path), source="defaults") == Config()
    assert uncommented(text) != text
    path.write_text(uncommented(text), encoding="utf-8")
    assert dataclasses.replace(load_config(path), source="defaults") == Config()
    for kind in (Config, StoreSettings, GateSettings, SessionSettings, TableSettings):
        for field in dataclasses.fields(kind):
            if field.name != "source":
                assert re.search(rf"^# ?\[?{field.name}\b", text, re.MULTILINE), field.name


def test_the_example_suite_has_no_findings(lakeproof, folder):
    done = lakeproof("init", "--suite", "first_checks_of_a_test.py")
    assert "Next: lakeproof lint first_checks_of_a_test:CHECKS" in done.stdout
    linted = lakeproof("lint", "first_checks_of_a_test:CHECKS")
    assert (linted.exit_code, linted.stdout) == (0, "3 rules, no findings\n")


@pytest.mark.parametrize("there", ["lakeproof.toml", "checks.py"])
def test_what_is_there_is_not_overwritten_and_nothing_else_is_written(lakeproof, folder, there):
    (folder / there).write_text("mine = 1\n", encoding="utf-8")
    done = lakeproof("init")
    assert done.exit_code == 2
    assert f"{there} is there already; nothing was written" in done.stderr
    assert [path.name for path in folder.iterdir()] == [there]
    assert (folder / there).read_text(encoding="utf-8") == "mine = 1\n"


def test_force_overwrites(lakeproof, folder):
    (folder / "checks.py").write_text("mine = 1\n", encoding="utf-8")
    assert lakeproof("init", "--force").exit_code == 0
    assert "QualityCheck" in (folder / "checks.py").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["checks.py", "lakeproof.toml"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("--suite", "checks.txt"), "is not a Python file"),
        (("--suite", "my-checks.py"), "is not a Python file"),
        (("--key", "id"), "name it with --from-table"),
        (("--from-table", "sales"), "no lakehouse in 'lakehouse'"),
        (("--suite", "blocked/checks.py"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_writes_nothing(lakeproof, folder, call, told):
    (folder / "blocked").write_text("a file where a folder should be", encoding="utf-8")
    done = lakeproof("init", *call)
    assert done.exit_code == 2
    assert told in done.stderr
    assert [path.name for path in folder.iterdir()] == ["blocked"]


def test_the_place_given_is_written_down_without_the_token(tmp_path):
    path = tmp_path / "lakeproof.toml"
    path.write_text(
        config_text(
            SessionSettings(warehouse='a "b"\\c', remote="sc://host:1/;token=secret"),
            't"able',
            ("order\nid", "b"),
        ),
        encoding="utf-8",
    )
    loaded = load_config(path)
    assert loaded.session == SessionSettings(warehouse='a "b"\\c', remote="sc://host:1")
    assert loaded.tables == {'t"able': TableSettings(key=("order\nid", "b"))}


def written_suite(folder, name):
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def drafted(lakeproof, folder, warehouse):
    """Draft a suite from a table; gives the module and its text."""

    def draft(table, *options):
        name = f"drafted_suite_{next(_numbers)}"
        done = lakeproof(
            *("init", "--from-table", table, "--suite", f"{name}.py"),
            *("--warehouse", warehouse, "--quiet", *options),
        )
        assert done.exit_code == 0, done.output
        return written_suite(folder, name), (folder / f"{name}.py").read_text(encoding="utf-8")

    return draft


def test_a_suite_drafted_from_the_good_table_passes_there_and_fails_on_the_bad_one(
    spark, drafted, folder
):
    build_lakehouse(spark)
    suite, text = drafted("good.sales")
    config = load_config(folder / "lakeproof.toml")
    assert config.tables["good.sales"].key == ("order_id",)
    assert "    # 0 NULLs in 5,000 rows\n" in text

    good = run_checks(spark, suite.CHECKS, config=config)
    assert {result.status for result in good.results} == {CheckStatus.PASSED}
    assert good.ok

    on_bad = [dataclasses.replace(check, table_name="lakehouse.sales") for check in suite.CHECKS]
    bad = run_checks(spark, on_bad, config=Config(), keys={"sales": ["order_id"]})
    assert not bad.ok
    assert {result.check_name: result.failing_rows for result in bad.failed} == {
        "sales_order_id_not_null": 2,
        "sales_order_id_unique": 3,
        "sales_customer_id_not_null": 8,
        "sales_country_accepted": 4,
        "sales_amount_positive": 5,
        "sales_amount_range": 3,
        "sales_ingestion_date_not_future": 6,
    }


@pytest.fixture
def space(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.cli_init")
    return "cli_init"


def test_every_type_is_drafted_from_and_the_suite_passes(spark, drafted, space):
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.{space}.types USING iceberg AS SELECT "
        "id AS order_id, CAST(id % 2 AS BOOLEAN) AS flag, CAST(id % 90 - 50 AS SMALLINT) AS small, "
        "CAST(id / 8 + 0.25 AS DECIMAL(12, 3)) AS price, CAST(id AS FLOAT) / 3 AS ratio, "
        "if(id = 3, double('NaN'), id) AS with_nan, if(id = 3, double('inf'), id) AS endless, "
        "CAST(NULL AS STRING) AS nothing, CAST('x' AS BINARY) AS bytes, "
        "if(id % 3 = 0, NULL, concat('s', id % 3)) AS state, repeat('long', 50) AS long_text, "
        "concat('u', id) AS code, date_add(DATE'2020-01-01', CAST(id AS INT)) AS day, "
        "timestamp_micros(1600000000000000 + id) AS at, "
        "TIMESTAMP_NTZ'2020-01-01 00:00:00' + INTERVAL '1' HOUR * id AS local_at, "
        "DATE'0001-01-01' AS ancient, array(id) AS items, named_struct('a', id) AS part, "
        "map('k', id) AS pairs FROM range(1, 201)"
    )
    suite, text = drafted(f"{space}.types")
    found = {(check.column_name, check.check_type) for check in suite.CHECKS}
    assert ("order_id", "uniqueness") in found
    assert ("code", "uniqueness") in found
    assert ("state", "accepted_values") in found
    assert ("state", "not_null") not in found
    assert ("long_text", "accepted_values") not in found
    assert ("small", "range") in found
    assert ("price", "positive") in found
    assert ("price", "uniqueness") not in found
    assert ("at", "no_future_dates") in found
    assert ("local_at", "no_future_dates") in found
    assert {check for name, check in found if name in {"with_nan", "endless"}} == {"not_null"}
    assert {name for name, check in found if check == "not_null"} >= {"items", "part", "pairs"}
    assert "# Nothing is drafted for column 'nothing'" in text
    outcome = run_checks(spark, suite.CHECKS)
    assert [result.details for result in outcome.failed] == []
    assert len(outcome.results) == len(suite.CHECKS) > 30


def test_private_values_never_reach_the_file(spark, drafted, space, folder):
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.{space}.people USING iceberg AS SELECT "
        "id, 'canary-email' AS email, 'canary-first' AS first_name, 4711.5D AS salary, "
        "DATE'1977-07-07' AS birth_date, 'canary-declared' AS segment, 'open' AS state "
        "FROM range(100)"
    )
    (folder / "lakeproof.toml").write_text(
        f"[tables.'{space}.people']\nsensitive = ['Segment']\n", encoding="utf-8"
    )
    suite, text = drafted(f"{space}.people", "--key", "id")
    for canary in ("canary", "4711", "1977"):
        assert canary not in text
    assert [c.column_name for c in suite.CHECKS if c.check_type == "accepted_values"] == ["state"]
    assert (folder / "lakeproof.toml").read_text(encoding="utf-8").startswith("[tables.")


def test_hostile_column_names_are_drafted_or_left_out_with_the_reason(spark, drafted, space):
    names = ["it's", 'a "b"', "tick`tick", "dot.ted", "größe", "new\nline", "a[].b"]
    columns = ", ".join(f"id AS `{name.replace('`', '``')}`" for name in names)
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.{space}.hostile USING iceberg AS "
        f"SELECT {columns} FROM range(100)"
    )
    suite, _ = drafted(f"{space}.hostile")
    assert {check.column_name for check in suite.CHECKS} >= {*names}
    outcome = run_checks(spark, suite.CHECKS)
    assert [result.details for result in outcome.failed] == []


def test_an_empty_table_gives_an_empty_suite_that_says_why(spark, drafted, space):
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.{space}.empty (id BIGINT) USING iceberg")
    suite, text = drafted(f"{space}.empty")
    assert suite.CHECKS == []
    assert "The table had no rows" in text


def test_a_table_or_key_that_is_not_there_writes_nothing(lakeproof, folder, warehouse, spark):
    done = lakeproof("init", "--from-table", "cli_init.no_such", "--warehouse", warehouse)
    assert done.exit_code == 2
    assert "--from-table cli_init.no_such: table iceberg.cli_init.no_such" in done.stderr
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.cli_init")
    spark.sql("CREATE OR REPLACE TABLE iceberg.cli_init.one USING iceberg AS SELECT 1 AS id")
    call = ("init", "--from-table", "cli_init.one", "--warehouse", warehouse, "--key", "idd")
    wrong = lakeproof(*call)
    assert wrong.exit_code == 2
    assert "idd" in wrong.stderr
    assert list(folder.iterdir()) == []
