"""Weights of changed rows, added to those of the old table, are the weights of the new one.

What the weights say is held against the full scan, which finds bad rows in other ways.
"""

from __future__ import annotations

from collections import Counter

import pytest
from weighed_orders import CHECKS, NOW, ORDERS, PARENTS, WEIGHED, World, check, text_of

from lakeproof.model.weighing import WEIGHT, WeighKind
from lakeproof.planning import key_sql, related
from lakeproof.planning.shapes import shapes_of
from lakeproof.planning.weights import numbers_of
from lakeproof.running.evaluate import evaluate_table
from lakeproof.running.findings import TableFindings
from lakeproof.running.progress import ignore
from lakeproof.running.reads import Wanted
from lakeproof.running.time_budget import TimeBudget


@pytest.fixture(scope="module")
def world(spark):
    return World(spark)


@pytest.fixture(scope="module")
def weights(world):
    return {
        "old": world.snapshot(world.old),
        "changes": world.weighed(world.new, world.changes[ORDERS], world.changes[PARENTS]),
        "new": world.snapshot(world.new),
    }


@pytest.fixture(scope="module")
def full(world):
    """The full scan of the new tables, by the code that has nothing to do with weights."""
    found = TableFindings(world.new, NOW)
    evaluate_table(found, world.engine, TimeBudget(None), ignore, Wanted())
    assert not found.errors
    assert not found.unlisted
    return found


def names(plan):
    return {rule.rule_id: rule.key for rule in plan.rules}


def open_keys(plan, found):
    """Violations that the weights of a whole table amount to: (rule, key) -> rows, excess."""
    kinds = plan.weighed
    sums = Counter()
    nulls = {}
    for (rule_id, side, key, *_), row in found.items():
        sums[rule_id, side, key] += row.weight
        nulls[rule_id, key] = nulls.get((rule_id, key), False) or row.has_null
    hits = {}
    for (rule_id, side, key), rows in sums.items():
        kind = kinds[rule_id]
        if side or rows <= 0:
            continue
        if kind is WeighKind.UNIQUE and not nulls[rule_id, key]:
            if rows > 1:
                hits[rule_id, key] = (rows, rows - 1)
        elif kind is not WeighKind.REFERENCE or sums[rule_id, "parent", key] <= 0:
            hits[rule_id, key] = (rows, rows)
    return hits


def test_rules_say_how_they_follow_changes_or_why_they_cannot(world):
    plan = world.new
    called = names(plan)
    kinds = {called[rule_id]: kind.value for rule_id, kind in plan.weighed.items()}
    assert kinds == {
        **dict.fromkeys(("null", "null_some", "amount", "score", "row", "tags", "tag_set"), "row"),
        **dict.fromkeys(("unique", "unique_pair", "key_equal", "key_forbid"), "unique"),
        **dict.fromkeys(("orphan", "orphan_pair"), "reference"),
        **dict.fromkeys(("rows", "rows_some", "ratio", "nulls", "sum"), "count"),
        **dict.fromkeys(("sum_none", "average"), "count"),
    }
    reasons = {called[rule_id]: reason for rule_id, reason in plan.whole_reasons.items()}
    assert reasons == {
        "clock": "its answer changes with the clock",
        "filter": "its answer changes with the clock",
        **dict.fromkeys(
            ("maximum", "doubles", "median"), "what it measures cannot be added up from changes"
        ),
        "query": "a query of the user",
        "order": "it judges a row by its neighbours",
        "list": "its values are looked up in a list or another table",
    }
    keyed = {name for name, kind in kinds.items() if kind != "count"}
    assert {called[rule_id] for rule_id in plan.rechecked} == keyed - {"tags", "tag_set"}


def test_old_weights_and_those_of_the_changes_are_the_new_weights(weights):
    sums = Counter()
    for part in ("old", "changes"):
        for key, row in weights[part][1].items():
            sums[key] += row.weight
    new = {key: row.weight for key, row in weights["new"][1].items()}
    assert {key: weight for key, weight in sums.items() if weight} == new
    standings = {
        rule_id: standing + weights["changes"][0][rule_id]
        for rule_id, standing in weights["old"][0].items()
    }
    assert standings == weights["new"][0]


def test_the_weights_of_a_table_are_the_violations_that_a_full_scan_lists(world, weights, full):
    listed = {
        (row.rule_id, row.violation_key): (row.occurrences, row.excess)
        for row in world.spark.sql(f"SELECT * FROM {full.hits.view}").collect()
        if row.rule_id in world.new.weighed
    }
    assert open_keys(world.new, weights["new"][1]) == listed
    called = names(world.new)
    assert {called[rule_id] for rule_id, _ in listed} == {
        called[rule_id]
        for rule_id, kind in world.new.weighed.items()
        if kind is not WeighKind.COUNT
    }


def test_standings_are_the_numbers_of_a_full_scan(world, weights, full):
    plan = world.new
    scopes = {rule_id: scope for scope in plan.scan.scopes for rule_id in scope.rule_ids}
    tallies = {tally.rule_id: tally for tally in plan.scan.tallies}
    for rule_id, standing in weights["new"][0].items():
        scope, tally = scopes.get(rule_id), tallies.get(rule_id)
        assert standing.rows == full.table_rows
        assert standing.scope == (full.values[scope.alias] if scope else full.table_rows)
        assert standing.bad == (full.values[tally.alias] if tally else 0)
        if tally is not None and tally.elements:
            assert standing.elements == full.values[tally.elements_alias] >= standing.bad
    taken = [item for item in plan.scan.measurements if item.rule_id in plan.weighed]
    assert len(taken) == 8
    for item in taken:
        measures = weights["new"][0][item.rule_id].measures
        assert item.found(measures) == full.values[item.alias], item
        assert all(type(value) is int for value in measures.values())


