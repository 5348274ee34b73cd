"""What becomes of violations and progress when rules go, tables lose track, and drivers race."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from weighed_scene import IN_DELTA_SLOWLY, START, WeighedScene, Weight

from lakeproof.errors import FencedError
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import KeyTotals, Standing
from lakeproof.model.weighing import Resolution, WeighKind
from lakeproof.state.store import Move, Weighed

HIDDEN_NULL = f'{{"null":["h","{sha256(b"null").hexdigest()}"]}}'
BUILT = [
    Weight("row", "a", 2),
    Weight("row", "b", 1),
    Weight("unique", '{"k":["i","1"]}', 3),
    Weight("unique", '{"k":null}', 2),
    Weight("unique", HIDDEN_NULL, 1),
    Weight("reference", "orphan", 1),
]


@pytest.fixture
def weighed(spark, settings):
    return WeighedScene(spark, settings)


@IN_DELTA_SLOWLY
def test_rules_that_lose_track_or_go_keep_their_violations(spark, weighed):
    weighed.batch("build", BUILT, 0, is_rebuilt=True)
    store, now = weighed.store(), START + timedelta(days=1)
    row, unique, reference = (weighed.rules[kind] for kind in ("row", "unique", "reference"))
    keys = ('{"k":["i","1"]}', '{"k":null}', HIDDEN_NULL)
    assert store.sample_keys([row, unique], now) == {row: ("a", "b"), unique: keys}
    suppress(weighed, until=now + timedelta(hours=1), only="a")
    assert store.sample_keys([row, unique], now) == {row: ("b",), unique: keys}
    assert store.sample_keys([row], now + timedelta(hours=2)) == {row: ("a", "b")}
    accepted = spark.sql(store.suppressed_hits([row, unique], now)).collect()
    assert [one["hit_id"] for one in accepted] == [weighed.violation("row", "a")["hit_id"]]
    besides = weighed.view([Weight("row", "a", -1), Weight("row", "c", 1), Weight("row", "d", 0)])
    view = store.known_keys([Weighed(row, WeighKind.ROW, 1, is_rebuilt=False)], besides)
    found = spark.sql(f"SELECT violation_key, occurrences FROM {view}").collect()
    assert sorted(map(tuple, found)) == [("a", 2), ("b", 1), ("c", 0)]
    suppress(weighed, until=now + timedelta(hours=1))
    assert store.suppressed([row, unique], now) == {
        row: KeyTotals(hits=2, occurrences=3, excess=1),
        unique: KeyTotals(hits=3, occurrences=6, excess=5),
    }
    assert store.suppressed([row], now + timedelta(hours=2)) == {}, "it has run out"
    assert store.sample_keys([row, unique], now) == {row: ("a", "b"), unique: keys}

    (batch,) = store.begin("gap", [weighed.work(1)], now)
    store.mark_unknown(batch, "gap", [row], now)
    store.retire(batch, "gap", {reference: Resolution.RULE_REMOVED}, now)
    assert {one["status"] for one in weighed.violations(rule_id=row)} == {"unknown"}
    (gone,) = weighed.violations(rule_id=reference)
    assert (gone["status"], gone["resolution"]) == ("resolved", "rule_removed")
    before = weighed.violations()
    store.retire(batch, "gap", {reference: Resolution.RULE_REMOVED}, now + timedelta(hours=1))
    assert weighed.violations() == before, "what is resolved is not resolved again"
    store.release("gap", now)

    # Rebuilt: seen again they are open as they were, unseen they are gone.
    weighed.batch("rebuild", [Weight("row", "a", 2)], 2, is_rebuilt=True, rules=("row",))
    seen, unseen = weighed.violation("row", "a"), weighed.violation("row", "b")
    assert (seen["status"], seen["reopen_count"], seen["first_run_id"]) == ("open", 0, "build")
    assert (unseen["status"], unseen["resolution"]) == ("resolved", "gone")
    assert seen["suppressed_why"] == "known"

    # The rule that was retired is asked for again: its index still tells what is open.
    weighed.batch("again", [], 3, rules=("reference", "unique"))
    weighed.assert_equals_full_scan()
    assert weighed.violation("reference", "orphan")["reopen_count"] == 0


def suppress(weighed, until, only=None):
    store = weighed.store()
    name = store._access.tables["violations"].sql
    moment = until.replace(tzinfo=None).isoformat(sep=" ")
    weighed.spark.sql(
        f"UPDATE {name} SET suppressed_until = TIMESTAMP_NTZ '{moment}', suppressed_by = 'me', "
        f"suppressed_why = 'known' WHERE table_fqn = '{weighed.table}'"
        + (f" AND violation_key = '{only}'" if only else "")
    ).collect()


@IN_DELTA_SLOWLY
def test_of_two_that_build_on_one_progress_one_moves_it(weighed):
    weighed.batch("build", BUILT, 0, is_rebuilt=True)
    rule = weighed.rules["row"]
    slow, fast = weighed.store(), weighed.store()
    (paused,) = slow.begin("slow", [weighed.work(1)], START)
    later = START + timedelta(hours=2)
    (batch,) = fast.begin("fast", [weighed.work(2)], later)

    def move(of):
        return Move(rule, Mode.CDF, Mark("t", of.position), Standing(), generation=1, previous=1)

    with pytest.raises(FencedError, match="'slow' lost its lease"):
        slow.commit([paused], "slow", [move(paused)], later)
    assert weighed.store().progress([rule])[rule].batch_seq == 1, "a lost lease moves nothing"
    fast.commit([batch], "fast", [move(batch)], later)
    stale = weighed.store()
    (third,) = stale.begin("third", [weighed.work(3)], later)
    with pytest.raises(FencedError):
        stale.commit([third], "third", [move(third)], later)
    assert weighed.store().progress([rule])[rule].run_id == "fast"
