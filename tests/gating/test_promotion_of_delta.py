"""What shows the trusted version of a Delta table: a shallow clone, or a view."""

from __future__ import annotations

import pytest

from gating.trusted_layer import Layer, only
from lakeproof import PromotionError, faults
from lakeproof.engines.spark.promotion import choosing
from lakeproof.engines.spark.promotion.delta_target import CLONE, DeltaTarget
from lakeproof.model.names import TableName

SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def _session_outlives_its_views(monkeypatch):
    """The catalog of the session keeps views as long as it lives, which is enough here."""
    monkeypatch.setattr(choosing, "require_view_kept", lambda *_: None)


@pytest.fixture
def layer(quick):
    return Layer(quick, "delta")


def columns(layer):
    return layer.spark.table(layer.target).columns


@SLOW
def test_a_view_shows_the_audited_version_and_is_taken_back(quick):
    layer = Layer(quick, "delta", {"delta_as": "view"})
    layer.keep("first")
    layer.promote("first")
    layer.write(2)
    assert layer.trusted() == [1]
    layer.keep("second")
    assert only(layer.promote("second")).status == "promoted"
    assert only(layer.promote("second")).status == "unchanged"
    assert layer.trusted() == [1, 2]
    layer.rollback("second")
    assert layer.trusted() == [1]
    layer.rollback("first")
    assert layer.trusted() is None


@SLOW
def test_a_view_and_a_clone_do_not_take_each_other_for_their_own(layer):
    layer.keep("first")
    layer.promote("first")
    with pytest.raises(PromotionError, match="is no view that a promotion has made"):
        layer.promote("first", delta_as="view")


@SLOW
@pytest.mark.parametrize("kind", ["clone", "view"])
def test_columns_are_those_of_the_version_that_is_shown(quick, kind):
    layer = Layer(quick, "delta", {"delta_as": kind})
    layer.keep("narrow")
    layer.promote("narrow")
    layer.sql(f"ALTER TABLE {layer.table} ADD COLUMN note STRING")
    layer.sql(f"INSERT INTO {layer.table} VALUES (2, 'wide')")
    assert (columns(layer), layer.trusted()) == (["id"], [1])
    layer.keep("wide")
    layer.promote("wide")
    assert (columns(layer), layer.trusted()) == (["id", "note"], [1, 2])
    layer.rollback("wide")
    assert (columns(layer), layer.trusted()) == (["id"], [1])


@SLOW
def test_a_clone_is_not_written_by_a_writer_of_the_table(layer):
    layer.keep("first")
    layer.promote("first")
    layer.sql(f"DELETE FROM {layer.table}")
    layer.sql(f"OPTIMIZE {layer.table}")
    assert layer.trusted() == [1]
    layer.sql(f"VACUUM {layer.target}")
    assert layer.trusted() == [1]


@SLOW
def test_upkeep_of_a_clone_is_no_writing_and_one_that_was_written_is_made_anew_once_dropped(layer):
    layer.write(2)
    layer.keep("first")
    layer.promote("first")
    layer.sql(f"ALTER TABLE {layer.target} SET TBLPROPERTIES ('purpose' = 'reports')")
    layer.sql(f"OPTIMIZE {layer.target}")
    assert only(layer.promote("first")).status == "unchanged"
    layer.sql(f"DELETE FROM {layer.target} WHERE id = 1")
    with pytest.raises(PromotionError, match=r"\(DELETE at its version \d+\), so it is left alone"):
        layer.promote("first")
    layer.sql(f"DROP TABLE {layer.target}")
    assert (only(layer.promote("first")).status, layer.trusted()) == ("promoted", [1, 2])


@SLOW
def test_a_clone_of_a_table_that_is_gone_is_replaced_and_its_rollback_takes_it_away(layer):
    layer.keep("first")
    layer.promote("first")
    layer.make()
    layer.keep("anew")
    moved = only(layer.promote("anew"))
    assert (moved.status, moved.before, layer.trusted()) == ("promoted", None, [1])
    layer.rollback("anew")
    assert layer.trusted() is None


@SLOW
def test_a_table_that_was_made_again_after_the_look_is_not_shown(layer):
    layer.keep("first")
    target = DeltaTarget(
        layer.spark, TableName.parse(layer.table), TableName.parse(layer.target), CLONE
    )
    look = target.look(layer.head())
    layer.make()
    with pytest.raises(PromotionError, match="made again, or replaced, just now"):
        target.move(layer.head(), look.table_id)
    assert layer.trusted() is None


@pytest.mark.parametrize("run_id", ["", pytest.param("second", marks=SLOW)])
def test_a_clone_that_was_dropped_and_not_made_again_comes_back_by_a_rollback(layer, run_id):
    def die():
        raise faults.FaultInjectedError

    layer.keep("first")
    layer.promote("first")
    layer.write(2)
    layer.keep("second")
    with faults.armed("after_clone_drop", die), pytest.raises(faults.FaultInjectedError):
        layer.promote("second")
    assert layer.trusted() is None
    assert only(layer.rollback(run_id)).run_id == f"{layer.short}-second"
    assert layer.trusted() == [1]
    assert layer.records() == [
        ("first", "promoted"),
        ("second", "promoted"),
        ("second", "rolled_back"),
    ]
