"""What the reference promises of its five checks, through the public classes.

The names of the promises (R1, A1, K1, M1, C1) are those of the list that they were taken from.
"""

from __future__ import annotations

import pytest

from lakeproof.reconciliation import (
    AggregateConsistencyCheck,
    AggregateSpec,
    ChecksumReconciliationCheck,
    KeyParityCheck,
    MultiAggregateConsistencyCheck,
    ReconciliationCheck,
)

pytestmark = pytest.mark.usefixtures("interpreted")

NAMESPACE = "iceberg.behaviours"
ORDERS = f"{NAMESPACE}.orders"
COPY = f"{NAMESPACE}.orders_copy"


@pytest.fixture(scope="module", autouse=True)
def orders(spark):
    """40 orders of two days, and a copy with metadata of its own and one row of each fault."""
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    spark.sql(
        f"CREATE OR REPLACE TABLE {ORDERS} USING iceberg AS SELECT CAST(id AS INT) AS id, "
        "date'2024-03-01' + CAST(id DIV 20 AS INT) AS day, CAST(id AS DECIMAL(10,2)) AS amount, "
        "concat('s', id % 3) AS status, concat('src', id) AS _phlo_row_id FROM range(40)"
    )
    spark.sql(
        f"CREATE OR REPLACE TABLE {COPY} USING iceberg AS SELECT id, day, "
        "IF(id = 3, amount + 1, amount) AS amount, IF(id = 4, 'late', status) AS status, "
        f"concat('tgt', id) AS _phlo_row_id FROM {ORDERS} WHERE id <> 5 "
        "UNION ALL SELECT 99, date'2024-03-01', 1, 'new', 'x'"
    )


def rows(spark, count: int):
    return spark.range(count)


def table(spark, columns: str, *values: str):
    """A frame out of SQL rows."""
    return spark.sql(f"SELECT * FROM VALUES {', '.join(values)} AS t({columns})")


# ------------------------------------------------------------------------------------- row counts


@pytest.mark.parametrize(
    ("promise", "source", "target", "options", "passed", "share"),
    [
        ("R1 equal counts", 100, 100, {}, True, 0.0),
        ("R2 too many rows", 100, 120, {}, False, 0.2),
        ("R3 on the edge of a share", 100, 95, {"tolerance": 0.05}, True, 0.05),
        ("R4 beyond it", 100, 90, {"tolerance": 0.05}, False, 0.10),
        ("R5 on the edge of a number", 100, 95, {"absolute_tolerance": 5}, True, 0.05),
        ("R6 more is enough", 100, 120, {"check_type": "rowcount_gte"}, True, 0.2),
        (
            "R7 not quite enough, allowed",
            100,
            96,
            {"check_type": "rowcount_gte", "absolute_tolerance": 5},
            True,
            0.04,
        ),
        ("R7 fewer is too few", 100, 96, {"check_type": "rowcount_gte"}, False, 0.04),
        ("R8 both are empty", 0, 0, {}, True, 0.0),
        ("rows out of nothing", 0, 3, {"tolerance": 0.99}, False, 1.0),
    ],
)
def test_row_counts(spark, promise, source, target, options, passed, share):
    check = ReconciliationCheck(rows(spark, source), rows(spark, target), **options)
    result = check.run(spark)
    assert (result.passed, result.metric_name) == (passed, "reconciliation_check")
    assert result.metric_value == {
        "source_count": source,
        "target_count": target,
        "difference_pct": share,
        "difference_abs": abs(source - target),
    }
    assert result.status == ("passed" if passed else "failed")
    assert passed or "reconciliation failed" in result.failure_message


def test_r9_a_source_that_cannot_be_read_is_an_error_that_names_it(spark):
    result = ReconciliationCheck(
        f"{NAMESPACE}.nowhere", ORDERS, tolerance=1.0, absolute_tolerance=10**9
    ).run(spark)
    assert (result.passed, result.status) == (False, "error")
    assert result.failure_message.startswith("Failed to query source table")
    assert "nowhere" in result.failure_message


