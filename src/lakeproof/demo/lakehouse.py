"""The demo's tables: a good `sales`, a bad one with planted errors, products, customers.

Rows are made by Spark from a counter, so every machine has the same ones, and each planted
error stands at named order ids with its expected count beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeproof.demo.suites import COUNTRIES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOOD = "good"
BAD = "lakehouse"
KEYS = {"sales": ["order_id"], "products": ["sku"]}

GOOD_ROWS = 5_000
BAD_ROWS = 100_020

PLANTED = {
    "sales_order_id_unique": 3,
    "sales_order_id_not_null": 2,
    "sales_amount_positive": 5,
    "sales_amount_reasonable_range": 7,
    "sales_country_accepted": 4,
    "sales_ingestion_date_not_future": 6,
    "sales_row_count_reasonable": 1,
    "sales_customer_id_not_null": 8,
}
"""failing_rows of each of SALES_CHECKS on the bad table."""

PLANTED_BY_CONTRACT = {
    "demo-sales/sales.order_id:required": 2,
    "demo-sales/sales.order_id:primaryKey": 4,  # NULL is a value too many
    "demo-sales/sales.customer_id:required": 8,
    "demo-sales/sales.customer_id:foreignKey": 0,
    "demo-sales/sales.country:enum": 4,
    "demo-sales/sales.amount:minimum": 5,
    "demo-sales/sales.amount:maximum": 3,
    "demo-sales/amount-positive": 5,
    "demo-sales/not-in-the-future": 6,
    "demo-sales/rows": 1,
}
"""failing_rows of rules of `sales.odcs.yaml` on the bad table."""

SOURCE = f"iceberg.{GOOD}.sales"
COPY = f"spark_catalog.{GOOD}.sales_copy"
DAMAGED = f"iceberg.{GOOD}.sales_damaged"

PLANTED_DIFFERENCES: Mapping[str, Mapping[str, list[str]]] = {
    "changed": {"11": ["amount"], "12": ["amount", "country"], "13": ["customer_id"]},
    "missing_in_target": {"21": [], "22": []},
    "missing_in_source": {"9001": []},
}
"""What is different in the damaged copy: the kind, the order, its columns."""

# 3 orders changed, 2 lost, 1 that the source does not have.
_DAMAGE = f"""
SELECT order_id,
       CASE WHEN order_id = 13 THEN NULL ELSE customer_id END AS customer_id,
       CASE WHEN order_id = 12 THEN 'Atlantis' ELSE country END AS country,
       CASE WHEN order_id IN (11, 12) THEN amount + 0.5D ELSE amount END AS amount,
       ingestion_date
FROM {SOURCE} WHERE order_id NOT IN (21, 22)
UNION ALL
SELECT 9001L, 'C0001', 'Italy', 10D, DATE'2024-06-01'
"""

_ROWS = """
SELECT CAST(id + 1 AS BIGINT) AS order_id,
       concat('C', lpad(CAST(id % 997 AS STRING), 4, '0')) AS customer_id,
       element_at(array({countries}), CAST(id % {country_count} AS INT) + 1) AS country,
       CAST(round(5 + (id * 37 % 99000) / 10, 2) AS DOUBLE) AS amount,
       date_add(DATE'2024-01-01', CAST(id % 365 AS INT)) AS ingestion_date
FROM range({rows})
"""

# Each case changes one column of a few orders; the numbers of orders add up to PLANTED.
_ERRORS = """
SELECT CASE WHEN order_id IN (100, 200, 300) THEN order_id + 1      -- 3 values twice
            WHEN order_id IN (400, 500) THEN NULL                   -- 2 without id
            ELSE order_id END AS order_id,
       CASE WHEN order_id BETWEEN 1001 AND 1008 THEN NULL           -- 8 without customer
            ELSE customer_id END AS customer_id,
       CASE WHEN order_id BETWEEN 2001 AND 2004 THEN 'Atlantis'     -- 4 unknown countries
            ELSE country END AS country,
       CASE WHEN order_id BETWEEN 3001 AND 3003 THEN -amount        -- 3 negative
            WHEN order_id = 3004 THEN 0D                            -- 1 zero
            WHEN order_id = 3005 THEN CAST('NaN' AS DOUBLE)         -- 1 not a number
            WHEN order_id BETWEEN 3006 AND 3007 THEN 250000D        -- 2 far too large
            ELSE amount END AS amount,
       CASE WHEN order_id BETWEEN 4001 AND 4006 THEN DATE'2999-12-31' -- 6 in the future
            ELSE ingestion_date END AS ingestion_date
FROM ({rows})
"""


def build_lakehouse(spark: SparkSession) -> None:
    """Create or replace the demo's tables; a copy of the good one is a Delta table."""
    countries = ", ".join(f"'{country}'" for country in COUNTRIES)

    def rows(count: int) -> str:
        return _ROWS.format(countries=countries, country_count=len(COUNTRIES), rows=count)

    for namespace in (GOOD, BAD):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS iceberg.{namespace}")
    _replace(spark, f"{GOOD}.sales", rows(GOOD_ROWS))
    spark.sql(f"CREATE DATABASE IF NOT EXISTS spark_catalog.{GOOD}")
    spark.sql(
        f"CREATE OR REPLACE TABLE {COPY} USING delta AS SELECT * FROM {SOURCE} ORDER BY amount"
    )
    _replace(spark, DAMAGED.removeprefix("iceberg."), _DAMAGE)
    _replace(spark, f"{BAD}.sales", _ERRORS.format(rows=rows(BAD_ROWS)))
    _replace(
        spark,
        f"{BAD}.products",
        "SELECT concat('SKU-', id) AS sku, CAST(1 + id % 50 AS DECIMAL(10, 2)) AS price "
        "FROM range(200)",
    )
    _replace(
        spark,
        f"{BAD}.customers",
        "SELECT concat('C', lpad(CAST(id AS STRING), 4, '0')) AS id FROM range(997)",
    )


def _replace(spark: SparkSession, name: str, query: str) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.{name} USING iceberg AS {query}")
