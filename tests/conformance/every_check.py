"""One table of awkward values and every check over it: what each kind of session must agree on."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeproof import QualityCheck, run_checks, split

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
KEYS = {"orders": ["order_id"]}

ROWS = """
SELECT * FROM VALUES
  (1L, 1, 'Italy', 10.5D, 1.10BD, DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00Z', 'c1',
    array('a', '')),
  (1L, 1, 'Italy', -0.0D, 2.20BD, DATE'2999-01-01', TIMESTAMP'2999-01-01 00:00:00Z', 'c1', NULL),
  (2L, 1, 'O''Brien', CAST('NaN' AS DOUBLE), -1BD, DATE'2026-01-15', NULL, NULL, array()),
  (3L, 2, NULL, CAST('Infinity' AS DOUBLE), NULL, NULL, TIMESTAMP'2026-01-15 12:00:01Z', 'c9',
    array('x')),
  (NULL, NULL, 'é', NULL, 0BD, DATE'2026-01-16', TIMESTAMP'2026-01-15 12:00:00Z', 'c2', array(NULL))
AS t(order_id, line, country, amount, price, day, seen_at, customer_id, tags)
"""

LONG_LIST = ["Italy", *(f"country {number}" for number in range(1_200))]

COPIED = {"source_table": "copied"}

COMPARISONS = [
    QualityCheck(
        "copy_copies",
        "checksum_reconciliation",
        "orders",
        params={**COPIED, "key_columns": ["order_id", "line"], "duplicate_policy": "multiset"},
    ),
    QualityCheck("copy_keys", "key_parity", "orders", params={**COPIED, "key_columns": "order_id"}),
    QualityCheck("copy_count", "reconciliation", "orders", params=COPIED),
    QualityCheck(
        "copy_total",
        "aggregate_consistency",
        "orders",
        params={**COPIED, "aggregate_column": "price", "source_expression": "sum(price)"},
    ),
]

CHECKS = [
    *COMPARISONS,
    QualityCheck("id_unique", "uniqueness", "orders", "order_id"),
    QualityCheck("pair_unique", "uniqueness", "orders", ["order_id", "line"]),
    QualityCheck("country_unique", "is_unique", "orders", "country", absolute_tolerance=1),
    QualityCheck("amount_unique", "uniqueness", "orders", "amount"),
    QualityCheck("id_present", "not_null", "orders", "order_id"),
    QualityCheck("present", "not_null", "orders", for_each_column=["country", "customer_id"]),
    QualityCheck("amount_positive", "positive", "orders", "amount"),
    QualityCheck("price_range", "range", "orders", "price", {"min_value": 0, "max_value": 2.2}),
    QualityCheck("country", "accepted_values", "orders", "country", {"accepted": ["O'Brien", "é"]}),
    QualityCheck("rows", "row_count_range", "orders", params={"min_count": 1, "max_count": 4}),
    QualityCheck("day", "no_future_dates", "orders", "day"),
    QualityCheck("seen", "no_future_dates", "orders", "seen_at", severity="warning"),
    QualityCheck("filtered", "not_null", "orders", "customer_id", filter="line = 1 -- first"),
    QualityCheck(
        "orphans",
        "custom_sql",
        "orders",
        params={
            "sql": "SELECT o.order_id FROM orders o LEFT JOIN customers c "
            "ON o.customer_id = c.id WHERE c.id IS NULL;"
        },
    ),
    QualityCheck(
        "counted",
        "sql_value",
        "orders",
        params={"sql": "SELECT count(*) FROM orders o WHERE o.line = 1;", "max_value": 0},
    ),
    QualityCheck("value", "sql_value", "orders", params={"sql": "SELECT max(price) FROM orders"}),
    QualityCheck("two_rows", "sql_value", "orders", params={"sql": "SELECT line FROM orders"}),
    QualityCheck("not_empty", "not_empty", "orders", "country", {"trim": True}),
    QualityCheck("tags_filled", "not_empty", "orders", "tags[]"),
    QualityCheck("tags_present", "not_null", "orders", "tags[]"),
    QualityCheck("capital", "matches_pattern", "orders", "country", {"pattern": "^[A-Z]"}),
    QualityCheck("no_nine", "not_matches_pattern", "orders", "customer_id", {"pattern": "9"}),
    QualityCheck("short", "length_range", "orders", "country", {"max_length": 5}),
    QualityCheck(
        "condition",
        "row_expression",
        "orders",
        params={"expression": "line = 1 OR order_id IS NULL -- first"},
    ),
    QualityCheck("pair", "column_pair", "orders", ["line", "order_id"], {"operator": ">="}),
    QualityCheck("json", "format", "orders", "customer_id", {"kind": "json"}),
    QualityCheck(
        "customer",
        "foreign_key",
        "orders",
        "customer_id",
        {"references": "customers", "referenced_columns": "id"},
    ),
    QualityCheck(
        "listed",
        "accepted_values",
        "orders",
        "customer_id",
        {"accepted_table": "customers", "accepted_column": "id"},
    ),
    QualityCheck("long_list", "accepted_values", "orders", "country", {"accepted": LONG_LIST}),
    QualityCheck("rising", "is_increasing", "orders", "line", {"order_by": "order_id"}),
    QualityCheck("key", "unique_key", "orders", "order_id", {"nulls": "forbid"}),
    QualityCheck("mean", "aggregate", "orders", "line", {"function": "avg", "max_value": 1.25}),
    QualityCheck(
        "kinds", "aggregate", "orders", "country", {"function": "distinct_count", "max_value": 2}
    ),
    QualityCheck("share", "ratio", "orders", params={"condition": "line = 1", "min_share": 0.6}),
    QualityCheck("fresh", "freshness", "orders", "seen_at", {"max_age": "1d"}),
    QualityCheck("by_nine", "available_by", "orders", "seen_at", {"time": "09:00-08:00"}),
    QualityCheck("late", "delay", "orders", ["day", "seen_at"], {"max_delay": "PT0S"}),
    QualityCheck("gaps", "max_gap", "orders", "seen_at", {"max_gap": "1mo"}),
    QualityCheck("kept", "retention", "orders", "day", {"max_age": "1y"}),
    QualityCheck("ended", "service_period", "orders", params={"ends_at": "2025-12-31"}),
    QualityCheck("columns", "schema", "orders", params={"columns": ["order_id", "nope"]}),
    QualityCheck(
        "change", "row_count_change", "orders", params={"expected": 5, "max_decrease": 0.0}
    ),
    QualityCheck("lines", "value_set", "orders", "line", {"values": [1, 2]}),
    QualityCheck("no_column", "not_null", "orders", "nope"),
    QualityCheck("no_query", "custom_sql", "orders", params={"sql": "DROP TABLE orders"}),
]


def build_tables(spark) -> None:
    """`orders`, `customers`, and `copied`: orders with one changed, one lost and one added."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.lakehouse.orders USING iceberg AS {ROWS}")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.lakehouse.customers USING iceberg AS "
        "SELECT * FROM VALUES ('c1'), ('c2') AS t(id)"
    )
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.lakehouse.copied USING iceberg AS "
        "SELECT order_id, line, country, IF(order_id = 2, 7D, amount) AS amount, "
        "price, day, seen_at, customer_id, tags FROM iceberg.lakehouse.orders "
        "WHERE order_id IS DISTINCT FROM 3 "
        "UNION ALL SELECT 4L, 9, 'x', 1D, 1BD, NULL, NULL, NULL, NULL"
    )


