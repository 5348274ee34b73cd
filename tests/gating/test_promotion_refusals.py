"""What is not promoted, and what is said about it; nothing has moved afterwards."""

from __future__ import annotations

import re

import pytest

from accounting.books import BALANCED, UNBALANCED, write_run
from gating.trusted_layer import STORE, Layer, only
from lakeproof import (
    CheckStatus,
    ConfigError,
    NothingSelectedError,
    PromotionError,
    promote,
)
from lakeproof.gating.policy import exit_code
from lakeproof.model.position import Position

AGAIN = "Run the checks again and promote that run"


ON_BOTH = pytest.mark.parametrize("layer", ["iceberg", "delta"], indirect=True)


@pytest.fixture
def iceberg(quick):
    return Layer(quick, "iceberg")


@pytest.fixture
def delta(quick):
    return Layer(quick, "delta")


def refused(layer, run_id, **options):
    with pytest.raises(PromotionError) as told:
        layer.promote(run_id, **options)
    return str(told.value)


def dropping(layer):
    parts = [f"`{part}`" for part in layer.table.split(".")]
    return f"(ALTER TABLE {'.'.join(parts)} DROP BRANCH `trusted`)"


def test_an_unknown_run_and_one_without_the_table_are_told_apart(iceberg):
    iceberg.keep("nightly")
    run = f"{iceberg.short}-nightly"
    unknown = f"no results of run '{iceberg.short}-nightyl' are kept. Nearest: {run}"
    with pytest.raises(NothingSelectedError, match=f"^{re.escape(unknown)}"):
        iceberg.promote("nightyl")
    iceberg.keep("elsewhere", of="iceberg.promoted.other", position=None)
    told = f"run '{iceberg.short}-elsewhere' has no results of {iceberg.table}. It has results of: "
    with pytest.raises(NothingSelectedError, match=f"^{re.escape(told)}iceberg.promoted.other$"):
        iceberg.promote("elsewhere")
    unchecked = Layer(iceberg.spark, "iceberg")
    with pytest.raises(NothingSelectedError, match=f"^no results of {unchecked.table} are kept"):
        promote(iceberg.spark, tables=unchecked.table, store=STORE)
    assert iceberg.trusted() is None


@pytest.mark.parametrize(
    ("status", "code"), [(CheckStatus.FAILED, 1), (CheckStatus.ERROR, 3), (CheckStatus.SKIPPED, 5)]
)
def test_a_result_that_did_not_pass_closes_the_gate_of_every_table(quick, status, code):
    layer, other = Layer(quick, "iceberg"), Layer(quick, "iceberg")
    passed = CheckStatus.SKIPPED if status is CheckStatus.SKIPPED else CheckStatus.PASSED
    layer.keep("mixed", passed)
    other.keep("mixed", status, run_id=f"{layer.short}-mixed", rule_key="other", rule_id="other")
    outcome = layer.promote("mixed")
    assert (outcome.ok, only(outcome).status, layer.trusted()) == (False, "refused", None)
    assert exit_code(outcome.results, outcome.gate, "error") == code


@pytest.mark.slow
def test_a_run_that_evaluated_nothing_of_the_table_does_not_promote_it(quick):
    layer, other = Layer(quick, "iceberg"), Layer(quick, "iceberg")
    layer.keep("mixed", CheckStatus.SKIPPED)
    other.keep("mixed", run_id=f"{layer.short}-mixed", rule_key="other", rule_id="other")
    assert "has evaluated no rule of" in refused(layer, "mixed")


@pytest.mark.slow
def test_a_run_that_lost_results_or_never_finished_does_not_open_the_gate(iceberg):
    run = f"{iceberg.short}-cut"
    iceberg.run("cut")
    results = f"{STORE.catalog}.{STORE.namespace}._quality_results"
    kept = f"run_id = '{run}' AND check_name = 'id_present'"
    iceberg.sql(f"DELETE FROM {results} WHERE {kept}")
    outcome = iceberg.promote("cut")
    assert outcome.gate.reasons == (f"1 rule of run {run} have no result",)
    iceberg.sql(f"DELETE FROM {results} WHERE run_id = '{run}'")
    with pytest.raises(NothingSelectedError, match="has begun and kept no results"):
        iceberg.promote("cut")
    assert iceberg.trusted() is None


