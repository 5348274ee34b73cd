"""A suite over a table of its own; as a script, a run that LAKEPROOF_FAULT kills on its way."""

from __future__ import annotations

import sys

from lakeproof import QualityCheck, faults, local_session, run_checks

CHECKS = [
    QualityCheck("present", "not_null", "orders", "code"),
    QualityCheck("unique", "uniqueness", "orders", "order_id"),
]


def main(warehouse: str, store: str) -> None:
    spark = local_session(warehouse, cores="2")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(
        "CREATE TABLE iceberg.lakehouse.orders USING iceberg AS "
        "SELECT * FROM VALUES (1, 'a'), (2, NULL), (3, NULL), (3, 'b') AS t(order_id, code)"
    )
    faults.arm_from_environment()
    run_checks(spark, CHECKS, store=store, run_id="the-run", keys={"orders": ["order_id"]})


if __name__ == "__main__":
    main(*sys.argv[1:])
