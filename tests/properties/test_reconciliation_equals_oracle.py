"""Cells, hash join and a diff in plain Python say the same of generated pairs of tables."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pytest
from generated_pairs import (
    KEY_SETS,
    POOLS,
    TARGET_NAMES,
    TWINS,
    TYPES,
    VALUE_TYPES,
    Pair,
    PairMaker,
    compared,
)
from generated_tables import SEEDS
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_checks_equal_oracle import code_generation

from lakeproof.model.canonical import encode_key
from lakeproof.reconciliation import ChecksumReconciliationCheck, KeyParityCheck
from oracle.multiset_diff import Compared, Disagreement, Key, key_of, multiset_diff
from oracle.spark_values import micros
from reconciliation.listed_keys import Comparison, compare
from spark_settings import under

KEYS_PER_PAIR = 250
NAMESPACES = {"iceberg": "iceberg.pairs", "delta": "spark_catalog.default"}
SIDES = ("source", "target")
# Values for the tests that draw none: those that look like each other.
EDGES = {name: [part for twins in TWINS[name] for part in twins[:1]] for name in VALUE_TYPES}
EDGES["Code"] = ["", "a", "a ", "caf\u00e9"]


@dataclass(frozen=True)
class Question:
    """What is asked of a pair of tables, in the words of the check."""

    policy: str
    digits: int | None
    null_keys: str = "count"
    weight: tuple[str, str] | None = None  # absolute and relative tolerance
    precision: str | None = None
    unordered: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, object]:
        asked: dict[str, object] = {
            "duplicate_policy": self.policy,
            "float_precision": self.digits,
            "null_keys": self.null_keys,
            "timestamp_precision": self.precision,
            "unordered_arrays": self.unordered,
        }
        if self.weight:
            absolute, relative = map(Decimal, self.weight)
            asked["column_tolerances"] = {"weight": {"absolute": absolute, "relative": relative}}
        return asked

    def column(self, name: str) -> Compared:
        found = compared(name, digits=self.digits)
        if name == "weight" and self.weight:
            absolute, relative = map(Decimal, self.weight)
            found = replace(found, absolute=absolute, relative=relative)
        unit = {"s": 1_000_000, "ms": 1000}.get(self.precision or "", 1)
        return replace(found, unit_micros=unit, is_unordered=name in self.unordered)

    def answer(self, pair: Pair) -> Disagreement:
        return multiset_diff(
            pair.source,
            pair.target,
            [self.column(name) for name in pair.key],
            [self.column(name) for name in VALUE_TYPES],
            policy=self.policy,
            null_keys=self.null_keys,
        )


QUESTIONS = st.builds(
    Question,
    policy=st.sampled_from(["fail", "multiset"]),
    digits=st.sampled_from([6, None, 2]),
    null_keys=st.sampled_from(["count", "count", "fail"]),
    weight=st.sampled_from([None, ("0.01", "0"), ("0", "0.01"), ("0.001", "0.02")]),
    precision=st.sampled_from([None, None, "s", "ms"]),
    unordered=st.sampled_from([(), ("bag",)]),
)


@dataclass(frozen=True)
class Written:
    """The pair as two tables."""

    pair: Pair
    names: tuple[str, str] = field(default=("", ""))

    def check(self, question: Question, **options) -> ChecksumReconciliationCheck:
        return ChecksumReconciliationCheck(
            *self.names, list(self.pair.key), **question.options, **options
        )


def write_pair(spark, pair: Pair, formats: tuple[str, str], number: int = 0) -> Written:
    names = tuple(
        f"{NAMESPACES[using]}.pair_{side}_{number}"
        for side, using in zip(SIDES, formats, strict=True)
    )
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.pairs")
    for side, (rows, using) in enumerate(zip((pair.source, pair.target), formats, strict=True)):
        write_side(spark, rows, side, using, names[side])
    return Written(pair, names)


def write_side(spark, rows, side: int, using: str, name: str) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - PySpark's own custom

    columns = list(TYPES) if side == 0 else list(reversed(TYPES))
    kinds = {column: TYPES[column][side] for column in columns}
    stored = {**kinds, "ts": "bigint"}  # PySpark would push a datetime through the local zone
    spelled = {column: TARGET_NAMES.get(column, column) if side else column for column in columns}
    schema = ", ".join(
        f"`{spelled[column].replace('`', '``')}` {stored[column]}" for column in columns
    )
    values = [tuple(as_stored(row[column], kinds[column]) for column in columns) for row in rows]
    frame = spark.createDataFrame(values, schema).withColumn("ts", F.timestamp_micros("ts"))
    writer = frame.repartition(2 + side).writeTo(name).using(using)
    if using == "delta":  # which by itself refuses blanks in names
        writer = writer.tableProperty("delta.columnMapping.mode", "name")
    writer.createOrReplace()


def as_stored(value: object, kind: str) -> object:
    if value is None or isinstance(value, bool):
        return value
    if kind == "timestamp":
        return micros(value)
    if kind == "double":
        return float(value)
    return Decimal(value) if kind.startswith("decimal") else value


def disagreements(compared: Comparison, pair: Pair, question: Question, method: str) -> list[str]:
    """Every way in which the comparison and the oracle disagree, a few lines each."""
    expected = question.answer(pair)
    told = {
        **told_of_numbers(compared.result, question, expected),
        **told_of_keys(compared, pair.key, question, expected),
        **told_of_columns(compared.result, expected),
    }
    found = [
        f"{question}\n{name} by {method}\n  oracle {wanted}\n  found  {got}"
        for name, (wanted, got) in told.items()
        if wanted != got
    ]
    used, wanted = compared.result.metadata["method"], expected_method(method, question, expected)
    if used != wanted:
        found.append(f"{method} became {used}: {compared.result.metadata['method_reason']}")
    return found


def told_of_numbers(result, question: Question, expected: Disagreement):
    metadata = result.metadata
    by_side = {"null_keys": expected.null_key_rows}
    if question.policy == "fail":
        by_side["duplicate_keys"] = expected.repeated_keys
    return {
        "numbers": (expected.numbers, result.metric_value),
        "passed": (not expected.mismatches, result.passed),
        **{
            name: (counts, tuple(metadata[f"{name}_{side}"] for side in SIDES))
            for name, counts in by_side.items()
        },
    }


def told_of_keys(compared: Comparison, names, question: Question, expected: Disagreement):
    key = [question.column(name) for name in names]
    by_form = {as_key(values, key): one for values, one in compared.keys.items()}
    told = {}
    for form in {*by_form, *expected.keys}:
        got, wanted = by_form.get(form), expected.keys.get(form)
        if got is None or wanted is None or not says_the_same(got, wanted):
            told[f"key {form}"] = (wanted, got)
    violations = {}
    for (values, one), form in zip(compared.keys.items(), by_form, strict=True):
        named = (TARGET_NAMES.get(name, name) for name in names)
        violation = encode_key(dict(zip(named, values, strict=True)))
        excess = expected.keys[form].excess if form in expected.keys else 0
        violations[violation] = (max(one.source_rows, one.target_rows), excess)
    return {**told, "violations": (violations, compared.violations)}


def told_of_columns(result, expected: Disagreement):
    """Which rows of a repeated key are shown beside each other is nobody's promise."""
    if any(max(one.source_rows, one.target_rows) > 1 for one in expected.keys.values()):
        return {}
    told = result.metadata["column_mismatches"].items()
    wanted = {name.lower(): number for name, number in expected.column_mismatches.items()}
    return {"columns": (wanted, {name.lower(): number for name, number in told if number})}


