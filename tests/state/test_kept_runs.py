"""A run as the state tables know it; records of promotions are no results of it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from lakeproof.model.names import TableName
from lakeproof.model.outcome import PARTITION, CheckResult, CheckStatus
from lakeproof.model.position import Position
from lakeproof.model.promotion import Act, PromotionRecord
from lakeproof.model.reading import Mark
from lakeproof.state.kept_runs import (
    failed_beside,
    intended_rules,
    known_runs,
    latest_run,
    promotions_of,
    promotions_to,
    results_of_run,
    said_of_other_partitions,
    table_ids_read,
)
from lakeproof.state.reading import Among
from lakeproof.state.statements import result_row
from lakeproof.state.without_spark import ArrowReader

SALES = TableName(("iceberg", "lakehouse", "sales"))
HERE, THERE = Position("iceberg", 1), Position("iceberg", 2)
RESULT = CheckResult(
    check_name="positive",
    check_type="positive",
    table_name="sales",
    column_name="amount",
    status=CheckStatus.PASSED,
    failing_rows=0,
    total_rows=10,
    details="none",
    executed_at="2026-01-01 00:00:00.000000",
    run_id="first",
    rule_id="r1",
    rule_key="positive",
    table_fqn=str(SALES),
    position=HERE.to_json(),
)
SECOND = replace(RESULT, run_id="second", executed_at="2026-01-02 00:00:00.000000")
RECORD = PromotionRecord(
    "first", SALES, f"{SALES}.branch_trusted", Act.PROMOTED, 1, None, HERE, "2026-01-03 00:00:00"
)


@pytest.fixture
def reader():
    rows = {
        "results": [result_row(one) for one in (RESULT, SECOND, RECORD.to_result())],
        "intents": [
            {
                "run_id": "first",
                "table_fqn": str(SALES),
                "table_id": "uuid-1",
                "to_position": HERE.to_json(),
                "rule_ids": ["r1", "r2"],
                "status": "committed",
            },
            {
                "run_id": "first",
                "table_fqn": str(SALES),
                "table_id": "uuid-1",
                "to_position": HERE.to_json(),
                "rule_ids": ["r9"],
                "status": "withdrawn",
            },
        ],
        "progress": [
            {"table_fqn": str(SALES), "rule_id": "r1", "position": Mark("uuid-1", HERE).to_json()},
            {"table_fqn": str(SALES), "rule_id": "r1", "position": HERE.to_json()},
        ],
    }
    return reader_of(rows)


def reader_of(rows):
    for row in rows["results"]:
        row["measures"], row["declared"] = [], list(row["declared"].items())
    maps = pa.map_(pa.string(), pa.string())

    def load(kind):
        table = pa.Table.from_pylist(rows[kind])
        if kind != "results":
            return table
        place = table.schema.get_field_index("declared")
        declared = pa.array([row["declared"] for row in rows[kind]], maps)
        return table.set_column(place, "declared", declared)

    return ArrowReader(load)


def test_a_record_of_a_promotion_is_neither_a_result_nor_the_latest_run(reader):
    assert latest_run(reader) == "second"
    assert latest_run(reader, (Among(("table_fqn",), ("elsewhere",)),)) == ""
    assert [one.check_name for one in results_of_run(reader, "first")] == ["positive"]
    assert known_runs(reader) == {"first", "second"}


def test_promotions_are_found_by_their_target_and_by_their_run(reader):
    assert promotions_to(reader, RECORD.target) == promotions_of(reader, "first")
    assert [one.after for one in promotions_of(reader, "first")] == [HERE]
    assert promotions_to(reader, "elsewhere") == promotions_of(reader, "second") == []


def test_a_claim_that_was_withdrawn_intended_nothing(reader):
    assert intended_rules(reader, "first") == {"r1", "r2"}
    assert intended_rules(reader, "second") == frozenset()


def test_the_table_is_known_by_the_lease_or_by_where_its_rules_stood(reader):
    assert table_ids_read(reader, "first", SALES, HERE, ["r1"]) == {"uuid-1"}
    assert table_ids_read(reader, "second", SALES, HERE, ["r1"]) == {"uuid-1"}
    assert table_ids_read(reader, "second", SALES, THERE, ["r1"]) == frozenset()


def test_an_error_of_a_rule_that_was_mended_since_does_not_count():
    """It never was evaluated, so nothing could take it out of its suite."""
    broken = replace(RESULT, status=CheckStatus.ERROR, rule_id="as_it_was", suite="sales")
    failed = replace(broken, status=CheckStatus.FAILED, rule_id="evaluated", run_id="second")
    known = {"rule_id": "evaluated", "suite": "sales", "batch_seq": 1}
    rows = [result_row(one) for one in (broken, failed)]
    reader = reader_of({"results": rows, "progress": [known]})
    mended = replace(RESULT, rule_id="mended", suite="sales", run_id="third")
    beside = failed_beside(reader, SALES, HERE, [mended])
    assert [one.rule_id for one in beside] == ["evaluated"]
    other = replace(mended, rule_key="another")
    beside = failed_beside(reader, SALES, HERE, [other])
    assert {one.rule_id for one in beside} == {"as_it_was", "evaluated"}


def of_day(day, minute, status=CheckStatus.PASSED, rule_key="positive"):
    """Each at a position of its own: a table goes on while its days are checked."""
    return replace(
        RESULT,
        status=status,
        run_id=f"at_{minute}",
        rule_key=rule_key,
        executed_at=f"2026-01-01 00:{minute:02}:00.000000",
        position=Position("iceberg", minute).to_json(),
        declared={PARTITION: f"day={day}"} if day else {},
    )


def said_last(*results):
    """Of the other partitions as of the last result."""
    reader = reader_of({"results": [result_row(one) for one in results]})
    said = said_of_other_partitions(reader, SALES, [results[-1]])
    return [(one.declared.get(PARTITION, ""), one.status.value) for one in said]


def test_what_a_rule_said_last_of_each_other_partition_is_found_at_any_position():
    failed = of_day(1, 10, CheckStatus.FAILED)
    elsewhere = of_day(1, 11, rule_key="another")
    assert said_last(failed, elsewhere, of_day(2, 12)) == [("day=1", "failed")]
    assert said_last(failed, of_day(1, 11), of_day(2, 12)) == [("day=1", "passed")]
    later = of_day(3, 13, CheckStatus.FAILED)
    assert said_last(later, of_day(2, 12)) == []


def test_a_run_over_the_whole_table_speaks_for_every_partition_before_it():
    failed, whole = of_day(1, 10, CheckStatus.FAILED), of_day("", 11)
    assert said_last(failed, whole, of_day(2, 12)) == [("", "passed")]
    assert said_last(failed, whole) == []
    unplanned = replace(whole, status=CheckStatus.ERROR, position="")
    assert said_last(failed, unplanned, of_day(2, 12)) == [("day=1", "failed")]
