"""Bootstrap, change, crash and rerun through Spark Connect; prints what is wrong as JSON.

And what file statistics decide there.
"""

from __future__ import annotations

import json
import sys

from crashes.checked_shop import CheckedShop
from lakeproof import QualityCheck, faults, run_checks
from oracle.live_tables import CATALOGS
from spark_settings import for_few_records


def die() -> None:
    raise faults.FaultInjectedError


def story(spark, table_format: str) -> dict[str, object]:
    """What is wrong after each run that ended well, and how the rules were read at last."""
    shop = CheckedShop(spark, table_format, f"connect_{table_format}")
    shop.run("first")
    found: dict[str, object] = {"first": shop.wrong("first", "first")}
    shop.change()
    try:
        with faults.armed("after_violations", die):
            shop.run("second")
    except faults.FaultInjectedError:
        found["second"] = "died"
    outcome = shop.run("third")
    found["third"] = shop.wrong("third", "")
    found["modes"] = sorted({result.mode for result in outcome.results})
    return found


def by_statistics(spark, table_format: str) -> list[list[object]]:
    """Rules that are decided in all files, and one that is not, with every file verified."""
    table = f"{CATALOGS[table_format]}.statistics.connect"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOGS[table_format]}.statistics")
    rows = spark.range(30).repartitionByRange(3, "id")
    rows.write.format(table_format).mode("overwrite").saveAsTable(table)
    checks = [
        QualityCheck("there", "not_null", table, "id"),
        QualityCheck("rows", "row_count_range", table, params={"min_count": 30}),
        QualityCheck("small", "range", table, "id", {"max_value": 27}),
    ]
    ran = run_checks(spark, checks, method="statistics", verify_statistics=1.0)
    return [[one.status, one.failing_rows, one.total_rows, one.method] for one in ran.results]


def main(address: str, *formats: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    with for_few_records(spark):
        found = {
            table_format: story(spark, table_format)
            | {"statistics": by_statistics(spark, table_format)}
            for table_format in formats
        }
    print(json.dumps(found))  # noqa: T201 (the test reads it)


if __name__ == "__main__":
    main(*sys.argv[1:])
