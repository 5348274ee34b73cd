"""Write, audit, publish: writers write a branch, and main is forwarded to what passed."""

from __future__ import annotations

import re

import pytest

from gating.trusted_layer import Layer, only
from lakeproof import CheckStatus, NothingSelectedError, PromotionError
from lakeproof.engines.spark.promotion.iceberg_main import IcebergMain


@pytest.fixture
def layer(quick):
    made = Layer(quick, "iceberg", {"mode": "audit"})
    made.sql(f"ALTER TABLE {made.table} CREATE BRANCH audit")
    made.write(2, branch="audit")
    return made


def audited(layer):
    return f"{layer.table}.branch_audit"


def published(layer):
    return sorted(row["id"] for row in layer.sql(f"SELECT id FROM {layer.table}"))


def refused(layer, run_id):
    with pytest.raises(PromotionError) as told:
        layer.promote(run_id)
    return str(told.value)


def test_main_is_forwarded_to_what_passed_and_back(layer):
    layer.keep("audit", of=audited(layer))
    assert published(layer) == [1]
    outcome = layer.promote("audit")
    assert (only(outcome).status, only(outcome).target) == ("promoted", layer.table)
    assert only(outcome).after == layer.head() == layer.head(audited(layer))
    assert published(layer) == [1, 2]
    layer.write(3, branch="audit")
    assert only(layer.promote("audit")).status == "unchanged"
    assert only(layer.rollback("audit")).status == "rolled_back"
    assert published(layer) == [1]
    names = {row["name"] for row in layer.sql(f"SELECT name FROM {layer.table}.refs")}
    assert names == {"main", "audit"}
    assert layer.records() == [("audit", "promoted"), ("audit", "rolled_back")]


@pytest.mark.slow
def test_a_closed_gate_publishes_nothing(layer):
    layer.keep("bad", CheckStatus.FAILED, of=audited(layer))
    assert not layer.promote("bad").ok
    assert published(layer) == [1]


def test_a_branch_that_moved_since_the_audit_must_be_audited_again(layer):
    layer.keep("early", of=audited(layer))
    before = layer.head(audited(layer))
    layer.write(-3, branch="audit")
    now = layer.head(audited(layer))
    assert refused(layer, "early") == (
        f"{audited(layer)} is at {now} now, not at {before}: it moved since the audit. Run the "
        "checks again and promote that run"
    )
    assert published(layer) == [1]


@pytest.mark.slow
def test_main_that_moved_since_is_not_overwritten(layer):
    layer.keep("audit", of=audited(layer))
    layer.write(9)
    told = (
        f"main of {layer.table} has commits that {audited(layer)} does not have. Make branch audit "
        "anew from main (ALTER TABLE "
    )
    found = refused(layer, "audit")
    assert found.startswith(told)
    assert published(layer) == [1, 9]
    layer.sql(found.partition("(")[2].partition(")")[0])
    layer.write(2, branch="audit")
    layer.keep("anew", of=audited(layer))
    assert only(layer.promote("anew")).status == "promoted"
    assert published(layer) == [1, 2, 9]


def test_a_run_of_another_branch_is_told_by_its_name(layer):
    layer.keep("staged", of=f"{layer.table}.branch_stage", position=None)
    told = (
        f"run '{layer.short}-staged' has no results of a branch audit. It has results of: "
        f"{layer.table}.branch_stage. Name the branch: --branch stage"
    )
    with pytest.raises(NothingSelectedError, match=f"^{re.escape(told)}$"):
        layer.promote("staged", tables=())


@pytest.mark.slow
def test_main_that_moved_after_the_promotion_is_not_rolled_back(layer):
    layer.keep("audit", of=audited(layer))
    layer.promote("audit")
    layer.write(9)
    with pytest.raises(PromotionError, match="something else has moved it since"):
        layer.rollback("audit")
    assert published(layer) == [1, 2, 9]


@pytest.mark.slow
def test_a_commit_that_slips_in_before_main_is_rolled_back_is_told(layer, monkeypatch):
    layer.keep("audit", of=audited(layer))
    first, promoted = layer.head(), layer.head(audited(layer))
    layer.promote("audit")
    call = IcebergMain._call

    def overtaken(target, procedure, arguments):
        layer.write(9)
        call(target, procedure, arguments)

    monkeypatch.setattr(IcebergMain, "_call", overtaken)
    told = f"rolled back to {first}, and not from {promoted} but from snapshot"
    with pytest.raises(PromotionError, match=told):
        layer.rollback("audit")
    assert only(layer.rollback("audit")).status == "rolled_back"
    assert layer.records() == [("audit", "promoted"), ("audit", "rolled_back")]


@pytest.mark.slow
def test_the_first_rows_of_a_table_are_published_too(quick):
    layer = Layer(quick, "iceberg", {"mode": "audit"})
    layer.sql(f"DROP TABLE {layer.table}")
    layer.sql(f"CREATE TABLE {layer.table} (id INT) USING iceberg")
    layer.sql(f"ALTER TABLE {layer.table} CREATE BRANCH audit")
    layer.write(1, branch="audit")
    layer.keep("first", of=audited(layer))
    assert (only(layer.promote("first")).before, published(layer)) == (None, [1])
    with pytest.raises(PromotionError, match="had no snapshot before"):
        layer.rollback("first")