def split_counts(spark) -> list[int]:
    """How many rows of `orders` are good, how many bad, and how many rules the bad ones break."""
    able = [
        check for check in CHECKS if check not in COMPARISONS and not check.name.startswith("no_")
    ]
    good, bad = split(spark.table("iceberg.lakehouse.orders"), able, clock=lambda: NOW)
    broken = sum(len(row["_lakeproof_rules"]) for row in bad.collect())
    return [good.count(), bad.count(), broken]


def run_all(spark, store, run_id):
    return run_checks(
        spark,
        CHECKS,
        store=store,
        run_id=run_id,
        keys=KEYS,
        clock=lambda: NOW,
        quarantine="iceberg.lakehouse.bad_orders",
    )


def facts_of(outcome) -> dict[str, object]:
    """What must not depend on the session: verdicts, counts, ids and keys."""
    results = [
        [
            r.rule_key,
            r.status.value,
            r.failing_rows,
            r.total_rows,
            r.rule_id,
            r.new_violations,
            list(r.sample_keys),
            r.measure,
            r.table_rows,
        ]
        for r in outcome.results
    ]
    hits = sorted(
        [row["hit_id"], row["violation_key"], row["occurrences"]]
        for row in outcome.violations().collect()
    )
    return {"results": results, "hits": hits, "open": outcome.ok}
