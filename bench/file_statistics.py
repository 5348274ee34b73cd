"""Rules that file statistics decide, against the bare scan.

    .venv/bin/python bench/file_statistics.py [--scales 1,10] [--files 64,512] [--runs 3] [--quick]
        [--format delta]

The suite of bench/suite.py less the five rules that need values and one that fails from scale 2 on,
over lineitem in so many files. They are run by statistics and by scan first, and must agree and
read no file, or the bench fails. CPU-seconds are those of this process and of the JVM, with all
that Spark does beside its tasks.

Targets: at the largest scale under a tenth of the time of the bare scan; and flat in rows: over ten
times the rows in as many files at most 1.5 times as long. With --quick, at scale 0.1 and 1 in 16
files, both are shown and not held: so little is scanned in no time.

Exit code 0 if both are met.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lineitem import DATA, generate_lineitem
from suite import suite

import lakeproof
from lakeproof import CheckResult, QualityCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCAN_SHARE_MAX, GROWTH_MAX = 0.1, 1.5
TOO_LOW = f"l_orderkey_below_{10**7}"
"""Needs no values either, but fails from scale 2 on: most of its files would be read."""

CATALOGS = {"iceberg": "iceberg", "delta": "spark_catalog"}

BARE, OURS = "bare scan", "statistics"


@dataclass(frozen=True, slots=True)
class Figure:
    seconds: float
    cpu_seconds: float


def decidable(table: str) -> list[QualityCheck]:
    """The rules of the suite that no value is needed for, and that hold at every scale."""
    return [
        check
        for check in suite(table)
        if check.check_type not in {"accepted_values", "uniqueness"} and check.name != TOO_LOW
    ]


def in_files(spark: SparkSession, table_format: str, scale: float, files: int) -> str:
    """Lineitem in as many files as wanted, by ranges of its key."""
    namespace = f"{CATALOGS[table_format]}.bench"
    name = f"{namespace}.lineitem_{str(scale).replace('.', '_')}_in_{files}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    if not spark.catalog.tableExists(name):
        source = spark.read.parquet(str(generate_lineitem(scale)))
        ranged = source.repartitionByRange(files, "l_orderkey", "l_linenumber")
        if table_format == "iceberg":
            ranged.writeTo(name).tableProperty("write.distribution-mode", "none").create()
        else:
            ranged.write.format(table_format).saveAsTable(name)
    (counted,) = (
        spark.sql(f"SELECT count(*) AS files FROM {name}.files").collect()
        if table_format == "iceberg"
        else spark.sql(f"DESCRIBE DETAIL {name}").selectExpr("numFiles AS files").collect()
    )
    assert counted["files"] == files, counted
    return name


def check_truth(proven: Sequence[CheckResult], scanned: Sequence[CheckResult]) -> None:
    """By statistics all pass and nothing is read, and a scan says the same."""
    for one, other in zip(proven, scanned, strict=True):
        assert (one.status, one.method, one.files_read) == ("passed", "statistics", 0), one
        assert (one.status, one.failing_rows, one.total_rows, one.details) == (
            other.status,
            other.failing_rows,
            other.total_rows,
            other.details,
        ), (one, other)


def measured(spark: SparkSession, run: Callable[[], object]) -> Figure:
    started, cpu_started = time.perf_counter(), cpu_seconds_of(spark)
    run()
    return Figure(time.perf_counter() - started, cpu_seconds_of(spark) - cpu_started)


def cpu_seconds_of(spark: SparkSession) -> float:
    jvm: Any = spark._jvm  # noqa: SLF001 (no other way)
    taken = jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get()
    return time.process_time() + float(taken.toMillis()) / 1e3


def median_figures(
    spark: SparkSession, rivals: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, Figure]:
    """Each rival's medians, after one round that does not count; interleaved."""
    taken: dict[str, list[Figure]] = {name: [] for name in rivals}
    for _ in range(rounds + 1):
        for name, run in rivals.items():
            taken[name].append(measured(spark, run))
    medians = {
        name: Figure(
            statistics.median(one.seconds for one in figures[1:]),
            statistics.median(one.cpu_seconds for one in figures[1:]),
        )
        for name, figures in taken.items()
    }
    bare = medians[BARE]
    for name, one in medians.items():
        every = " ".join(f"{figure.seconds:.2f}" for figure in taken[name][1:])
        print(
            f"  {name:14} {one.seconds:7.2f} s ({one.seconds / bare.seconds:.3f} of the bare scan)"
            f" {one.cpu_seconds:7.2f} CPU-s ({one.cpu_seconds / bare.cpu_seconds:.3f})"
            f"   all: {every}",
            flush=True,
        )
    return medians


def compare(spark: SparkSession, table: str, scale: float, runs: int) -> dict[str, Figure]:
    files = int(table.rpartition("_")[2])
    checks = decidable(table)
    started = time.perf_counter()
    scanned = lakeproof.run_checks(spark, checks, method="scan").results
    seconds = time.perf_counter() - started
    check_truth(lakeproof.run_checks(spark, checks).results, scanned)
    print(
        f"{table}: scale {scale:g}, {scanned[0].total_rows:,} rows in {files} files; "
        f"{len(checks)} rules, by scan {seconds:.2f} s once; medians of {runs}"
    )
    rivals = {
        BARE: lambda: spark.table(table).write.format("noop").mode("overwrite").save(),
        OURS: lambda: lakeproof.run_checks(spark, checks),
    }
    return median_figures(spark, rivals, runs)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scales", default="1,10")
    options.add_argument("--files", default="64,512")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--format", choices=CATALOGS, default="iceberg")
    given = options.parse_args()
    scales = [0.1, 1.0] if given.quick else [float(scale) for scale in given.scales.split(",")]
    numbers = [16] if given.quick else [int(number) for number in given.files.split(",")]
    spark = lakeproof.local_session(DATA / "warehouse")
    found = {
        (scale, files): compare(
            spark, in_files(spark, given.format, scale, files), scale, given.runs
        )
        for scale in scales
        for files in numbers
    }
    spark.stop()
    is_met = True
    for files in numbers:
        least, most = found[scales[0], files], found[scales[-1], files]
        share = most[OURS].seconds / most[BARE].seconds
        growth = most[OURS].seconds / least[OURS].seconds
        is_met &= share <= SCAN_SHARE_MAX and growth <= GROWTH_MAX
        print(
            f"{files} files: share of the bare scan {share:.3f} (at most {SCAN_SHARE_MAX}), "
            f"growth from scale {scales[0]:g} to {scales[-1]:g} {growth:.2f} (at most {GROWTH_MAX})"
        )
    raise SystemExit(0 if is_met or given.quick else 1)


if __name__ == "__main__":
    main()