def test_a_bad_row_that_went_is_told_from_one_that_was_mended(world, weights):
    plan = world.new
    rows = Counter()
    for part in world.changes[ORDERS]:
        for row in world.spark.sql(
            f"SELECT {plan.pinned.key_sql} AS key, {WEIGHT} AS weight FROM {part.relation}"
        ).collect():
            rows[row.key] += row.weight
    by_row = {
        rule_id
        for rule_id, kind in plan.weighed.items()
        if kind is WeighKind.ROW and rule_id in plan.rechecked
    }
    seen = [
        row.present == rows[key]
        for (rule_id, _, key, *_), row in weights["changes"][1].items()
        if rule_id in by_row
    ]
    assert all(seen)
    assert len(seen) >= 20


def test_known_violations_are_counted_again_by_key(world, weights):
    """Half of the changes were seen, by weights; the other half shows when keys are looked up."""
    plan = world.new
    ids = sorted(plan.rechecked)
    open_before = open_keys(world.old, weights["old"][1])
    near = {(key[0], key[2]): key[3] for key in weights["old"][1]}
    known = [(*key, rows, near[key]) for key, (rows, _) in open_before.items() if key[0] in ids]
    world.spark.createDataFrame(
        known, "rule_id STRING, violation_key STRING, occurrences BIGINT, near BIGINT"
    ).createOrReplaceTempView("known_hits")
    came = world.engine.weigh(plan, ids, world.changes[ORDERS][1:], None)
    again = world.engine.weigh_again(plan, ids, "known_hits", None, (came.view,))
    sums = Counter({key[:2]: key[2] for key in known})
    bad = Counter()
    for row in world.spark.sql(f"SELECT * FROM {came.view}").collect():
        sums[row.rule_id, text_of(plan, row)] += row.weight
    gone = set()
    for row in world.spark.sql(f"SELECT * FROM {again.view}").collect():
        key = row.rule_id, text_of(plan, row)
        sums[key] += row.weight
        bad[row.rule_id] += row.weight
        assert row.near == near[key]
        if row.present < 0:
            gone.add(key)
    new = Counter()
    for (rule_id, side, key, *_), row in weights["new"][1].items():
        new[rule_id, key] += 0 if side else row.weight
    for rule_id, key, *_ in known:
        assert sums[rule_id, key] == new[rule_id, key], (rule_id, key)
    by_row = {name for name, kind in plan.weighed.items() if kind is WeighKind.ROW}
    assert {name: of.bad for name, of in again.standings.items()} == {
        name: bad[name] for name in by_row & bad.keys()
    }
    assert gone
    came.release()
    again.release()


def test_a_rule_that_breaks_is_left_out_and_its_neighbours_are_weighed(world):
    broken = check("broken", "row_expression", expression="CAST(code AS INT) > 0")
    plan = world.plan(checks=(*WEIGHED[:9], broken))
    called = names(plan)
    found = world.engine.weigh(plan, list(plan.weighed), world.changes[ORDERS], None)
    assert {called[rule_id] for rule_id in found.errors} == {"broken"}
    assert next(iter(found.errors.values())).startswith("Error: ")
    others = set(called.values()) - {"broken"}
    assert {called[rule_id] for rule_id in found.standings} == others
    rows = world.spark.sql(f"SELECT DISTINCT rule_id FROM {found.view}").collect()
    assert {called[row.rule_id] for row in rows} <= others
    assert len(rows) > 5
    found.release()


def test_no_rows_weigh_nothing(world):
    plan = world.new
    found = world.engine.weigh(plan, list(plan.weighed), [], None)
    assert {standing.rows for standing in found.standings.values()} == {0}
    assert world.spark.sql(f"SELECT count(*) FROM {found.view}").collect()[0][0] == 0
    counting = [rule_id for rule_id, kind in plan.weighed.items() if kind is WeighKind.COUNT]
    without = world.engine.weigh(plan, counting, [], None)
    assert world.spark.sql(f"SELECT count(*) FROM {without.view}").collect()[0][0] == 0


def test_a_rule_counts_in_another_shape_when_the_key_of_its_rows_changes(world):
    same, other = world.plan(), world.plan(key=())
    called = names(same)
    differing = {
        called[rule_id]
        for rule_id in same.weighed
        if shapes_of(same)[rule_id] != shapes_of(other)[rule_id]
    }
    assert differing == {"null", "null_some", "amount", "score", "row", "tags", "tag_set"}
    for alike in (world.old, world.plan(checks=CHECKS[::-1])):
        assert shapes_of(same) == shapes_of(alike)


def test_only_keys_that_are_numbers_count_in_another_shape_than_by_text(world, monkeypatch):
    by_number = world.plan()
    for module in (key_sql, related):
        monkeypatch.setattr(module, "is_number", lambda *_: False)
    by_text = world.plan()
    called = names(by_number)
    assert {
        called[rule_id]
        for rule_id in by_number.weighed
        if shapes_of(by_number)[rule_id] != shapes_of(by_text)[rule_id]
    } == {called[rule_id] for rule_id in numbers_of(by_number)}
    assert {called[rule_id] for rule_id in numbers_of(by_number)} == {"orphan"}