def expected_method(method: str, question: Question, expected: Disagreement) -> str:
    """Cells find that keys repeat, or must not be NULL, and leave them to the hash join."""
    repeats = question.policy == "fail" and any(expected.repeated_keys)
    is_null = question.null_keys == "fail" and any(expected.null_key_rows)
    return "hash_join" if repeats or is_null else method


def as_key(values: tuple[object, ...], key: list[Compared]) -> Key:
    return key_of(dict(zip((one.name for one in key), values, strict=True)), key)


def says_the_same(got, wanted) -> bool:
    counts = (got.kind, got.source_rows, got.target_rows)
    if counts != (wanted.kind, wanted.source_rows, wanted.target_rows):
        return False
    differing = {name.lower() for name in got.differing}
    return wanted.differing is None or differing == {name.lower() for name in wanted.differing}


def in_lines(found: list[str]) -> str:
    """The disagreements to read; '' if there are none."""
    return f"{len(found)} differences\n" + "\n".join(found[:8]) if found else ""


def what_disagrees(spark, pools, seed, key, has_copies, questions, formats) -> str:
    """Where cells, hash join and oracle say different things of a generated pair; '' if nowhere."""
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    values = {name: [*pools[name], *EDGES[name]] for name in pools}
    pair = PairMaker(values, chance, has_copies).pair(key, KEYS_PER_PAIR)
    written = write_pair(spark, pair, formats)
    found = []
    for question in questions:
        for method in ("cells", "hash_join"):
            compared = compare(spark, written.check(question, method=method))
            found += disagreements(compared, pair, question, method)
    return in_lines(found)