def test_r10_names_say_what_is_compared():
    assert ReconciliationCheck("raw.orders", "gold.orders").name == "reconciliation_raw_orders"
    named = AggregateConsistencyCheck("raw.orders", "gold.days", "total", "SUM(amount)")
    assert named.name == "aggregate_consistency_total"
    assert KeyParityCheck("raw.orders", "gold.orders", ["id"]).name == "key_parity_raw_orders"
    checksum = ChecksumReconciliationCheck("raw.orders", "gold.orders", ["id"])
    assert checksum.name == "checksum_reconciliation_raw_orders"
    multi = MultiAggregateConsistencyCheck("a", "b", [AggregateSpec("n", "COUNT(*)", "n")])
    assert multi.name == "multi_aggregate_consistency"


def test_r11_and_r12_the_query_holds_the_partition_and_the_where_clause(spark):
    check = ReconciliationCheck(
        ORDERS, COPY, partition_column="day", where_clause="amount > 2 AND status <> 's9'"
    )
    result = check.run(spark, partition="2024-03-01")
    assert result.metadata["partition_scope"] == "day=2024-03-01"
    source_sql, target_sql = result.metadata["source_sql"], result.metadata["target_sql"]
    assert "2024-03-01" in source_sql
    assert "2024-03-01" in target_sql
    assert "amount > 2 AND status <> 's9'" in source_sql
    assert "status" not in target_sql
    assert (result.metric_value["source_count"], result.metric_value["target_count"]) == (17, 20)


# ------------------------------------------------------------------------------------- aggregates


@pytest.mark.parametrize(
    ("promise", "source", "target", "options", "mismatches"),
    [
        ("A1 groups agree", [10, 20], 30, {}, 0),
        ("A2 one group differs", [50], 60, {}, 1),
        ("A3 on the edge of a share", [100], 95, {"tolerance": 0.05}, 0),
        ("A3 beyond it", [100], 94, {"tolerance": 0.05}, 1),
        ("A4 on the edge of a number", [100], 98, {"absolute_tolerance": 2}, 0),
        ("A4 beyond it", [100], 97, {"absolute_tolerance": 2}, 1),
    ],
)
def test_one_aggregate_by_group(spark, promise, source, target, options, mismatches):
    facts = [f"('a', {amount})" for amount in source]
    check = AggregateConsistencyCheck(
        table(spark, "region, amount", *facts, "('b', 7)"),
        table(spark, "region, total", f"('a', {target})", "('b', 7)"),
        aggregate_column="total",
        source_expression="SUM(amount)",
        group_by=["region"],
        **options,
    )
    result = check.run(spark)
    assert result.metric_value == {"mismatches": mismatches, "total_checked": 2}
    assert result.passed is (mismatches == 0)
    assert result.metric_name == "aggregate_consistency_check"


def test_a5_an_aggregate_column_that_is_not_there_is_not_found(spark):
    check = AggregateConsistencyCheck(
        ORDERS, COPY, aggregate_column="amont", source_expression="SUM(amount)"
    )
    result = check.run(spark)
    assert (result.passed, result.status) == (False, "error")
    assert "not found" in result.failure_message
    assert "amount" in result.failure_message, "the nearest name helps"


def test_a6_without_groups_a_sum_is_held_against_the_sum_of_the_target(spark):
    check = AggregateConsistencyCheck(
        table(spark, "amount", "(60)"),
        table(spark, "part", "(10)", "(20)", "(30)"),
        aggregate_column="part",
        source_expression="SUM(amount)",
    )
    result = check.run(spark)
    assert result.passed
    assert result.metric_value == {"mismatches": 0, "total_checked": 1}


def test_a8_the_source_is_grouped_by_all_columns(spark):
    check = AggregateConsistencyCheck(
        ORDERS,
        COPY,
        aggregate_column="amount",
        source_expression="SUM(amount)",
        group_by=["day", "status"],
    )
    result = check.run(spark)
    text = " ".join(result.metadata["source_sql"].split())
    assert "GROUP BY" in text
    grouped = text.rsplit("GROUP BY", 1)[1]
    assert "day" in grouped or "1, 2" in grouped