def test_books_that_do_not_balance_close_the_gate(iceberg, tmp_path):
    iceberg.keep("books")
    lost = iceberg.promote("books", ledger=write_run(tmp_path / "lost", UNBALANCED))
    assert (lost.ok, only(lost).status, iceberg.trusted()) == (False, "refused", None)
    assert "zero_loss: Missing 2 keys" in lost.gate.summary
    kept = iceberg.promote("books", ledger=write_run(tmp_path / "kept", BALANCED))
    assert (kept.ok, iceberg.trusted()) == (True, [1])


@pytest.mark.parametrize(
    "layer", [pytest.param("iceberg", marks=pytest.mark.slow), "delta"], indirect=True
)
def test_a_table_that_was_made_again_is_another_one(layer):
    layer.run("before")
    layer.make()
    told = refused(layer, "before")
    assert told.startswith(f"{layer.table} was dropped and made again, or replaced, since run")
    assert layer.trusted() is None


@pytest.mark.slow
def test_a_run_that_found_nothing_new_is_known_by_where_its_rules_stood(delta):
    delta.run("first")
    still = delta.run("still")
    assert all(one.mode_reason for one in still.results)
    delta.make()
    assert "was dropped and made again" in refused(delta, "still")


@pytest.mark.slow
def test_what_the_table_was_rolled_back_from_is_not_promoted(iceberg, delta):
    first = iceberg.head()
    iceberg.write(2)
    iceberg.keep("bad")
    gone = iceberg.head()
    place = f"table => '{iceberg.table.removeprefix('iceberg.')}'"
    back = f"CALL iceberg.system.rollback_to_snapshot({place}, snapshot_id => {first.value}L)"
    iceberg.sql(back)
    told = f"{gone} is no longer in the history of {iceberg.table}: it was rolled back or replaced"
    assert refused(iceberg, "bad") == f"{told}. {AGAIN}"

    delta.write(2)
    delta.keep("bad")
    delta.sql(f"RESTORE TABLE {delta.table} TO VERSION AS OF 1")
    told = f"{delta.table} was restored to a version before version 2. {AGAIN}"
    assert refused(delta, "bad") == told
    assert (iceberg.trusted(), delta.trusted()) == (None, None)


@pytest.mark.slow
def test_an_expired_position_is_told(iceberg, delta):
    iceberg.keep("old", position=Position("iceberg", 4711))
    told = f"{iceberg.table} keeps snapshot 4711 no longer: it has expired, or the table is another"
    assert refused(iceberg, "old") == f"{told}. {AGAIN}"
    delta.keep("old", position=Position("delta", 4711))
    told = f"{delta.table} has no version 4711: it was replaced or restored from elsewhere"
    assert refused(delta, "old") == f"{told}. {AGAIN}"


@pytest.mark.slow
def test_a_run_that_read_the_table_twice_or_at_no_position_names_none(iceberg):
    iceberg.keep("unpinned", position=None)
    told = refused(iceberg, "unpinned")
    assert "at no position" in told
    assert told.endswith(
        "Write to it first and run the checks again, or name the tables to promote"
    )
    iceberg.keep("moving")
    iceberg.write(2)
    iceberg.keep("moving", rule_key="another", rule_id="another")
    assert "Run the checks again under one run id" in refused(iceberg, "moving")


@pytest.mark.slow
def test_what_was_rolled_back_is_promoted_by_no_run_until_the_table_has_moved(iceberg):
    iceberg.keep("taken")
    iceberg.promote("taken")
    iceberg.rollback("taken")
    iceberg.keep("same")
    told = (
        f"{iceberg.head()} was promoted to {iceberg.target} by run '{iceberg.short}-taken' and "
        f"rolled back. Commit to {iceberg.table} what is wanted instead, run the checks and "
        "promote that run"
    )
    assert [refused(iceberg, run) for run in ("taken", "same")] == [told, told]
    iceberg.write(2)
    iceberg.keep("moved")
    assert only(iceberg.promote("moved")).status == "promoted"


