"""The suites of the demo. A new table needs a list like these, and no change to Lakeproof."""

from __future__ import annotations

from lakeproof.model.suite import QualityCheck

COUNTRIES = (
    "Italy",
    "Germany",
    "France",
    "United States",
    "Spain",
    "United Kingdom",
    "Netherlands",
    "Japan",
    "Canada",
    "Brazil",
)

SALES_CHECKS = [
    QualityCheck("sales_order_id_unique", "uniqueness", "sales", "order_id"),
    QualityCheck("sales_order_id_not_null", "not_null", "sales", "order_id"),
    QualityCheck("sales_amount_positive", "positive", "sales", "amount"),
    QualityCheck(
        "sales_amount_reasonable_range",
        "range",
        "sales",
        "amount",
        {"min_value": 0.01, "max_value": 100000.0},
    ),
    QualityCheck(
        "sales_country_accepted",
        "accepted_values",
        "sales",
        "country",
        {"accepted": list(COUNTRIES)},
    ),
    QualityCheck("sales_ingestion_date_not_future", "no_future_dates", "sales", "ingestion_date"),
    QualityCheck(
        "sales_row_count_reasonable",
        "row_count_range",
        "sales",
        params={"min_count": 1, "max_count": 100000},
    ),
    QualityCheck("sales_customer_id_not_null", "not_null", "sales", "customer_id"),
]

PRODUCTS_CHECKS = [
    QualityCheck("products_sku_unique", "uniqueness", "products", "sku"),
    QualityCheck("products_price_positive", "positive", "products", "price"),
]
