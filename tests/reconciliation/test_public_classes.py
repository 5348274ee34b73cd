"""The classes that people write: what they refuse, and what they stand for."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lakeproof
from lakeproof import (
    AggregateConsistencyCheck,
    AggregateSpec,
    ChecksumReconciliationCheck,
    KeyParityCheck,
    MultiAggregateConsistencyCheck,
    ReconciliationCheck,
)
from lakeproof.config import Config
from lakeproof.contracts.gathering import gather
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.rule import Rule
from lakeproof.model.threshold import Threshold

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
ROWS = AggregateSpec("rows", "COUNT(*)", "n")
MADE = {
    ReconciliationCheck: {},
    AggregateConsistencyCheck: {"aggregate_column": "total", "source_expression": "SUM(amount)"},
    MultiAggregateConsistencyCheck: {"aggregates": [ROWS]},
    KeyParityCheck: {"key_columns": ["id"]},
    ChecksumReconciliationCheck: {"key_columns": ["id"]},
}


class Frame:
    """What is known of a DataFrame before there is a session."""

    def createOrReplaceTempView(self, name):  # noqa: N802 (Spark's name)
        raise AssertionError(name)


def made(kind, source="raw.orders", target="gold.orders", **fields):
    return kind(source, target, **{**MADE[kind], **fields})


def rule_of(check):
    (rule,) = gather([check], Config(), NOW).rules
    assert isinstance(rule, Rule), rule
    return rule


# ---------------------------------------------------------------------------------- construction


def test_the_defaults_are_those_that_were_promised():
    check = made(ChecksumReconciliationCheck)
    defaults = {item.name: getattr(check, item.name) for item in dataclasses.fields(check)}
    promised = {
        "tolerance": 0.0,
        "absolute_tolerance": None,
        "sample": None,
        "limit": None,
        "hash_algorithm": "xxhash64",
        "float_precision": 6,
        "partition_column": None,
        "duplicate_policy": "fail",
        "on_empty": "warn",
        "columns": None,
        "where_clause": None,
        "target_where_clause": None,
    }
    assert {name: defaults[name] for name in promised} == promised
    assert made(ReconciliationCheck).check_type == "rowcount_parity"


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"tolerance": -0.1}, "share from 0 to 1, got -0.1"),
        ({"tolerance": 1.5}, "share from 0 to 1, got 1.5"),
        ({"tolerance": math.nan}, "share from 0 to 1, got nan"),
        ({"tolerance": True}, "got True"),
        ({"tolerance": False}, "got False"),
        ({"tolerance": "5%"}, "got '5%'"),
        ({"absolute_tolerance": -1}, "0 or more"),
        ({"absolute_tolerance": True}, "got True"),
        ({"absolute_tolerance": math.inf}, "0 or more"),
        ({"severity": "fatal"}, "severity 'fatal' is not one of"),
        ({"timeout_seconds": 0}, "timeout_seconds must be above 0"),
        ({"tags": "nightly"}, "tags must be a list"),
        ({"name": 3}, "name must be a text"),
        ({"where_clause": "x >"}, "where_clause"),
        ({"target_where_clause": "x >"}, "not one Spark SQL"),
        ({"partition_column": ""}, "partition_column"),
        ({"source": 3}, "source_table must be the name of a table"),
        ({"source": "raw..orders"}, "'raw..orders' cannot be read"),
        ({"target": None}, "target_table must be the name of a table"),
        ({"target": "`gold"}, "cannot be read"),
    ],
)
def test_wrong_arguments_fail_at_construction(kind, fields, told):
    with pytest.raises(CheckDefinitionError) as refused:
        made(kind, **fields)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "fields", "told"),
    [
        (ReconciliationCheck, {"check_type": "rowcount"}, "Known: rowcount_parity, rowcount_gte"),
        (ReconciliationCheck, {"absolute_tolerance": 0.5}, "0 or more rows"),
        (MultiAggregateConsistencyCheck, {"aggregates": []}, "one aggregate at least"),
        (MultiAggregateConsistencyCheck, {"aggregates": [ROWS, ROWS]}, "names 'rows' twice"),
        (MultiAggregateConsistencyCheck, {"aggregates": ROWS}, "must be list or tuple"),
        (AggregateConsistencyCheck, {"source_expression": "amount"}, "no aggregate"),
        (KeyParityCheck, {"key_columns": []}, "one key column at least"),
        (ChecksumReconciliationCheck, {"sample": 1.5}, "above 0 and up to 1"),
        (ChecksumReconciliationCheck, {"hash_algorithm": "crc32"}, "Known: xxhash64"),
        (ChecksumReconciliationCheck, {"columns": ["a", "a"]}, "names 'a' twice"),
    ],
)
def test_what_only_one_of_them_takes_is_read_by_its_check(kind, fields, told):
    with pytest.raises(CheckDefinitionError) as refused:
        made(kind, **fields)
    assert told in str(refused.value)


def test_a_target_is_needed():
    with pytest.raises(TypeError, match="target_table"):
        ReconciliationCheck("raw.orders")


def test_checks_are_values():
    assert made(KeyParityCheck) == made(KeyParityCheck)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made(KeyParityCheck).tolerance = 0.5


# ----------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("check", "name", "metric_name"),
    [
        (made(ReconciliationCheck), "reconciliation_raw_orders", "reconciliation_check"),
        (
            made(AggregateConsistencyCheck),
            "aggregate_consistency_total",
            "aggregate_consistency_check",
        ),
        (
            made(MultiAggregateConsistencyCheck),
            "multi_aggregate_consistency",
            "multi_aggregate_consistency_check",
        ),
        (made(KeyParityCheck), "key_parity_raw_orders", "key_parity_check"),
        (
            made(ChecksumReconciliationCheck),
            "checksum_reconciliation_raw_orders",
            "checksum_reconciliation_check",
        ),
        (made(KeyParityCheck, "lake.raw.`my.orders`"), "key_parity_lake_raw_my_orders", None),
        (made(KeyParityCheck, "s3://bucket/raw/orders/"), "key_parity_s3_bucket_raw_orders", None),
        (made(KeyParityCheck, Path("orders.parquet")), "key_parity_orders_parquet", None),
        (made(KeyParityCheck, Frame()), "key_parity_dataframe", None),
        (made(KeyParityCheck, name="nightly"), "nightly", None),
    ],
)
def test_a_check_is_named_by_what_it_compares(check, name, metric_name):
    assert check.name == name
    assert check.metric_name == (metric_name or "key_parity_check")
    assert rule_of(check).key == name


# ------------------------------------------------------------------------------- what they become


@pytest.mark.parametrize("kind", MADE)
def test_a_check_becomes_a_rule_of_its_target(kind):
    check = made(kind, target_where_clause="x > 1", severity="warning", tags=["nightly"])
    rule = rule_of(check)
    assert f"{rule.check}_check" == check.metric_name
    assert str(rule.table) == "iceberg.gold.orders"
    assert rule.arguments["source_table"] == "raw.orders"
    assert (rule.filter, rule.severity, rule.tags) == ("x > 1", "warning", ("nightly",))
    assert check.frames() == {}


@pytest.mark.parametrize("kind", [ReconciliationCheck, KeyParityCheck, ChecksumReconciliationCheck])
def test_a_tolerance_is_not_part_of_the_identity_of_rows(kind):
    strict, lax = (rule_of(made(kind, **more)) for more in ({}, {"tolerance": 0.1}))
    assert strict.rule_id == lax.rule_id
    assert strict.threshold == Threshold()
    assert lax.threshold == Threshold(0.1)
    for rows in (3, 3.0):
        assert rule_of(made(kind, absolute_tolerance=rows)).threshold == Threshold(None, 3)


@pytest.mark.parametrize("kind", [AggregateConsistencyCheck, MultiAggregateConsistencyCheck])
def test_a_tolerance_decides_which_aggregates_are_bad(kind):
    strict, lax = (rule_of(made(kind, **more)) for more in ({}, {"absolute_tolerance": 0.5}))
    assert strict.rule_id != lax.rule_id
    assert lax.arguments["absolute_tolerance"] == 0.5
    assert lax.threshold == Threshold()


def test_every_field_reaches_the_rule():
    check = made(
        ChecksumReconciliationCheck,
        columns=["a", "b"],
        where_clause="x > 1",
        partition_column="day",
        float_precision=None,
        normalize={"a": ["trim"]},
        sample=0.5,
        metadata_patterns=[],
    )
    rule = rule_of(check)
    assert rule.columns == ("a", "b")
    assert rule.arguments["float_precision"] is None
    assert rule.arguments["normalize"] == {"a": ("trim",)}
    assert rule.arguments["metadata_patterns"] == ()
    assert (rule.arguments["sample"], rule.arguments["where_clause"]) == (0.5, "x > 1")
    given = {item.name for item in dataclasses.fields(check)}
    known = {*rule.arguments} - {"partition"}
    assert known <= given, "a parameter that the class does not have"


@pytest.mark.parametrize("kind", MADE)
def test_every_comparison_can_say_what_nothing_means(kind):
    strict, lax = (rule_of(made(kind, **more)) for more in ({"on_empty": "fail"}, {}))
    assert (strict.arguments["on_empty"], lax.arguments["on_empty"]) == ("fail", "warn")
    assert strict.rule_id == lax.rule_id


def test_specs_and_mappings_are_the_same_aggregate():
    plain = {"name": "rows", "expression": "COUNT(*)", "target_column": "n"}
    as_spec, as_mapping = (
        rule_of(made(MultiAggregateConsistencyCheck, aggregates=[one])) for one in (ROWS, plain)
    )
    assert as_spec.rule_id == as_mapping.rule_id


def test_frames_stand_under_names_of_their_own():
    source, target = Frame(), Frame()
    check = made(KeyParityCheck, source, target, name="nightly keys")
    assert check.frames() == {
        "frame.`nightly keys`.source": source,
        "frame.`nightly keys`.target": target,
    }
    gathered = gather([check], Config(), NOW)
    assert set(gathered.compared_frames.values()) == {source, target}
    assert gathered.rules[0].table in gathered.compared_frames
    mixed = made(KeyParityCheck, source, "gold.orders")
    assert list(mixed.frames()) == ["frame.key_parity_dataframe.source"]


def test_paths_stand_for_files():
    check = made(KeyParityCheck, Path("orders.parquet"), "s3://bucket/gold/orders.delta")
    files = gather([check], Config(), NOW).files
    assert {str(source) for source in files.values()} == {
        "parquet files at ./orders.parquet",
        "delta files at s3a://bucket/gold/orders.delta",
    }


def test_checks_and_suites_are_mixed():
    plain = lakeproof.QualityCheck(
        "rows", "row_count_range", "gold.orders", params={"min_count": 1}
    )
    rules = gather([plain, made(KeyParityCheck), made(ReconciliationCheck)], Config(), NOW).rules
    assert [rule.check for rule in rules] == ["row_count_range", "key_parity", "reconciliation"]
