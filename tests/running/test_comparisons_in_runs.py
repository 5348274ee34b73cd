"""Comparisons of two tables as rules of a run: results, violations and their life."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from lakeproof import (
    AggregateConsistencyCheck,
    AggregateSpec,
    ChecksumReconciliationCheck,
    ConfigError,
    KeyParityCheck,
    MultiAggregateConsistencyCheck,
    QualityCheck,
    ReconciliationCheck,
    load_contract,
    run_checks,
)
from lakeproof.config import Config, StoreSettings
from lakeproof.model.canonical import hit_id, readable_key

NAMESPACE = "iceberg.compared"
CONFIG = Config(default_namespace="compared")
RAW = """
SELECT * FROM VALUES
  (1, 10.00BD, DATE'2024-03-01'), (2, 20.00BD, DATE'2024-03-01'), (3, 30.00BD, DATE'2024-03-02'),
  (4, 40.00BD, DATE'2024-03-02'), (5, 50.00BD, DATE'2024-03-03')
AS t(id, amount, day)
"""
GOLD = f"""
SELECT id, IF(id = 2, -2.00BD, amount) AS amount, day FROM {NAMESPACE}.raw WHERE id <> 4
UNION ALL SELECT 9, 9.00BD, DATE'2024-03-02'
"""
DAYS = f"SELECT day, sum(amount) AS revenue, count(*) AS orders FROM {NAMESPACE}.raw GROUP BY day"

CONTRACT = {
    "id": "shop",
    "schema": [
        {
            "name": "orders",
            "physicalName": "gold",
            "quality": [
                {
                    "id": "as_delivered",
                    "type": "custom",
                    "engine": "lakeproof",
                    "implementation": {
                        "check": "checksum_reconciliation",
                        "source_table": "raw",
                        "key_columns": ["id"],
                        "absolute_tolerance": 3,
                    },
                }
            ],
        }
    ],
}
_numbers = itertools.count()
ROWS = ChecksumReconciliationCheck("raw", "gold", ["id"], partition_column="day", name="rows")


@pytest.fixture
def tables(spark):
    """`gold` has one row of `raw` changed, one lost and one added; `days` are totals of `raw`."""
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    for name, rows in {"raw": RAW, "gold": GOLD, "days": DAYS}.items():
        spark.sql(f"CREATE OR REPLACE TABLE {NAMESPACE}.{name} USING iceberg AS {rows}")


@pytest.fixture
def kept():
    """A store of the test's own; gives its settings."""
    name = f"compared_state_{next(_numbers)}"
    return StoreSettings(format="iceberg", catalog="iceberg", namespace=name)


def run(spark, checks, day=1, **options):
    """A run on that day of January."""
    clock = lambda: datetime(2026, 1, day, tzinfo=UTC)  # noqa: E731
    return run_checks(spark, checks, config=CONFIG, clock=clock, **options)


def violations(spark, kept):
    """The life of each key: open, resolved, or open again."""
    rows = spark.table(f"{kept.catalog}.{kept.namespace}._quality_violations").collect()
    return {
        readable_key(row["violation_key"]): (row["status"], row["reopen_count"]) for row in rows
    }


def test_comparisons_checks_and_contracts_are_rules_of_one_run(spark, tables, kept):
    checks = [
        ROWS,
        ReconciliationCheck("raw", "gold", check_type="rowcount_gte"),
        QualityCheck("amount", "positive", "gold", "amount"),
        KeyParityCheck("raw", "gold", "id", severity="warning", tags=["nightly"]),
        AggregateConsistencyCheck("gold", "days", "revenue", "sum(amount)", group_by="day"),
        MultiAggregateConsistencyCheck(
            "raw",
            "days",
            [
                AggregateSpec("revenue", "sum(amount)", "revenue"),
                {"name": "orders", "expression": "count(*)", "target_column": "orders"},
            ],
        ),
        load_contract(CONTRACT),
    ]
    outcome = run(spark, checks, store=kept)
    facts = [
        (r.rule_key, r.check_type, r.table_name, r.status.value, r.failing_rows, r.total_rows)
        for r in outcome.results
    ]
    assert facts == [
        ("rows", "checksum_reconciliation", "gold", "failed", 3, 6),
        ("reconciliation_raw", "reconciliation", "gold", "passed", 0, 5),
        ("amount", "positive", "gold", "failed", 1, 5),
        ("key_parity_raw", "key_parity", "gold", "warned", 2, 6),
        ("aggregate_consistency_revenue", "aggregate_consistency", "days", "failed", 2, 3),
        ("multi_aggregate_consistency", "multi_aggregate_consistency", "days", "passed", 0, 2),
        ("shop/as_delivered", "checksum_reconciliation", "gold", "passed", 3, 6),
    ]
    by_key = {result.rule_key: result for result in outcome.results}
    rows = by_key["rows"]
    assert rows.details == (
        "3 of 6 keys differ: 1 missing in target, 1 missing in source, 1 changed (amount 1); "
        "full table"
    )
    assert (rows.new_violations, rows.measure, rows.measures["missing_in_target"]) == (3, 0.5, 1)
    assert [readable_key(key) for key in rows.sample_keys] == ["id=2", "id=4", "id=9"]
    assert rows.sample_values == (
        "amount: 20.00 -> -2.00",
        "missing in target",
        "missing in source",
    )
    assert by_key["key_parity_raw"].tags == ("nightly",)
    assert not outcome.ok

    assert set(outcome.comparisons) == {key for key, kind, *_ in facts if kind != "positive"}
    assert outcome.comparisons["rows"].numbers["hash_mismatches"] == 1
    hits = outcome.violations().collect()
    by_day = "aggregate_consistency_revenue"
    of_rows = {readable_key(row["violation_key"]): row for row in hits if "rows" in row["rules"]}
    assert set(of_rows) == {"id=2", "id=4", "id=9"}
    assert of_rows["id=2"]["observed"] == "amount: 20.00 -> -2.00"
    for row in hits:
        assert row["hit_id"] == hit_id(row["rule_id"], row["violation_key"])
    groups = {readable_key(row["violation_key"]) for row in hits if row["rules"] == [by_day]}
    assert groups == {"day=2024-03-01", "day=2024-03-02"}
    stored = spark.table(f"{kept.catalog}.{kept.namespace}._quality_violations").collect()
    assert {row["hit_id"] for row in stored} == {row["hit_id"] for row in hits}


