"""Targets that something else than a promotion moves: hands, other promoters, the table itself."""

from __future__ import annotations

import pytest

from gating.trusted_layer import STORE, Layer, only
from lakeproof import (
    EngineUnavailableError,
    FencedError,
    NothingSelectedError,
    PromotionError,
    faults,
)
from lakeproof.engines.spark.promotion import iceberg_branch


def set_branch(layer, position, word="REPLACE"):
    layer.sql(f"ALTER TABLE {layer.table} {word} BRANCH trusted AS OF VERSION {position.value}")


def roll_main_back(layer, position):
    place = f"table => '{layer.table.removeprefix('iceberg.')}'"
    layer.sql(
        f"CALL iceberg.system.rollback_to_snapshot({place}, snapshot_id => {position.value}L)"
    )


def test_what_somebody_else_has_moved_is_left_alone_and_not_recorded(layer):
    layer.keep("audited")
    set_branch(layer, layer.head(), "CREATE")
    found = only(layer.promote("audited"))
    assert (found.status, found.changed, layer.records()) == ("unchanged", False, [])
    assert found.details == f"shows {layer.head()} already, by no promotion that is kept"


def test_a_branch_that_was_set_by_hand_to_what_main_has_is_moved_and_told_of(layer):
    first = layer.head()
    set_branch(layer, first, "CREATE")
    layer.write(2)
    layer.keep("audited")
    moved = only(layer.promote("audited"))
    assert moved.details == f"{first} -> {layer.head()}; no promotion had set it to {first}"


@pytest.mark.slow
def test_the_layer_follows_a_table_that_was_rolled_back(layer):
    first = layer.head()
    layer.write(2)
    layer.keep("later")
    layer.promote("later")
    roll_main_back(layer, first)
    layer.keep("again")
    moved = only(layer.promote("again"))
    assert (moved.status, moved.after, layer.trusted()) == ("promoted", first, [1])


def test_a_promotion_that_died_before_its_record_is_known_to_the_next_and_to_a_rollback(layer):
    def die():
        raise faults.FaultInjectedError

    layer.keep("first")
    with faults.armed("after_promotion_move", die), pytest.raises(faults.FaultInjectedError):
        layer.promote("first")
    assert (layer.trusted(), layer.records()) == ([1], [])
    layer.keep("second")
    assert f"promoted by run {layer.short}-first" in only(layer.promote("second")).details
    layer.write(2)
    layer.keep("third")
    with faults.armed("after_promotion_move", die), pytest.raises(faults.FaultInjectedError):
        layer.promote("third")
    assert (only(layer.rollback()).status, layer.trusted()) == ("rolled_back", [1])
    assert layer.records() == [
        ("first", "promoted"),
        ("third", "promoted"),
        ("third", "rolled_back"),
    ]


def test_a_target_that_moves_during_the_move_is_looked_at_again(layer, monkeypatch):
    """Here to something newer: that stays."""
    layer.keep("older")
    layer.write(2)
    move = iceberg_branch.IcebergBranch.move

    def overtaken(target, position, table_id):
        monkeypatch.setattr(iceberg_branch.IcebergBranch, "move", move)
        set_branch(layer, layer.head(), "CREATE")
        raise OSError("org.apache.iceberg.exceptions.CommitFailedException: base has changed")

    monkeypatch.setattr(iceberg_branch.IcebergBranch, "move", overtaken)
    assert only(layer.promote("older")).status == "superseded"
    assert (layer.trusted(), layer.records()) == ([1, 2], [])


def test_a_promoter_that_lost_its_lease_moves_nothing(layer):
    layer.keep("slow")
    intents = f"{STORE.catalog}.{STORE.namespace}._quality_intents"

    def overtake():
        ours = f"run_id = 'promotion-of-{layer.short}-slow'"
        layer.sql(f"REFRESH TABLE {intents}")
        layer.sql(f"UPDATE {intents} SET epoch = epoch + 1 WHERE {ours}")

    with faults.armed("after_promotion_lease", overtake), pytest.raises(FencedError):
        layer.promote("slow")
    assert (layer.trusted(), layer.records()) == (None, [])


@pytest.mark.slow
def test_a_run_is_taken_back_where_it_was_promoted_to(layer):
    layer.keep("audited")
    layer.promote("audited", branch="gold")
    back = only(layer.rollback("audited", tables=()))
    assert (back.status, back.target) == ("rolled_back", f"{layer.table}.branch_gold")


@pytest.mark.slow
def test_a_main_that_was_forwarded_is_taken_back_without_its_mode(quick):
    layer = Layer(quick, "iceberg")
    layer.sql(f"ALTER TABLE {layer.table} CREATE BRANCH stage")
    layer.write(2, branch="stage")
    layer.keep("audited", of=f"{layer.table}.branch_stage")
    layer.promote("audited", mode="audit", branch="stage")
    assert only(layer.rollback("audited")).target == layer.table


@pytest.mark.slow
def test_a_branch_that_was_dropped_by_hand_is_told(layer):
    layer.keep("first")
    layer.promote("first")
    layer.write(2)
    layer.keep("second")
    layer.promote("second")
    layer.sql(f"ALTER TABLE {layer.table} DROP BRANCH trusted")
    with pytest.raises(PromotionError, match="is gone: something else than a promotion has"):
        layer.rollback()


def test_a_run_that_moved_one_of_its_tables_is_taken_back_there(quick, monkeypatch):
    both = (Layer(quick, "iceberg"), Layer(quick, "iceberg"))
    sales, others = sorted(both, key=lambda layer: layer.table)  # as they are moved
    sales.keep("joint")
    others.keep("joint", run_id=f"{sales.short}-joint", rule_key="other", rule_id="other")
    move = iceberg_branch.IcebergBranch.move

    def broken(target, position, table_id):
        if str(target.table) == others.table:
            raise OSError("the connection broke")
        move(target, position, table_id)

    monkeypatch.setattr(iceberg_branch.IcebergBranch, "move", broken)
    with pytest.raises(EngineUnavailableError):
        sales.promote("joint", tables=())
    assert (sales.trusted(), others.trusted()) == ([1], None)
    back = only(sales.rollback("joint", tables=()))
    assert (back.table, back.status, sales.trusted()) == (sales.table, "rolled_back", None)
    with pytest.raises(NothingSelectedError, match="was never promoted to"):
        sales.rollback("joint", tables=others.table)