@pytest.mark.slow
@ON_BOTH
def test_only_the_last_promotion_is_taken_back_and_only_where_it_is_still_shown(layer):
    layer.keep("first")
    layer.promote("first")
    layer.write(2)
    layer.keep("second")
    layer.promote("second")
    with pytest.raises(PromotionError, match=f"run '{layer.short}-second' was promoted"):
        layer.rollback("first")
    with pytest.raises(NothingSelectedError, match="was never promoted to"):
        layer.rollback("third")
    if layer.format == "iceberg":
        promoted = layer.head()
        layer.write(3)
        moved = f"REPLACE BRANCH trusted AS OF VERSION {layer.head().value}"
        layer.sql(f"ALTER TABLE {layer.table} {moved}")
        told = f"left alone. If that may go, set it to {promoted} again and roll back then"
        with pytest.raises(PromotionError, match=re.escape(told)):
            layer.rollback()
        assert layer.trusted() == [1, 2, 3]


@pytest.mark.slow
def test_what_was_shown_before_and_has_expired_cannot_come_back(iceberg):
    iceberg.keep("first")
    iceberg.promote("first")
    first = iceberg.head()
    iceberg.write(2)
    iceberg.keep("second")
    iceberg.promote("second")
    place = f"table => '{iceberg.table.removeprefix('iceberg.')}'"
    iceberg.sql(
        f"CALL iceberg.system.expire_snapshots({place}, snapshot_ids => ARRAY({first.value}L))"
    )
    with pytest.raises(PromotionError, match=f"keeps {first} no longer"):
        iceberg.rollback()
    assert iceberg.trusted() == [1, 2]


@pytest.mark.slow
def test_what_no_promotion_has_made_is_not_overwritten(delta, iceberg):
    delta.sql(f"CREATE TABLE {delta.target} (mine INT) USING delta")
    delta.keep("audited")
    assert "is no clone that a promotion has made" in refused(delta, "audited")
    iceberg.sql(f"ALTER TABLE {iceberg.table} CREATE TAG trusted")
    iceberg.keep("audited")
    with pytest.raises(ConfigError, match=r"'trusted' is a tag of"):
        iceberg.promote("audited")


def test_a_branch_with_commits_of_its_own_is_not_overwritten(iceberg):
    """Whoever writes it: a team of its own, or the writers of the audit mode."""
    iceberg.sql(f"ALTER TABLE {iceberg.table} CREATE BRANCH audit")
    iceberg.write(7, branch="audit")
    iceberg.keep("audited")
    told = "commits that .* does not have, and no promotion has set it there"
    assert re.search(told, refused(iceberg, "audited", branch="audit"))
    assert len(iceberg.sql(f"SELECT * FROM {iceberg.table}.branch_audit")) == 2
    iceberg.promote("audited")
    iceberg.write(8, branch="trusted")
    iceberg.write(2)
    iceberg.keep("later")
    assert re.search(told, refused(iceberg, "later"))
    assert f"Look at what is there, drop it {dropping(iceberg)}" in refused(iceberg, "later")
    assert (iceberg.trusted(), iceberg.records()) == ([1, 8], [("audited", "promoted")])


def test_a_run_of_some_rules_is_not_promoted_over_what_the_others_have_failed(iceberg):
    iceberg.keep("whole", CheckStatus.PASSED, CheckStatus.FAILED, suite="sales")
    iceberg.keep("other", CheckStatus.PASSED, suite="elsewhere")
    iceberg.keep("part", CheckStatus.PASSED, suite="sales")
    assert refused(iceberg, "part") == (
        f"run '{iceberg.short}-part' has not evaluated rules of its suite that did not pass at "
        f"{iceberg.head()} of {iceberg.table}: rule_1 (failed, run {iceberg.short}-whole). Run the "
        "whole suite and promote that run"
    )
    assert only(iceberg.promote("other")).status == "promoted"
    iceberg.write(2)
    iceberg.keep("part-later", CheckStatus.PASSED, suite="sales")
    assert only(iceberg.promote("part-later")).status == "promoted"


