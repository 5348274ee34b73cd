"""The store on real Iceberg and Delta tables."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from weighed_scene import IN_DELTA_SLOWLY

from lakeproof import faults
from lakeproof.errors import (
    AlreadyRunningError,
    EngineUnavailableError,
    FencedError,
    StateSchemaError,
)
from lakeproof.model.position import Position
from lakeproof.state import open_store, spark_store
from lakeproof.state.access import StateAccess
from lakeproof.state.delta import APPLICATION_SETTING, VERSION_SETTING
from lakeproof.state.intent_log import IntentLog
from lakeproof.state.statements import result_row
from lakeproof.state.tables import SCHEMA_VERSION

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HOSTILE = "it's \"x\" \\ \\' ${spark.app.name} \x00 \n\t é 漢 😀 -- /* :run_id"


def test_one_run_id_is_recorded_once_whatever_is_in_it(scene, make_result):
    store = scene.store()
    run_id = f"run of {scene.table} {HOSTILE}"
    results = [
        make_result(run_id=run_id, rule_key="a", details=HOSTILE, tags=(HOSTILE, "")),
        make_result(run_id=run_id, rule_key="b", failing_rows=2**63 - 1, total_rows=2**53 + 1),
        make_result(run_id=run_id, rule_key="c", measure=0.1 + 0.2, column_name=None),
        make_result(
            run_id=run_id,
            rule_key="f",
            sample_keys=(HOSTILE, ""),
            sample_values=("", HOSTILE),
            measures={HOSTILE: -0.1, "rows": 2.0},
            new_violations=0,
            source="a b/c.py:7",
        ),
        make_result(run_id=run_id, rule_key="d", measure=float("nan"), details="\ud800"),
    ]
    assert store.record_results(results) == 5
    before = scene.version("results")
    assert store.record_results(results) == 0
    assert scene.version("results") == before
    stored = {row["rule_key"]: row.asDict() for row in store.results_frame(run_id).collect()}
    expected = [result_row(result) for result in results]
    for row in expected:
        row["executed_at"] = START.replace(tzinfo=None)
        for column in ("tags", "sample_keys", "sample_values"):
            row[column] = list(row[column])
    expected[-1] |= {"measure": None, "details": "\ufffd"}
    assert stored == {row["rule_key"]: row for row in expected}
    assert store.record_results([*results, make_result(run_id=run_id, rule_key="e")]) == 1


def test_what_delta_tells_of_a_write_is_not_read_back_unless_it_is_less_than_expected(
    scene, make_result, monkeypatch
):
    store, run_id = scene.store(), f"told of {scene.table}"
    batches = store.begin(run_id, [scene.work(position=1)], START)
    moves = scene.moves(batches[0], store)
    asked = []
    monkeypatch.setattr(StateAccess, "read", noting(asked, StateAccess.read))
    results = [make_result(run_id=run_id, rule_key=key) for key in ("a", "b")]

    assert store.record_results(results) == 2
    store.commit(batches, run_id, moves, START)
    is_told = scene.settings.format == "delta"
    for kind in ("results", "progress"):
        assert any(scene.settings.tables[kind] in sql for sql in asked) != is_told

    asked.clear()
    twin = scene.store()
    twin._results.first_timers.add(run_id)  # a second driver of the run, a moment later
    twin.record_results(results)
    assert any(scene.settings.tables["results"] in sql for sql in asked)
    assert store.results_frame(run_id).count() == 2


def noting(asked, read):
    def read_noted(self, sql):
        asked.append(sql)
        return read(self, sql)

    return read_noted


@IN_DELTA_SLOWLY
def test_violation_opens_resolves_and_opens_again(scene):
    assert scene.run("one", {"a": 1, "b": 2}, day=0) == 2
    assert scene.run("two", {"a": 3}, day=1) == 0
    rows = scene.violations()
    assert (rows["a"]["status"], rows["a"]["occurrences"]) == ("open", 3)
    assert (rows["a"]["first_run_id"], rows["a"]["last_run_id"]) == ("one", "two")
    assert rows["a"]["first_position"] == Position("iceberg", 0).to_json()
    assert rows["a"]["last_seen"] == (START + timedelta(days=1)).replace(tzinfo=None)
    assert (rows["b"]["status"], rows["b"]["batch_seq"]) == ("resolved", 2)
    assert rows["b"]["resolved_at"] == (START + timedelta(days=1)).replace(tzinfo=None)

    assert scene.run("three", {"a": 3, "b": 1, "c": 1}, day=2) == 2
    third = scene.violations()
    assert (third["b"]["status"], third["b"]["reopen_count"]) == ("open", 1)
    assert (third["b"]["resolved_at"], third["b"]["reopened_run_id"]) == (None, "three")
    assert third["b"]["first_seen"] == START.replace(tzinfo=None)

    before = scene.version()
    assert scene.run("three", {"a": 3, "b": 1, "c": 1}, day=3) == 2, "a repeat counts the same"
    assert scene.run("one", {"a": 1, "z": 1}, day=3) == 2, "an old run finds what it found"
    assert scene.version() == before, "neither writes"
    assert scene.violations() == third
    assert scene.progress() == [(1, "one"), (2, "two"), (3, "three")]


def test_batch_without_hits_before_or_after_writes_nothing(scene):
    store = scene.store()
    before = scene.version()
    assert scene.run("clean", {}) == 0
    assert scene.version() == before
    batches = store.begin("broken", [scene.work()], START)
    store.commit(batches, "broken", [], START)
    assert scene.progress() == [(1, "clean")], "a rule that could not run stays where it was"


@IN_DELTA_SLOWLY
def test_crash_before_and_after_the_write_both_end_with_one_set_of_rows(spark, scene):
    first, second, third = scene.store(), scene.store(), scene.store()
    first.begin("night", [scene.work(1)], START)
    (batch,) = second.begin("night", [scene.work(2)], START)
    assert (batch.adopted, batch.batch_seq, batch.position) == (True, 1, Position("iceberg", 1))
    hits = scene.hits({"a": 1})
    assert second.apply_hits(batch, "night", [scene.rule], hits, START) == {scene.rule: 1}
    for setting in (APPLICATION_SETTING, VERSION_SETTING):
        assert spark.conf.get(setting, None) is None, "a fence is set for its statement only"
    before, rows = scene.version(), scene.violations()
    (batch,) = third.begin("night", [scene.work(3)], START)
    later = START + timedelta(hours=1)
    assert third.apply_hits(batch, "night", [scene.rule], hits, later) == {scene.rule: 1}
    third.commit([batch], "night", scene.moves(batch), later)
    assert (scene.version(), scene.violations()) == (before, rows)
    assert [entry[1:] for entry in scene.intents()] == [
        (1, False, "night", "open"),
        (2, False, "night", "open"),
        (3, False, "night", "open"),
        (3, True, "night", "committed"),
    ]


@IN_DELTA_SLOWLY
def test_driver_that_lost_its_lease_writes_no_more(scene):
    old, new = scene.store(), scene.store()
    (paused,) = old.begin("old", [scene.work(1)], START)
    with pytest.raises(AlreadyRunningError, match=r"run 'old'"):
        new.begin("new", [scene.work(2)], START)
    later = START + timedelta(hours=2)
    (batch,) = new.begin("new", [scene.work(2)], later)
    assert (batch.batch_seq, batch.epoch, batch.adopted) == (2, 2, False)
    with pytest.raises(FencedError, match="'old' lost its lease"):
        old.apply_hits(paused, "old", [scene.rule], scene.hits({"stale": 1}), later)
    assert scene.violations() == {}
    new.apply_hits(batch, "new", [scene.rule], scene.hits({"now": 1}), later)
    rows = scene.violations()
    unseen = replace(paused, epoch=99)
    old.apply_hits(unseen, "old", [scene.rule], scene.hits({"now": 5}), later)
    assert scene.violations() == rows, "the stamp on the row is a fence of its own"
    new.commit([batch], "new", scene.moves(batch), later)
    with pytest.raises(FencedError):
        old.commit([paused], "old", scene.moves(paused), later)
    assert scene.violations() == rows


@IN_DELTA_SLOWLY
def test_lease_of_a_dead_process_is_free_at_once(scene, dead_owner, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(spark_store, "this_owner", lambda: dead_owner)
        scene.store().begin("dead", [scene.work(1)], START)
    (batch,) = scene.store().begin("next", [scene.work(2)], START)
    assert (batch.batch_seq, batch.epoch) == (2, 2)


@IN_DELTA_SLOWLY
def test_released_lease_is_free_at_once_and_its_run_can_be_repeated(scene):
    store = scene.store()
    store.begin("broken", [scene.work(1)], START)
    store.release("broken", START)
    (batch,) = scene.store().begin("next", [scene.work(2)], START)
    assert batch.batch_seq == 2
    with pytest.raises(AlreadyRunningError):
        store.begin("broken", [scene.work(1)], START)


@IN_DELTA_SLOWLY
def test_crash_while_taking_the_lease_leaves_one_that_its_run_adopts(scene):
    def crash():
        raise faults.FaultInjectedError

    with faults.armed("after_lease", crash), pytest.raises(faults.FaultInjectedError):
        scene.store().begin("night", [scene.work(1)], START)
    (batch,) = scene.store().begin("night", [scene.work(2)], START)
    assert (batch.adopted, batch.position) == (True, Position("iceberg", 1))


@IN_DELTA_SLOWLY
def test_a_number_that_two_runs_have_claimed_is_seen_though_others_came_later(scene):
    store = scene.store()
    store.begin("night", [scene.work(1)], START)
    store.release("night", START)
    log = IntentLog(StateAccess(scene.spark, scene.settings))
    (night,) = log.present("night", [scene.work(1)])
    later = replace(night, run_id="later", batch_seq=night.batch_seq + 1)
    log.append([replace(night, run_id="rival"), later])
    (batch,) = store.begin("night", [scene.work(2)], START)
    assert (batch.adopted, batch.batch_seq) == (False, later.batch_seq + 1)


def test_of_two_drivers_that_begin_at_once_one_wins(spark, scene):
    scene.store()
    start = threading.Barrier(2)
    outcomes = {}

    def drive(run_id, session):
        store = open_store(session, scene.settings)
        start.wait()
        try:
            outcomes[run_id] = store.begin(run_id, [scene.work()], START)
        except AlreadyRunningError as refused:
            outcomes[run_id] = refused

    # A session of its own has its own catalog and so its own, possibly stale, metadata.
    threads = [
        threading.Thread(target=drive, args=pair)
        for pair in (("left", spark), ("right", spark.newSession()))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [run_id for run_id, outcome in outcomes.items() if isinstance(outcome, list)]
    assert len(outcomes) == 2
    assert len(winners) == 1, outcomes


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        (
            {"schema_version": str(SCHEMA_VERSION + 1), "table": "results"},
            rf"version {SCHEMA_VERSION + 1}; .* knows versions up to {SCHEMA_VERSION}",
        ),
        ({"schema_version": "1", "table": "intents"}, r"not a Lakeproof results table"),
        ({}, r"exists, but is not a Lakeproof results table .* is 'missing'"),
    ],
    ids=["newer", "another kind", "foreign"],
)
def test_tables_that_are_not_ours_to_write_are_refused(spark, scene, properties, message):
    name = f"taken_{scene.table.short}"
    tables = {**scene.settings.tables, "results": name}
    marks = ", ".join(f"'lakeproof.{key}' = '{value}'" for key, value in properties.items())
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {scene.settings.catalog}.{scene.settings.namespace}")
    spark.sql(
        f"CREATE TABLE {scene.settings.catalog}.{scene.settings.namespace}.{name} (x INT) "
        f"USING {scene.settings.format} TBLPROPERTIES ('a' = 'b'{', ' if marks else ''}{marks})"
    )
    with pytest.raises(StateSchemaError, match=f"{name} .*{message}"):
        open_store(spark, replace(scene.settings, tables=tables)).prepare()


def test_unreachable_catalog_is_said_before_anything_ran(spark, scene):
    store = open_store(spark, replace(scene.settings, catalog="nowhere", namespace="a.b"))
    with pytest.raises(EngineUnavailableError, match=r"prepare the state tables .*nowhere\.a\.b"):
        store.prepare()
    with pytest.raises(EngineUnavailableError, match="who is at work"):
        store.begin("r", [scene.work()], START)
