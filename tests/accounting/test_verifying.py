"""A ledger held against storage without Spark: what was changed is named, nothing raises."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from stored_runs import FILTERED, GROUPS, JOINED, edit_ledger, make_run, write_table
from verifier_reports import change_rows, texts, told

from lakeproof.accounting.without_spark.verifying import verify_ledger
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import Commitment, DatasetPosition, Level, Lineage


@pytest.mark.parametrize("lineage", [Lineage.KEY_DERIVABLE, Lineage.FULL])
@pytest.mark.parametrize("level", [Level.COUNT, Level.COMMIT])
def test_a_run_as_it_was_left_is_verified(tmp_path, level, lineage):
    report = verify_ledger(make_run(tmp_path, level=level, lineage=lineage))
    assert report.findings == ()
    assert report.not_checked == ()
    assert (report.verified, report.balanced, report.exit_code) == (True, True, 0)
    assert f"input: digests of 1 file in {tmp_path / 'input'}" in report.checked
    sums = "count and commitment" if level is Level.COMMIT else "count"
    assert f"partition FILTERED(positive): {sums} of 1 record" in report.checked


def test_a_commitment_that_the_ledger_lacks_is_not_called_checked(tmp_path):
    run = make_run(tmp_path)

    def emptied(ledger):
        own = ledger.output_accounting
        parts = [replace(part, commitment=Commitment(part.record_count)) for part in own.partitions]
        return replace(ledger, output_accounting=replace(own, partitions=tuple(parts)))

    edit_ledger(run, emptied)
    checked = verify_ledger(run).checked
    assert "partition FILTERED(positive): count of 1 record" in checked


def test_the_verifier_loads_no_spark(tmp_path):
    run = make_run(tmp_path)
    code = (
        "import sys\nfrom lakeproof.accounting.without_spark.verifying import verify_ledger\n"
        f"print(verify_ledger({str(run)!r}).verified, 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr


# ----------------------------------------------------------------------------------- partitions


def test_a_dropped_record_is_told_by_count_sums_and_digest(tmp_path):
    run = make_run(tmp_path)
    change_rows(run / FILTERED, lambda _: [])
    report = verify_ledger(run)
    assert set(told(report)) == {
        ("COUNT", "count"),
        ("COMMIT", "commitment"),
        ("DIGEST", "digest"),
        ("COUNT", "unbalanced"),
    }
    assert "partition FILTERED(positive): records: the ledger says 1, found 0" in texts(report)
    assert (report.balanced, report.exit_code) == (False, 1)


def test_one_record_put_for_another_is_seen_by_the_sums(tmp_path):
    def put(rows):
        return [row | {"source_key": "B7"} for row in rows]

    for level, seen in ((Level.COUNT, set()), (Level.COMMIT, {"COMMIT"})):
        run = make_run(tmp_path / level, level=level)
        change_rows(run / FILTERED, put)
        report = verify_ledger(run)
        assert {found.level for found in report.findings} == seen | {"DIGEST"}
        assert report.balanced is (level is Level.COUNT)


def test_weights_decide_which_rows_are_records(tmp_path):
    run = make_run(tmp_path)
    change_rows(run / FILTERED, lambda rows: [*rows, rows[0] | {"_lakeproof_weight": 0}])
    assert told(verify_ledger(run)) == [("DIGEST", "digest")]
    change_rows(run / FILTERED, lambda rows: [rows[0] | {"_lakeproof_weight": None}])
    assert told(verify_ledger(run)) == [("DIGEST", "digest")]


def test_groups_and_reverse_join_are_held_against_each_other(tmp_path):
    run = make_run(tmp_path, lineage=Lineage.FULL)
    change_rows(run / GROUPS, lambda rows: rows[1:])
    report = verify_ledger(run)
    assert ("COUNT", "count") in told(report)
    assert "groups of AGGREGATED(daily): records: the ledger says 8, found 4" in texts(report)
    shutil.rmtree(run / GROUPS)
    assert told(verify_ledger(run)) == [("DIGEST", "missing_file")]
    change_rows(run / JOINED, lambda rows: rows[1:])
    assert "partition AGGREGATED(daily): records: the ledger says 8, found 7" in texts(
        verify_ledger(run)
    )


def test_a_changed_value_of_an_aggregate_beside_a_reverse_join_is_seen(tmp_path):
    run = make_run(tmp_path, lineage=Lineage.FULL)
    change_rows(run / GROUPS, lambda rows: [rows[0] | {"output": {"flights": 99}}, *rows[1:]])
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "digest")]
    assert "groups of AGGREGATED(daily): part-0.parquet: sha256" in texts(report)


def test_the_manifest_is_pinned_byte_for_byte(tmp_path):
    run = make_run(tmp_path)
    file = run / "manifest.json"
    file.write_text(file.read_text() + " ")
    assert told(verify_ledger(run)) == [("DIGEST", "digest")]
    file.unlink()
    assert told(verify_ledger(run)) == [("DIGEST", "missing_file")]


def test_files_that_are_gone_or_new_are_named(tmp_path):
    run = make_run(tmp_path)
    (run / "errors/error_type=parse/part-0.json").rename(run / "errors/error_type=parse/other.json")
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "missing_file"), ("DIGEST", "extra_file")]
    assert "partition ERROR: error_type=parse/part-0.json" in texts(report)
    shutil.rmtree(run / "errors")
    report = verify_ledger(run)
    assert ("COUNT", "count") in told(report)
    assert not report.balanced


def test_a_table_that_cannot_be_parsed_is_unreadable_and_altered(tmp_path):
    run = make_run(tmp_path)
    (run / FILTERED / "part-0.parquet").write_bytes(b"PAR1 this is no Parquet PAR1")
    report = verify_ledger(run)
    assert {("DIGEST", "digest"), ("DIGEST", "unreadable")} == set(told(report))
    assert report.exit_code == 1


def test_a_key_that_became_a_number_with_a_fraction_is_told_and_raises_nothing(tmp_path):
    run = make_run(tmp_path)
    write_table(run / FILTERED, [{"source_key": 1.5, "_lakeproof_weight": 1}])
    assert "a float is no key" in texts(verify_ledger(run))


def test_a_salt_that_is_none_leaves_counts_to_check(tmp_path):
    run = make_run(tmp_path)
    edit_ledger(run, lambda ledger: replace(ledger, salt="pepper"))
    report = verify_ledger(run)
    assert "the salt 'pepper' is not 32 hex digits" in texts(report)
    assert "partition FILTERED(positive): count of 1 record" in report.checked


def test_an_output_that_was_elsewhere_and_is_not_here_cannot_be_read(tmp_path):
    run = make_run(tmp_path)

    def elsewhere(ledger):
        first, *others = ledger.output_accounting.partitions
        moved = replace(first, adjoint_location="/nowhere/groups.parquet")
        outputs = replace(ledger.output_accounting, partitions=(moved, *others))
        return replace(ledger, output_accounting=outputs)

    edit_ledger(run, elsewhere)
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "unreadable")]
    assert report.exit_code == 3


# ----------------------------------------------------------------------------------- the input


def test_an_input_on_another_machine_is_named_by_its_path(tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "input").rename(tmp_path / "copied")
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "unreadable")]
    assert "input is not on this machine; name it by --input" in texts(report)
    assert (report.exit_code, report.balanced) == (3, True)
    report = verify_ledger(run, tmp_path / "copied")
    assert (report.verified, report.not_checked) == (True, ())
    read = f"input: count and commitment of 10 records in {tmp_path / 'copied'}"
    assert read in report.checked
    with pytest.raises(LedgerError, match="there is no input at"):
        verify_ledger(run, tmp_path / "nowhere")


def test_a_wrong_input_is_told_with_what_it_has_and_what_is_accounted_for(tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "wrong").mkdir()
    report = verify_ledger(run, tmp_path / "wrong")
    assert "input: records: the ledger says 10, found 0" in texts(report)
    account = "storage: the account of input: records: the input has 0, and accounted for are 10"
    assert account in texts(report)
    assert not [text for text in report.checked if text.startswith("input")]
    assert report.exit_code == 1


def test_an_edited_input_is_named_by_its_file_and_a_lost_line_by_its_count(tmp_path):
    run = make_run(tmp_path)
    file = tmp_path / "input/part-0.json"
    text = file.read_text()
    file.write_text(text.replace('"price": 10', '"price": 99'))
    report = verify_ledger(run)
    assert told(report) == [("DIGEST", "digest")]
    assert "input: part-0.json: sha256" in texts(report)
    file.write_text(text.replace('"B3"', '"B33"'))
    assert {("COMMIT", "commitment"), ("DIGEST", "digest")} == set(told(verify_ledger(run)))
    file.write_text(text.partition("\n")[2])
    report = verify_ledger(run)
    assert "input: records: the ledger says 10, found 9" in texts(report)
    assert not report.balanced


def test_files_that_came_later_are_no_part_of_the_input(tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "input/part-1.json").write_text('{"id":"B0"}\n')
    report = verify_ledger(run)
    assert report.verified
    assert report.not_checked == ("input: 1 file that came after the run, such as part-1.json",)


def test_what_only_spark_can_read_is_said_to_be_unchecked(tmp_path):
    run = make_run(tmp_path)

    def with_position(**changes):
        def edit(ledger):
            source = ledger.input_accounting
            source = replace(source, position=replace(source.position, **changes))
            return replace(ledger, input_accounting=source, inputs=(source,))

        return edit

    edit_ledger(run, with_position(format="orc"))
    report = verify_ledger(run)
    assert report.verified
    assert any("orc" in gap and "only its files" in gap for gap in report.not_checked)
    edit_ledger(run, with_position(format="json", options={"allowComments": "true"}))
    assert any("allowcomments" in gap for gap in verify_ledger(run).not_checked)

    def as_frame(ledger):
        source = replace(ledger.input_accounting, position=DatasetPosition("frame"), input_hash="")
        return replace(ledger, input_accounting=source, inputs=(source,))

    edit_ledger(run, as_frame)
    report = verify_ledger(run)
    assert (report.verified, report.exit_code, report.left_out) == (True, 0, ("input",))
    assert any("DataFrame" in gap for gap in report.not_checked)


def test_a_package_that_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch):
    run = make_run(tmp_path)
    monkeypatch.setitem(sys.modules, "xxhash", None)
    with pytest.raises(LedgerError, match=r"xxhash is not installed.*lakeproof\[ledger\]"):
        verify_ledger(run)
