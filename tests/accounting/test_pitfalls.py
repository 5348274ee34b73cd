"""What goes wrong in accounting for records, and does not go wrong here: what becomes of them.

The numbers are rows of the table of pitfalls that the ledger was designed by. Joins, dropped
duplicates, samples and caches (7, 9, 10, 22) belong to steps that come later. What becomes of the
files is in test_pitfalls_of_files.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_runs import (
    Flow,
    declare_ledger,
    errors_in,
    lines_of,
    numbered,
    open_ledger,
    output_at,
    stored,
)

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import AdjointType, OutputPartition, PartitionType
from spark_settings import for_few_records

HERE, FILES = "test_pitfalls", "test_pitfalls_of_files"
PITFALLS = {
    1: (HERE, "test_of_two_records_with_one_key_the_lost_one_is_missed"),
    2: (HERE, "test_records_without_a_key_are_errors_known_by_their_place"),
    3: (HERE, "test_keys_are_told_apart_by_column_and_equal_by_value"),
    4: (HERE, "test_rows_of_which_a_condition_is_null_are_filtered_for_that_reason"),
    5: (HERE, "test_a_record_in_several_groups_counts_once"),
    6: (HERE, "test_records_that_explode_to_nothing_are_filtered"),
    8: (HERE, "test_equal_keys_of_two_inputs_do_not_meet"),
    11: (HERE, "test_each_sink_has_its_equation"),
    12: (HERE, "test_members_of_a_group_that_was_refused_are_not_both"),
    13: (HERE, "test_an_overlap_is_counted_up_to_what_was_declared"),
    14: (FILES, "test_a_record_moved_to_another_partition_is_seen_in_the_files"),
    15: (FILES, "test_a_failure_is_written_down_before_it_is_told"),
    16: (HERE, "test_a_run_without_errors_has_no_folder_of_them_and_balances"),
    17: (FILES, "test_the_hash_of_the_input_is_that_of_its_files"),
    18: (FILES, "test_texts_and_large_numbers_survive_the_document"),
    19: (FILES, "test_a_file_is_written_whole_and_once"),
    20: (FILES, "test_the_ledger_is_the_last_file_of_a_run"),
    21: (HERE, "test_what_changes_under_a_run_is_refused_or_told"),
    23: (FILES, "test_later_versions_are_kept_and_majors_refused"),
    24: (HERE, "test_a_record_in_several_groups_counts_once"),
    25: (FILES, "test_a_failure_is_written_down_before_it_is_told"),
    26: (HERE, "test_an_empty_input_balances_and_says_so_unless_denied"),
    27: (FILES, "test_a_directory_is_used_once"),
}


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@pytest.mark.parametrize("row", PITFALLS)
def test_every_pitfall_of_the_ledger_has_a_test(row):
    file, name = PITFALLS[row]
    text = Path(__file__).with_name(f"{file}.py").read_text(encoding="utf-8")
    assert f"\ndef {name}(" in text


def test_of_two_records_with_one_key_the_lost_one_is_missed(spark, tmp_path):
    lines = lines_of({"id": "twin", "n": 1}, {"id": "twin", "n": -1}, {"id": "lone", "n": 1})
    allowed = open_ledger(spark, tmp_path / "allow", lines, key_uniqueness="allow")
    assert (allowed.verify().missing_count, allowed.verify().missing_keys) == (3, ("lone", "twin"))

    lossy = open_ledger(spark, tmp_path / "lossy", lines, key_uniqueness="allow")
    Flow(lossy, lossy.input_frame().where("n > 0")).keep(tmp_path / "lossy_output")
    found = lossy.verify()
    assert (found.missing_count, found.missing_keys) == (1, ("twin",))
    assert (found.input_count, found.accounted_count) == (3, 2)

    required = open_ledger(spark, tmp_path / "require", lines)
    Flow(required).keep(tmp_path / "required_output")
    found = required.verify()
    assert (found.missing_count, found.extra_count) == (0, 0)
    assert "twin" in " ".join((*found.duplicate_keys, *found.reasons))


def test_records_without_a_key_are_errors_known_by_their_place(spark, tmp_path):
    lines = lines_of({"id": None, "n": 1}, {"n": 2}, {"n": 2}, '{"id":"cut', {"id": "@1", "n": 3})
    ledger = open_ledger(spark, tmp_path, lines)
    Flow(ledger).demand().keep(tmp_path / "output")
    document = ledger.finish()

    assert document.input_accounting.null_keys == 4
    assert document.verification.partition_counts == {"ERROR": 4, "OUTPUT": 1}
    errors = errors_in(tmp_path / "run")
    assert sorted((one["error_type"], one["error_code"]) for one in errors) == [
        *[("null", "NULL_KEY")] * 3,
        ("parse", "MALFORMED_RECORD"),
    ]
    assert all(one["source_key"].startswith("@records.json#") for one in errors)
    assert len({one["source_key"] for one in errors}) == 3  # the same line twice is one identity
    (kept,) = stored(tmp_path, "output")
    assert kept["_lakeproof_key"] == "@@1"


def test_keys_are_told_apart_by_column_and_equal_by_value(spark, tmp_path):
    pairs = [("a", None), (None, "a"), ("a|b", "c"), ("a", "b|c"), ("a", "null"), ("", "a")]
    dataset = tmp_path / "pairs"
    dataset.mkdir()
    lines = lines_of(*({"one": one, "two": two} for one, two in pairs))
    (dataset / "pairs.json").write_text("\n".join(lines), encoding="utf-8")
    ledger = declare_ledger(spark, tmp_path / "composite", dataset, schema="one STRING, two STRING")
    assert ledger.initialize_input(["one", "two"]).distinct_keys == len(pairs)
    Flow(ledger).keep(tmp_path / "composite_output")
    assert ledger.finish().verification.accounted_count == len(pairs)

    typed = tmp_path / "typed"
    for code in ("001", "1"):
        (typed / f"code={code}").mkdir(parents=True)
        table = pa.table({"number": pa.array([7]), "price": pa.array([Decimal("1.10")])})
        pq.write_table(table, typed / f"code={code}" / "part.parquet")
    schema = "number BIGINT, price DECIMAL(10,2), code STRING"
    ledger = declare_ledger(spark, tmp_path / "types", typed, input_format="parquet", schema=schema)
    assert ledger.initialize_input(["code", "number", "price"]).distinct_keys == 2
    # Equal values of narrower and wider types, without the key that was carried.
    narrowed = ledger.input_frame().selectExpr(
        "code", "CAST(number AS INT) AS number", "CAST(price AS DECIMAL(12,4)) AS price"
    )
    Flow(ledger, narrowed).keep(tmp_path / "typed_output")
    assert ledger.finish().balanced


def test_rows_of_which_a_condition_is_null_are_filtered_for_that_reason(spark, tmp_path):
    lines = lines_of({"id": "yes", "n": 1}, {"id": "no", "n": -1}, {"id": "unknown", "n": None})
    ledger = open_ledger(spark, tmp_path, lines)
    Flow(ledger).where("n > 0").keep(tmp_path / "output")
    assert ledger.finish().verification.partition_counts == {"FILTERED": 2, "OUTPUT": 1}
    rows = stored(tmp_path / "run", "adjoint/filtered_keys/wanted.parquet")
    assert {row["source_key"]: row["reason"] for row in rows} == {
        "no": "PREDICATE_FALSE",
        "unknown": "PREDICATE_NULL",
    }


def exploded(spark, folder: Path, lineage: str):
    lines = lines_of(
        {"id": "both", "tags": ["a", "b"]},
        {"id": "twice", "tags": ["a", "a"]},
        {"id": "one", "tags": ["b"]},
        {"id": "none", "tags": []},
        {"id": "null", "tags": None},
    )
    ledger = open_ledger(spark, folder, lines, lineage=lineage)
    Flow(ledger).explode().group("tags")
    return ledger.finish()


def test_a_record_in_several_groups_counts_once(spark, tmp_path):
    document = exploded(spark, tmp_path, "FULL")
    assert document.verification.partition_counts == {"AGGREGATED": 3, "FILTERED": 2}
    rows = stored(tmp_path / "run", "adjoint/reverse_joins/sums.parquet")
    members = sorted(
        (row["group_key"]["tags"], row["source_key"], row["_lakeproof_weight"]) for row in rows
    )
    assert members == [
        ("a", "both", 1),
        ("a", "twice", 0),
        ("a", "twice", 1),
        ("b", "both", 0),
        ("b", "one", 1),
    ]
    grouped = next(
        one for one in document.output_accounting.partitions if one.partition_type == "AGGREGATED"
    )
    assert (grouped.record_count, grouped.rows, grouped.distinct_keys) == (3, 5, None)


def test_records_that_explode_to_nothing_are_filtered(spark, tmp_path):
    document = exploded(spark, tmp_path, "KEY_DERIVABLE")
    assert document.verification.partition_counts == {"AGGREGATED": 3, "FILTERED": 2}
    rows = stored(tmp_path / "run", "adjoint/filtered_keys/apart.parquet")
    assert {row["source_key"]: row["reason"] for row in rows} == {
        "none": "EXPLODE_EMPTY",
        "null": "EXPLODE_EMPTY",
    }
    groups = stored(tmp_path / "run", "adjoint/groups/sums.parquet")
    assert {row["group_key"]["tags"]: (row["records"], row["rows"]) for row in groups} == {
        "a": (2, 3),
        "b": (1, 2),
    }


def test_equal_keys_of_two_inputs_do_not_meet(spark, tmp_path):
    for name, ids in {"left": ("1", "2"), "right": ("2", "3", "4")}.items():
        (tmp_path / name).mkdir()
        text = "\n".join(numbered(*ids, n=1 if name == "left" else -1))
        (tmp_path / name / "records.json").write_text(text, encoding="utf-8")

    def two_inputs(folder: str):
        ledger = declare_ledger(spark, tmp_path / folder, tmp_path / "left", input_name="left")
        right = {"input_format": "json", "schema": "id STRING, n INT, tags ARRAY<STRING>"}
        ledger.add_input("right", tmp_path / "right", "id", **right)
        ledger.initialize_input("id")
        return ledger

    ledger = two_inputs("all")
    both = ledger.input_frame("left").unionAll(ledger.input_frame("right"))
    sources = ("left", "right")
    kept = Flow(ledger, both).where("n > 0 OR id = '2'")
    kept.keep(tmp_path / "all_output", sources=sources)
    document = ledger.finish()
    assert [
        (one.source, one.input_count, one.balanced) for one in document.verification.accounts
    ] == [("left", 2, True), ("right", 3, True)]

    ledger = two_inputs("lossy")
    both = ledger.input_frame("left").unionAll(ledger.input_frame("right"))
    # As many records as before, of the same keys: but one of the right is now of the left.
    mixed = both.selectExpr(
        "* EXCEPT (_lakeproof_source)",
        "CASE WHEN id = '3' THEN 'left' ELSE _lakeproof_source END AS _lakeproof_source",
    )
    Flow(ledger, mixed).keep(tmp_path / "lossy_output", sources=sources)
    found = ledger.verify()
    assert (found.missing_keys, found.extra_keys) == (("3",), ("3",))


def test_each_sink_has_its_equation(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("1", "2", "3"))
    Flow(ledger).keep(tmp_path / "whole", "whole", sink="archive")
    Flow(ledger).where("id <> '2'", sink="mart").keep(tmp_path / "part", "part", sink="mart")
    document = ledger.finish()
    accounts = document.verification.accounts
    assert [(one.sink, one.accounted_count) for one in accounts] == [("archive", 3), ("mart", 3)]

    lossy = open_ledger(spark, tmp_path / "lossy", numbered("1", "2", "3"))
    Flow(lossy).keep(tmp_path / "lossy_whole", "whole", sink="archive")
    frame = lossy.input_frame().where("id <> '2'")
    Flow(lossy, frame).keep(tmp_path / "lossy_part", "part", sink="mart")
    found = lossy.verify()
    assert (found.missing_keys, found.duplicate_count) == (("2",), 0)
    assert [one.balanced for one in found.accounts] == [True, False]


def test_members_of_a_group_that_was_refused_are_not_both(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("1", "2"), lineage="FULL")
    Flow(ledger).group("n")
    folder = tmp_path / "run" / "errors" / "error_type=validation"
    folder.mkdir(parents=True)
    record = json.dumps({"source_key": "2", "morphism_path": "sums", "error_code": "TOO_SMALL"})
    (folder / "refused.json").write_text(record, encoding="utf-8")
    ledger.add_partition(
        OutputPartition(
            PartitionType.ERROR, "refused", None, AdjointType.ErrorRecords, str(folder.parent)
        )
    )
    found = ledger.verify()
    assert found.duplicate_keys == {"2": ("AGGREGATED(sums)", "ERROR")}
    assert (found.duplicate_count, found.missing_count) == (1, 0)


def test_rows_that_an_outer_join_makes_without_a_key_are_extra(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("1", "2"))
    others = spark.sql("SELECT explode(array('1', '2', 'unknown')) AS id")
    joined = ledger.input_frame().drop("tags").join(others, "id", "right")
    Flow(ledger, joined).group("id")
    found = ledger.verify()
    assert (found.extra_keys, found.extra_count, found.missing_count) == (("@null",), 1, 0)
    assert found.keys_named


@pytest.mark.parametrize("limit", [2, 1])
def test_an_overlap_is_counted_up_to_what_was_declared(spark, tmp_path, limit):
    overlap = {"partitions": ["FILTERED(wanted)", "OUTPUT"], "reason": "archived", "max": limit}
    lines = [*numbered("1"), *numbered("2", "3", n=0)]
    ledger = open_ledger(spark, tmp_path, lines, allowed_overlaps=[overlap])
    flow = Flow(ledger)
    flow.where("n > 0")
    flow.keep(tmp_path / "output")  # what was filtered too
    found = ledger.verify()
    if limit == 2:
        (told,) = ledger.write_ledger(found).verification.overlaps
        assert (told.records, told.keys, told.reason) == (2, ("2", "3"), "archived")
    else:
        assert (found.duplicate_count, tuple(found.duplicate_keys)) == (2, ("2", "3"))
        assert found.duplicate_keys["2"] == ("FILTERED(wanted)", "OUTPUT(rest)")


def test_a_run_without_errors_has_no_folder_of_them_and_balances(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("1", "2"))
    Flow(ledger).demand("n > 0").where("n > 0").keep(tmp_path / "output")
    absent = str(tmp_path / "never" / "written")
    for kind, adjoint in (
        (PartitionType.ERROR, AdjointType.ErrorRecords),
        (PartitionType.AGGREGATED, AdjointType.ReverseJoinMetadata),
    ):
        ledger.add_partition(OutputPartition(kind, "", None, adjoint, f"{absent}/{kind}"))
    document = ledger.finish()
    counts = document.verification.partition_counts
    assert counts == {"ERROR": 0, "FILTERED": 0, "OUTPUT": 2, "AGGREGATED": 0}


def test_what_changes_under_a_run_is_refused_or_told(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path, numbered("1", "2"))
    with pytest.raises(LedgerError, match=r"rand\(\)"):
        Flow(ledger).where("rand() > 0.5")
    Flow(ledger, ledger.input_frame().where("id <> '2'")).keep(tmp_path / "output")
    with (tmp_path / "input" / "records.json").open("a", encoding="utf-8") as file:
        file.write(numbered("3")[0])
    found = ledger.verify()
    assert "Input changed during the run" in " ".join((found.message, *found.reasons))
    assert (found.missing_count, found.missing_keys, found.keys_named) == (1, (), False)
    assert not (tmp_path / "run" / "ledger.json").exists()


def test_an_empty_input_balances_and_says_so_unless_denied(spark, tmp_path):
    ledger = open_ledger(spark, tmp_path / "allowed", [])
    Flow(ledger).demand("n > 0").where("n > 0").group("n")
    document = ledger.finish()
    assert document.verification.empty_input
    assert (document.verification.input_count, document.balanced) == (0, True)

    denied = open_ledger(spark, tmp_path / "denied", [], empty_input="deny")
    denied.add_partition(output_at(tmp_path / "nothing", "rest"))
    assert "empty" in " ".join(denied.verify().reasons)
