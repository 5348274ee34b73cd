"""A million accepted values over ten million rows, against the bare scan of the table.

    .venv/bin/python bench/long_list.py [--rows 10000000] [--values 1000000] [--runs 5]

The list is made in Python and handed to `run_checks` anew in every round: reading it, hashing it
and bringing it to Spark are part of what is timed, and so is listing the planted bad rows.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lineitem import DATA
from rounds import median_seconds

import lakeproof
from lakeproof import QualityCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RATIO_MAX = 3.0
BAD_ROWS = 37


def load_orders(spark: SparkSession, rows: int, values: int) -> str:
    """Orders whose `code` is one of the values, but for the planted bad rows."""
    table = f"iceberg.bench.orders_{rows}_{values}"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.bench")
    if not spark.catalog.tableExists(table):
        spark.sql(
            f"""
            CREATE TABLE {table} USING iceberg AS
            SELECT id AS order_id,
                   if(id % {rows // BAD_ROWS} = 5, concat('bad', id),
                      concat('sku-', lpad(CAST(pmod(xxhash64(id), {values}) AS STRING),
                                          9, '0'))) AS code,
                   CAST(id % 100000 AS DECIMAL(12, 2)) / 100 AS amount,
                   date_add(DATE'2024-01-01', CAST(id % 365 AS INT)) AS day,
                   concat('customer ', xxhash64(id, 7)) AS customer,
                   sha2(CAST(id AS STRING), 256) AS note
            FROM range({rows})
            """
        )
    return table


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--values", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    spark = lakeproof.local_session(DATA / "warehouse")
    table = load_orders(spark, given.rows, given.values)
    accepted = [f"sku-{number:09}" for number in range(given.values)]
    planted = spark.sql(f"SELECT count(*) FROM {table} WHERE code LIKE 'bad%'").collect()[0][0]

    def scan() -> None:
        spark.table(table).write.format("noop").mode("overwrite").save()

    def check() -> None:
        rule = QualityCheck("code_known", "accepted_values", table, "code", {"accepted": accepted})
        result = lakeproof.run_checks(spark, [rule], keys={table: ["order_id"]}).results[0]
        assert (result.status, result.failing_rows) == ("failed", planted), result

    rivals = {"bare scan": scan, "lakeproof": check}
    print(f"{given.rows} rows, {len(accepted)} values, {planted} bad rows, {given.runs} rounds")
    medians = median_seconds(rivals, given.runs)
    ratio = medians["lakeproof"] / medians["bare scan"]
    print(f"  lakeproof / bare scan = {ratio:.2f} (at most {RATIO_MAX})")
    spark.stop()
    raise SystemExit(0 if ratio <= RATIO_MAX else 1)


if __name__ == "__main__":
    main()
