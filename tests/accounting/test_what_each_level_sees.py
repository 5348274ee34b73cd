"""What is done to a run's records or files, and which level sees it: the table of the docs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pytest
from airline import SMALL, finished_run
from pyarrow import parquet
from small_runs import Flow, lines_of, open_ledger
from tampering import CHANGES, COUNT, FAULTS, FILTERED, LOST_ELEMENTS, Run

import lakeproof
from lakeproof import (
    AccountingDiscrepancy,
    AccountingLedger,
    AdjointType,
    OutputPartition,
    PartitionType,
    Verification,
)

LEVELS = ("COUNT", "COMMIT")


# --------------------------------------------------------------------------- after the ledger


@pytest.fixture
def run_at(spark, tmp_path, tmp_path_factory):
    """A copy of a finished run, and of its input, to be tampered with."""

    def copied(level):
        finished = finished_run(spark, tmp_path_factory.getbasetemp(), level, SMALL)
        run = Run(tmp_path / "run", tmp_path / "input")
        shutil.copytree(finished.directory, run.directory)
        shutil.copytree(finished.dataset, run.dataset)
        return run

    return copied


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_change_to_a_finished_run_is_seen_where_the_table_says_so(run_at, change, level):
    run = run_at(level)
    change.do(run)
    report = lakeproof.verify_ledger(run.directory, input_path=run.dataset)
    expected = change.at_count if level == COUNT else change.at_commit
    assert {finding.level for finding in report.findings} == set(expected), report.findings
    assert report.verified is (not expected)
    told = "\n".join(finding.message for finding in report.findings)
    assert not expected or change.names in told, told


def test_the_verifier_runs_where_there_is_no_java(run_at, tmp_path):
    run = run_at("COMMIT")
    command = [sys.executable, "-m", "lakeproof.cli.main", "ledger", "verify", run.directory]
    environment = {**os.environ, "PATH": str(tmp_path), "JAVA_HOME": str(tmp_path / "no-java")}

    def verify():
        return subprocess.run(
            [*command, "--input", run.dataset],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    whole = verify()
    assert whole.returncode == 0, whole.stdout + whole.stderr
    shutil.rmtree(run.directory / FILTERED)
    altered = verify()
    assert altered.returncode == 1, altered.stdout + altered.stderr
    assert "FILTERED(positive_price_filter)" in altered.stdout


# -------------------------------------------------------------------------- before the ledger


def keys(first, last):
    return [f"BKG_{number:03}" for number in range(first, last + 1)]


def books(spark, folder, rows, **settings):
    """A ledger of forty records over tables that another program wrote, as the seed has them."""
    dataset = folder / "input"
    dataset.mkdir()
    lines = [json.dumps({"segment_id": key}) for key in keys(1, 40)]
    (dataset / "part.json").write_text("\n".join(lines), encoding="utf-8")
    ledger = AccountingLedger(
        "foreign", str(dataset), folder / "run", spark, schema="segment_id STRING", **settings
    )
    ledger.initialize_input("segment_id")
    for kind, adjoint, steps in (
        (PartitionType.AGGREGATED, AdjointType.ReverseJoinMetadata, "daily_revenue_aggregation"),
        (PartitionType.FILTERED, AdjointType.FilteredKeysMetadata, "positive_price_filter"),
        (PartitionType.ERROR, AdjointType.ErrorRecords, ""),
    ):
        place = folder / kind
        place.mkdir()
        write_keys(place, kind, rows[kind])
        ledger.add_partition(
            OutputPartition(kind, "", None, adjoint, str(place), morphism_id=steps)
        )
    return ledger


def write_keys(place, kind, found):
    if kind is PartitionType.ERROR:
        lines = [json.dumps({"source_key": key, "morphism_path": "rules"}) for key in found]
        (place / "errors.json").write_text("\n".join(lines), encoding="utf-8")
    else:
        table = pa.table({"source_key": pa.array(found, pa.string())})
        parquet.write_table(table, place / "keys.parquet")


def whole():
    return {"AGGREGATED": keys(1, 30), "FILTERED": keys(31, 36), "ERROR": keys(37, 40)}


def said_of(verdict):
    """The verdict in the words of the table."""
    if isinstance(verdict, Verification):
        return ""
    told = (
        ("missing", verdict.missing_count, verdict.missing_keys),
        ("extra", verdict.extra_count, verdict.extra_keys),
        ("duplicate", verdict.duplicate_count, verdict.duplicate_keys),
    )
    return ", ".join(f"{count} {word}: {', '.join(named)}" for word, count, named in told if count)


def faults():
    """Every fault at each level; what COUNT names, COMMIT names by the same code."""
    for fault in FAULTS:
        for level, expected in zip(LEVELS, (fault.at_count, fault.at_commit), strict=True):
            marks = [pytest.mark.slow] if level == COUNT and expected else []
            yield pytest.param(fault, level, expected, id=f"{fault.what}, {level}", marks=marks)


@pytest.mark.parametrize(("fault", "level", "expected"), list(faults()))
def test_a_fault_of_the_pipeline_is_seen_where_the_table_says_so(
    spark, tmp_path, fault, level, expected
):
    rows = whole()
    fault.do(rows)
    verdict = books(spark, tmp_path, rows, level=level).verify()
    assert said_of(verdict) == expected
    assert (tmp_path / "run" / "ACCOUNTING_FAILURE.txt").exists() is bool(expected)


@pytest.mark.parametrize("level", [pytest.param("COUNT", marks=pytest.mark.slow), "COMMIT"])
@pytest.mark.parametrize("lost", LOST_ELEMENTS, ids=lambda lost: lost.element)
def test_a_lost_element_is_seen_where_the_table_says_so(spark, tmp_path, lost, level):
    (line,) = lines_of({"id": "BKG_001", "tags": ["first", "second"]})
    ledger = open_ledger(spark, tmp_path, [line], level=level)
    exploded = Flow(ledger).explode("tags").frame
    Flow(ledger, exploded.where(f"tags <> '{lost.element}'")).keep(tmp_path / "out")
    assert said_of(ledger.verify()) == (lost.at_count if level == COUNT else lost.at_commit)


def test_a_record_in_two_partitions_fails_by_both_names_and_passes_where_declared(spark, tmp_path):
    rows = whole()
    rows["ERROR"].append("BKG_001")
    (tmp_path / "strict").mkdir()
    verdict = books(spark, tmp_path / "strict", rows).verify()
    assert isinstance(verdict, AccountingDiscrepancy)
    both = ("AGGREGATED(daily_revenue_aggregation)", "ERROR")
    assert verdict.duplicate_keys == {"BKG_001": both}
    assert "Found 1 duplicate keys across partitions" in verdict.message
    told = (tmp_path / "strict" / "run" / "ACCOUNTING_FAILURE.txt").read_text(encoding="utf-8")
    assert f"BKG_001 -> {', '.join(both)}" in told

    (tmp_path / "declared").mkdir()
    allowed = {"partitions": ["AGGREGATED", "ERROR"], "reason": "late corrections", "max": 1}
    ledger = books(spark, tmp_path / "declared", rows, allowed_overlaps=[allowed])
    written = ledger.write_ledger(ledger.verify())
    (overlap,) = written.verification.overlaps
    assert (overlap.records, overlap.keys, overlap.reason) == (1, ("BKG_001",), "late corrections")
    assert lakeproof.verify_ledger(tmp_path / "declared" / "run").verified

    (tmp_path / "masked").mkdir()
    terms = {"allowed_overlaps": [allowed], "sensitive": ["segment_id"]}
    ledger = books(spark, tmp_path / "masked", rows, **terms)
    (overlap,) = ledger.write_ledger(ledger.verify()).verification.overlaps
    assert overlap.keys != ("BKG_001",)
    assert lakeproof.verify_ledger(tmp_path / "masked" / "run").verified