# ------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("promise", "target", "options", "passed", "lost"),
    [
        ("K1 equal keys", [1, 2, 3, 4, 5], {}, True, 0),
        ("K2 one is missing", [1, 2, 3, 4], {}, False, 1),
        ("K3 one of five, a quarter is allowed", [1, 2, 3, 4], {"tolerance": 0.25}, True, 1),
        ("one of five, one is allowed", [1, 2, 3, 4], {"absolute_tolerance": 1}, True, 1),
    ],
)
def test_key_parity(spark, promise, target, options, passed, lost):
    check = KeyParityCheck(
        table(spark, "id", *[f"({id_})" for id_ in (1, 2, 3, 4, 5, 5)]),
        table(spark, "id", *[f"({id_})" for id_ in target]),
        key_columns=["id"],
        **options,
    )
    result = check.run(spark)
    assert (result.passed, result.metric_name) == (passed, "key_parity_check")
    assert result.metric_value == {
        "missing_in_target": lost,
        "missing_in_source": 0,
        "total_keys": 5,
        "mismatch_pct": lost / 5,
    }


# --------------------------------------------------------------------------- several aggregates

COUNT_AND_SUM = [
    AggregateSpec("rows", "COUNT(*)", "n"),
    {"name": "total", "expression": "SUM(amount)", "target_column": "total"},
]


def multi(spark, source: list[str], target: list[str], aggregates=COUNT_AND_SUM, **options):
    return MultiAggregateConsistencyCheck(
        table(spark, "region, amount", *source),
        table(spark, "region, n, total", *target),
        aggregates=aggregates,
        group_by=["region"],
        **options,
    ).run(spark)


def test_m1_two_aggregates_of_two_groups_agree(spark):
    result = multi(spark, ["('a', 1)", "('a', 2)", "('b', 3)"], ["('a', 2, 3)", "('b', 1, 3)"])
    assert result.passed
    assert result.metric_name == "multi_aggregate_consistency_check"
    assert result.metric_value == {"mismatches": 0, "total_checked": 4}


def test_m2_one_of_two_aggregates_differs(spark):
    result = multi(spark, ["('a', 1)", "('a', 2)", "('b', 3)"], ["('a', 2, 4)", "('b', 1, 3)"])
    assert not result.passed
    assert result.metric_value == {"mismatches": 1, "total_checked": 4}
    (sample,) = result.metadata["samples"]
    assert sample["aggregate"] == "total"
    assert "total" in result.failure_message


def test_m3_null_groups_match_and_each_row_of_a_repeated_group_is_compared(spark):
    result = multi(
        spark,
        ["(NULL, 10)", "(NULL, 20)", "('a', 5)"],
        ["(NULL, 2, 31)", "('a', 1, 5)", "('a', 7, 8)"],
    )
    assert result.metric_value == {"mismatches": 3, "total_checked": 6}
    assert [sample["aggregate"] for sample in result.metadata["samples"]] == [
        "total",
        "rows",
        "total",
    ]
    null_group, repeated, _ = result.metadata["samples"]
    assert (null_group["source"], null_group["target"]) == ("30", "31")
    assert (repeated["source"], repeated["target"]) == ("1", "7")
    assert {"group_key", "aggregate", "target", "source"} <= set(null_group)


def test_m4_a_group_that_is_missing_is_no_zero(spark):
    result = multi(
        spark,
        ["('only in source', 0)"],
        ["('only in target', 0, 0)"],
        [AggregateSpec("total", "SUM(amount)", "total")],
        absolute_tolerance=5,
    )
    assert result.metric_value == {"mismatches": 2, "total_checked": 2}
    reasons = [sample["reason"] for sample in result.metadata["samples"]]
    assert reasons == ["missing_in_source", "missing_in_target"]


# ---------------------------------------------------------------------------------------- checksum


SAME, ONE_CHANGED = "('a', 1), ('b', 2), ('c', 3)", "('a', 1), ('b', 2), ('c', 4)"


