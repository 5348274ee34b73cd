"""One table of awkward values and every check over it: what each kind of session must agree on."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeproof import QualityCheck, run_checks

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
KEYS = {"orders": ["order_id"]}

ROWS = """
SELECT * FROM VALUES
  (1L, 1, 'Italy', 10.5D, 1.10BD, DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00Z', 'c1'),
  (1L, 1, 'Italy', -0.0D, 2.20BD, DATE'2999-01-01', TIMESTAMP'2999-01-01 00:00:00Z', 'c1'),
  (2L, 1, 'O''Brien', CAST('NaN' AS DOUBLE), -1BD, DATE'2026-01-15', NULL, NULL),
  (3L, 2, NULL, CAST('Infinity' AS DOUBLE), NULL, NULL, TIMESTAMP'2026-01-15 12:00:01Z', 'c9'),
  (NULL, NULL, 'é', NULL, 0BD, DATE'2026-01-16', TIMESTAMP'2026-01-15 12:00:00Z', 'c2')
AS t(order_id, line, country, amount, price, day, seen_at, customer_id)
"""

CHECKS = [
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
    QualityCheck("no_column", "not_null", "orders", "nope"),
    QualityCheck("no_query", "custom_sql", "orders", params={"sql": "DROP TABLE orders"}),
]


def build_tables(spark) -> None:
    """`orders` and `customers` in iceberg.lakehouse."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.lakehouse.orders USING iceberg AS {ROWS}")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.lakehouse.customers USING iceberg AS "
        "SELECT * FROM VALUES ('c1'), ('c2') AS t(id)"
    )


def run_all(spark, store, run_id):
    return run_checks(spark, CHECKS, store=store, run_id=run_id, keys=KEYS, clock=lambda: NOW)


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
