"""Two tables of five million rows and ten columns: lakeproof beside datacompy and plain Spark.

    .venv/bin/python bench/reconcile.py [--rows 5000000] [--runs 3] [--quick]

Identical tables, a hundred differences, and ten percent of the rows changed; integer and string
keys. Rivals: cells (what lakeproof does by itself) and our hash join, each with duplicate keys as
mismatches (`fail`, the default) and as a multiset; datacompy, which looks for duplicate keys too,
in an environment of its own in .cache; and exceptAll both ways. Every run is held against the
planted truth before its figures count. Figures are executor CPU seconds and shuffled bytes of the
event log, the median of the runs after a first one; datacompy and exceptAll take minutes, so
they warm up on a smaller pair and run once. With --quick all warm up on the smaller pair, and
those two look at identical tables only. Exit code 0 if every target is met.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from event_log import EventLog, logged_session
from lineitem import DATA
from peers import Player, answer, peer_python
from reconcile_tables import CASES, KEYS, folder_of, load_pairs, truth

from lakeproof.reconciliation import ChecksumReconciliationCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PEER = "datacompy"
PEER_PACKAGE = f"{PEER}==1.1.*"
OURS, JOIN = "cells", "hash join"
POLICIES = ("fail", "multiset")
METHODS = {OURS: "auto", JOIN: "hash_join"}
FAST = tuple(f"{method}, {policy}" for policy in POLICIES for method in METHODS)
SLOW = ("exceptAll", PEER)
SHARING = ("same snapshot", "clone", "branch")
WARM_UP_SHARE = 25

PEER_RATIO_MIN = 10.0
JOIN_RATIO_MIN = 1.3
FAR_RATIO_MAX = 1.6
SHUFFLE_MB_MAX = 20.0
RECORDS_OF_METADATA_MAX = 100
"""Delta's log is read by Spark; a record of it is a data file."""

Numbers = dict[str, int]
Figures = dict[tuple[str, str, str], dict[str, float]]
"""What a rival took, by rival, key and case."""


# ------------------------------------------------------------------ what plays in its own process


