"""Weights become violations: what is kept equals what a count of everything says."""

from __future__ import annotations

import pytest
from weighed_scene import START, WeighedScene, Weight, hash_of, settings_of

from lakeproof.model.canonical import encode_key
from lakeproof.model.names import TableName
from lakeproof.model.standing import KeyTotals
from lakeproof.model.weighing import WeighKind
from lakeproof.state import attempts, index_log, key_index
from lakeproof.state.access import StateAccess
from lakeproof.state.attempts import Attempt
from lakeproof.state.batch_rules import BatchRules
from lakeproof.state.known_keys import known_sql


@pytest.fixture(scope="session", params=["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def settings(request):
    return settings_of(request.param)


@pytest.fixture
def weighed(spark, settings):
    return WeighedScene(spark, settings)


FIRST = [
    Weight("row", "a", 2, present=2),
    Weight("row", "b", 1, present=1),
    Weight("unique", "one", 1),
    Weight("unique", "two", 2),
    Weight("unique", '{"k":null}', 1),
    Weight("reference", "orphan", 3),
    Weight("reference", "child", 1),
    Weight("reference", "child", 1, side="parent"),
    Weight("reference", "childless", 1, side="parent"),
]
SECOND = [
    Weight("row", "a", -2, present=-2),
    Weight("row", "b", -1, present=0),
    Weight("row", "c", 1, present=1),
    Weight("unique", "one", 1),
    Weight("unique", "two", -1),
    Weight("unique", '{"k":null}', -1),
    Weight("reference", "orphan", 1, side="parent"),
    Weight("reference", "child", -1, side="parent"),
]


def names_of(key):
    """The numbers by which the index knows a key: the two halves of its hash, with their signs."""
    hashed = bytes.fromhex(hash_of(key))
    high, low = (int.from_bytes(half, "big", signed=True) for half in (hashed[:8], hashed[8:]))
    return f"{high}L AS key_high, {low}L AS key_low"


def lose_one_answer(monkeypatch):
    """The next append to the index comes through, and its driver is told of a conflict."""
    write, lost = StateAccess.write, []

    def losing(access, sql, fence=None):
        write(access, sql, fence)
        if sql.startswith(f"INSERT INTO {access.tables['key_index'].sql}") and not lost:
            lost.append(sql)
            raise OSError(access.format.conflicts[0])

    monkeypatch.setattr(StateAccess, "write", losing)
    return lost


@pytest.mark.slow  # histories and kills, here and in the simulator, say it of whole runs
def test_what_is_kept_equals_a_full_scan_whatever_dies_in_between(weighed, monkeypatch):
    news, totals = weighed.batch("build", FIRST, 0, is_rebuilt=True)
    assert news == weighed.by_rule(row=2, unique=2, reference=1)
    assert totals[weighed.rules["unique"]] == KeyTotals(hits=2, occurrences=3, excess=2)

    # Killed after the index, then after the violations: neither counts, both can be repeated.
    ids = list(weighed.rules.values())
    weighed.batch("killed", SECOND, 1, until="index")
    assert {row["batch_seq"] for row in weighed.violations()} == {1}
    assert weighed.store().strays(ids) == frozenset()
    weighed.batch("killed", SECOND, 1, until="violations")
    assert weighed.store().strays(ids) == set(ids)
    written = sorted(map(str, weighed.violations()))
    news, _ = weighed.batch("killed", SECOND, 1)
    assert sorted(map(str, weighed.violations())) == written, "a repeat leaves them as they are"
    assert news == weighed.by_rule(row=1, unique=1, reference=1)
    weighed.assert_equals_full_scan()
    assert weighed.resolutions() == {
        ("row", "a"): "deleted",
        ("row", "b"): "fixed",
        ("unique", "two"): "fixed",
        ("unique", '{"k":null}'): "deleted",
        ("reference", "orphan"): "fixed",
    }

    # From here on as over a large index: look up only where the keys lie.
    monkeypatch.setattr(index_log, "SMALL_INDEX_ROWS", -1)
    # A batch that nobody commits resolves one violation and opens two; the next one, which does
    # not see those keys at all, puts all three right.
    lost = [Weight("row", "c", -1, present=-1), Weight("row", "d", 1), Weight("unique", "three", 2)]
    weighed.batch("lost", lost, 2, until="violations")
    assert weighed.violation("row", "c")["status"] == "resolved"
    news, _ = weighed.batch("next", [Weight("unique", "four", 1)], 3)
    assert set(news.values()) == {0}
    weighed.assert_equals_full_scan()
    kept = weighed.violation("row", "c")
    assert (kept["status"], kept["reopen_count"], kept["resolution"]) == ("open", 0, None)

    # A log that has become long is merged, and weighs what it weighed: also if it is written twice.
    monkeypatch.setattr(attempts, "ATTEMPTS_MAX", 2)
    lost = lose_one_answer(monkeypatch)
    weighed.batch("merging", [Weight("unique", "two", 1), Weight("row", "c", -1)], 4)
    assert len(lost) == 1
    weighed.batch("more", [Weight("unique", "two", -1), Weight("row", "a", 1, present=1)], 5)
    weighed.assert_equals_full_scan()
    again = weighed.violation("row", "a")
    assert (again["status"], again["reopen_count"]) == ("open", 1)
    assert again["first_seen"] == START.replace(tzinfo=None)

    before = sorted(map(str, weighed.violations()))
    weighed.batch("nothing", [], 6)
    weighed.assert_equals_full_scan()
    assert sorted(map(str, weighed.violations())) == before


@pytest.mark.parametrize("keys_sent", [pytest.param(100, marks=pytest.mark.slow), -1])
def test_a_large_index_is_looked_up_by_numbers(weighed, monkeypatch, keys_sent):
    monkeypatch.setattr(index_log, "SMALL_INDEX_ROWS", -1)
    monkeypatch.setattr(key_index, "BROADCAST_KEYS_MAX", keys_sent)
    weighed.batch("build", FIRST, 0, is_rebuilt=True)
    # Appended and never committed: such rows lie where the next batch looks, and do not count.
    lost = [Weight("unique", "one", 5), Weight("reference", "child", 7, side="parent")]
    weighed.batch("lost", lost, 1, until="violations")
    news, totals = weighed.batch("next", SECOND, 2)
    assert news == weighed.by_rule(row=1, unique=1, reference=1)
    assert totals[weighed.rules["unique"]] == KeyTotals(hits=-1, occurrences=-1, excess=-1)
    weighed.assert_equals_full_scan()


def test_a_look_up_reads_where_the_keys_lie():
    ranges = {
        "a": key_index.Range(1, (5, 9)),
        "b": key_index.Range(1, (7, 20)),
        "c": key_index.Range(1, (40, 50)),
    }
    within = "near = 0 OR near BETWEEN 5 AND 20 OR near BETWEEN 40 AND 50"
    index, logs = TableName(("i",)), {"a": (Attempt(3, "x"),), "other": (Attempt(4, "y"),)}
    found = key_index.candidates(index, "keys", logs, ranges)
    of_rules = "rule_id IN ('a', 'b', 'c') AND token IN ('x', "
    assert f"WHERE tile IS NULL AND ({within}) AND {of_rules}" in found.rows
    assert found.counts.startswith("((rule_id IN ('a') AND token IN ('x', ")
    anywhere = key_index.candidates(index, "keys", logs, {**ranges, "d": key_index.Range(1)})
    assert f"AND ({within} OR rule_id IN ('d'))" in anywhere.rows


def test_ends_of_places_stay_whole_numbers_of_64_bits():
    lowest, highest = -(2**63), 2**63 - 1
    ends = {"a": key_index.Range(2, (lowest + 5, highest - 5))}
    tiled = {"a": (Attempt(1, "x", is_tiled=True),)}
    found = key_index.candidates(TableName(("i",)), "keys", tiled, ends)
    assert f"near BETWEEN {lowest} AND {highest}" in found.rows
    assert f"near BETWEEN {lowest} AND {highest}" in found.tiles
    many = {"a": key_index.Range(2, (1_000_003, 9_000_001))}
    rounded = key_index.candidates(TableName(("i",)), "keys", tiled, many).rows
    assert "near BETWEEN 524288 AND 9437183" in rounded


def test_weights_that_cannot_be_are_told(weighed):
    weighed.batch("build", FIRST, 0, is_rebuilt=True)
    assert weighed.problems == {}
    # More went than ever came.
    wrong = [Weight("reference", "child", -2, side="parent"), Weight("unique", "five", 1)]
    weighed.batch("wrong", [*wrong, Weight("row", "a", 1)], 1, until="index")
    assert weighed.problems == weighed.by_rule(reference="1 key of its index below zero")


def test_keys_that_a_parent_leaves_are_counted_again_where_updates_go_unseen(spark, weighed):
    # Of the child that is known its row may be gone, unseen; nobody ever referred to the other.
    known = (
        f"SELECT '{weighed.rules['reference']}' AS rule_id, {names_of('child')}, "
        "CAST(NULL AS STRING) AS key_json, '' AS side, 1L AS `count`, 7L AS near"
    )
    gone = [Weight("reference", key, -1, side="parent") for key in ("child", "childless")]
    (view,) = weighed.view(gone)
    columns = {view: spark.table(view).columns}
    rules = BatchRules({weighed.rules["reference"]: WeighKind.REFERENCE}, {})
    rows = spark.sql(known_sql(known, "", columns, rules)).collect()
    assert [(row["violation_key"], row["occurrences"]) for row in rows] == [("child", 1)]


def test_a_parent_that_comes_and_goes_leaves_nothing_to_count_again(spark, weighed):
    rule = weighed.rules["reference"]
    spark.sql(
        f"SELECT * FROM VALUES ('{rule}', 'parent', CAST(NULL AS STRING), 7L, -1L, -1L, false), "
        f"('{rule}', 'parent', NULL, 7L, 1L, 1L, false), "
        f"('{rule}', 'parent', NULL, 8L, -1L, -1L, false) "
        "AS w(rule_id, side, violation_key, near, weight, present, has_null)"
    ).createOrReplaceTempView("came_and_went")
    kept = " UNION ALL ".join(
        f"SELECT '{rule}' AS rule_id, 0L AS key_high, {number}L AS key_low, "
        f"CAST(NULL AS STRING) AS key_json, '' AS side, 1L AS `count`, {number}L AS near"
        for number in (7, 8)
    )
    columns = {"came_and_went": spark.table("came_and_went").columns}
    rules = BatchRules({rule: WeighKind.REFERENCE}, {rule: "n"})
    rows = spark.sql(known_sql(kept, "", columns, rules)).collect()
    assert [row["violation_key"] for row in rows] == [encode_key({"n": 8})]
