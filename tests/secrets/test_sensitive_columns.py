"""Values of columns declared sensitive: in no report, log, message or state file."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from canaries import (
    BREAKING,
    BREAKING_SUITE,
    CANARIES,
    CONFIG,
    IN_COLUMNS,
    NAMESPACE,
    QUICK_SUITE,
    SUITE,
    TABLES,
    build_tables,
    found_in,
)
from click.testing import CliRunner

import lakeproof
from lakeproof.checks.catalogue import check_names
from lakeproof.cli.main import main
from lakeproof.config import CATALOG_OF_FORMAT, STATE_TABLES, StoreSettings
from lakeproof.planning.explain import plan_document, plan_sql, plan_tree, statements_of
from lakeproof.reporting.formats import REPORT_FORMATS
from spark_settings import WITH_GENERATED_CODE, under

BUILT_IN = {name for name in check_names() if not name.startswith("test_")}


@pytest.fixture(scope="module", autouse=True)
def planted(spark):
    build_tables(spark)


@pytest.fixture(scope="module")
def warehouse(spark):
    return Path(spark.conf.get("spark.sql.catalog.iceberg.warehouse")).parent


def store(format_name, namespace):
    catalog = CATALOG_OF_FORMAT[format_name]
    return StoreSettings(format=format_name, catalog=catalog, namespace=namespace)


def run(spark, suite, config, kept, **options):
    """The outcome and everything that the run said while it worked."""
    steps: list[str] = []
    outcome = lakeproof.run_checks(
        spark, suite, store=kept, config=config, listener=lambda s: steps.append(s.text), **options
    )
    return outcome, "\n".join(steps)


def told_by(outcome) -> str:
    """Every form in which the outcome shows itself to its caller."""
    texts = [
        str(outcome),
        repr(outcome),
        outcome._repr_html_(),
        str(outcome.to_dict()),
        *map(repr, outcome.results),
        plan_tree(outcome.plan),
        plan_sql(outcome.plan),
        str(plan_document(outcome.plan, statements_of(outcome.plan))),
        *(str(row) for row in outcome.violations().collect()),
        *map(str, outcome.comparisons.values()),
    ]
    with pytest.raises(lakeproof.GateClosedError) as closed:
        outcome.raise_for_status()
    return "\n".join([*texts, str(closed.value), repr(closed.value)])


def rows_kept(spark, kept) -> str:
    """Every column of every state table, as Spark reads it."""
    tables = [f"{kept.catalog}.{kept.namespace}.{name}" for name in STATE_TABLES.values()]
    rows = [str(row) for table in tables for row in spark.sql(f"SELECT * FROM {table}").collect()]
    assert len(rows) > 2 * len(QUICK_SUITE), "the store was filled"
    return "\n".join(rows)


def files_kept(warehouse, kept) -> str:
    """Every file below the store's folder: its bytes, and if Parquet its columns."""
    folder = warehouse / ("iceberg" if kept.format == "iceberg" else "delta")
    places = [*folder.glob(kept.namespace), *folder.glob(f"{kept.namespace}.db")]
    files = [file for place in places for file in place.rglob("*") if file.is_file()]
    parquet = [file for file in files if file.suffix == ".parquet"]
    assert parquet, "the store's files were found"
    columns = [str(pq.ParquetFile(file).read().to_pydict()) for file in parquet]
    return "\n".join([*(file.read_bytes().decode("latin-1") for file in files), *columns])


def test_fifty_canaries_are_planted_and_the_suite_has_every_check():
    assert len(CANARIES) == len(set(CANARIES)) == 50
    assert {check.check_type for check in SUITE} == BUILT_IN


@pytest.mark.parametrize(
    ("format_name", "suite"),
    [
        ("iceberg", QUICK_SUITE),
        pytest.param("iceberg", SUITE, marks=pytest.mark.slow),
        pytest.param("delta", QUICK_SUITE, marks=pytest.mark.slow),
    ],
    ids=("iceberg", "iceberg-every-check", "delta"),
)
def test_no_canary_of_a_sensitive_column_leaves(spark, warehouse, caplog, format_name, suite):
    caplog.set_level(logging.DEBUG, logger="lakeproof")
    kept = store(format_name, f"canaries_{format_name}_{len(suite)}")
    outcome, steps = run(spark, suite, CONFIG, kept)
    by_status = {result.check_name: result.status for result in outcome.results}
    broken = {name for name, status in by_status.items() if status == "error"}
    assert broken == {name for name in by_status if name.startswith("breaks_")}
    for text in (told_by(outcome), steps, caplog.text):
        assert found_in(text) == []
    assert found_in(rows_kept(spark, kept)) == []
    assert found_in(files_kept(warehouse, kept)) == []


@pytest.mark.slow
def test_the_same_canaries_are_found_where_nothing_is_declared_sensitive(spark, warehouse):
    kept = store("iceberg", "canaries_open")
    bare = {name: replace(settings, sensitive=()) for name, settings in TABLES.items()}
    outcome, _ = run(spark, QUICK_SUITE, replace(CONFIG, tables=bare), kept)
    shown = found_in(told_by(outcome), IN_COLUMNS)
    assert len(shown) >= 30
    assert len(found_in(rows_kept(spark, kept), IN_COLUMNS)) >= 30
    assert len(found_in(files_kept(warehouse, kept), IN_COLUMNS)) >= 30
    assert len(found_in(str(outcome.comparisons), IN_COLUMNS)) >= 30