PAIRS = {
    "pools": POOLS,
    "seed": SEEDS,
    "key": st.sampled_from(KEY_SETS),
    "has_copies": st.booleans(),
    "formats": st.sampled_from([("iceberg", "delta"), ("delta", "iceberg"), ("iceberg",) * 2]),
    "zone": st.sampled_from(["UTC", "America/St_Johns"]),
}
AS_THEY_COME = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would start many runs
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}


@settings(max_examples=2, **AS_THEY_COME)
@given(question=QUESTIONS, **PAIRS)
def test_cells_hash_join_and_oracle_agree(spark, zone, question, **pair):
    with under(spark, {**code_generation(compiled=False), "spark.sql.session.timeZone": zone}):
        assert what_disagrees(spark, questions=[question], **pair) == ""


@pytest.mark.slow
@settings(max_examples=40, **AS_THEY_COME)
@given(
    compiled=st.booleans(),
    questions=st.lists(QUESTIONS, min_size=2, max_size=2, unique=True),
    **PAIRS,
)
def test_cells_hash_join_and_oracle_agree_on_many_pairs(spark, zone, compiled, **pair):
    with under(spark, {**code_generation(compiled), "spark.sql.session.timeZone": zone}):
        assert what_disagrees(spark, **pair) == ""


@pytest.fixture(scope="module")
def parts(spark):
    """A pair with a key of three columns, some of them NULL, and copies."""
    chance = random.Random("parts")  # noqa: S311 - arranges test data
    pair = PairMaker(EDGES, chance, has_copies=True).pair(("part", "Code", "day key"), 400)
    return write_pair(spark, pair, ("iceberg", "iceberg"), 1)


def test_a_sample_is_the_same_keys_of_both_sides(spark, parts):
    """Which keys are drawn is read off the SQL of each side; of those, everything must hold."""
    key, question = exactly(parts.pair.key), Question("multiset", 6)
    with under(spark, code_generation(compiled=False)):
        compared = compare(spark, parts.check(question, method="cells", sample=0.3))
        drawn = [
            {
                as_key(row, key)
                for row in spark.sql(compared.result.metadata[f"{side}_sql"])
                .select([f"key_{number}" for number in range(len(key))])
                .collect()
            }
            for side in SIDES
        ]
    rows = parts.pair.source, parts.pair.target
    shared = set.intersection(*({key_of(row, key) for row in side} for side in rows))
    assert drawn[0] & shared == drawn[1] & shared
    assert 80 < len(drawn[0] | drawn[1]) < 160
    sampled = [
        [row for row in side if key_of(row, key) in keys]
        for side, keys in zip(rows, drawn, strict=True)
    ]
    pair = Pair(parts.pair.key, *sampled)
    assert in_lines(disagreements(compared, pair, question, "cells")) == ""


