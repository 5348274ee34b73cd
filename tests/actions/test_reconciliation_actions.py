"""What a comparison costs: actions and shuffled bytes, counted by Spark itself."""

from __future__ import annotations

import pytest
from executions import counted_executions

from lakeproof.reconciliation import ChecksumReconciliationCheck

FEW, MANY = 150_000, 600_000  # enough rows in both to fill the cells
ROWS = "SELECT id, concat('code ', id) AS code, CAST(id % 97 AS INT) AS n FROM range({rows})"
CHANGED = "SELECT id, code, IF(id IN (5, 70000), n + 1, n) AS n FROM {source} WHERE id <> 11"


def named(side: str, rows: int) -> str:
    return f"iceberg.compared.{side}_{rows}"


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    """Two sizes of equal tables in another order, in as many files, and one with differences."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.compared")
    made = {
        named(side, rows): f"{ROWS.format(rows=rows)} {order}"
        for rows in (FEW, MANY)
        for side, order in (("source", ""), ("target", "ORDER BY hash(id)"))
    }
    made[named("changed", FEW)] = CHANGED.format(source=named("source", FEW))
    for name, sql in made.items():
        spark.sql(
            f"CREATE OR REPLACE TABLE {name} USING iceberg AS "
            f"SELECT /*+ COALESCE(1) */ * FROM ({sql})"
        )


def measured(spark, target: str, rows: int, key: str = "id", **options):
    check = ChecksumReconciliationCheck(named("source", rows), target, [key], **options)
    with counted_executions(spark, "iceberg.compared") as counted:
        result = check.run(spark)
    print(  # noqa: T201 (figures for people who run with -s)
        f"{key}, {options}, {rows:,} rows: {len(counted.reading)} actions, "
        f"{counted.shuffle_bytes:,} bytes shuffled"
    )
    return result, counted


@pytest.mark.parametrize(("policy", "actions"), [("multiset", 1), ("fail", 2)])
def test_the_cost_of_equal_tables_with_dense_keys_does_not_grow(spark, policy, actions):
    """One pass over both tables, and one over the source's keys where they must be unique."""
    bytes_by_rows = {}
    for rows in (FEW, MANY):
        result, counted = measured(
            spark, named("target", rows), rows, duplicate_policy=policy, columns=["n"]
        )
        assert result.passed, result.failure_message
        assert (result.metadata["method"], result.metric_value["total_keys"]) == ("cells", rows)
        assert len(counted.reading) == actions, counted.reading
        bytes_by_rows[rows] = counted.shuffle_bytes
    assert bytes_by_rows[MANY] < bytes_by_rows[FEW] * 1.5
    assert bytes_by_rows[MANY] < 5 * 2**20


def test_what_unique_texts_cost_is_told_apart(spark):
    """Keys that are no dense integers are grouped to see whether they repeat."""
    target = named("target", FEW)
    plain, cells = measured(spark, target, FEW, "code", duplicate_policy="multiset")
    strict, both = measured(spark, target, FEW, "code")
    assert plain.passed
    assert strict.passed
    assert "uniqueness" not in plain.metadata
    assert "source" in strict.metadata["uniqueness"]
    assert len(both.reading) == len(cells.reading) + 1
    assert both.shuffle_bytes > cells.shuffle_bytes


def test_a_few_differences_add_one_look_at_their_keys(spark):
    result, counted = measured(spark, named("changed", FEW), FEW)
    assert result.metadata["method"] == "cells"
    assert result.metric_value["hash_mismatches"] == 2
    assert result.metric_value["missing_in_target"] == 1
    assert len(counted.reading) <= 4, counted.reading


def test_one_snapshot_on_both_sides_is_not_compared(spark):
    result, counted = measured(spark, named("source", MANY), MANY, duplicate_policy="multiset")
    assert result.passed
    assert result.metadata["method"] == "snapshot"
    assert result.metric_value["total_keys"] == MANY
    assert counted.reading == []
    assert counted.shuffle_bytes < 1000
