"""The life of a ledger: begun once, closed once, and nothing in between is taken on trust."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from small_runs import Flow, declare_ledger, numbered, open_ledger, output_at

import lakeproof
from lakeproof.accounting.adjoint import filter_with_adjoint
from lakeproof.accounting.ledger import AccountingLedger
from lakeproof.errors import AccountingFailureException, ConfigError, LedgerError
from lakeproof.model.accounting import AccountingDiscrepancy, AdjointType, Level, Verification


class Heard:
    """A listener that notes what it was told, and which files were there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[tuple[object, ...]] = []

    def _note(self, *told) -> None:
        files = sorted(one.name for one in self.folder.glob("*") if one.is_file())
        self.calls.append((*told, files))

    def started(self, manifest) -> None:
        self._note("started", manifest.run_id)

    def completed(self, ledger) -> None:
        self._note("completed", ledger.verification.accounted_count)

    def failed(self, reason, count, discrepancy) -> None:
        self._note("failed", reason, count)


def test_listeners_hear_of_an_end_after_its_files_are_written(spark, tmp_path, capsys):
    good, bad = Heard(tmp_path / "good" / "run"), Heard(tmp_path / "bad" / "run")
    ledger = open_ledger(spark, tmp_path / "good", numbered("a", "b"), listeners=[good])
    Flow(ledger).where("id = 'a'").keep(tmp_path / "good" / "out")
    assert ledger.finish().balanced
    assert "✓ Accounting verified: 2 records accounted for" in capsys.readouterr().out
    assert good.calls == [
        ("started", "small-run", ["manifest.json"]),
        ("completed", 2, ["ledger.json", "manifest.json"]),
    ]
    lossy = open_ledger(spark, tmp_path / "bad", numbered("a", "b", "c"), listeners=[bad])
    Flow(lossy, lossy.input_frame().where("id = 'a'")).keep(tmp_path / "bad" / "out")
    with pytest.raises(AccountingFailureException) as raised:
        lossy.finish()
    assert raised.value.discrepancy.missing_keys == ("b", "c")
    assert "✗ ACCOUNTING INVARIANT VIOLATED: Missing 2 keys" in capsys.readouterr().out
    failed = ["ACCOUNTING_FAILURE.txt", "ledger.failed.json", "manifest.json"]
    assert bad.calls[1:] == [("failed", "ACCOUNTING_INVARIANT_VIOLATED", 2, failed)]
    with pytest.raises(LedgerError, match="this run is closed"):
        lossy.add_partition(output_at(tmp_path / "bad" / "out2", "more"))
    assert lossy.verify() is lossy.verify()


def test_only_the_last_verification_of_this_ledger_is_written(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("a", "b"))
    Flow(ledger).keep(tmp_path / "out")
    verification = ledger.verify()
    assert isinstance(verification, Verification)
    for stranger in (replace(verification), replace(verification, accounted_count=3)):
        with pytest.raises(LedgerError, match="not the verification"):
            ledger.write_ledger(stranger)
    again = ledger.verify()
    assert (again, again is verification) == (verification, False)  # read anew
    with pytest.raises(LedgerError, match="returned last"):
        ledger.write_ledger(verification)
    document = ledger.write_ledger(again)
    assert ledger.verify() is again
    with pytest.raises(LedgerError, match="written already"):
        ledger.write_ledger(verification)
    assert AccountingLedger.load_ledger(document.directory) == document
    assert lakeproof.load_ledger(tmp_path / "run" / "ledger.json").verification == verification
    text = json.loads((tmp_path / "run" / "ledger.json").read_text(encoding="utf-8"))
    assert text["verification"]["proof_method"] == "additive_multiset_commitment"


def test_what_cannot_be_kept_is_refused_with_the_way_out(spark, tmp_path):
    with pytest.raises(ConfigError, match="not a slug"):
        AccountingLedger("No Slug", "in", tmp_path / "run", spark)
    with pytest.raises(LedgerError, match="level is 'SEALED'; it may be OFF, COUNT, COMMIT"):
        declare_ledger(spark, tmp_path, tmp_path, level="SEALED")
    with pytest.raises(LedgerError, match="needs partitions"):
        declare_ledger(spark, tmp_path, tmp_path, allowed_overlaps=[{"partitions": ["ERROR"]}])
    idle = declare_ledger(spark, tmp_path, tmp_path)
    assert idle.verify() == AccountingDiscrepancy("Input accounting not initialized")
    for early in (idle.input_frame, lambda: idle.adjoint("step")):
        with pytest.raises(LedgerError, match="call initialize_input first"):
            early()
    ledger = open_ledger(spark, tmp_path / "one", numbered("a"))
    with pytest.raises(LedgerError, match="called before"):
        ledger.initialize_input("id")
    with pytest.raises(LedgerError, match="comes too late"):
        ledger.add_input("other", tmp_path, "id")
    with pytest.raises(LedgerError, match="there is no input 'other'; this ledger has 'input'"):
        ledger.input_frame("other")
    again = declare_ledger(spark, tmp_path / "one", tmp_path / "one" / "input")
    with pytest.raises(LedgerError, match="is not empty"):
        again.initialize_input("id")
    place = output_at(tmp_path / "out", "rest")
    has = "names the source 'typo'; .* has 'input'"
    with pytest.raises(LedgerError, match=rf"partition OUTPUT\(rest\) {has}"):
        ledger.add_partition(replace(place, source="typo"))
    with pytest.raises(LedgerError, match=f"step 'wanted' {has}"):
        Flow(ledger).where("n > 0", source="typo")
    ledger.add_partition(place)
    with pytest.raises(LedgerError, match="counted twice"):
        ledger.add_partition(place)