def test_a_partition_that_passed_is_not_promoted_over_another_that_failed(iceberg):
    def kept(run, day, second, status=CheckStatus.PASSED):
        moment = f"2026-01-01 00:00:{second:02}.000000"
        narrowed = {"declared": {"partition": f"day={day}"}, "rule_id": f"{run}-of-{day}"}
        iceberg.keep(run, status, executed_at=moment, suite="sales", **narrowed)

    kept("monday", 1, 1, CheckStatus.FAILED)
    iceberg.write(2)
    kept("tuesday", 2, 2)
    assert refused(iceberg, "tuesday") == (
        f"run '{iceberg.short}-tuesday' has looked at one partition of {iceberg.table}, and what "
        f"was said last of others did not pass: rule_0 of day=1 (failed, run {iceberg.short}-"
        "monday). Mend these rows, run the checks of these partitions, or of the whole table, and "
        "promote the last of these runs"
    )
    iceberg.write(3)
    kept("mended", 1, 3)
    assert only(iceberg.promote("mended")).status == "promoted"


@pytest.mark.slow
def test_a_clone_that_somebody_wrote_to_is_left_alone(delta):
    delta.keep("first")
    delta.promote("first")
    delta.sql(f"INSERT INTO {delta.target} VALUES (8), (9)")
    delta.sql(f"ALTER TABLE {delta.target} SET TBLPROPERTIES ('purpose' = 'reports')")
    delta.write(2)
    delta.keep("second")
    told = f"{delta.target} was written to since a promotion has made it (WRITE at its version "
    assert [refused(delta, run).startswith(told) for run in ("first", "second")] == [True, True]
    with pytest.raises(PromotionError, match=re.escape(told)):
        delta.rollback()
    assert (delta.trusted(), delta.records()) == ([1, 8, 9], [("first", "promoted")])


@pytest.mark.slow
def test_a_version_of_a_delta_table_of_which_nobody_knows_which_it_was_is_refused(delta):
    delta.keep("audited")
    intents = f"{STORE.catalog}.{STORE.namespace}._quality_intents"
    delta.sql(f"DELETE FROM {intents} WHERE run_id = '{delta.short}-audited'")
    assert refused(delta, "audited").startswith("nothing is kept that says whether")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mode": "wap"}, "mode 'wap' is not one of trusted, audit"),
        ({"delta_as": "copy"}, "delta_as 'copy' is not one of auto, view, clone"),
        ({"branch": "main"}, "main is what writers write"),
        ({"mode": "audit"}, "which has no branches"),
        ({"delta_as": "view"}, "spark_catalog keeps no views"),
    ],
)
def test_options_that_cannot_be_are_refused(delta, options, told):
    with pytest.raises(ConfigError, match=re.escape(told)):
        delta.promote("any", **options)


def test_a_branch_is_not_promoted_for_its_table(iceberg):
    iceberg.sql(f"ALTER TABLE {iceberg.table} CREATE BRANCH audit")
    told = f"{iceberg.table}.branch_audit is a branch of {iceberg.table}: name the table"
    with pytest.raises(ConfigError, match=f"^{re.escape(told)}"):
        iceberg.promote("any", tables=f"{iceberg.table}.branch_audit")


def test_a_table_that_is_not_there_is_told(iceberg):
    told = "nothing to promote: table iceberg.promoted.nowhere does not exist"
    assert refused(iceberg, "any", tables="iceberg.promoted.nowhere") == told
    iceberg.keep("elsewhere")
    known = f". Run '{iceberg.short}-elsewhere' has results of: {iceberg.table}"
    assert refused(iceberg, "elsewhere", tables="iceberg.promoted.nowhere") == told + known