@pytest.mark.slow
def test_a_key_that_was_mended_is_resolved_and_comes_back(spark, tables, kept):
    run(spark, [ROWS], day=1, store=kept)
    assert violations(spark, kept) == dict.fromkeys(["id=2", "id=4", "id=9"], ("open", 0))
    spark.sql(f"UPDATE {NAMESPACE}.gold SET amount = 20 WHERE id = 2")
    (result,) = run(spark, [ROWS], day=2, store=kept).results
    assert (result.failing_rows, result.new_violations) == (2, 0)
    assert violations(spark, kept)["id=2"] == ("resolved", 0)
    spark.sql(f"UPDATE {NAMESPACE}.raw SET amount = 21 WHERE id = 2")
    run(spark, [ROWS], day=3, store=kept)
    assert violations(spark, kept) == {
        "id=2": ("open", 1),
        "id=4": ("open", 0),
        "id=9": ("open", 0),
    }


@pytest.mark.slow
def test_a_run_over_one_partition_leaves_those_of_others_open(spark, tables, kept):
    for day, partition in enumerate(["2024-03-01", "2024-03-02"], start=1):
        (result,) = run(spark, [ROWS], day=day, store=kept, partition={"day": partition}).results
        assert f"day={partition} only" in result.details
        assert result.declared == {"partition": f"day={partition}"}
    assert violations(spark, kept) == dict.fromkeys(["id=2", "id=4", "id=9"], ("open", 0))
    spark.sql(f"DELETE FROM {NAMESPACE}.gold WHERE id = 9")
    run(spark, [ROWS], day=3, store=kept, partition="2024-03-02")
    assert violations(spark, kept) == {
        "id=2": ("open", 0),
        "id=4": ("open", 0),
        "id=9": ("resolved", 0),
    }
    outcome = run(spark, [ROWS], partition="2024-03-03")
    assert outcome.ok
    assert outcome.comparisons["rows"].metadata["partition_scope"] == "day=2024-03-03"
    with pytest.raises(ConfigError, match="'dya': no rule has that partition_column"):
        run(spark, [ROWS], partition={"dya": "2024-03-03"})


def test_frames_and_paths_are_sides_like_tables(spark, tables, tmp_path):
    raw, gold = (spark.table(f"{NAMESPACE}.{name}") for name in ("raw", "gold"))
    raw.write.format("delta").save(str(tmp_path / "raw"))
    gold.coalesce(1).write.parquet(str(tmp_path / "gold.parquet"))
    checks = [
        ChecksumReconciliationCheck(raw, gold, "id", name="frames"),
        ChecksumReconciliationCheck(
            tmp_path / "raw", tmp_path / "gold.parquet", "id", name="paths"
        ),
        ChecksumReconciliationCheck(f"delta.`{tmp_path}/raw`", raw, "id", name="path_and_frame"),
        KeyParityCheck(gold, "gold", "id", name="frame_and_table"),
    ]
    outcome = run(spark, checks)
    assert [(r.rule_key, r.status.value, r.failing_rows) for r in outcome.results] == [
        ("frames", "failed", 3),
        ("paths", "failed", 3),
        ("path_and_frame", "passed", 0),
        ("frame_and_table", "passed", 0),
    ]
    shown = {
        (tuple(row["rules"]), readable_key(row["violation_key"]))
        for row in outcome.violations().collect()
    }
    assert shown == {
        ((name,), key) for name in ("frames", "paths") for key in ("id=2", "id=4", "id=9")
    }


def test_a_side_that_cannot_be_read_is_the_error_of_its_own_rule(spark, tables):
    checks = [
        ReconciliationCheck("nowhere", "gold", name="no_source", tolerance=1.0),
        ReconciliationCheck("raw", "nowhere", name="no_target", tolerance=1.0),
        ROWS,
    ]
    no_source, no_target, rows = run(spark, checks).results
    assert {no_source.status, no_target.status} == {"error"}
    assert no_source.details.startswith("Failed to query source table")
    assert no_target.details.startswith("Failed to query target table")
    assert rows.status == "failed"