@pytest.mark.parametrize(
    ("promise", "target", "options", "passed", "changed"),
    [
        ("C1 equal rows", SAME, {}, True, 0),
        ("C2 one row changed", ONE_CHANGED, {}, False, 1),
        ("C3 one of three, half is allowed", ONE_CHANGED, {"tolerance": 0.5}, True, 1),
        ("one of three, one is allowed", ONE_CHANGED, {"absolute_tolerance": 1}, True, 1),
        ("one of three, both too few", ONE_CHANGED, {"tolerance": 0.3}, False, 1),
    ],
)
def test_checksums(spark, promise, target, options, passed, changed):
    check = ChecksumReconciliationCheck(
        table(spark, "id, n", SAME),
        table(spark, "id, n", target),
        key_columns=["id"],
        **options,
    )
    result = check.run(spark)
    assert (result.passed, result.metric_name) == (passed, "checksum_reconciliation_check")
    assert result.metric_value == {
        "missing_in_target": 0,
        "missing_in_source": 0,
        "hash_mismatches": changed,
        "total_compared": 3,
        "total_keys": 3,
        "mismatch_pct": changed / 3,
        "shared_keys": 3,
        "duplicate_keys": 0,
        "surplus_rows": 0,
        "source_rows": 3,
        "target_rows": 3,
    }


@pytest.mark.parametrize("side", ["source", "target"])
def test_c4_a_side_that_cannot_be_read_is_an_error_that_no_tolerance_forgives(spark, side):
    names = {"source": (f"{NAMESPACE}.nowhere", COPY), "target": (ORDERS, f"{NAMESPACE}.nowhere")}
    check = ChecksumReconciliationCheck(
        *names[side], key_columns=["id"], tolerance=1.0, absolute_tolerance=10**9
    )
    result = check.run(spark)
    assert (result.passed, result.status) == (False, "error")
    assert result.failure_message.startswith(f"Failed to query {side} table")


# -------------------------------------------------------- promised by the decision, never tested


def test_what_the_decision_promises_of_the_metadata(spark):
    result = ChecksumReconciliationCheck(ORDERS, COPY, ["id"], hash_algorithm="md5").run(spark)
    assert result.metric_value["missing_in_target"] == 1
    assert result.metric_value["missing_in_source"] == 1
    assert result.metric_value["hash_mismatches"] == 2
    metadata = result.metadata
    assert metadata["key_columns"] == ["id"]
    assert metadata["columns"] == ["amount", "day", "status"], "all but keys and metadata"
    assert "_phlo_row_id" in metadata["excluded_columns"]
    assert metadata["partition_scope"] == "full"
    assert set(metadata["normalization"]) == {"id", "amount", "day", "status"}
    assert metadata["column_mismatches"] == {"amount": 1, "day": 0, "status": 1}
    assert set(metadata["positions"]) == {"source", "target"}
    for side in ("source", "target"):
        hashed = spark.sql(metadata[f"{side}_sql"])
        assert {"key_0", "hash_0"} <= set(hashed.columns), "the exact SQL can be run again"
        assert hashed.count() == 40
    samples = {(sample["kind"], sample["key"]["id"]): sample for sample in metadata["samples"]}
    assert set(samples) == {
        ("missing_in_target", "5"),
        ("missing_in_source", "99"),
        ("changed", "3"),
        ("changed", "4"),
    }
    changed = samples["changed", "3"]
    assert changed["differing_columns"] == ["amount"]
    assert (changed["source"]["amount"], changed["target"]["amount"]) == ("3.00", "4.00")


def test_a_partition_bounds_both_sides(spark):
    check = ChecksumReconciliationCheck(ORDERS, COPY, ["id"], partition_column="day")
    clean = check.run(spark, partition="2024-03-02")
    assert clean.passed
    assert clean.metric_value["source_rows"] == clean.metric_value["target_rows"] == 20
    assert clean.metadata["partition_scope"] == "day=2024-03-02"
    assert not check.run(spark, partition="2024-03-01").passed


def test_equal_runs_give_equal_results(spark):
    check = ChecksumReconciliationCheck(ORDERS, COPY, ["id"])
    one, other = check.run(spark), check.run(spark)
    assert one.metric_value == other.metric_value
    assert one.metadata["samples"] == other.metadata["samples"]
    assert one.metadata["source_sql"] == other.metadata["source_sql"]