def test_a_message_of_spark_is_withheld_whether_or_not_a_column_is_declared(spark):
    with under(spark, WITH_GENERATED_CODE):  # which names the exception of a pattern
        outcome, steps = run(spark, BREAKING_SUITE, replace(CONFIG, tables={}), None)
    assert {result.status for result in outcome.results} == {"error"}
    assert found_in(steps + told_by(outcome)) == []
    details = {result.check_name: result.details for result in outcome.results}
    assert details["breaks_cast"] == (
        'Error: [CAST_INVALID_INPUT] a value of the type "STRING" cannot be cast to "INT"; '
        "`try_cast` gives NULL instead"
    )
    assert "PatternSyntaxException: message withheld" in details["breaks_regex"]
    assert details["breaks_pair"].startswith(
        "Failed to query source table iceberg.canaries.damaged"
    )
    assert len(details) == len(BREAKING) + 8


@pytest.mark.slow
def test_a_key_given_with_the_call_leaves_columns_sensitive(spark):
    outcome, _ = run(spark, QUICK_SUITE, CONFIG, None, keys={"people": ["id"], "members": ["name"]})
    assert found_in(told_by(outcome)) == []


def test_a_table_named_in_two_ways_has_all_its_sensitive_columns(spark):
    full = f"iceberg.{NAMESPACE}.people"
    tables = {"people": lakeproof.config.TableSettings(key=("id",)), full: TABLES["people"]}
    check = next(check for check in SUITE if check.name == "accepted")
    result = lakeproof.run_check(spark, check, config=replace(CONFIG, tables=tables))
    assert result.sample_values
    assert found_in(str(result)) == []


SUITE_FILE = """
from canaries import BREAKING_SUITE, QUICK_SUITE as SUITE
BREAKING = BREAKING_SUITE[::4]
"""
SETTINGS = "\n".join(
    [
        f'default_namespace = "{NAMESPACE}"',
        "[store]",
        'namespace = "canaries_cli"',
        *(
            f'[tables."{name}"]\nkey = {list(one.key)!r}\nsensitive = {list(one.sensitive)!r}'
            for name, one in TABLES.items()
        ),
    ]
)


@pytest.mark.slow
def test_a_comparison_by_itself_shows_no_canary_and_writes_none(spark):
    check = lakeproof.ChecksumReconciliationCheck(
        "damaged", "people", ["name", "born"], output_table="canary_differences"
    )
    result = check.run(spark, config=CONFIG)
    assert result.metric_value["duplicate_keys"] == 4
    assert result.metadata["samples"]
    assert found_in(str(result.to_dict())) == []
    written = spark.table(f"iceberg.{NAMESPACE}.canary_differences").collect()
    assert len(written) == 4
    assert found_in(str(written)) == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project whose suite is the one that tries to leak."""
    (tmp_path / "lakeproof.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "leaking.py").write_text(SUITE_FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.slow
def test_no_command_shows_a_canary(folder, warehouse):
    where = ("--warehouse", str(warehouse))
    calls = [
        ("run", "leaking:SUITE", "--run-id", "first", "-vv", "--output-dir", "reports"),
        *(("show", "run", "first", "-v", "--format", style) for style in REPORT_FORMATS),
        *(("show", "results", "--run", "first", "--format", f) for f in ("console", "json", "csv")),
        *(("show", "results", "--trend", "--format", f) for f in ("console", "json", "csv")),
        *(
            ("show", "violations", "--status", "all", "--limit", "5000", "--format", f)
            for f in ("console", "json", "csv")
        ),
        ("reconcile", "damaged", "people", "--key", "id", "-v"),
        ("reconcile", "damaged", "people", "--key", "id,name", "--format", "json"),
        ("plan", "leaking:SUITE", "-v", "--sql"),
        ("plan", "leaking:SUITE", "--format", "json"),
        ("lint", "leaking:SUITE", "-v"),
        ("init", "--from-table", "people", "--suite", "drafted.py", "-v"),
    ]
    for call in calls:
        done = CliRunner().invoke(main, [*call, *(() if call[0] == "lint" else where)])
        assert done.stdout, (call, done.stderr)
        assert found_in(done.stdout + done.stderr) == [], call
    written = [file for file in folder.rglob("*") if file.suffix != ".pyc"]
    assert {"report.txt", "results.json", "junit.xml", "drafted.py"} <= {f.name for f in written}
    for file in written:
        if file.is_file():
            assert found_in(file.read_text(encoding="utf-8")) == [], file


@pytest.mark.slow
def test_a_process_of_its_own_lets_no_canary_through_java_either(folder, warehouse):
    done = subprocess.run(
        [sys.executable, "-m", "lakeproof.cli.main", "run", "leaking:BREAKING", "-vv",
         "--warehouse", str(warehouse), "--store", "none"],
        capture_output=True, text=True, timeout=300, check=False, cwd=folder,
        env=_environment(),
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "breaks_cast" in done.stdout
    assert found_in(done.stdout + done.stderr) == []


def _environment() -> dict[str, str]:
    """With our own path: the suite imports what stands beside this file."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
