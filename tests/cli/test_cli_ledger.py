"""`lakeproof ledger` and `run --ledger`; what the books say is read without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "accounting"))

from books import BALANCED, UNBALANCED, write_manifest, write_run
from stored_runs import edit_ledger, make_run

from lakeproof.model.accounting import (
    Account,
    AccountingDiscrepancy,
    DatasetPosition,
    Overlap,
)

SUITE = 'T = [QualityCheck("id_known", "not_null", "t", "id")]'

EQUATION = """\
Ledger of run baseline-test
BALANCED  level COMMIT, lineage KEY_DERIVABLE
Closed     2026-03-01T10:05:00+00:00
Input      data/airline-clean
Key        segment_id string; each key once
           349,660 records, 150 without a readable key
      RECORDS     SHARE  PARTITION
      345,000   98.67 %  AGGREGATED(daily)
                         GroupCommitments in adjoint/groups/daily.parquet
        4,000    1.14 %  FILTERED(positive_price_filter)
                         FilteredKeysMetadata in
                         adjoint/filtered_keys/positive_price_filter.parquet
          660    0.19 %  ERROR
                         ErrorRecords in errors/
      349,660     100 %  accounted for, of 349,660
"""


def test_show_prints_the_equation(lakeproof, tmp_path):
    run = write_run(tmp_path, BALANCED)
    for place in (run, run / "ledger.json"):
        done = lakeproof("ledger", "show", place)
        assert (done.exit_code, done.stdout) == (0, EQUATION)


def test_show_prints_a_failed_run_with_its_keys(lakeproof, tmp_path):
    done = lakeproof("ledger", "show", write_run(tmp_path, UNBALANCED))
    assert done.exit_code == 0
    assert "NOT BALANCED  level COMMIT" in done.stdout
    assert done.stdout.endswith("""\
Found      Missing 2 keys from input (silently dropped); Found 1 keys not in
           input (unexpected records); Found 1 duplicate keys across partitions
Missing    2 records in no partition
           BKG_007
           BKG_008
Extra      1 record not in the input
           GHOST
Duplicate  1 record too many
           BKG_001 in AGGREGATED(daily), ERROR