def test_keys_alone_are_compared_as_sets(spark, parts):
    key = exactly(parts.pair.key)
    source, target = (
        {key_of(row, key) for row in rows} for rows in (parts.pair.source, parts.pair.target)
    )
    with under(spark, code_generation(compiled=False)):
        compared = compare(spark, KeyParityCheck(*parts.names, list(parts.pair.key)))
    assert compared.result.metric_value == {
        "missing_in_target": len(source - target),
        "missing_in_source": len(target - source),
        "total_keys": len(source | target),
        "mismatch_pct": len(source ^ target) / len(source | target),
    }
    assert {as_key(values, key): one.kind for values, one in compared.keys.items()} == {
        **dict.fromkeys(source - target, "missing_in_target"),
        **dict.fromkeys(target - source, "missing_in_source"),
    }


def exactly(names) -> list[Compared]:
    return [compared(name, digits=None) for name in names]


# ---------------------------------------------------------------------------- the oracle itself


def told(source, target, columns, **options) -> Disagreement:
    return multiset_diff(
        [{"k": key, "v": value} for key, value in source],
        [{"k": key, "v": value} for key, value in target],
        [Compared("k")],
        columns,
        **options,
    )


def test_the_oracle_counts_as_a_person_does():
    source = [(1, "a"), (1, "a"), (2, "x"), (3, "y"), (3, "z"), (4, "c"), (5, "lost"), (5, "lost")]
    target = [(1, "a"), (1, "a"), (2, "x"), (2, "x"), (3, "y"), (3, "w"), (4, "c"), (6, "new")]
    failed = told(source, target, [Compared("v")])
    assert {key[0][1]: (one.kind, one.excess) for key, one in failed.keys.items()} == {
        1: ("surplus", 2),
        2: ("surplus", 1),
        3: ("changed", 3),
        5: ("missing_in_target", 2),
        6: ("missing_in_source", 1),
    }
    assert failed.numbers == {
        "missing_in_target": 1,
        "missing_in_source": 1,
        "hash_mismatches": 1,
        "surplus_rows": 2 + 1 + 2 + 1,
        "source_rows": 8,
        "target_rows": 8,
        "total_keys": 6,
        "shared_keys": 4,
        "duplicate_keys": 4,
        "total_compared": 12,
        "mismatch_pct": 9 / 12,
    }
    copies = told(source, target, [Compared("v")], policy="multiset")
    assert {key[0][1]: (one.kind, one.excess) for key, one in copies.keys.items()} == {
        2: ("surplus", 1),
        3: ("changed", 1),
        5: ("missing_in_target", 2),
        6: ("missing_in_source", 1),
    }
    assert copies.numbers["total_compared"] == 2 + 2 + 2 + 1 + 2 + 1
    assert copies.numbers["shared_keys"] == 2 + 1 + 2 + 1


def test_the_oracle_pairs_nearly_equal_copies_by_rank():
    rounded = Compared("v", is_float=True, digits=1)
    source, target = [(1, 0.14), (1, 5.0)], [(1, 5.04), (1, 0.16)]
    assert not told(source, target, [rounded], policy="multiset").keys
    exact = Compared("v", is_float=True)
    (found,) = told(source, target, [exact], policy="multiset").keys.values()
    assert (found.kind, found.excess) == ("changed", 1)


def test_in_the_oracle_infinity_and_nan_are_near_to_nothing():
    near = Compared("v", is_float=True, absolute=Decimal(1), relative=Decimal("0.5"))
    for one, other in [(math.inf, 1.0), (1.0, math.inf), (math.nan, 1.0), (1.0, math.nan)]:
        assert not near.equal(one, other)
    assert near.equal(math.nan, math.nan)
    assert near.equal(10.0, 14.0)
    assert not near.equal(10.0, 16.0)
