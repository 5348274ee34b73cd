"""What goes wrong in accounting for records, and does not go wrong here: what becomes of files."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from books import BALANCED
from small_runs import Flow, lines_of, numbered, open_ledger, stored

from lakeproof import faults
from lakeproof.accounting.document import ledger_from_json, ledger_to_json, load_ledger
from lakeproof.accounting.storage import LocalStorage
from lakeproof.accounting.without_spark.verifying import verify_ledger
from lakeproof.errors import AccountingFailureException, LedgerError
from lakeproof.model.accounting import Commitment
from spark_settings import for_few_records


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


class Recorder:
    """What a run had written whenever it passed a point or told of itself."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.seen: dict[str, set[str]] = {}

    def note(self, moment: str) -> None:
        self.seen[moment] = {
            str(file.relative_to(self.directory)).partition("/")[0]
            for file in self.directory.rglob("*")
            if file.is_file()
        }

    def started(self, manifest) -> None:
        self.note("started")

    def completed(self, ledger) -> None:
        self.note("completed")

    def failed(self, reason, count, discrepancy) -> None:
        self.note(f"failed: {reason} {count}")

    def armed(self) -> ExitStack:
        stack = ExitStack()
        for point in faults.LEDGER_POINTS:
            stack.enter_context(faults.armed(point, lambda point=point: self.note(point)))
        return stack


def test_a_record_moved_to_another_partition_is_seen_in_the_files(spark, tmp_path):
    """The sum of all is the same, so the run cannot see it; the partitions' own sums can."""
    lines = [*numbered("1", "2"), *numbered("3", "4", n=0), *numbered("5", n=-1)]
    ledger = open_ledger(spark, tmp_path, lines)
    Flow(ledger).where("n >= 0", "first").where("n > 0", "second").keep(tmp_path / "output")
    ledger.finish()
    assert verify_ledger(str(tmp_path / "run")).exit_code == 0

    tables = [
        tmp_path / "run" / "adjoint" / "filtered_keys" / f"{name}.parquet"
        for name in ("first", "second")
    ]
    rows = [stored(tmp_path / "run", str(table)) for table in tables]
    rows[0].append(rows[1].pop())
    for table, kept in zip(tables, rows, strict=True):
        for file in table.glob("*.parquet"):
            schema = pq.read_schema(file)
            file.unlink()
        pq.write_table(pa.Table.from_pylist(kept, schema), table / "part-0.parquet")
    report = verify_ledger(str(tmp_path / "run"))
    assert report.exit_code == 1
    told = " ".join(finding.message for finding in report.findings)
    assert "FILTERED(first)" in told
    assert "FILTERED(second)" in told


def test_a_failure_is_written_down_before_it_is_told(spark, tmp_path):
    ids = [f"{number:03}" for number in range(300)]
    recorder = Recorder(tmp_path / "run")
    lines = [*numbered("kept"), *numbered(*ids)]
    ledger = open_ledger(spark, tmp_path, lines, listeners=[recorder])
    Flow(ledger, ledger.input_frame().where("id = 'kept'")).keep(tmp_path / "output")
    with recorder.armed(), pytest.raises(AccountingFailureException) as raised:
        ledger.finish()

    found = raised.value.discrepancy
    assert (found.missing_count, found.missing_keys) == (300, tuple(ids[:100]))
    assert (found.extra_count, found.duplicate_count) == (0, 0)
    moments = ["after_key_lists", "after_failure_text", "after_failed_ledger"]
    written = [recorder.seen[moment] for moment in moments]
    assert written[0] == {"manifest.json", "discrepancy"}
    assert written[1] - written[0] == {"ACCOUNTING_FAILURE.txt"}
    assert written[2] - written[1] == {"ledger.failed.json"}
    assert recorder.seen["failed: ACCOUNTING_INVARIANT_VIOLATED 300"] == written[2]
    assert "completed" not in recorder.seen

    run = tmp_path / "run"
    listed = stored(run, "discrepancy/missing_keys.parquet")
    assert sorted(row["source_key"] for row in listed) == ids
    text = (run / "ACCOUNTING_FAILURE.txt").read_text(encoding="utf-8")
    assert "300" in text
    assert "009" in text
    assert "010" not in text
    assert load_ledger(str(run)).discrepancy == found
    assert ledger.verify() == found
    with pytest.raises(LedgerError):
        ledger.write_ledger(found)