Lists      every key is in discrepancy
""")


def test_show_says_a_reason_once_and_that_keys_are_not_unique(lakeproof, tmp_path):
    reason = "Source key segment_id is not unique"
    books = replace(
        UNBALANCED,
        input_accounting=replace(UNBALANCED.input_accounting, distinct_keys=4),
        discrepancy=AccountingDiscrepancy(reason, reasons=(reason, "Run again")),
    )
    shown = lakeproof("ledger", "show", write_run(tmp_path, books)).stdout
    assert "Key        segment_id string; must be unique, and is not\n" in shown
    assert shown.endswith(f"Found      {reason}\n           Run again\n")
    assert shown.count(reason) == 1


def test_show_prints_every_equation_and_overlap(lakeproof, tmp_path):
    verification = replace(
        BALANCED.verification,
        accounts=(
            Account("bookings", "daily", 5, 5, balanced=True),
            Account("bookings", "audit", 5, 5, balanced=True),
        ),
        overlaps=(Overlap(("AGGREGATED", "ERROR"), "kept for review", 5, 1, ("BKG_001",)),),
    )
    done = lakeproof(
        "ledger", "show", write_run(tmp_path, replace(BALANCED, verification=verification))
    )
    assert "            5     100 %  accounted for, of 5 of bookings to audit\n" in done.stdout
    assert (
        "Overlap    1 record in AGGREGATED and ERROR, 5 allowed: kept for review\n"
        "           BKG_001\n"
    ) in done.stdout


def test_show_as_json_is_the_ledger(lakeproof, tmp_path):
    run = write_run(tmp_path, BALANCED)
    done = lakeproof("ledger", "show", run, "--format", "json")
    assert json.loads(done.stdout) == json.loads((run / "ledger.json").read_text(encoding="utf-8"))


def test_names_in_a_ledger_cannot_write_on_the_terminal(lakeproof, tmp_path):
    evil = replace(BALANCED, input_dataset="\x1b[2Jx", run_id="::error::y")
    done = lakeproof("ledger", "show", write_run(tmp_path, evil))
    assert "\x1b" not in done.stdout
    assert "\n::error" not in done.stdout


def test_verify_lists_what_it_checked(lakeproof, tmp_path):
    run = make_run(tmp_path)
    done = lakeproof("ledger", "verify", run)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == f"Ledger of {run}, held against storage without Spark"
    assert "checked: partition FILTERED(positive): count and commitment of 1 record" in lines
    assert lines[-1] == "VERIFIED  what is on storage is what the ledger says"
    (tmp_path / "input").rename(tmp_path / "elsewhere")
    gone = lakeproof("ledger", "verify", run)
    assert (gone.exit_code, "\nUNREADABLE: input:" in gone.stdout) == (3, True)
    found = lakeproof("ledger", "verify", run, "--input", tmp_path / "elsewhere")
    assert (found.exit_code, "not checked" in found.stdout) == (0, False)
    read = f"checked: input: digests of 1 file in {tmp_path / 'elsewhere'}"
    assert read in found.stdout.replace("\n        ", " ")


def test_an_input_that_nobody_can_read_again_is_excepted_from_the_verdict(lakeproof, tmp_path):
    run = make_run(tmp_path)

    def as_frame(ledger):
        source = replace(ledger.input_accounting, position=DatasetPosition("frame"), input_hash="")
        return replace(ledger, input_accounting=source, inputs=(source,))

    edit_ledger(run, as_frame)
    done = lakeproof("ledger", "verify", run)
    assert done.exit_code == 0
    assert done.stdout.endswith("\nVERIFIED  except input: not checked, see above\n")


def test_verify_says_that_a_failed_run_did_not_balance(lakeproof, tmp_path):
    done = lakeproof("ledger", "verify", write_run(tmp_path, UNBALANCED))
    assert done.exit_code == 1
    told = "NOT BALANCED: ledger.failed.json: the run did not balance: Missing 2 keys"
    assert told in done.stdout.replace("\n        ", " ")
    assert "ledger.json" not in done.stdout


def test_verify_names_what_was_altered_and_exits_1(lakeproof, tmp_path):
    run = make_run(tmp_path)
    keys = json.dumps({"source_key": "B0", "_lakeproof_weight": 1})
    (run / "errors" / "error_type=parse" / "part-0.json").write_text(keys, encoding="utf-8")
    done = lakeproof("ledger", "verify", run)
    assert done.exit_code == 1
    assert "WRONG COMMIT: partition ERROR" in done.stdout
    assert "WRONG DIGEST: partition ERROR" in done.stdout
    assert "\nNOT VERIFIED  " in done.stdout
    document = json.loads(lakeproof("ledger", "verify", run, "--format", "json").stdout)
    assert (document["verified"], document["balanced"]) == (False, False)
    assert {one["level"] for one in document["findings"]} >= {"COMMIT", "DIGEST"}
    assert document["checked"]


@pytest.mark.parametrize("broken", ["{", "{}", b"\xff"])
def test_a_ledger_that_is_there_and_cannot_be_read_exits_3(lakeproof, tmp_path, broken):
    run = make_run(tmp_path)
    text = broken if isinstance(broken, bytes) else broken.encode()
    (run / "ledger.json").write_bytes(text)
    done = lakeproof("ledger", "verify", run)
    assert done.exit_code == 3
    assert f"UNREADABLE: {run / 'ledger.json'}" in done.stdout.replace("\n        ", " ")


def test_trace_says_where_records_went(lakeproof, tmp_path):
    run = make_run(tmp_path)
    answers = {
        ("--key", "B8"): (0, ["B8", "  FILTERED(positive)", "    PREDICATE_NULL; price > 0"]),
        ("--key", "B1"): (0, ["B1", "  AGGREGATED(daily)", '    group {"day": "2024-01-31"}']),
        ("--key", "GHOST"): (5, ["GHOST: not in these books"]),
        ("--missing",): (5, ["0 missing records"]),
        ("--group", '{"day": "2024-01-30"}', "--limit", "2"): (
            0,
            ["B0", "B2", "2 of 4 records shown; --limit shows more"],
        ),
        ("--group", '{"day": "2024-01-30"}', "--step", "daily"): (
            0,
            ["B0", "B2", "B4", "B6", "4 records"],
        ),
    }
    for options, (code, lines) in answers.items():
        done = lakeproof("ledger", "trace", run, *options)
        assert (done.exit_code, done.stdout.splitlines()[: len(lines)]) == (code, lines), (
            done.output
        )
    asked = ("--group", '{"day": "2024-01-30"}', "--format", "json", "--limit", "1")
    document = json.loads(lakeproof("ledger", "trace", run, *asked).stdout)
    assert document == {"total": 4, "keys": ["B0"]}
    found = json.loads(lakeproof("ledger", "trace", run, "--key", "B8", "--format", "json").stdout)
    assert found["dispositions"][0]["reason"] == "PREDICATE_NULL"


def test_trace_says_what_it_cannot_tell_without_the_input(lakeproof, tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "input").rename(tmp_path / "elsewhere")
    done = lakeproof("ledger", "trace", run, "--key", "B1")
    assert done.exit_code == 3
    assert " ".join(done.stdout.split()) == (
        "B1: not among the filtered, error or output keys; whether it was aggregated cannot be "
        "told without the input"
    )
    there = ("--input", tmp_path / "elsewhere")
    done = lakeproof("ledger", "trace", run, "--key", "B1", *there)
    assert (done.exit_code, done.stdout.splitlines()[1]) == (0, "  AGGREGATED(daily)")
    done = lakeproof("ledger", "trace", run, "--group", '{"day": "2024-01-30"}', *there)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "4 records")


def test_trace_lists_what_a_failed_run_lost(lakeproof, tmp_path):
    done = lakeproof("ledger", "trace", write_run(tmp_path, UNBALANCED), "--missing")
    assert (done.exit_code, done.stdout) == (0, "BKG_007\nBKG_008\n2 missing records\n")


def test_a_total_is_the_group_without_columns(lakeproof, tmp_path):
    done = lakeproof("ledger", "trace", make_run(tmp_path), "--group", "{}")
    assert "the group names nothing, and the step grouped by day" in done.stderr


@pytest.mark.parametrize("command", ["show", "verify", "trace"])
def test_no_ledger_is_a_usage_error_that_names_the_place(lakeproof, tmp_path, command):
    options = ("--missing",) if command == "trace" else ()
    done = lakeproof("ledger", command, tmp_path / "gone", *options)
    assert done.exit_code == 2
    assert str(tmp_path / "gone") in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "give one of --key, --group and --missing"),
        (("--key", "a", "--missing"), "give one of --key, --group and --missing"),
        (("--group", "2025-01-31"), "write each group column as JSON"),
        (("--group", "{"), "write each group column as JSON"),
    ],
)
def test_trace_answers_one_question(lakeproof, tmp_path, options, told):
    done = lakeproof("ledger", "trace", write_run(tmp_path, BALANCED), *options)
    assert done.exit_code == 2
    assert told in done.stderr


def test_run_takes_the_books_among_its_results(lakeproof, folder, suite_file, warehouse, spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.cli_ledger")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.cli_ledger.t USING iceberg AS SELECT id FROM range(3)"
    )
    (folder / "lakeproof.toml").write_text(
        "default_namespace = 'cli_ledger'\n[store]\nnamespace = 'cli_ledger_state'\n",
        encoding="utf-8",
    )
    suite = f"{suite_file(SUITE)}:T"
    options = ("--warehouse", str(warehouse), "--format", "json", "--run-id")
    good = write_run(folder / "good", BALANCED)
    failed = write_run(folder / "failed", UNBALANCED)
    killed = write_manifest(folder / "killed", BALANCED)
    expected = {
        good: (0, "passed", True),
        failed: (1, "failed", False),
        killed: (3, "error", False),
    }
    for books, (code, status, is_open) in expected.items():
        done = lakeproof("run", suite, *options, books.name, "--ledger", books)
        assert done.exit_code == code, done.stderr
        document = json.loads(done.stdout)
        assert document["gate"]["open"] is is_open
        known, zero_loss = document["results"]
        assert (known["status"], known["check_name"]) == ("passed", "id_known")
        assert (zero_loss["status"], zero_loss["check_type"]) == (status, "zero_loss")
        assert zero_loss["run_id"] == books.name
        assert zero_loss["executed_at"] == known["executed_at"]
    shown = lakeproof("show", "results", *options[:-1], "--run", "failed")
    kept = {one["check_name"]: one for one in json.loads(shown.stdout)["results"]}
    assert kept["zero_loss"]["failing_rows"] == 4
    assert kept["zero_loss"]["declared"]["ledger_run_id"] == "baseline-test"


def test_run_says_at_once_that_there_are_no_books(lakeproof, folder, suite_file):
    suite = f"{suite_file(SUITE)}:T"
    done = lakeproof("run", suite, "--ledger", "gone")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == ("lakeproof: there is no ledger at gone: no such file or run directory\n")


def test_no_command_of_the_ledger_loads_pyspark(tmp_path):
    run = make_run(tmp_path)
    calls = [
        ["ledger", "show", str(run)],
        ["ledger", "verify", str(run)],
        ["ledger", "trace", str(run), "--key", "B1"],
        ["run", "nothing:HERE", "--ledger", str(run)],
    ]
    look = (
        "import sys\nfrom lakeproof.cli.main import main\n"
        "codes = []\n"
        f"for call in {calls!r}:\n"
        "    try: main(call)\n"
        "    except SystemExit as ended: codes.append(ended.code)\n"
        "print(codes, sorted({'pyspark', 'py4j', 'sqlglot'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 2] []"
