"""Runs that read what changed, beside our own runs over the whole table.

    .venv/bin/python bench/incremental.py [--rows 1000000,10000000,50000000] [--runs 3] [--quick]
        [--store delta|iceberg]

Fifty rules with a unique key and a foreign key, on Delta tables with a change feed. After the run
that builds the key index, each turn commits a change and times the run that reads it: 100,000 rows
with recent keys, then 100,000 at random keys, then, on the largest table, 1 % of all rows, at
random keys too. Medians of the turns after one that does not count. Then the whole table is read
with a store of its own, and every rule must give the same numbers both ways.

Targets: recent keys take less than 1.3 times as long on the largest table as on the next smaller,
random keys less than 2 times; 1 % of the rows at most a fifth of the run over the whole table.
Bytes are those that tasks read, from files or from what a run holds; those of the key index are
shown apart. With --quick, on 1 and 4 million rows, 1 % is too few rows for its target, which is
then shown and not held.

Exit code 0 if every target is met.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from event_log import EventLog, Work, logged_session
from incremental_data import ORDERS, Change, change_orders, load_tables, suite
from lineitem import DATA

import lakeproof
from lakeproof.config import STATE_TABLES, StoreSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZES, QUICK_SIZES = (1_000_000, 10_000_000, 50_000_000), (1_000_000, 4_000_000)
CHANGED = 100_000
RECENT, RANDOM, SHARE, WHOLE = "recent keys", "random keys", "1 % of rows", "whole table"
GROWTH_MAX = {RECENT: 1.3, RANDOM: 2.0}
WHOLE_SHARE_MAX = 0.2
COUNTED = {"spark.hadoop.parquet.hadoop.vectored.io.enabled": "false"}
"""What Parquet reads by several ranges at once is not among the bytes that Spark counts."""

CATALOGS = {"delta": "spark_catalog", "iceberg": "iceberg"}

Facts = dict[str, tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Figure:
    seconds: float
    work: Work

    def __str__(self) -> str:
        return (
            f"{self.seconds:7.2f} s {self.work.cpu_seconds:8.2f} CPU-s"
            f" {self.work.read_mb:9.1f} MB read, {self.work.apart_mb:8.1f} of the key index"
        )


@dataclass(slots=True)
class Bench:
    """One size of table: what its runs took, by what they read."""

    spark: SparkSession
    log: EventLog
    rows: int
    turns: int
    store: str
    medians: dict[str, Figure] = field(default_factory=dict)
    _changes: int = 0

    def measure(self, cases: dict[str, Change]) -> None:
        load_tables(self.spark, self.rows)
        print(f"{self.rows} rows, median of {self.turns}", flush=True)
        _, first = self._measured(self._run_changes)
        print(f"  {'first run':12} {first}   (builds the key index: {self._index_size()})")
        for name, change in cases.items():
            self._measure_case(name, change)
        told, still = self._measured(self._run_changes)
        print(f"  {'nothing new':12} {still}", flush=True)
        self._measure_whole(told)

    def _measure_case(self, name: str, change: Change) -> None:
        taken = []
        for _ in range(self.turns + 1):
            self._changes += 1
            change_orders(self.spark, change, self.rows, self._changes)
            taken.append(self._measured(self._run_changes)[1])
        self._keep(name, taken)

    def _measure_whole(self, told: Facts) -> None:
        taken = []
        for _ in range(self.turns + 1):
            whole, figure = self._measured(self._run_whole)
            taken.append(figure)
            if whole != told:
                apart = sorted(set(told.items()) ^ set(whole.items()))
                raise SystemExit(f"changes and the whole table disagree: {apart}")
        self._keep(WHOLE, taken)

    def _keep(self, name: str, taken: list[Figure]) -> None:
        middle = sorted(taken[1:], key=lambda one: one.seconds)[self.turns // 2]
        self.medians[name] = middle
        every = " ".join(f"{one.seconds:.2f}" for one in taken[1:])
        print(f"  {name:12} {middle}   all: {every}", flush=True)

    def _run_changes(self) -> Facts:
        return self._run("cdf", "changes")

    def _run_whole(self) -> Facts:
        """Every row is read, even where the files' statistics could tell."""
        return self._run("snapshot", "whole", method="scan")

    def _run(self, mode: str, namespace: str, method: str = "auto") -> Facts:
        outcome = lakeproof.run_checks(
            self.spark,
            suite(),
            store=self._settings(namespace),
            keys={ORDERS: ["id"]},
            mode=mode,
            method=method,
        )
        facts = {r.rule_key: (str(r.status), r.failing_rows, r.total_rows) for r in outcome.results}
        broken = [result for result in outcome.results if result.status == "error"]
        assert len(facts) == 50, len(facts)
        assert not broken, broken[:3]
        return facts

    def _settings(self, namespace: str) -> StoreSettings:
        catalog = CATALOGS[self.store]
        return StoreSettings(self.store, catalog, f"bench_{namespace}_{self.rows}")

    def _index_size(self) -> str:
        """As its format's metadata have it."""
        kept = self._settings("changes")
        name = f"{kept.catalog}.{kept.namespace}.{STATE_TABLES['key_index']}"
        if self.store == "delta":
            size = self.spark.sql(f"DESCRIBE DETAIL {name}").first()["sizeInBytes"]
        else:
            size = self.spark.sql(f"SELECT sum(file_size_in_bytes) FROM {name}.files").first()[0]
        return f"{size / 1e6:.0f} MB"

    def _measured(self, run: Callable[[], Facts]) -> tuple[Facts, Figure]:
        self.log.work()
        started = time.perf_counter()
        facts = run()
        seconds = time.perf_counter() - started
        return facts, Figure(seconds, self.log.work())


