"""Where a record went and what a group was made of, asked of the files of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from stored_runs import (
    DAYS,
    FILTERED,
    edit_ledger,
    make_run,
    malformed_identity,
    schema_text,
    write_groups,
    write_table,
)

from lakeproof.accounting.document import load_ledger
from lakeproof.accounting.without_spark.listed_keys import missing
from lakeproof.accounting.without_spark.tracing import sources, trace
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import AccountingDiscrepancy, KeyColumn, Level, Lineage

STORED = [Lineage.KEY_DERIVABLE, Lineage.FULL]


@pytest.fixture(params=STORED)
def ledger(request, tmp_path):
    return load_ledger(make_run(tmp_path, lineage=request.param))


def test_a_filtered_record_is_told_with_its_predicate(ledger):
    found = trace(ledger, "B8")
    (one,) = found.dispositions
    assert (one.partition, one.location, one.records) == ("FILTERED(positive)", FILTERED, 1)
    assert (one.reason, one.detail, one.group) == ("PREDICATE_NULL", "price > 0", "")
    assert found.in_input


def test_an_error_is_told_with_its_code_and_what_was_expected(ledger):
    (one,) = trace(ledger, malformed_identity()).dispositions
    assert (one.partition_type, one.reason) == ("ERROR", "MALFORMED_RECORD")
    assert one.detail == "parse; rules/well_formed; a JSON object"


def test_an_aggregated_record_is_told_with_its_group(ledger):
    (one,) = trace(ledger, "B3").dispositions
    assert one.partition == "AGGREGATED(daily)"
    assert json.loads(one.group) == {"day": "2024-01-31"}
    assert sources(ledger, json.loads(one.group)) == ["B1", "B3", "B5", "B7"]


def test_a_key_that_is_nowhere_is_not_in_the_input(ledger):
    found = trace(ledger, "B99")
    assert (found.dispositions, found.in_input) == ((), False)


def test_a_groups_sources_take_python_values_too(ledger):
    assert sources(ledger, {"day": DAYS[0]}) == ["B0", "B2", "B4", "B6"]
    assert sources(ledger, {"day": DAYS[0]}, "daily") == ["B0", "B2", "B4", "B6"]
    assert sources(ledger, {"day": date(1999, 1, 1)}) == []


def test_a_group_is_named_by_all_of_its_columns(ledger):
    with pytest.raises(LedgerError, match="the step grouped by day"):
        sources(ledger, {"month": 1})
    with pytest.raises(LedgerError, match="no step 'weekly'; there are daily"):
        sources(ledger, {"day": DAYS[0]}, "weekly")


def test_without_lineage_only_what_may_be_aggregated_is_refused(tmp_path):
    ledger = load_ledger(make_run(tmp_path, lineage=Lineage.NONE))
    for ask in (lambda: trace(ledger, "B3"), lambda: sources(ledger, {"day": DAYS[0]})):
        with pytest.raises(LedgerError, match="kept no lineage"):
            ask()
    for key, kind in (("B8", "FILTERED"), (malformed_identity(), "ERROR")):
        found = trace(ledger, key)
        assert [one.partition_type for one in found.dispositions] == [kind]
        assert (found.in_input, found.note) == (True, "")
    assert trace(ledger, "B99").in_input is False


def test_every_record_of_a_repeated_key_is_counted(tmp_path):
    run = make_run(tmp_path)
    file = tmp_path / "input/part-0.json"
    lines = file.read_text().splitlines()
    lines[2] = lines[4] = lines[0]  # B2 and B4 are of B0's day
    file.write_text("".join(f"{line}\n" for line in lines))
    members = {DAYS[0]: ["B0", "B0", "B0", "B6"], DAYS[1]: ["B1", "B3", "B5", "B7"]}
    write_groups(run, members, Level.COMMIT)
    (one,) = trace(load_ledger(run), "B0").dispositions
    assert (one.records, json.loads(one.group)) == (3, {"day": "2024-01-30"})
    write_groups(run, members | {DAYS[0]: ["B0"]}, Level.COMMIT)
    (one,) = trace(load_ledger(run), "B0").dispositions
    assert (one.records, one.group) == (3, "")


def test_a_group_that_the_input_does_not_yield_is_refused_with_advice(tmp_path):
    run = make_run(tmp_path)
    write_groups(run, {DAYS[0]: ["B0", "B2"], DAYS[1]: ["B1", "B3", "B5", "B7"]}, Level.COMMIT)
    ledger = load_ledger(run)
    with pytest.raises(LedgerError, match=r"give it 4 records.*made it of 2.*lineage FULL"):
        sources(ledger, {"day": DAYS[0]})
    assert sources(ledger, {"day": DAYS[1]}) == ["B1", "B3", "B5", "B7"]


def test_an_aggregated_record_is_told_by_the_balance_where_its_group_cannot_be(tmp_path):
    run = make_run(tmp_path)

    def renamed(ledger):
        source = ledger.input_accounting
        text = schema_text([("id", "string"), ("date", "date"), ("price", "integer")])
        source = replace(source, position=replace(source.position, schema_text=text))
        return replace(ledger, input_accounting=source, inputs=(source,))

    edit_ledger(run, renamed)
    ledger = load_ledger(run)
    (one,) = trace(ledger, "B3").dispositions
    assert (one.partition, one.group) == ("AGGREGATED(daily)", "")
    assert "by the balance of the books" in one.detail
    assert "day is no column of the input" in one.detail
    (filtered,) = trace(ledger, "B8").dispositions
    assert filtered.partition == "FILTERED(positive)"
    with pytest.raises(LedgerError, match="lineage FULL"):
        sources(ledger, {"day": DAYS[0]})


def test_an_input_that_is_gone_leaves_stored_keys_to_answer(tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "input").rename(tmp_path / "elsewhere")
    ledger = load_ledger(run)
    assert trace(ledger, "B8").dispositions[0].partition == "FILTERED(positive)"
    found = trace(ledger, "B3")
    assert (found.dispositions, found.in_input) == ((), None)
    assert found.note.endswith("whether it was aggregated cannot be told without the input")
    with pytest.raises(LedgerError, match="not on this machine"):
        sources(ledger, {"day": DAYS[0]})
    there = tmp_path / "elsewhere"
    (one,) = trace(ledger, "B3", there).dispositions
    assert one.partition == "AGGREGATED(daily)"
    assert sources(ledger, {"day": DAYS[0]}, input_path=there) == ["B0", "B2", "B4", "B6"]
    with pytest.raises(LedgerError, match="there is no input at"):
        trace(ledger, "B3", tmp_path / "nowhere")


def test_where_every_key_is_stored_an_input_that_is_gone_is_not_missed(tmp_path):
    run = make_run(tmp_path, lineage=Lineage.FULL)
    (tmp_path / "input").rename(tmp_path / "elsewhere")
    ledger = load_ledger(run)
    assert trace(ledger, "B3").dispositions[0].partition == "AGGREGATED(daily)"
    assert (trace(ledger, "B99").in_input, trace(ledger, "B99").note) == (False, "")


def test_children_without_weight_are_told_and_count_no_records(tmp_path):
    run = make_run(tmp_path, lineage=Lineage.FULL)
    told = {"filter_predicate": "price > 0", "reason": "PREDICATE_FALSE"}
    rows = [{"source_key": "B3", "_lakeproof_weight": weight, **told} for weight in (0, 0)]
    write_table(run / FILTERED, rows)
    filtered = trace(load_ledger(run), "B3").dispositions[1]
    assert (filtered.reason, filtered.records) == ("PREDICATE_FALSE", 0)


def test_a_key_of_several_columns_is_asked_for_by_column(tmp_path):
    run = make_run(tmp_path, lineage=Lineage.FULL)
    text = '{"id":["i","7"],"leg":["s","a"]}'
    write_table(run / FILTERED, [{"source_key": text, "_lakeproof_weight": 1}])
    key = (KeyColumn("id", "bigint"), KeyColumn("leg", "string"))

    def composite(ledger):
        source = replace(ledger.input_accounting, key=key)
        return replace(ledger, input_accounting=source, inputs=(source,))

    edit_ledger(run, composite)
    ledger = load_ledger(run)
    for asked in (text, {"id": 7, "leg": "a"}, '{"leg": "a", "id": 7}'):
        found = trace(ledger, asked)
        assert (found.key, len(found.dispositions)) == (text, 1), asked
    with pytest.raises(LedgerError, match="the key lacks leg"):
        trace(ledger, {"id": 7})


# ------------------------------------------------------------------- runs that did not balance


def failed(run, **discrepancy):
    def fail(ledger):
        found = AccountingDiscrepancy("Missing keys", **discrepancy)
        said = replace(ledger.verification, accounting_balanced=False)
        return replace(ledger, discrepancy=found, verification=said)

    edit_ledger(run, fail)
    (run / "ledger.json").rename(run / "ledger.failed.json")
    return load_ledger(run)


def test_missing_keys_are_read_from_the_list_of_a_failed_run(tmp_path):
    run = make_run(tmp_path)
    assert list(missing(load_ledger(run))) == []
    write_table(
        run / "discrepancy/missing_keys.parquet",
        [
            {
                "source_key": f"B{at}",
                "input_records": 2,
                "accounted_records": 1,
                "partitions": ["FILTERED(positive)"],
            }
            for at in range(3)
        ],
    )
    ledger = failed(run, missing_keys=("B0",), missing_count=3, lists_location="discrepancy")
    found = list(missing(ledger))
    assert [one.source_key for one in found] == ["B0", "B1", "B2"]
    first = found[0]
    assert (first.input_records, first.accounted_records) == (2, 1)
    assert first.partitions == ("FILTERED(positive)",)
    assert len(list(missing(ledger, limit=2))) == 2


def test_without_a_list_the_samples_are_told(tmp_path):
    ledger = failed(make_run(tmp_path), missing_keys=("B0", "B1"), missing_count=2)
    assert [one.source_key for one in missing(ledger)] == ["B0", "B1"]


def test_a_failed_run_answers_by_its_discrepancy_first(tmp_path):
    ledger = failed(
        make_run(tmp_path),
        missing_keys=("B0",),
        extra_keys=("GHOST",),
        duplicate_keys={"B1": ("AGGREGATED(daily)", "OUTPUT(refunds)")},
        missing_count=1,
        extra_count=1,
        duplicate_count=1,
    )
    answers = {
        "B0": (True, [], "the run did not balance: it is missing"),
        "GHOST": (False, [], "the run did not balance: it is extra"),
        "B1": (True, ["AGGREGATED(daily)"], "the run did not balance: it is duplicate"),
    }
    for key, expected in answers.items():
        found = trace(ledger, key)
        named = [one.partition for one in found.dispositions]
        assert (found.in_input, named, found.note) == expected


def test_a_group_of_a_failed_run_that_cannot_be_derived_is_not_told_to_need_full(tmp_path):
    run = make_run(tmp_path)
    write_groups(run, {DAYS[0]: ["B2", "B4"], DAYS[1]: ["B1", "B3", "B5", "B7"]}, Level.COMMIT)
    lost = [
        {"source_key": key, "input_records": 1, "accounted_records": 0, "partitions": [""][:0]}
        for key in ("B0", "B6")
    ]
    ledger = failed(run, missing_count=2)
    for ask in (lambda: trace(ledger, "B2"), lambda: sources(ledger, {"day": DAYS[0]})):
        with pytest.raises(LedgerError, match="The run did not balance") as refused:
            ask()
        assert "FULL" not in str(refused.value)
    write_table(run / "discrepancy/missing_keys.parquet", lost)
    assert trace(ledger, "B0").note.endswith("it is missing, 1 in the input and 0 accounted for")
    (one,) = trace(ledger, "B2").dispositions
    assert one.partition == "AGGREGATED(daily)"
    assert one.detail == "its group cannot be told, for the run did not balance"
