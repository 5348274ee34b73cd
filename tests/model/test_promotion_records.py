"""Records of promotions: kept as results, read back the same, and what of them stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.promotion import (
    Act,
    PromotionRecord,
    is_other_table,
    next_order,
    standing_promotions,
)

FIRST = PromotionRecord(
    run_id="one",
    table=TableName(("iceberg", "lakehouse", "sales")),
    target="iceberg.lakehouse.sales.branch_trusted",
    act=Act.PROMOTED,
    order=1,
    before=None,
    after=Position("iceberg", 11),
    executed_at="2026-01-01 00:00:00.000000",
    dag_run_id="scheduled",
)
SECOND = replace(
    FIRST, run_id="two", order=2, before=Position("iceberg", 11), after=Position("iceberg", 22)
)
TAKEN_BACK = replace(SECOND, act=Act.ROLLED_BACK, order=3, before=SECOND.after, after=SECOND.before)


@pytest.mark.parametrize("record", [FIRST, SECOND, TAKEN_BACK])
def test_a_record_is_kept_as_a_result_and_read_back_the_same(record):
    result = record.to_result()
    assert PromotionRecord.from_result(result) == record
    assert result.rule_id == PromotionRecord.rule_id_of(record.target)
    assert (result.check_type, result.severity, result.measure) == ("promotion", "info", None)
    assert result.status == "skipped"  # counted neither as passed nor as failed


def test_what_moved_is_said_in_words():
    assert FIRST.to_result().details == (
        "iceberg.lakehouse.sales.branch_trusted promoted: nothing -> snapshot 11"
    )
    assert TAKEN_BACK.to_result().details == (
        "iceberg.lakehouse.sales.branch_trusted rolled back: snapshot 22 -> snapshot 11"
    )


def test_a_promotion_stands_until_it_is_taken_back_whatever_the_clock_said():
    late = replace(FIRST, executed_at="2027-01-01 00:00:00.000000")
    assert standing_promotions([SECOND, late]) == [late, SECOND]
    assert standing_promotions([TAKEN_BACK, SECOND, FIRST]) == [FIRST]
    assert standing_promotions([]) == []


def test_the_next_move_comes_after_every_other():
    assert [next_order([]), next_order([SECOND, FIRST])] == [1, 3]


@pytest.mark.parametrize(
    ("one", "other", "is_other"),
    [
        ("uuid-1", "uuid-1", False),
        ("uuid-1", "uuid-2", True),
        ("uuid-1", "name:sales", False),
        ("name:sales", "uuid-1", False),
    ],
)
def test_a_table_known_by_its_name_alone_is_taken_for_no_other(one, other, is_other):
    assert is_other_table(one, other) is is_other
