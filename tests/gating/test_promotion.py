"""The trusted layer shows exactly what a run has read and passed, on Iceberg and on Delta."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gating.trusted_layer import STORE, Layer, only
from lakeproof import (
    AlreadyRunningError,
    CheckStatus,
    GateClosedError,
    PromotionError,
    faults,
    promote,
)
from lakeproof.engines.spark.promotion import iceberg_branch

ON_BOTH = pytest.mark.parametrize("layer", ["iceberg", "delta"], indirect=True)
DELTA_SLOWLY = pytest.mark.parametrize(
    "layer", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)], indirect=True
)
"""For what the life of a layer holds on Delta too."""


@ON_BOTH
def test_the_life_of_a_layer(layer):
    """A closed gate, a writer between audit and promotion, a repeated promotion, the way back."""
    layer.keep("first")
    first = layer.head()
    moved = layer.promote("first")
    assert (moved.ok, moved.changed, only(moved).target) == (True, True, layer.target)
    assert (only(moved).before, only(moved).after) == (None, first)

    layer.write(-2)
    layer.keep("bad", CheckStatus.PASSED, CheckStatus.FAILED)
    closed = layer.promote("bad")
    assert (closed.ok, closed.changed, only(closed).status) == (False, False, "refused")
    assert (only(closed).after, layer.trusted()) == (first, [1])
    with pytest.raises(GateClosedError, match=r"^1 quality check\(s\) failed: rule_1: as kept$"):
        closed.raise_for_status()

    layer.sql(f"DELETE FROM {layer.table} WHERE id < 0")
    layer.write(3)
    layer.keep("second")
    second = layer.head()
    layer.write(-4)
    layer.write(-5)
    behind = f"; {layer.table} has 2 commits since the audit, not promoted"
    moved = only(layer.promote("second"))
    assert (moved.before, moved.after, moved.head) == (first, second, layer.head())
    assert (moved.newer_commits, moved.details) == (2, f"{first} -> {second}{behind}")
    assert layer.trusted() == [1, 3]

    again = layer.promote("second")
    assert (again.ok, again.changed, only(again).status) == (True, False, "unchanged")
    whose = f"promoted by run {layer.short}-second"
    assert only(again).details == f"shows {second} already, {whose}{behind}"

    back = only(layer.rollback())
    assert (back.status, back.before, back.after) == ("rolled_back", second, first)
    assert layer.trusted() == [1]
    assert layer.records() == [
        ("first", "promoted"),
        ("second", "promoted"),
        ("second", "rolled_back"),
    ]


@DELTA_SLOWLY
def test_a_real_run_is_promoted_where_it_has_read_and_disturbed_by_nothing(layer):
    """The same run repeated, and the next one, see no rule called promotion."""
    assert layer.run("good").ok
    assert only(layer.promote("good")).after == layer.head()
    assert len(layer.run("good").results) == 2
    layer.write(-2)
    bad = layer.run("bad", select="status:passed")
    assert [len(bad.results), bad.ok] == [2, False]
    closed = layer.promote("bad", tables=())
    assert (closed.ok, only(closed).status, layer.trusted()) == (False, "refused", [1])
    assert closed.gate.summary.startswith("1 quality check(s) failed: id_positive: ")


@pytest.mark.slow
@ON_BOTH
def test_another_run_at_the_same_position_has_nothing_to_promote(layer):
    layer.keep("once")
    layer.promote("once")
    layer.keep("twice")
    assert only(layer.promote("twice")).status == "unchanged"
    assert layer.records() == [("once", "promoted")]


@pytest.mark.slow
@ON_BOTH
def test_something_newer_that_was_promoted_is_not_undone(layer):
    layer.keep("older")
    layer.write(2)
    layer.keep("newer")
    layer.promote("newer")
    late = only(layer.promote("older"))
    assert (late.status, late.changed) == ("superseded", False)
    assert late.details == (
        f"shows {layer.head()}, promoted by run {layer.short}-newer, which is newer than "
        f"{late.audited}; left as it is"
    )
    assert layer.trusted() == [1, 2]
    assert layer.records() == [("newer", "promoted")]


@pytest.mark.slow
@ON_BOTH
def test_a_rollback_restores_what_was_shown_before_step_by_step(layer):
    layer.keep("first")
    layer.promote("first")
    layer.write(2)
    layer.keep("second")
    layer.promote("second")

    back = only(layer.rollback())
    assert (back.status, back.run_id) == ("rolled_back", f"{layer.short}-second")
    assert layer.trusted() == [1]
    again = layer.rollback("second")
    assert (only(again).status, again.changed, layer.trusted()) == ("unchanged", False, [1])
    layer.rollback("first", tables=())
    assert layer.trusted() is None
    assert layer.records() == [
        ("first", "promoted"),
        ("second", "promoted"),
        ("second", "rolled_back"),
        ("first", "rolled_back"),
    ]


@pytest.mark.slow
@ON_BOTH
@pytest.mark.parametrize("point", faults.PROMOTION_POINTS)
def test_a_promotion_and_a_rollback_that_die_are_finished_by_the_same_call_again(layer, point):
    def die():
        raise faults.FaultInjectedError

    layer.keep("first")
    layer.promote("first")
    layer.write(2)
    layer.keep("second")
    with faults.armed(point, die), pytest.raises(faults.FaultInjectedError):
        layer.promote("second")
    layer.promote("second")
    assert layer.trusted() == [1, 2]
    with faults.armed(point, die), pytest.raises(faults.FaultInjectedError):
        layer.rollback("second")
    layer.rollback("second")
    assert layer.trusted() == [1]
    assert layer.records() == [
        ("first", "promoted"),
        ("second", "promoted"),
        ("second", "rolled_back"),
    ]


@pytest.mark.slow
def test_without_tables_every_table_of_the_latest_run_is_promoted(quick):
    sales, others = Layer(quick, "iceberg"), Layer(quick, "delta")
    sales.keep("joint")
    others.keep("joint", run_id=f"{sales.short}-joint", rule_key="other", rule_id="other")
    outcome = promote(quick, f"{sales.short}-joint", store=STORE)
    assert [one.target for one in outcome.tables] == [sales.target, others.target]
    assert (sales.trusted(), others.trusted()) == ([1], [1])


@pytest.mark.slow
def test_one_table_that_cannot_be_promoted_keeps_the_others_where_they_are(quick):
    sales, others = Layer(quick, "iceberg"), Layer(quick, "iceberg")
    sales.keep("joint")
    others.keep("joint", run_id=f"{sales.short}-joint", rule_key="other", rule_id="other")
    others.make()
    with pytest.raises(PromotionError):
        promote(quick, f"{sales.short}-joint", store=STORE)
    assert (sales.trusted(), others.trusted()) == (None, None)


@pytest.mark.slow
def test_a_commit_of_another_writer_during_the_move_is_looked_at_again(quick, monkeypatch):
    layer = Layer(quick, "iceberg")
    layer.keep("audited")
    moves = []
    move = iceberg_branch.IcebergBranch.move

    def overtaken(target, position, table_id):
        moves.append(position)
        if len(moves) == 1:
            layer.write(2)
            raise OSError("org.apache.iceberg.exceptions.CommitFailedException: base has changed")
        move(target, position, table_id)

    monkeypatch.setattr(iceberg_branch.IcebergBranch, "move", overtaken)
    moved = only(layer.promote("audited"))
    assert (len(moves), moved.newer_commits, layer.trusted()) == (2, 1, [1])


@pytest.mark.slow
def test_two_promoters_at_once_end_with_the_newer_and_one_record_each(quick):
    layer = Layer(quick, "iceberg")
    layer.keep("older")
    layer.write(2)
    layer.keep("newer")

    def until_done(run_id):
        while True:
            try:
                return only(layer.promote(run_id)).status.value
            except AlreadyRunningError:
                time.sleep(0.5)

    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(until_done, ["older", "newer"]))
    assert ended in (["promoted", "promoted"], ["superseded", "promoted"])
    assert layer.trusted() == [1, 2]
    assert layer.records()[-1] == ("newer", "promoted")
    assert len(layer.records()) == ended.count("promoted")