def test_the_hash_of_the_input_is_that_of_its_files(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("1", "2"))
    Flow(ledger).keep(tmp_path / "output")
    document = ledger.finish()
    source = document.input_accounting
    assert source.input_hash.startswith("sha256:")
    (file,) = source.position.files
    data = (tmp_path / "input" / "records.json").read_bytes()
    assert (file.path, file.bytes) == ("records.json", len(data))
    assert file.sha256 == sha256(data).hexdigest()

    (tmp_path / "input" / "records.json").write_bytes(data.replace(b'"n": 1', b'"n": 2'))
    report = verify_ledger(str(tmp_path / "run"))
    assert report.exit_code == 1
    assert any("records.json" in finding.message for finding in report.findings)


def test_texts_and_large_numbers_survive_the_document():
    part = replace(
        BALANCED.output_accounting.partitions[0],
        description='said "no"\nand \u00fcber {x}',
        commitment=Commitment(2**53 + 1, (2**63 + 1, 2**62 - 1)),
        record_count=2**53 + 1,
    )
    output = replace(
        BALANCED.output_accounting,
        partitions=(part, *BALANCED.output_accounting.partitions[1:]),
    )
    ledger = replace(BALANCED, output_accounting=output)
    text = ledger_to_json(ledger)
    assert ledger_from_json(text, "ledger.json") == ledger
    assert "\u00fcber" in text
    assert ledger_to_json(ledger_from_json(text, "ledger.json")) == text


def test_a_file_is_written_whole_and_once(tmp_path):
    storage, place = LocalStorage(), tmp_path / "new" / "ledger.json"
    storage.write_new(str(place), b"first")
    with pytest.raises(LedgerError):
        storage.write_new(str(place), b"second")
    assert place.read_bytes() == b"first"
    assert [file.name for file in place.parent.iterdir()] == ["ledger.json"]


def test_the_ledger_is_the_last_file_of_a_run(spark, tmp_path):
    recorder = Recorder(tmp_path / "run")
    lines = lines_of({"id": "1", "n": 1}, {"id": "2", "n": 0}, {"id": "3"})
    with recorder.armed():
        ledger = open_ledger(spark, tmp_path, lines, listeners=[recorder])
        Flow(ledger).demand("n IS NOT NULL").where("n > 0").group("n")
        ledger.finish()
    seen = recorder.seen
    assert seen["after_manifest"] == seen["started"] == {"manifest.json"}
    everything = {"manifest.json", "adjoint", "errors"}
    assert seen["after_verification"] == seen["before_ledger"] == everything
    assert seen["after_ledger"] == seen["completed"] == {*everything, "ledger.json"}
    data = sorted((tmp_path / "run" / "adjoint").rglob("_SUCCESS"))
    assert {file.parent.name for file in data} == {"wanted.parquet", "sums.parquet"}
    summary = json.loads((tmp_path / "run" / "errors" / "_summary.json").read_text())
    assert "validation" in json.dumps(summary)


def test_later_versions_are_kept_and_majors_refused(tmp_path):
    text = ledger_to_json(replace(BALANCED, salt="0f" * 16))
    later = json.loads(text) | {"ledger_version": "1.9", "sealed_by": {"who": "notary"}}
    kept = ledger_from_json(json.dumps(later), "ledger.json")
    assert json.loads(ledger_to_json(kept))["sealed_by"] == {"who": "notary"}
    with pytest.raises(LedgerError, match="2"):
        ledger_from_json(text.replace('"ledger_version": "1.1"', '"ledger_version": "2.0"'), "x")
    # A kind of partition that is not known can be loaded; only verifying it must fail.
    sampled = text.replace('"FILTERED"', '"SAMPLED"')
    (tmp_path / "ledger.json").write_text(sampled, encoding="utf-8")
    report = verify_ledger(str(tmp_path))
    assert report.exit_code != 0
    assert "SAMPLED" in " ".join(finding.message for finding in report.findings)


def test_a_directory_is_used_once(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path / "once", numbered("1"))
    Flow(ledger).where("n > 1").group("n")
    ledger.finish()
    run = tmp_path / "once" / "run"
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}

    (tmp_path / "once" / "input").rename(tmp_path / "input")
    with pytest.raises(LedgerError, match="not empty"):
        open_ledger(spark, tmp_path / "once", numbered("1"))
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before

    stale = tmp_path / "stale" / "run"
    stale.mkdir(parents=True)
    (stale / "ledger.json").write_text("{}")
    with pytest.raises(LedgerError, match="not empty"):
        open_ledger(spark, tmp_path / "stale", numbered("1"))
