"""What a ledger says of itself, held against its other numbers and the files beside it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from stored_runs import FILTERED, edit_ledger, make_run, write_table
from verifier_reports import change_rows, texts, told

from lakeproof.accounting.without_spark.verifying import verify_ledger
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import AccountingDiscrepancy, Overlap

EDITS = {
    "verification.input_count": lambda tree: tree["verification"].update(input_count=11),
    "verification.accounted_count": lambda tree: tree["verification"].update(accounted_count=9),
    "output_accounting.total_accounted": lambda tree: tree["output_accounting"].update(
        total_accounted=9
    ),
    "output_accounting.unaccounted": lambda tree: tree["output_accounting"].update(unaccounted=1),
    "verification.partition_counts.FILTERED": lambda tree: tree["verification"][
        "partition_counts"
    ].update(FILTERED=2),
    "verification.accounts": lambda tree: tree["verification"]["accounts"][0].update(
        accounted_count=9
    ),
    "record_count": lambda tree: tree["output_accounting"]["partitions"][0].update(record_count=9),
    "total_records": lambda tree: tree["inputs"][0].update(total_records=9),
    "distinct_keys": lambda tree: tree["inputs"][0].update(distinct_keys=8),
    "input_hash": lambda tree: tree["inputs"][0].update(input_hash="sha256:00"),
    "sums of the keys": lambda tree: tree["inputs"][0]["commitment"]["limbs"].reverse(),
    "manifest.json: salt": lambda tree: tree.update(salt="00" * 16),
    "manifest.json: run_id": lambda tree: tree.update(run_id="another"),
}


@pytest.mark.parametrize("field", EDITS)
def test_an_edited_number_contradicts_the_others_even_under_a_new_digest(tmp_path, field):
    from lakeproof.accounting.document import self_sha256_of

    run = make_run(tmp_path)
    file = run / "ledger.json"
    tree = json.loads(file.read_text())
    EDITS[field](tree)
    file.write_text(json.dumps(tree))
    report = verify_ledger(run)
    assert "ledger.json: self_sha256" in texts(report)
    file.write_text(json.dumps(tree | {"self_sha256": self_sha256_of(tree)}))
    report = verify_ledger(run)
    assert field in texts(report)
    assert "self_sha256" not in texts(report)
    assert report.exit_code == 1


def test_a_ledger_without_its_digest_is_a_finding(tmp_path):
    run = make_run(tmp_path)
    file = run / "ledger.json"
    tree = json.loads(file.read_text())
    del tree["self_sha256"]
    file.write_text(json.dumps(tree))
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "document")]
    assert "ledger.json: its own digest" not in report.checked
    assert "ledger.json: its sums against each other" in report.checked


def test_words_of_a_later_version_are_unreadable_and_no_crash(tmp_path):
    run = make_run(tmp_path)
    file = run / "ledger.json"
    tree = json.loads(file.read_text())
    tree["output_accounting"]["partitions"][1]["partition_type"] = "POSTPONED"
    file.write_text(json.dumps(tree))
    report = verify_ledger(run)
    assert "'POSTPONED' is not known to this release" in texts(report)


@pytest.mark.parametrize("text", ["{", "[]", '{"ledger_version": "2.0"}', "{}"])
def test_a_text_that_is_no_ledger_is_unreadable(tmp_path, text):
    (tmp_path / "ledger.json").write_text(text)
    report = verify_ledger(tmp_path)
    assert told(report) == [("DIGEST", "unreadable")]
    assert (report.exit_code, report.balanced) == (3, False)


def test_a_folder_without_a_ledger_is_an_error(tmp_path):
    with pytest.raises(LedgerError, match="no run directory"):
        verify_ledger(tmp_path)
    with pytest.raises(LedgerError, match="no such file"):
        verify_ledger(tmp_path / "nowhere")


def test_the_chain_to_the_ledger_before_is_checked_where_it_can_be(tmp_path):
    from lakeproof.accounting.document import previous_ledger

    before, run = make_run(tmp_path / "a"), make_run(tmp_path / "b")
    edit_ledger(run, lambda one: replace(one, previous=previous_ledger(before, str(run))))
    assert verify_ledger(run).verified
    edit_ledger(before, lambda one: replace(one, run_id="rewritten"))
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "document")]
    assert "previous ledger" in texts(report)
    shutil.rmtree(before)
    report = verify_ledger(run)
    assert report.verified
    assert any("previous ledger" in gap for gap in report.not_checked)


def test_a_failed_run_says_so(tmp_path):
    run = make_run(tmp_path)

    def fail(ledger):
        found = AccountingDiscrepancy("Missing 1 keys from input (silently dropped)")
        said = replace(ledger.verification, accounting_balanced=False)
        return replace(ledger, discrepancy=found, verification=said)

    edit_ledger(run, fail)
    (run / "ledger.json").rename(run / "ledger.failed.json")
    report = verify_ledger(run)
    assert told(report) == [("COUNT", "unbalanced")]
    said = "ledger.failed.json: the run did not balance: Missing 1 keys from input"
    assert texts(report).startswith(said)
    assert "ledger.failed.json: its own digest" in report.checked
    assert not report.balanced


def test_a_run_that_failed_by_repeated_keys_is_not_told_them_as_an_edit(tmp_path):
    run = make_run(tmp_path)

    def fail(ledger):
        source = replace(ledger.input_accounting, distinct_keys=8)
        found = AccountingDiscrepancy("Source key id is not unique")
        said = replace(ledger.verification, accounting_balanced=False)
        told = {"input_accounting": source, "inputs": (source,)}
        return replace(ledger, discrepancy=found, verification=said, **told)

    edit_ledger(run, fail)
    assert told(verify_ledger(run)) == [("COUNT", "unbalanced")]


def test_an_allowed_overlap_balances_by_its_sums_though_its_keys_are_masked(tmp_path):
    run = make_run(tmp_path)
    change_rows(run / FILTERED, lambda rows: [*rows, rows[0] | {"source_key": "B0"}])

    def overlapping(keys, shown=("k***",)):
        from stored_runs import committed, position

        def edit(ledger):
            first, filtered, errors = ledger.output_accounting.partitions
            filtered = replace(
                filtered,
                record_count=2,
                commitment=committed(["B8", "B0"]),
                position=position(run, FILTERED, "parquet"),
            )
            sums = committed(keys) if keys else None
            overlap = Overlap(
                ("AGGREGATED", "FILTERED"), "priced twice", 5, 1, shown, sums, source="input"
            )
            account = replace(ledger.verification.accounts[0], accounted_count=11)
            said = replace(
                ledger.verification,
                accounted_count=11,
                partition_counts={"AGGREGATED": 8, "FILTERED": 2, "ERROR": 1},
                overlaps=(overlap,),
                accounts=(account,),
            )
            outputs = replace(
                ledger.output_accounting,
                partitions=(first, filtered, errors),
                total_accounted=11,
            )
            return replace(ledger, output_accounting=outputs, verification=said)

        return edit

    edit_ledger(run, overlapping(("B0",)))
    report = verify_ledger(run)
    assert (report.findings, report.balanced) == ((), True)
    edit_ledger(run, overlapping(("B1",)))
    report = verify_ledger(run)
    assert {found.level for found in report.findings} == {"COMMIT"}
    assert not report.balanced
    edit_ledger(run, overlapping(()))
    report = verify_ledger(run)
    assert report.verified
    assert any("allowed overlaps" in gap for gap in report.not_checked)


def test_the_seeds_own_ledger_is_checked_as_far_as_it_goes(tmp_path):
    tree = {
        "ledger_version": "1.0",
        "run_id": "baseline-test",
        "input_dataset": "test-data/datasets/airline-clean",
        "input_accounting": {"total_records": 2, "source_key_field": "id", "input_hash": "x"},
        "output_accounting": {
            "partitions": [
                {
                    "partition_type": "FILTERED",
                    "description": "",
                    "record_count": 2,
                    "adjoint_type": "FilteredKeysMetadata",
                    "adjoint_location": "adjoint/filtered_keys/f.parquet",
                    "verification": "",
                }
            ],
            "total_accounted": 2,
            "unaccounted": 0,
        },
        "verification": {
            "accounting_balanced": True,
            "proof_method": "adjoint_backward_traversal",
            "input_count": 2,
            "accounted_count": 2,
        },
    }
    (tmp_path / "ledger.json").write_text(json.dumps(tree))
    place = tmp_path / "adjoint/filtered_keys/f.parquet"
    write_table(place, [{"source_key": "a"}, {"source_key": "b"}])
    report = verify_ledger(tmp_path)
    assert (report.findings, report.balanced) == ((), True)
    assert any("DataFrame" in gap for gap in report.not_checked)
    write_table(place, [{"source_key": "a"}])
    assert "records: the ledger says 2, found 1" in texts(verify_ledger(tmp_path))
