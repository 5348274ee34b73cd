"""How a run ends: where its partitions are, whose errors they hold, and that a failure stays."""

from __future__ import annotations

import io
import json
import sys

import pytest
from small_runs import Flow, numbered, open_ledger, output_at

import lakeproof
from lakeproof.accounting.choices import one_of, overlap_of
from lakeproof.accounting.closing import say
from lakeproof.accounting.thresholds import ErrorThresholds
from lakeproof.errors import AccountingFailureException, ErrorThresholdError, LedgerError
from lakeproof.model.accounting import AllowedOverlap, Level, OutputPartition


def test_plain_words_are_read_and_senseless_ones_refused():
    assert one_of(Level, "commit", "level") is Level.COMMIT
    for given, told in (
        ({"partitions": "ERROR", "reason": "r", "max": 1}, "one partition alone"),
        (AllowedOverlap(("ERROR", "OUTPUT"), "r", 0), "at least 1 record"),
    ):
        with pytest.raises(LedgerError, match=told):
            overlap_of(given)


def test_a_console_without_the_signs_gets_others(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    say("✓ Accounting verified")
    assert stream.buffer.getvalue() == b"? Accounting verified\n"


def test_tables_by_name_and_the_seed_s_own_places_are_partitions(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    tables = {"delta": "books_closed", "iceberg": "iceberg.lakehouse.books_closed"}
    for kind, table in tables.items():
        ledger = open_ledger(spark, tmp_path / kind, [*numbered("1", "2"), *numbered("3", n=0)])
        checked = Flow(ledger, ledger.input_frame())
        result = lakeproof.errors_with_adjoint(
            checked.frame, [lakeproof.Requirement("positive", "n > 0")], ledger.adjoint("check")
        )
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        result.output.select("id").writeTo(table).using(kind).create()
        ledger.add_partition(OutputPartition("output", "", None, "PassThrough", table))
        ledger.add_partition(OutputPartition("ERROR", "", 1, "ErrorRecords", "errors/"))
        with pytest.raises(LedgerError, match="it may be OUTPUT, FILTERED"):
            ledger.add_partition(OutputPartition("LOST", "", None, "PassThrough", "x"))
        document = ledger.finish()
        assert document.verification.partition_counts == {"OUTPUT": 2, "ERROR": 1}
        assert [one.adjoint_location for one in document.output_accounting.partitions] == [
            table,
            "errors/",
        ]
        report = lakeproof.verify_ledger(tmp_path / kind / "run")
        assert report.verified, report


def test_each_step_has_the_errors_it_found(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path / "in [1]", numbered("a", "b", "c"))
    for sink, refused in (("one", "a"), ("two", "b")):
        flow = Flow(ledger).demand(f"id <> '{refused}'", name=f"to_{sink}", sink=sink)
        flow.keep(tmp_path / sink, sink, sink=sink)
    document = ledger.finish()
    errors = [p for p in document.output_accounting.partitions if p.partition_type == "ERROR"]
    assert [(p.name, p.record_count) for p in errors] == [
        ("ERROR(to_one)", 1),
        ("ERROR(to_two)", 1),
    ]
    summary = json.loads((tmp_path / "in [1]" / "run" / "errors" / "_summary.json").read_text())
    assert summary["total_errors"] == 2
    assert lakeproof.verify_ledger(tmp_path / "in [1]" / "run").verified

    forgotten = open_ledger(spark, tmp_path / "forgotten", numbered("a", "b"))
    Flow(forgotten).demand("id <> 'a'", name="kept").keep(tmp_path / "rest")
    config = forgotten.adjoint("never_added")
    lakeproof.errors_with_adjoint(
        forgotten.input_frame(), [lakeproof.Requirement("no", "id <> 'b'")], config
    )
    assert "not added: never_added/no" in forgotten.verify().message


def test_too_many_errors_fail_the_run_for_good(spark, tmp_path):
    heard = []

    class Listener:
        def started(self, manifest): ...
        def completed(self, ledger): ...
        def failed(self, reason, count, discrepancy):
            heard.append((reason, count, (tmp_path / "run" / "ledger.failed.json").exists()))

    limit = ErrorThresholds(max_errors=1, early_rows=0)
    ledger = open_ledger(
        spark, tmp_path, numbered("a", "b", "c"), thresholds=limit, listeners=[Listener()]
    )
    with pytest.raises(ErrorThresholdError):
        Flow(ledger).demand("id = 'a'")
    assert heard == [("ERROR_THRESHOLD_EXCEEDED", 2, True)]
    with pytest.raises(LedgerError, match="closed"):
        ledger.add_partition(output_at(tmp_path / "out", "rest"))
    with pytest.raises(AccountingFailureException, match="Error threshold exceeded: step 'check'"):
        ledger.finish()
    assert len(heard) == 1
    assert not (tmp_path / "run" / "ledger.json").exists()


def test_a_failure_that_could_not_be_written_is_one(spark, tmp_path, monkeypatch):
    from lakeproof import faults

    ledger = open_ledger(spark, tmp_path, numbered("a", "b", "b"), sensitive=["ID"])
    (tmp_path / "input" / "records.json").write_text("", encoding="utf-8")

    def stop():
        raise OSError("full")

    with faults.armed("after_failure_text", stop), pytest.raises(OSError, match="full"):
        ledger.verify()
    with pytest.raises(LedgerError, match="closed"):
        ledger.add_partition(output_at(tmp_path / "out", "rest"))
    found = ledger.verify()
    assert "Repeated keys cannot be named" in found.message
    assert (tmp_path / "run" / "ledger.failed.json").exists()
    with pytest.raises(LedgerError, match="no key column"):
        open_ledger(spark, tmp_path / "x", numbered("a"), sensitive=["n"])
