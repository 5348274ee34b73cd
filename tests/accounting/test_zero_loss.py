"""The books' verdict stands among the other results, and closes the gate when they do not."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from books import BALANCED, UNBALANCED, write_manifest, write_run

from lakeproof import CheckStatus, LedgerError, gate
from lakeproof.accounting.zero_loss import books_at, check_result_of
from lakeproof.model.accounting import (
    AccountingDiscrepancy,
    Commitment,
    DatasetPosition,
    KeyColumn,
    Level,
    OutputAccounting,
    Overlap,
)
from lakeproof.model.canonical import readable_key
from lakeproof.reporting.console import outcome_text
from lakeproof.state.statements import result_row


def test_books_that_balance_are_a_result_that_passed():
    result = check_result_of(BALANCED, run_id="nightly")
    assert (result.check_name, result.check_type) == ("zero_loss", "zero_loss")
    assert result.rule_key == "zero_loss:data/airline-clean"
    assert (result.table_name, result.column_name) == ("data/airline-clean", "segment_id")
    assert result.status is CheckStatus.PASSED
    assert (result.failing_rows, result.total_rows) == (0, 349_660)
    assert result.details == (
        "balanced: 349,660 records = 345,000 AGGREGATED + 4,000 FILTERED + 660 ERROR"
    )
    assert result.executed_at == "2026-03-01 10:05:00.000000"
    assert result.run_id == "nightly"
    assert result.declared["ledger_run_id"] == "baseline-test"
    assert json.loads(result.position) == {"kind": "files", "value": "sha256:0f"}
    assert "349,660 records" in str(result_row(result))


def test_books_that_do_not_balance_name_their_records():
    result = check_result_of(UNBALANCED)
    assert result.status is CheckStatus.FAILED
    assert (result.failing_rows, result.total_rows) == (4, 349_660)
    assert {name: result.measures[name] for name in ("missing", "extra", "duplicate")} == {
        "missing": 2,
        "extra": 1,
        "duplicate": 1,
    }
    shown = [
        f"{readable_key(key)}: {said}"
        for key, said in zip(result.sample_keys, result.sample_values, strict=True)
    ]
    assert shown == [
        "segment_id=BKG_007: missing",
        "segment_id=BKG_008: missing",
        "segment_id=GHOST: extra",
        "segment_id=BKG_001: in AGGREGATED(daily), ERROR",
    ]
    decision = gate([], UNBALANCED)
    assert decision.failures == (replace(result, executed_at=decision.failures[0].executed_at),)
    report = outcome_text("r", [result], decision)
    assert "FAILED  zero_loss: zero_loss on data/airline-clean.segment_id" in report
    assert "GATE CLOSED  1 failed" in report


def test_the_identity_of_the_rule_is_the_input_and_its_key_only():
    again = replace(BALANCED, run_id="tomorrow", finished_at="2026-03-02T10:05:00+00:00")
    elsewhere = replace(BALANCED, input_dataset="data/other")
    ids = [check_result_of(one).rule_id for one in (BALANCED, again, UNBALANCED, elsewhere)]
    assert ids[0] == ids[1] == ids[2] != ids[3]


@pytest.mark.parametrize(
    ("position", "text"),
    [
        (DatasetPosition("delta", version="12"), '{"kind":"delta","value":12}'),
        (DatasetPosition("iceberg", version="887"), '{"kind":"iceberg","value":887}'),
        (DatasetPosition("iceberg", version=""), ""),
        (DatasetPosition("frame"), ""),
    ],
    ids=lambda given: given if isinstance(given, str) else given.kind,
)
def test_the_position_is_that_of_the_input(position, text):
    source = replace(BALANCED.input_accounting, position=position)
    books = replace(BALANCED, input_accounting=source)
    assert check_result_of(books).position == text


def _with(ledger, **fields):
    return replace(ledger, verification=replace(ledger.verification, **fields))


@pytest.mark.parametrize(
    ("books", "details"),
    [
        (_with(BALANCED, level=Level.COUNT), "counts agree: 349,660 records = "),
        (_with(BALANCED, input_count=0, accounted_count=0), "balanced: the input is empty"),
        (
            _with(BALANCED, overlaps=(Overlap(("ERROR", "OUTPUT"), "both", 5, 3),)),
            ", of which 3 counted twice as allowed",
        ),
        (BALANCED.verification, "balanced: 349,660 records = "),
    ],
    ids=["count", "empty", "overlap", "verification"],
)
def test_a_verdict_says_no_more_than_was_seen(books, details):
    result = check_result_of(books)
    assert result.status is CheckStatus.PASSED
    assert details in result.details


@pytest.mark.parametrize(
    "books",
    [
        _with(BALANCED, accounting_balanced=False, accounted_count=349_000),
        replace(BALANCED.verification, accounting_balanced=False, accounted_count=349_000),
        replace(
            BALANCED,
            output_accounting=OutputAccounting(
                BALANCED.output_accounting.partitions, 349_000, unaccounted=660
            ),
        ),
    ],
    ids=["says no", "verification says no", "contradicts itself"],
)
def test_doubt_about_the_books_closes_the_gate(books):
    decision = gate([check_result_of(BALANCED)], books)
    assert not decision.is_open
    assert [failed.failing_rows for failed in decision.failures] == [660]


def test_a_discrepancy_alone_closes_the_gate():
    found = AccountingDiscrepancy("Input accounting not initialized")
    decision = gate([check_result_of(BALANCED)], found)
    assert decision.reasons == ("zero_loss: failed: Input accounting not initialized",)
    assert gate([], BALANCED).is_open
    assert gate([], BALANCED.verification).is_open


def test_a_composite_key_is_shown_by_its_columns():
    ledger = replace(
        UNBALANCED,
        input_accounting=replace(
            UNBALANCED.input_accounting,
            source_key_field="pnr, leg",
            key=(KeyColumn("pnr", "string"), KeyColumn("leg", "int")),
        ),
        discrepancy=AccountingDiscrepancy(
            "lost", missing_keys=('{"leg":["i","2"],"pnr":["s","X1"]}',), missing_count=1
        ),
    )
    assert [readable_key(key) for key in check_result_of(ledger).sample_keys] == ["leg=2, pnr=X1"]


def test_a_directory_a_file_and_the_ledger_are_one_gate(tmp_path):
    run = write_run(tmp_path / "good", BALANCED)
    for given in (run, str(run), run / "ledger.json"):
        assert gate([], given).is_open
    failed = write_run(tmp_path / "failed", UNBALANCED)
    assert gate([], failed).failures[0].failing_rows == 4
    assert gate([], failed / "ledger.failed.json").failures[0].failing_rows == 4
    write_run(failed, BALANCED)
    with pytest.raises(LedgerError, match="both"):
        gate([], failed)


def test_a_run_that_did_not_complete_is_an_error_with_the_same_identity(tmp_path):
    write_manifest(tmp_path, BALANCED)
    result = check_result_of(books_at(tmp_path))
    assert result.status is CheckStatus.ERROR
    assert "run baseline-test did not complete" in result.details
    finished = check_result_of(BALANCED)
    assert (result.rule_key, result.rule_id) == (finished.rule_key, finished.rule_id)
    assert not gate([finished], tmp_path).is_open


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no such file or run directory"),
        ({}, "is no run directory"),
        ({"ledger.json": "{"}, "ledger.json"),
        ({"ledger.json": "{}"}, "ledger.json"),
        ({"ledger.json": b"\xff\xfe\x00"}, "ledger.json"),
    ],
    ids=["nothing", "empty", "half a file", "no field", "no text"],
)
def test_a_ledger_that_cannot_be_read_is_refused_by_name(tmp_path, content, told):
    place = tmp_path / "run"
    if content is not None:
        place.mkdir()
        for name, text in content.items():
            (place / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LedgerError) as refused:
        gate([], place)
    assert str(place) in str(refused.value)
    assert told in str(refused.value)


def test_an_altered_ledger_does_not_open_the_gate(tmp_path):
    run = write_run(tmp_path, BALANCED)
    text = (run / "ledger.json").read_text(encoding="utf-8")
    edited = text.replace("345000", "345001")
    without_digest = re.sub(r',\s+"self_sha256": "[0-9a-f]+"', "", edited)
    assert len(without_digest) < len(edited)
    for altered in (edited, without_digest):
        (run / "ledger.json").write_text(altered, encoding="utf-8")
        with pytest.raises(LedgerError, match="was altered"):
            gate([], run)
    old = {**json.loads(without_digest), "ledger_version": "1.0"}
    (run / "ledger.json").write_text(json.dumps(old), encoding="utf-8")
    assert gate([], run).is_open, "ledgers of 1.0 have no digest"


def test_what_are_no_books_is_refused():
    with pytest.raises(LedgerError, match="Commitment is none of"):
        gate([], Commitment())
