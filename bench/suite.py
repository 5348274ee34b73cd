"""50 checks over lineitem against the bare scan and two group-bys written by hand.

    .venv/bin/python bench/suite.py [--scale 1] [--runs 5]

Everything is timed in one warm session, interleaved, and the counts are compared with the truth
before anything is timed. The figure is a ratio; absolute seconds depend on the machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lineitem import DATA, load_lineitem
from rounds import median_seconds

import lakeproof
from lakeproof import QualityCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RATIO_MAX = 1.25
KEYS = (("l_orderkey", "l_linenumber"), ("l_id",))
NUMBERS = ("l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_orderkey", "l_partkey")
DATES = ("l_shipdate", "l_commitdate", "l_receiptdate")
COLUMNS = (
    *NUMBERS,
    *DATES,
    "l_suppkey",
    "l_linenumber",
    "l_returnflag",
    "l_linestatus",
    "l_shipinstruct",
    "l_shipmode",
    "l_comment",
)
ACCEPTED = {
    "l_returnflag": ["A", "N", "R"],
    "l_linestatus": ["F", "O"],
    "l_shipmode": ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"],
}


def suite(table: str) -> list[QualityCheck]:
    """48 row or aggregate rules and two key sets; some fail on purpose, with known counts."""
    checks = [QualityCheck(f"{name}_present", "not_null", table, name) for name in COLUMNS]
    checks += [
        QualityCheck(f"{name}_positive", "positive", table, name)
        for name in ("l_quantity", "l_extendedprice", "l_orderkey", "l_partkey", "l_suppkey")
    ]
    for name in (*NUMBERS, "l_suppkey", "l_linenumber"):
        for high in (10**7, 10**8):
            params = {"min_value": 0, "max_value": high}
            checks.append(QualityCheck(f"{name}_below_{high}", "range", table, name, params))
    checks += [
        QualityCheck(f"{name}_known", "accepted_values", table, name, {"accepted": values})
        for name, values in ACCEPTED.items()
    ]
    checks += [QualityCheck(f"{name}_past", "no_future_dates", table, name) for name in DATES]
    years = {"min_value": "1992-01-01", "max_value": "1998-12-31"}
    checks += [QualityCheck(f"{name}_years", "range", table, name, years) for name in DATES]
    bounds = {"min_count": 1, "max_count": 10**9}
    checks.append(QualityCheck("rows", "row_count_range", table, params=bounds))
    bounds = {"min_value": 1, "max_value": 7}
    checks.append(QualityCheck("lines", "range", table, "l_linenumber", bounds))
    checks += [QualityCheck(f"unique_{'_'.join(key)}", "uniqueness", table, key) for key in KEYS]
    return checks


def check_truth(spark: SparkSession, table: str, checks: Sequence[QualityCheck]) -> int:
    """Every rule passes, and the counts are those of Spark itself; gives the rows."""
    outcome = lakeproof.run_checks(spark, checks)
    rows: int = spark.table(table).count()
    assert len(outcome.results) == 50, len(outcome.results)
    for result in outcome.results:
        assert result.status == "passed", result
        assert result.total_rows == rows, result
    for key in KEYS:
        assert spark.table(table).select(*key).distinct().count() == rows, key
    return rows


def contestants(
    spark: SparkSession, table: str, checks: Sequence[QualityCheck]
) -> dict[str, Callable[[], object]]:
    """What is timed, in the order in which each round runs it."""

    def group_by(key: Sequence[str]) -> Callable[[], object]:
        columns = ", ".join(key)
        return lambda: spark.sql(
            f"SELECT count(*) FROM (SELECT 1 FROM {table} GROUP BY {columns} HAVING count(*) > 1)"
        ).collect()

    return {
        "bare scan": lambda: spark.table(table).write.format("noop").mode("overwrite").save(),
        "group-by 1": group_by(KEYS[0]),
        "group-by 2": group_by(KEYS[1]),
        "lakeproof": lambda: lakeproof.run_checks(spark, checks),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1)
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    spark = lakeproof.local_session(DATA / "warehouse")
    table = load_lineitem(spark, given.scale)
    checks = suite(table)
    rows = check_truth(spark, table, checks)
    rivals = contestants(spark, table, checks)
    print(f"{rows} rows, {len(checks)} checks, median of {given.runs} interleaved runs")
    medians = median_seconds(rivals, given.runs)
    by_hand = medians["bare scan"] + medians["group-by 1"] + medians["group-by 2"]
    ratio = medians["lakeproof"] / by_hand
    print(f"  lakeproof / (bare scan + two group-bys) = {ratio:.2f} (at most {RATIO_MAX})")
    spark.stop()
    raise SystemExit(0 if ratio <= RATIO_MAX else 1)


if __name__ == "__main__":
    main()