def play(tool: str, rows: int) -> None:
    """Answer each line `rival|key|case|rows` with one run, in one warm session."""
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        log_folder = Path(folder, "log")
        spark = logged_session(Path(folder, "warehouse"), log_folder, tool)
        try:
            if tool != PEER:
                for size in (rows, rows // WARM_UP_SHARE):
                    load_pairs(spark, size)
                    share_files(spark, size)
            answer_lines(spark, EventLog(spark, log_folder))
        finally:
            spark.stop()


def answer_lines(spark: SparkSession, log: EventLog) -> None:
    answer({})
    for line in sys.stdin:
        rival, key, case, rows = line.strip().split("|")
        run = runner(spark, rival, key, case, int(rows))
        log.work()
        started = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - started
        answer({"seconds": seconds, "found": found, **asdict(log.work())})


def runner(
    spark: SparkSession, rival: str, key: str, case: str, rows: int
) -> Callable[[], Numbers]:
    if case in SHARING:
        policy = rival.removeprefix(f"{OURS}, ")
        return lambda: reconcile(spark, *shared_pair(case, rows), policy, METHODS[OURS])
    source, target = (str(folder_of(rows, key, name)) for name in ("source", case))
    if rival == PEER:
        return lambda: compare_by_peer(spark, source, target)
    if rival == "exceptAll":
        return lambda: except_all(spark, source, target)
    method, policy = rival.split(", ")
    return lambda: reconcile(
        spark, f"parquet.`{source}`", f"parquet.`{target}`", policy, METHODS[method]
    )


def reconcile(spark: SparkSession, source: str, target: str, policy: str, method: str) -> Numbers:
    result = ChecksumReconciliationCheck(
        source, target, "id", duplicate_policy=policy, method=method
    ).run(spark)
    assert result.status in {"passed", "failed"}, result
    named = ("hash_mismatches", "missing_in_target", "missing_in_source")
    return {name: result.metric_value[name] for name in named}


def compare_by_peer(spark: SparkSession, source: str, target: str) -> Numbers:
    """Its whole report: counts, columns and samples, as ours gives them; with its cache."""
    from datacompy.spark import SparkSQLCompare

    frames = spark.read.parquet(source), spark.read.parquet(target)
    compared = SparkSQLCompare(spark, *frames, join_columns="id", abs_tol=5e-7)
    rows = compared.build_report_data().row_summary
    spark.catalog.clearCache()
    return {
        "hash_mismatches": rows.unequal_rows,
        "missing_in_target": rows.df1_unique,
        "missing_in_source": rows.df2_unique,
    }


def except_all(spark: SparkSession, source: str, target: str) -> Numbers:
    left, right = spark.read.parquet(source), spark.read.parquet(target)
    return {
        "source_rows_alone": left.exceptAll(right).count(),
        "target_rows_alone": right.exceptAll(left).count(),
    }


def share_files(spark: SparkSession, rows: int) -> None:
    """A table with a branch that has rows of its own, and one with a clone."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.bench")
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.bench")
    iceberg, branch = shared_pair("branch", rows)
    delta, clone = shared_pair("clone", rows)
    source = f"SELECT * FROM parquet.`{folder_of(rows, 'integer', 'source')}`"
    spark.sql(f"CREATE TABLE {iceberg} USING iceberg AS {source}")
    spark.sql(f"ALTER TABLE {iceberg} CREATE BRANCH audit")
    spark.sql(f"INSERT INTO {branch} SELECT id + {rows}, * EXCEPT (id) FROM {iceberg} LIMIT 10")
    spark.sql(f"CREATE TABLE {delta} USING delta AS {source}")
    spark.sql(f"CREATE TABLE {clone} SHALLOW CLONE {delta}")


def shared_pair(case: str, rows: int) -> tuple[str, str]:
    iceberg, delta = f"iceberg.bench.reconcile_{rows}", f"spark_catalog.bench.reconcile_{rows}"
    return {
        "same snapshot": (iceberg, iceberg),
        "branch": (iceberg, f"{iceberg}.branch_audit"),
        "clone": (delta, f"{delta}_clone"),
    }[case]


# -------------------------------------------------------------------------- who sets them to play


class Contest:
    """The players, and what their runs took."""

    def __init__(self, rows: int, runs: int, *, is_quick: bool) -> None:
        self.rows, self.runs, self.is_quick = rows, runs, is_quick
        self.figures: Figures = {}
        pythons = {OURS: Path(sys.executable), PEER: peer_python(PEER, PEER_PACKAGE)}
        options = ("--rows", str(rows))
        # Ours first: it writes the tables.
        self.players = {
            name: Player(name, python, __file__, options) for name, python in pythons.items()
        }

    def measure(self, key: str, case: str) -> None:
        """One pair of tables: our ways in turns, then the slow ones."""
        slow = () if self.is_quick and case != "identical" else SLOW
        taken: dict[str, list[dict[str, float]]] = {rival: [] for rival in (*FAST, *slow)}
        for rival in FAST:
            self.run(rival, key, case, self.rows // WARM_UP_SHARE if self.is_quick else self.rows)
        for _ in range(self.runs):
            for rival in FAST:
                taken[rival].append(self.run(rival, key, case, self.rows))
        for rival in slow:
            self.run(rival, key, case, self.rows // WARM_UP_SHARE)
            taken[rival].append(self.run(rival, key, case, self.rows))
        print(f"{key} key, {case}", flush=True)
        for rival, runs in taken.items():
            figure = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
            self.figures[rival, key, case] = figure
            every = " ".join(f"{run['cpu_seconds']:.2f}" for run in runs)
            print(f"  {rival:20} {shown(figure)}   all: {every}", flush=True)

    def measure_sharing(self) -> None:
        """Tables that share files, small and large: what does not depend on their size."""
        rival = f"{OURS}, multiset"
        print("shared files, multiset", flush=True)
        for case in SHARING:
            for rows in (self.rows // WARM_UP_SHARE, self.rows):
                self.run(rival, "integer", case, rows)
                figure = self.run(rival, "integer", case, rows)
                self.figures[rival, f"integer, {rows}", case] = figure
                print(f"  {case:14} {rows:9} rows {shown(figure)}", flush=True)

    def run(self, rival: str, key: str, case: str, rows: int) -> dict[str, float]:
        player = self.players[PEER if rival == PEER else OURS]
        told: dict[str, Any] = player.run(f"{rival}|{key}|{case}|{rows}")
        found: Numbers = told.pop("found")
        planted = truth(case, rows) if case in CASES else truth("identical", rows)
        if case == "branch":
            planted["missing_in_source"] = 10
        expected = {name: planted[name] for name in found}
        if found != expected:
            raise SystemExit(f"{rival}, {key}, {case}: found {found}, planted {expected}")
        return told

    def cpu(self, rival: str, key: str, case: str) -> float:
        return self.figures[rival, key, case]["cpu_seconds"]

    def stop(self) -> None:
        for player in self.players.values():
            player.stop()


def shown(figure: dict[str, float]) -> str:
    return (
        f"{figure['cpu_seconds']:8.2f} CPU-s {figure['shuffle_mb']:8.1f} MB shuffled"
        f" {figure['records_read']:10.0f} records read {figure['seconds']:7.2f} s"
    )


def targets(contest: Contest) -> list[tuple[str, float, bool]]:
    """What is claimed, the figure, and whether it holds."""
    told = []
    for key in KEYS:
        default = f"{OURS}, fail"
        ratio = contest.cpu(PEER, key, "identical") / contest.cpu(default, key, "identical")
        told.append(
            (
                f"{key}: {PEER} / {default}, at least {PEER_RATIO_MIN}",
                ratio,
                ratio >= PEER_RATIO_MIN,
            )
        )
        for policy in POLICIES:
            ours, join = f"{OURS}, {policy}", f"{JOIN}, {policy}"
            ratio = contest.cpu(join, key, "identical") / contest.cpu(ours, key, "identical")
            claim = f"{key}: {join} / {ours}, identical, at least {JOIN_RATIO_MIN}"
            told.append((claim, ratio, ratio >= JOIN_RATIO_MIN))
            ratio = contest.cpu(ours, key, "far") / contest.cpu(join, key, "far")
            claim = f"{key}: {ours} / {join}, ten percent changed, at most {FAR_RATIO_MAX}"
            told.append((claim, ratio, ratio <= FAR_RATIO_MAX))
            shuffled = contest.figures[ours, key, "identical"]["shuffle_mb"]
            if policy == "multiset" or key == "integer":
                claim = f"{key}: MB shuffled by {ours}, identical, below {SHUFFLE_MB_MAX}"
                told.append((claim, shuffled, shuffled < SHUFFLE_MB_MAX))
    for case in ("same snapshot", "clone"):
        figure = contest.figures[f"{OURS}, multiset", f"integer, {contest.rows}", case]
        claim = f"{case}: records read, at most {RECORDS_OF_METADATA_MAX}"
        told.append(
            (claim, figure["records_read"], figure["records_read"] <= RECORDS_OF_METADATA_MAX)
        )
    return told


def report_uniqueness(contest: Contest) -> None:
    """What `fail` costs beyond `multiset`: the pass that looks for repeated keys."""
    for key in KEYS:
        with_it, without = (
            contest.figures[f"{OURS}, {policy}", key, "identical"] for policy in POLICIES
        )
        cpu, shuffled = (with_it[name] - without[name] for name in ("cpu_seconds", "shuffle_mb"))
        print(f"  uniqueness of {key} keys: {cpu:.2f} CPU-s, {shuffled:.1f} MB shuffled")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--play", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.play:
        play(given.play, given.rows)
        return
    contest = Contest(given.rows, given.runs, is_quick=given.quick)
    print(f"{given.rows} rows, 10 columns, median of {given.runs} interleaved runs", flush=True)
    for key in KEYS:
        for case in CASES:
            contest.measure(key, case)
    contest.measure_sharing()
    contest.stop()
    report_uniqueness(contest)
    met = targets(contest)
    for claim, figure, holds in met:
        print(f"  {claim}: {figure:.2f}{'' if holds else '  MISSED'}")
    raise SystemExit(0 if all(holds for *_, holds in met) else 1)


if __name__ == "__main__":
    main()
