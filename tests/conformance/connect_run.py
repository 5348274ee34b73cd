"""Runs every check on a Spark Connect session of its own and prints what it found as JSON.

Arguments: the warehouse's folder, then the formats of the stores to run with.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

from every_check import build_tables, facts_of, run_all, split_counts
from pyspark.sql import SparkSession

from lakeproof.engines.spark.session import session_settings


def main(warehouse: str, *stores: str) -> None:
    builder = SparkSession.builder.remote("local[2]")
    for name, value in session_settings(warehouse, cores="2").items():
        if name != "spark.master":
            builder = builder.config(name, value)
    spark = builder.getOrCreate()
    build_tables(spark)
    found = {store: facts_of(run_all(spark, store, f"connect-{store}")) for store in stores}
    catalog = {"iceberg": "iceberg", "delta": "spark_catalog"}[stores[0]]
    stored = spark.sql(
        f"SELECT rule_key, status, failing_rows, rule_id FROM {catalog}.lakehouse._quality_results "
        f"WHERE run_id = 'connect-{stores[0]}' ORDER BY rule_key"
    ).collect()
    found["split"] = split_counts(spark)
    found["aside"] = spark.table("iceberg.lakehouse.bad_orders").count()
    found["stored"] = [list(row) for row in stored]
    print(json.dumps(found))  # noqa: T201 (the test reads it)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