def test_what_was_forgotten_is_told_with_the_keys(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("a", "b", "c"), thresholds="strict")
    result = filter_with_adjoint(
        ledger.input_frame(), "id <> 'a'", config=ledger.adjoint("not_added")
    )
    Flow(ledger, result.output).keep(tmp_path / "out")
    ledger.add_partition(output_at(tmp_path / "typo", "elsewhere"))
    with pytest.raises(AccountingFailureException, match="lakeproof ledger show") as raised:
        ledger.finish()
    found = raised.value.discrepancy
    assert found.missing_keys == ("a",)
    place = "adjoint/filtered_keys/not_added.parquet"
    assert found.reasons == (
        f"there is nothing at {tmp_path / 'typo'}, the place of OUTPUT(elsewhere)",
        f"{place} was captured, and its partition was not added: add_result(...)",
    )
    with pytest.raises(LedgerError, match="thresholds is 'stric'; it may be ErrorThresholds"):
        declare_ledger(spark, tmp_path, tmp_path, thresholds="stric")


def test_a_record_lost_between_two_verdicts_is_missing(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("a", "b"))
    Flow(ledger).where("id = 'a'").keep(tmp_path / "out")
    assert isinstance(ledger.verify(), Verification)
    shutil.rmtree(tmp_path / "run" / "adjoint" / "filtered_keys")
    assert ledger.verify().missing_keys == ("b",)


def test_without_ansi_mode_no_books_are_kept(spark, tmp_path):
    ledger = declare_ledger(spark, tmp_path, tmp_path)
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with pytest.raises(
            LedgerError, match=r"sums could overflow .* Turn it on: spark\.conf\.set"
        ):
            ledger.initialize_input("id")
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")
    assert not (tmp_path / "run").exists()


def test_off_runs_the_same_pipeline_and_keeps_nothing(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("a", "b", "b"), level=Level.OFF)
    grouped = Flow(ledger).where("id <> 'a'").group("id").frame
    assert [tuple(row) for row in grouped.collect()] == [("b", 2)]
    assert grouped.columns == ["id", "lines"]
    assert not [name for name in ledger.input_frame().columns if name.startswith("_lakeproof")]
    assert ledger.finish() is None
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", ["delta", "iceberg", "frame"])
def test_tables_and_frames_are_inputs_too(spark, tmp_path, kind):
    rows = "SELECT * FROM VALUES (1, 'x'), (2, 'y'), (CAST(NULL AS INT), 'z') AS t(id, word)"
    table = {"delta": "spark_catalog.default.books_in", "iceberg": "iceberg.lakehouse.books_in"}
    if kind == "frame":
        dataset = spark.sql(rows)
    else:
        dataset = table[kind]
        spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
        spark.sql(f"CREATE OR REPLACE TABLE {dataset} USING {kind} AS {rows}")
    ledger = AccountingLedger("of-tables", dataset, tmp_path / "run", spark)
    accounting = ledger.initialize_input("id")
    assert (accounting.total_records, accounting.null_keys) == (3, 1)
    assert accounting.position.kind == kind
    if kind != "frame":  # what is added later is not in the pinned input
        spark.sql(f"INSERT INTO {dataset} VALUES (3, 'late')").collect()
    flow = Flow(ledger).demand("word <> 'y'")
    flow.group("word")
    document = ledger.finish()
    assert document.verification.partition_counts == {"ERROR": 2, "AGGREGATED": 1}
    report = lakeproof.verify_ledger(tmp_path / "run")
    assert report.verified, report
    assert [part.adjoint_type for part in document.output_accounting.partitions] == [
        AdjointType.ErrorRecords,
        AdjointType.GroupCommitments,
    ]