def cases_of(rows: int, *, is_largest: bool) -> dict[str, Change]:
    cases = {RECENT: Change(CHANGED, is_recent=True), RANDOM: Change(CHANGED, is_recent=False)}
    return cases | ({SHARE: Change(rows // 100, is_recent=False)} if is_largest else {})


def targets(smaller: Bench, largest: Bench, *, is_quick: bool) -> list[tuple[str, float, bool]]:
    told = []
    for name, most in GROWTH_MAX.items():
        growth = largest.medians[name].seconds / smaller.medians[name].seconds
        claim = f"{name}: {largest.rows} / {smaller.rows} rows, below {most}"
        told.append((claim, growth, growth < most))
    share = largest.medians[SHARE].seconds / largest.medians[WHOLE].seconds
    claim = f"{SHARE} / {WHOLE} of {largest.rows} rows, at most {WHOLE_SHARE_MAX}"
    told.append((claim, share, is_quick or share <= WHOLE_SHARE_MAX))
    return told


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=sizes_of, default=SIZES)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--quick", action="store_true", help="1 and 4 million rows")
    options.add_argument("--store", choices=tuple(CATALOGS), default="delta")
    given = options.parse_args()
    sizes = QUICK_SIZES if given.quick else given.rows
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        log_folder = Path(folder, "log")
        warehouse = Path(folder, "warehouse")
        spark = logged_session(warehouse, log_folder, "bench-incremental", COUNTED)
        try:
            log = EventLog(spark, log_folder, apart=STATE_TABLES["key_index"])
            benches = [Bench(spark, log, rows, given.runs, given.store) for rows in sizes]
            for bench in benches:
                bench.measure(cases_of(bench.rows, is_largest=bench is benches[-1]))
        finally:
            spark.stop()
    met = targets(*benches[-2:], is_quick=given.quick)
    for claim, figure, holds in met:
        print(f"  {claim}: {figure:.2f}{'' if holds else '  MISSED'}")
    raise SystemExit(0 if all(holds for *_, holds in met) else 1)


def sizes_of(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted(map(int, text.split(","))))
    if len(sizes) < 2:
        raise argparse.ArgumentTypeError("name two sizes or more, for their ratio")
    return sizes


if __name__ == "__main__":
    main()
