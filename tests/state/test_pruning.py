"""Rows of which only those count that a committed batch names, and what is taken out of them."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from weighed_scene import START, WeighedScene, Weight, settings_of

from lakeproof import faults
from lakeproof.errors import EngineUnavailableError
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import Standing
from lakeproof.model.weighing import WEIGHT
from lakeproof.state import pruning
from lakeproof.state.intent_log import IntentLog
from lakeproof.state.spark_store import SparkStore
from lakeproof.state.store import Batch, Move, TableWork

BUILT = [Weight("row", "a", 2), Weight("row", "b", 1), Weight("reference", "orphan", 1)]


@pytest.fixture(scope="session", params=["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def settings(request):
    return settings_of(request.param)


@pytest.fixture
def weighed(spark, settings):
    return WeighedScene(spark, settings)


def test_kept_rows_count_once_their_batch_is_committed(spark, weighed):
    def keep(run_id, rows, day, *, is_rebuilt=False, commits=True):
        store, now = weighed.store(), START + timedelta(days=day)
        (batch,) = store.begin(run_id, [weighed.work(day)], now)
        known = store.progress([kept_id])
        store.kept(kept_id)
        values = ", ".join(f"('{key}', {weight}L)" for key, weight in rows.items())
        store.keep(
            batch,
            kept_id,
            f"(SELECT * FROM VALUES {values} AS k(`the key`, {WEIGHT}))",
            is_rebuilt=is_rebuilt,
        )
        if commits:
            previous = known[kept_id].batch_seq if known else 0
            mark = Mark("t", batch.position)
            moves = [Move(kept_id, Mode.SNAPSHOT_DIFF, mark, Standing(), previous=previous)]
            store.commit([batch], run_id, moves, now)
        store.release(run_id, now)

    def kept():
        sql = weighed.store().kept(kept_id)
        rows = spark.sql(f"SELECT `the key`, {WEIGHT} FROM ({sql})").collect() if sql else []
        return sorted(map(tuple, rows))

    kept_id = f"kept of {weighed.table}"
    assert kept() == []
    keep("lost", {"z": 1}, 0, is_rebuilt=True, commits=False)
    assert kept() == []
    keep("first", {"a": 1, "b": 1}, 1, is_rebuilt=True)
    keep("second", {"b": -1, "c": 1}, 2)
    assert kept() == [("a", 1), ("b", -1), ("b", 1), ("c", 1)]
    keep("anew", {"c": 1}, 3, is_rebuilt=True)
    assert kept() == [("c", 1)]
    pruned = weighed.store().prune(START + timedelta(days=4))
    assert pruned.kept_rows == 1
    assert kept() == [("c", 1)]


@pytest.mark.slow
def test_prune_takes_out_what_no_batch_names(weighed, spark):
    weighed.batch("build", BUILT, 0, is_rebuilt=True)
    weighed.batch("lost", [Weight("row", "x", 1)], 1, until="violations")
    weighed.batch("one", [Weight("row", "b", -1, present=-1)], 2)
    weighed.batch("two", [], 3)
    weighed.batch("three", [], 4)

    def crash():
        raise faults.FaultInjectedError

    with faults.armed("during_prune", crash), pytest.raises(faults.FaultInjectedError):
        weighed.store().prune(START + timedelta(days=4, hours=1), drops_resolved=True)
    pruned = weighed.store().prune(START + timedelta(days=5), drops_resolved=True)
    assert pruned.resolved_violations >= 2
    assert weighed.violations(status="resolved") == []
    weighed.assert_equals_full_scan()
    again = weighed.store().prune(START + timedelta(days=6), drops_resolved=True)
    assert (again.index_rows, again.resolved_violations, again.ghosts) == (0, 0, 0)

    ghost = WeighedScene(spark, weighed.settings)
    ghost.batch("killed", BUILT, 0, is_rebuilt=True, until="violations")
    assert {row["status"] for row in ghost.violations()} == {"open"}
    pruned = weighed.store().prune(START + timedelta(days=7))
    assert pruned.ghosts == len({one.rule for one in BUILT})
    assert {row["resolution"] for row in ghost.violations()} == {"rule_removed"}


def test_prune_gives_up_its_leases_when_one_cannot_be_taken(monkeypatch):
    store = SparkStore(None, settings_of("iceberg"))
    works = [TableWork(TableName((name,)), "", "prune", (name,), None) for name in "abc"]

    def begin(run_id, wanted, now):
        if wanted == works[2:]:
            raise EngineUnavailableError("the catalog is down")
        batch = Batch(wanted[0], 1, None, adopted=False)
        store._held[run_id] = {batch: store._claimant(run_id, now).intent(batch)}

    ended = []
    monkeypatch.setattr(pruning.Pruner, "over", lambda _: SimpleNamespace(works=lambda: works))
    monkeypatch.setattr(store, "prepare", lambda: None)
    monkeypatch.setattr(store, "begin", begin)
    monkeypatch.setattr(IntentLog, "append", lambda _, intents: ended.extend(intents))
    with pytest.raises(EngineUnavailableError):
        store.prune(START)
    assert [(one.table_fqn, one.status) for one in ended] == [
        ("a", "abandoned"),
        ("b", "abandoned"),
    ]


def test_prune_leaves_rules_alone_that_came_up_after_it_took_its_leases():
    ghosts = [pruning.Ghost(name, "iceberg.shop.orders") for name in ("dead", "at_work")]
    pruner = pruning.Pruner(None, {}, ghosts).within(["dead"])
    assert [one.rule_id for one in pruner.ghosts] == ["dead"]
