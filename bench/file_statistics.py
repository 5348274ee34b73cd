"""Rules that file statistics decide, against the bare scan.

    .venv/bin/python bench/file_statistics.py [--scales 1,10] [--runs 5] [--quick]

The suite of bench/suite.py less the rules that need values, over lineitem at scale 1 in 64 files
and at scale 10 in 512. The same rules are run by statistics and by scan first, and must agree.

Targets: at the largest scale under a tenth of the bare scan; and growth with the number of files,
not of rows: less than 3 times as long over ten times the rows. With --quick, at scale 0.1 and 1,
both are shown and not held.

Exit code 0 if both are met.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lineitem import DATA, load_lineitem
from rounds import median_seconds
from suite import suite

import lakeproof
from lakeproof import QualityCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = {0.1: 16, 1.0: 64, 10.0: 512}
SCAN_SHARE_MAX, GROWTH_MAX = 0.1, 3.0


def decidable(table: str) -> list[QualityCheck]:
    """The rules of the suite that no value is needed for."""
    return [
        check for check in suite(table) if check.check_type not in {"accepted_values", "uniqueness"}
    ]


def in_files(spark: SparkSession, scale: float) -> str:
    """Lineitem in as many files as wanted, by ranges of its key."""
    name = f"iceberg.bench.lineitem_files_{str(scale).replace('.', '_')}"
    if spark.catalog.tableExists(name):
        return name
    source = spark.table(load_lineitem(spark, scale))
    ranged = source.repartitionByRange(FILES[scale], "l_orderkey", "l_linenumber")
    ranged.writeTo(name).tableProperty("write.distribution-mode", "none").create()
    return name


def check_truth(spark: SparkSession, table: str, checks: list[QualityCheck]) -> int:
    """By statistics all pass and nothing is read, and a scan says the same; gives the files."""
    proven = lakeproof.run_checks(spark, checks).results
    scanned = lakeproof.run_checks(spark, checks, method="scan").results
    for one, other in zip(proven, scanned, strict=True):
        assert (one.method, one.files_read) == ("statistics", 0), one
        assert (one.status, one.failing_rows, one.total_rows, one.details) == (
            other.status,
            other.failing_rows,
            other.total_rows,
            other.details,
        ), (one, other)
    return int(spark.sql(f"SELECT count(*) FROM {table}.files").collect()[0][0])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scales", default="1,10")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--quick", action="store_true")
    given = options.parse_args()
    scales = [0.1, 1.0] if given.quick else [float(scale) for scale in given.scales.split(",")]
    spark = lakeproof.local_session(DATA / "warehouse")
    ours, shares = [], []
    for scale in scales:
        table = in_files(spark, scale)
        checks = decidable(table)
        files = check_truth(spark, table, checks)
        print(f"scale {scale:g}: {files} files, {len(checks)} rules, median of {given.runs}")
        rivals = {
            "bare scan": lambda name=table: (
                spark.table(name).write.format("noop").mode("overwrite").save()
            ),
            "scan": lambda rules=checks: lakeproof.run_checks(spark, rules, method="scan"),
            "statistics": lambda rules=checks: lakeproof.run_checks(spark, rules),
        }
        medians = median_seconds(rivals, given.runs)
        ours.append(medians["statistics"])
        shares.append(medians["statistics"] / medians["bare scan"])
        print(f"  statistics / bare scan = {shares[-1]:.3f}")
    growth = ours[-1] / ours[0]
    print(f"share of the bare scan {shares[-1]:.3f} (at most {SCAN_SHARE_MAX}), ", end="")
    print(f"growth {growth:.2f} (at most {GROWTH_MAX})")
    spark.stop()
    is_met = shares[-1] <= SCAN_SHARE_MAX and growth <= GROWTH_MAX
    raise SystemExit(0 if is_met or given.quick else 1)


if __name__ == "__main__":
    main()
