"""Cells: what their sums give away, and that they never say anything but the truth."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_steps import Made, made_rows

from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.pairs import comparing, differences, drilling, hash_join
from lakeproof.engines.spark.pairs.cells import CELLS, Cell, cells_left, readable_keys
from lakeproof.engines.spark.pairs.comparing import compare_rows
from lakeproof.engines.spark.pairs.numbers import (
    _sampled,
    pair_found,
    totals_of_rows,
    wilson_upper_bound,
)
from lakeproof.engines.spark.pairs.rows import rows_of
from lakeproof.model.column import Column
from lakeproof.model.pairing import DuplicatePolicy, HashAlgorithm, Method, NullKeyPolicy

_LOW = 0xFFFF_FFFF
KEY = [Made("id", "bigint")]
COLUMNS = [Made("name", "string"), Made("amount", "double", digits=2)]


def cell(*signed_rows):
    """The cell of rows given as (sign, hash, key)."""
    halves = [(sign, (number & _LOW, number >> 32 & _LOW)) for sign, number, _ in signed_rows]
    keys = [(sign, (key & _LOW, key >> 32 & _LOW)) for sign, _, key in signed_rows]
    return Cell(
        rows=sum(sign for sign, _, _ in signed_rows),
        halves=tuple(sum(sign * both[at] for sign, both in halves) for at in (0, 1)),
        key=tuple(sum(sign * both[at] for sign, both in keys) for at in (0, 1)),
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("key", [0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("number", [5, -5, 2**62 + 77, -(2**63)])
def test_a_row_that_remains_alone_gives_its_key_whatever_its_sign(sign, copies, key, number):
    bad = {number % CELLS: cell(*[(sign, number, key)] * copies)}
    assert readable_keys(bad) == ({key}, [])


@pytest.mark.parametrize(
    "several",
    [
        cell((1, 7, 10), (-1, 7 + CELLS, 11)),
        cell((1, 7, 10), (1, 7 + CELLS, 11)),
        cell((1, 7, 10), (1, 7 + CELLS, 11), (-1, 7 + 9 * CELLS, 12)),
        cell((1, 8, 10)),
    ],
    ids=["one lost, one new", "two lost", "below zero", "of another cell"],
)
def test_the_sums_of_several_rows_are_not_read_as_one(several):
    assert readable_keys({7: several}) == (set(), [7])


def test_a_cell_is_explained_only_by_all_of_its_rows():
    one, two = (1, 7, 10), (-1, 7 + CELLS, 11)
    bad = {7: cell(one, two), 9: cell((1, 9, 3))}
    assert cells_left(bad, {7: cell(one, two), 9: cell((1, 9, 3))}) == []
    assert cells_left(bad, {7: cell(one)}) == [7, 9]
    assert cells_left({9: cell((1, 9, 3))}, {9: cell((1, 9, 3)), 4: cell((1, 4, 3))}) == [4]


def test_keys_follow_from_rows_where_none_repeats():
    totals = totals_of_rows(DuplicatePolicy.FAIL, 10, 9, unequal_copies=5)  # 3 lost, 2 added
    assert (totals.total_keys, totals.shared_keys, totals.duplicate_keys) == (12, 7, 0)
    assert totals_of_rows(DuplicatePolicy.MULTISET, 4, 4, 0).duplicate_keys is None


@pytest.mark.parametrize(
    ("hits", "trials", "expected"), [(0, 0, 1.0), (0, 100, 0.03700), (5, 100, 0.11175), (9, 9, 1.0)]
)
def test_a_sample_bounds_the_share_of_all_keys_by_wilson(hits, trials, expected):
    assert wilson_upper_bound(hits, trials) == pytest.approx(expected, abs=1e-5)


def test_what_a_sample_had_are_keys_and_its_bound_is_over_all_that_was_compared():
    told = _sampled(0.1, keys=100, mismatches=5, total=120)
    assert told == {"sampled_keys": 100, "mismatch_pct_max": wilson_upper_bound(5, 120)}


def test_empty_is_said_with_its_reason():
    rows = made_rows("SELECT 1", "SELECT 1", KEY, COLUMNS)
    narrowed = replace(rows, step=replace(rows.step, source=replace(rows.step.source, where="a")))
    for given, number, wanted in (
        (rows, 0, {"empty": True, "empty_reason": "tables", "compared_rows": 0}),
        (narrowed, 0, {"empty": True, "empty_reason": "selection", "compared_rows": 0}),
        (narrowed, 4, {"empty": False, "compared_rows": 4}),
    ):
        totals = totals_of_rows(DuplicatePolicy.FAIL, number, number, 0)
        told = pair_found(given, totals, None, Method.CELLS, {}).metadata
        names = ("empty", "empty_reason", "compared_rows")
        assert {name: told[name] for name in names if name in told} == wanted


def made_step(source, target, keys=KEY, columns=COLUMNS, *, hash_sql="hash_0", **choices):
    """A step whose rows are hashed as given; one whole number is its own key hash."""
    step = made_rows(source, target, keys, columns, **choices).step
    key_hash = (
        "coalesce(key_0, 4L)" if [key.type_text for key in keys] == ["bigint"] else "key_hash"
    )
    changed = f"{hash_sql} AS hash_0, {key_hash} AS key_hash"
    sides = [
        replace(side, sql=f"SELECT * EXCEPT (hash_0, key_hash), {changed} FROM ({side.sql})")
        for side in (step.source, step.target)
    ]
    return replace(step, source=sides[0], target=sides[1], method=Method.CELLS)


def outcome(spark, step):
    """The numbers and what is listed, without the way they were found."""
    compared = compare_rows(spark, step, None)
    found = compared.found
    listed = set()
    if found.view:
        rows = spark.sql(f"SELECT violation_key, excess, observed FROM {found.view}").collect()
        listed = {tuple(row) for row in rows}
    compared.release()
    return found, (found.numbers, found.mismatches, found.total, found.columns, listed)


def both_ways(spark, step):
    """What cells found; the hash join finds the same."""
    found, told = outcome(spark, step)
    joined, told_by_join = outcome(
        spark, replace(step, method=Method.HASH_JOIN, view=f"{step.view}_too")
    )
    assert told == told_by_join
    nulls = ("null_keys_source", "null_keys_target", "uncastable_keys", "empty")
    assert [found.metadata[name] for name in nulls] == [joined.metadata[name] for name in nulls]
    return found


def numbers(found, *names):
    return [found.numbers[name] for name in names]


ROWS = "SELECT id, concat('name ', id) AS name, id / 8D AS amount FROM range(2000)"
CLASSES = ("missing_in_target", "missing_in_source", "hash_mismatches", "surplus_rows")


@pytest.mark.usefixtures("interpreted")
def test_few_differences_are_found_by_their_cells(spark):
    changed = (
        "SELECT id, if(id IN (3, 500), upper(name), name) AS name, "
        "if(id = 700, amount + 1, if(id = 800, amount + 0.004, amount)) AS amount "
        f"FROM ({ROWS}) WHERE id NOT IN (10, 11) "
        "UNION ALL VALUES (CAST(-1 AS BIGINT), 'new', 0D), (NULL, 'no key', 1D)"
    )
    source = f"{ROWS} UNION ALL VALUES (CAST(NULL AS BIGINT), 'nothing', 1D)"
    step = made_step(source, changed, algorithm=HashAlgorithm.SHA256)
    (key,) = step.keys
    cast = replace(step, keys=(replace(key, source=Column("id", "string")),))
    found = both_ways(spark, cast)
    assert found.metadata["method"] == "cells"
    assert "bitmap" in str(found.metadata["uniqueness"])
    assert numbers(found, *CLASSES) == [2, 1, 4, 0]
    assert numbers(found, "total_keys", "shared_keys", "source_rows") == [2002, 1999, 2001]
    assert {match.name: match.mismatches for match in found.columns} == {"name": 3, "amount": 1}
    assert (
        {match.compared for match in found.columns} == {found.metadata["compared_rows"]} == {1999}
    )


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("target", "classes"),
    [
        ("WHERE id NOT IN (5, 6)", [2, 0, 0, 0]),
        # Their sums are those of the row with key 32, which is on neither side.
        ("WHERE id NOT IN (17, 18) UNION ALL SELECT 3L, 'a', 1D", [2, 1, 0, 0]),
    ],
    ids=["two lost", "three that look like one"],
)
def test_cells_of_several_rows_are_looked_up(spark, target, classes):
    in_one_cell = f"(key_0 + 100) * {CELLS}"
    source = "SELECT id, 'a' AS name, 1D AS amount FROM range(5, 20)"
    step = made_step(source, f"{source} {target}", hash_sql=in_one_cell)
    found, _ = outcome(spark, step)
    assert found.metadata["method"] == "cells"
    assert numbers(found, *CLASSES) == classes


@pytest.mark.usefixtures("interpreted")
def test_too_many_bad_cells_are_left_to_the_hash_join(spark):
    source = "SELECT id, 'a' AS name, 1D AS amount FROM range(6000)"
    target = "SELECT id, 'b' AS name, 1D AS amount FROM range(6000)"
    found, _ = outcome(spark, made_step(source, target))
    assert found.metadata["method"] == "hash_join"
    assert found.metadata["planned_method"] == "cells"
    assert "cells differ" in str(found.metadata["method_reason"])
    assert numbers(found, *CLASSES, "mismatch_pct") == [0, 0, 6000, 0, 1.0]


TWICE = (
    "SELECT k, l, v FROM VALUES (1, NULL, 'a'), (1, NULL, 'a'), (2, 'x', 'b'), (NULL, 'x', 'c'), "
    "(NULL, NULL, 'd') AS t(k, l, v)"
)
PAIR_KEY = [Made("k", "int"), Made("l", "string")]


@pytest.mark.slow  # test_semantics holds each policy, the oracle the numbers
@pytest.mark.usefixtures("interpreted")
def test_repeated_keys_count_as_the_policy_says(spark):
    more = f"{TWICE} WHERE v <> 'c' UNION ALL SELECT 2, 'x', 'b'"

    def step(target, **choices):
        return made_step(TWICE, target, PAIR_KEY, [Made("v", "string")], **choices)

    failed, _ = outcome(spark, step(TWICE))
    assert failed.metadata["method"] == "hash_join"
    assert failed.metadata["method_reason"] == "keys of the source repeat"
    assert (failed.mismatches, failed.numbers["duplicate_keys"]) == (2, 1)
    copies = both_ways(spark, step(more, duplicates=DuplicatePolicy.MULTISET))
    assert copies.metadata["method"] == "cells"
    assert numbers(copies, *CLASSES, "duplicate_keys") == [1, 0, 0, 1, None]
    assert copies.metadata["null_keys_source"] == 4
    refused, _ = outcome(spark, step(TWICE, duplicates=DuplicatePolicy.ERROR))
    assert "1 key repeat" in refused.error
    bad_nulls, _ = outcome(spark, step(TWICE, null_keys=NullKeyPolicy.FAIL))
    assert bad_nulls.mismatches == 2 + 2  # a key that is a mismatch already counts no second time


@pytest.mark.usefixtures("interpreted")
def test_a_limit_compares_the_same_keys_of_both_sides(spark):
    source = "SELECT id, 'a' AS name, 1D AS amount FROM range(400)"
    target = "SELECT id, 'a' AS name, 1D AS amount FROM range(200, 600)"
    for limit in (100, 10_000):
        found, _ = outcome(spark, made_step(source, target, row_limit=limit))
        assert found.metadata["limit_applied"] is (limit < 600)
        assert found.total == min(limit, 600)
        lost, new = numbers(found, "missing_in_target", "missing_in_source")
        assert lost + new + found.numbers["shared_keys"] == found.total
        assert lost
        assert new


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("source", "target", "limit", "is_cut"),
    [
        ((1, 1, 1), (1, 2), 3, True),
        ((1, 1, 1), (1, 1, 1), 3, False),
        ((1, 1, 2), (1,), 1, True),
        ((1, 2), (3, 4), 4, False),
        ((1, 2), (3, 4), 3, True),
    ],
)
def test_a_key_that_the_limit_leaves_out_is_told(spark, source, target, limit, is_cut):
    def table(keys):
        return f"SELECT id, 'a' AS name, 1D AS amount FROM (SELECT explode(array({keys})) AS id)"

    step = made_step(*(table(", ".join(map(str, keys))) for keys in (source, target)))
    by_key = [
        replace(side, sql=f"SELECT * EXCEPT (sample_hash), key_0 AS sample_hash FROM ({side.sql})")
        for side in (step.source, step.target)
    ]
    step = replace(step, source=by_key[0], target=by_key[1], row_limit=limit)
    assert rows_of(spark, step).limit_applied is is_cut


@pytest.mark.usefixtures("interpreted")
def test_nothing_is_left_behind_whether_it_worked_or_broke(spark, monkeypatch):
    source = "SELECT id, 'a' AS name, 1D AS amount FROM range(20)"
    engine, step = SparkEngine(spark), made_step(source, f"{source} WHERE id <> 7")

    def left():
        ours = (step.view, "_lakeproof_values")
        names = {row["viewName"] for row in spark.sql("SHOW VIEWS").collect()}
        views = {name for name in names if name.startswith(ours)}
        return views | set(spark.sparkContext._jsc.getPersistentRDDs())

    def broken(*_):
        raise RuntimeError("broken")

    before = left()
    assert engine.compare(step, None).mismatches == 1
    engine.release_pair(step, forget=True)
    assert left() <= before
    joined = replace(step, method=Method.HASH_JOIN)
    for module, name, tried in (
        (drilling, "cells_of", step),
        (differences, "read_samples", step),
        (hash_join, "_totals", joined),
        (comparing, "_change_text", joined),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, broken)
            with pytest.raises(RuntimeError, match="broken"):
                engine.compare(tried, None)
        assert left() <= before, name


@pytest.mark.usefixtures("interpreted")
def test_the_side_that_cannot_be_read_is_named_and_no_value_shown(spark):
    good = "SELECT id, 'a' AS name, 1D AS amount FROM range(20)"
    bad = "SELECT id, 'a' AS name, CAST(concat('secret ', id) AS DOUBLE) AS amount FROM range(20)"
    for source, target, side in ((bad, good, "source"), (good, bad, "target")):
        found, _ = outcome(spark, made_step(source, target))
        assert found.error.startswith(f"Failed to query {side} table frame.made.{side}: ")
        assert "secret" not in found.error


@pytest.mark.usefixtures("interpreted")
def test_a_side_that_changes_between_two_reads_has_no_verdict(spark):
    steady = "SELECT id, 'a' AS name, 1D AS amount FROM range(400)"
    found, _ = outcome(spark, made_step(f"{steady} WHERE rand() < 0.5", steady))
    assert found.error.startswith("frame.made.source or frame.made.target gave other rows")
