"""Runs every check on a Spark Connect session of its own and prints what it found as JSON."""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

from every_check import build_tables, facts_of, run_all, split_counts
from pyspark.sql import SparkSession

from lakeproof.engines.spark.session import session_settings


def main(warehouse: str) -> None:
    builder = SparkSession.builder.remote("local[2]")
    for name, value in session_settings(warehouse, cores="2").items():
        if name != "spark.master":
            builder = builder.config(name, value)
    spark = builder.getOrCreate()
    build_tables(spark)
    found = {
        store: facts_of(run_all(spark, store, f"connect-{store}")) for store in ("iceberg", "delta")
    }
    stored = spark.sql(
        "SELECT rule_key, status, failing_rows, rule_id FROM iceberg.lakehouse._quality_results "
        "WHERE run_id = 'connect-iceberg' ORDER BY rule_key"
    ).collect()
    found["split"] = split_counts(spark)
    found["aside"] = spark.table("iceberg.lakehouse.bad_orders").count()
    found["stored"] = [list(row) for row in stored]
    print(json.dumps(found))  # noqa: T201 (the test reads it)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
