"""Books of ten million keys beside the algorithms they replace, and what keeping them costs.

    .venv/bin/python bench/ledger.py [--rows 10000000] [--runs 9] [--quick]
        [--only verification|overhead] [--hundred-million]

Verification: Parquet keys of an input against keys on storage, 95 % aggregated, 4 % filtered, 1 %
errors. Rivals: the ledger with `assume` and `require`; the seed's frames (two anti joins, distincts
and a group-by); its sets in the driver. All must find the planted differences of a smaller pair
first, and agree on the large one. The ledger's figure holds everything from the first look at the
input to `ledger.json`.

Overhead: bookings of twenty fields, a quarter as many as keys in JSON and half as many in Parquet,
grouped with `group_by_with_adjoint` (COMMIT, `assume`) beside the bare group-by: median of
interleaved runs after one that does not count, equal results in all. A report of ten
columns is held against the bare group-by. Of the least there is (revenue by day: two columns) one
more column is most of the cost, so it is held against the group-by that also reads the key; that
of the bare one is reported, as are the pass over the input, `verify()` and lineage FULL.

CPU is that of the executors (event log) and of this side's Python. With --hundred-million only
the ledger runs, with `assume`, on a hundred million keys. Exit code 0 if every target is met.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from event_log import EventLog, logged_session
from ledger_pipelines import PIPELINES, SUMMARIES, Phases
from ledger_seed import verify_by_driver_sets, verify_by_frames
from ledger_tables import FORMATS, KeyTables, bookings_folder, load_bookings, load_keys
from lineitem import DATA
from peers import Player, answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASSUME, REQUIRE = "ledger, assume", "ledger, require"
FRAMES, SETS = "seed frames", "seed driver sets"
VERIFIERS = (ASSUME, REQUIRE, FRAMES, SETS)
SMALLER = 10
BOOKINGS = {"json": 4, "parquet": 2}
"""How many keys there are to a booking."""

FRAMES_RATIO_MIN = {ASSUME: 15.0, REQUIRE: 4.0}
OVERHEAD_MAX = {"json": 1.10, "parquet": 1.25}
RIVALS = {"report": "bare", "revenue": "key"}
GROWTH_MB_MAX = 64.0
RESULT_MB_MAX = 4.0
HUNDRED_MILLION = 100_000_000

Told = dict[str, Any]


# ------------------------------------------------------------------ what plays in its own process


def play() -> None:
    """Answer each line, `verify|...` or `run|...` with the words those take, by one run."""
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        log_folder = Path(folder, "log")
        spark = logged_session(Path(folder, "warehouse"), log_folder, "bench-ledger")
        try:
            log = EventLog(spark, log_folder)
            answer({})
            for line in sys.stdin:
                what, *words = line.strip().split("|")
                answer(verify(spark, log, *words) if what == "verify" else run(spark, log, *words))
        finally:
            spark.stop()


def verify(spark: SparkSession, log: EventLog, rival: str, rows: str, is_tampered: str) -> Told:
    tables = KeyTables(int(rows), tampered=is_tampered == "tampered")
    load_keys(spark, tables.rows)
    found, figures = measured(log, lambda: verifier(rival)(spark, tables))
    if found != tables.truth:
        raise SystemExit(f"{rival}: found {found}, planted {tables.truth}")
    return figures


def verifier(rival: str) -> Callable[[SparkSession, KeyTables], dict[str, int]]:
    if rival in {FRAMES, SETS}:
        return verify_by_frames if rival == FRAMES else verify_by_driver_sets
    return lambda spark, tables: verify_by_ledger(spark, tables, rival.removeprefix("ledger, "))


def verify_by_ledger(spark: SparkSession, tables: KeyTables, uniqueness: str) -> dict[str, int]:
    from lakeproof import (
        AccountingDiscrepancy,
        AccountingLedger,
        AdjointType,
        OutputPartition,
        PartitionType,
    )

    parts = (
        (PartitionType.AGGREGATED, AdjointType.ReverseJoinMetadata, tables.reverse_joins),
        (PartitionType.FILTERED, AdjointType.FilteredKeysMetadata, tables.filtered_keys),
        (PartitionType.ERROR, AdjointType.ErrorRecords, tables.errors),
    )
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        ledger = AccountingLedger(
            "bench",
            str(tables.input),
            str(Path(folder, "run")),
            spark,
            input_format="parquet",
            key_uniqueness=uniqueness,
        )
        ledger.initialize_input("segment_id")
        for kind, adjoint, place in parts:
            ledger.add_partition(OutputPartition(kind, "", None, adjoint, str(place)))
        verdict = ledger.verify()
        if isinstance(verdict, AccountingDiscrepancy):
            counts = verdict.missing_count, verdict.extra_count, verdict.duplicate_count
            return dict(zip(("missing", "extra", "duplicate"), counts, strict=True))
        assert verdict.input_count == verdict.accounted_count == tables.rows, verdict
        ledger.write_ledger(verdict)
    return {"missing": 0, "extra": 0, "duplicate": 0}


def run(spark: SparkSession, log: EventLog, *words: str) -> Told:
    pipeline, summary, file_format, rows = words
    load_bookings(spark, int(rows))
    told: Told = {}

    class Logged(Phases):
        def take(self, name: str, step: Callable[[], Any]) -> Any:  # noqa: ANN401 (the step's)
            result, told[name] = measured(log, step)
            return result

    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        source = bookings_folder(int(rows), file_format)
        told["found"] = PIPELINES[pipeline](spark, source, summary, Path(folder), Logged())
    return told


def measured(log: EventLog, step: Callable[[], Any]) -> tuple[Any, Told]:
    log.work()
    started, cpu_started = time.perf_counter(), time.process_time()
    found = step()
    seconds = time.perf_counter() - started
    own_cpu_seconds = time.process_time() - cpu_started
    figures = asdict(log.work())
    figures["cpu_seconds"] += own_cpu_seconds
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    own = {"own_cpu_seconds": own_cpu_seconds, "python_mb": peak_kb / 1e3}
    return found, figures | own | {"seconds": seconds}


# -------------------------------------------------------------------------- who sets them to play


class Verifications:
    """Each rival in a process of its own, so that its memory is its own."""

    def __init__(self, rows: int, *, is_quick: bool) -> None:
        self.rows, self.is_quick = rows, is_quick
        self.figures: dict[tuple[str, int], Told] = {}

    def measure(self) -> None:
        print(f"verification of {self.rows} keys", flush=True)
        for rival in VERIFIERS:
            self.measure_rival(rival)

    def measure_rival(self, rival: str) -> None:
        smaller = self.rows // SMALLER
        player = start_player(memory="8g" if rival == SETS else "")
        player.run(f"verify|{rival}|{smaller}|tampered")
        for rows in (smaller, self.rows):
            # More often where it is cheap: the first runs of a plan are not yet optimised.
            times = 1 if rival in {FRAMES, SETS} or self.is_quick else 3
            runs = [player.run(f"verify|{rival}|{rows}|whole") for _ in range(times)]
            figure = {name: statistics.median(one[name] for one in runs) for name in runs[0]}
            self.figures[rival, rows] = figure
            print(f"  {rival:17} {rows:10} keys {shown(figure)}", flush=True)
        player.stop()

    def targets(self) -> list[tuple[str, float, bool]]:
        told = []
        for rival, least in FRAMES_RATIO_MIN.items():
            ratio = self.cpu(FRAMES) / self.cpu(rival)
            told.append((f"{FRAMES} / {rival}, at least {least}", ratio, ratio >= least))
        print(f"  {SETS} / {ASSUME}: {self.cpu(SETS) / self.cpu(ASSUME):.1f}")
        for rival in FRAMES_RATIO_MIN:
            small, large = (self.figures[rival, size] for size in (self.rows // SMALLER, self.rows))
            growth = large["python_mb"] - small["python_mb"]
            claim = f"{rival}: MB of driver memory more for {SMALLER} times the keys"
            told.append((f"{claim}, below {GROWTH_MB_MAX}", growth, growth < GROWTH_MB_MAX))
            results = large["result_mb"]
            claim = f"{rival}: MB of results sent to the driver, below {RESULT_MB_MAX}"
            told.append((claim, results, results < RESULT_MB_MAX))
        return told

    def cpu(self, rival: str) -> float:
        return float(self.figures[rival, self.rows]["cpu_seconds"])


class Overheads:
    """The bare pipeline and the accounted ones, in turns in one warm session."""

    def __init__(self, rows: int, runs: int) -> None:
        self.rows, self.runs = rows, runs
        self.cpu: dict[tuple[str, ...], float] = {}

    def measure(self) -> None:
        player = start_player()
        for file_format in FORMATS:
            for summary in SUMMARIES:
                self.measure_summary(player, file_format, summary)
        player.stop()

    def measure_summary(self, player: Player, file_format: str, summary: str) -> None:
        rows = self.rows // BOOKINGS[file_format]
        print(f"{summary} of {rows} bookings in {file_format}, median of {self.runs}", flush=True)
        taken: dict[tuple[str, str], list[Told]] = {}
        for turn in range(self.runs + 1):
            results = []
            for pipeline in PIPELINES:
                told = player.run(f"run|{pipeline}|{summary}|{file_format}|{rows}")
                results.append(told.pop("found"))
                for phase, figures in told.items() if turn else ():
                    taken.setdefault((pipeline, phase), []).append(figures)
            if any(result != results[0] for result in results):
                raise SystemExit(f"the pipelines disagree: {results}")
        self.keep((file_format, summary), taken)

    def keep(self, what: tuple[str, str], taken: dict[tuple[str, str], list[Told]]) -> None:
        for (pipeline, phase), runs in taken.items():
            seconds, own = (
                [run[name] for run in runs] for name in ("cpu_seconds", "own_cpu_seconds")
            )
            median = statistics.median(seconds)
            self.cpu[*what, pipeline, phase] = median
            ratio = median / self.cpu[*what, "bare", "pipeline"]
            print(
                f"  {pipeline:6} {phase:10} {median:8.2f} CPU-s, {ratio:5.2f} of bare,"
                f" Python's {statistics.median(own):.2f}"
                f"   all: {' '.join(f'{one:.2f}' for one in seconds)}"
            )

    def targets(self) -> list[tuple[str, float, bool]]:
        told = []
        for file_format, most in OVERHEAD_MAX.items():
            for summary, rival in RIVALS.items():
                accounted, plain = (
                    self.cpu[file_format, summary, name, "pipeline"] for name in ("commit", rival)
                )
                claim = f"{summary} of {file_format}: accounted / {rival}, at most {most}"
                told.append((claim, accounted / plain, accounted / plain <= most))
        return told


def start_player(memory: str = "") -> Player:
    """A process that plays; the driver has the memory of every embedded session unless said."""
    if memory:
        os.environ["SPARK_DRIVER_MEMORY"] = memory
    else:
        os.environ.pop("SPARK_DRIVER_MEMORY", None)
    return Player("ledger", Path(sys.executable), __file__)


def shown(figure: Told) -> str:
    return (
        f"{figure['cpu_seconds']:8.2f} CPU-s, Python's {figure['own_cpu_seconds']:5.2f}"
        f" {figure['shuffle_mb']:8.1f} MB shuffled"
        f" {figure['result_mb']:8.2f} MB of results {figure['python_mb']:7.0f} MB of Python"
        f" {figure['seconds']:7.2f} s"
    )


def hundred_million() -> None:
    """Whether it ends, with the least that an embedded session has for driver and executors."""
    player = start_player("2g")
    figure = player.run(f"verify|{ASSUME}|{HUNDRED_MILLION}|whole")
    player.stop()
    print(f"  {ASSUME} {HUNDRED_MILLION} keys {shown(figure)}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("--quick", action="store_true", help="three runs, each rival once")
    options.add_argument("--only", choices=("verification", "overhead"))
    options.add_argument("--hundred-million", action="store_true")
    options.add_argument("--play", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.play:
        play()
        return
    if given.hundred_million:
        hundred_million()
        return
    contests: dict[str, Verifications | Overheads] = {
        "verification": Verifications(given.rows, is_quick=given.quick),
        "overhead": Overheads(given.rows, 3 if given.quick else given.runs),
    }
    met = []
    for name, contest in contests.items():
        if given.only in {None, name}:
            contest.measure()
            met += contest.targets()
    for claim, figure, holds in met:
        print(f"  {claim}: {figure:.2f}{'' if holds else '  MISSED'}")
    raise SystemExit(0 if all(holds for *_, holds in met) else 1)


if __name__ == "__main__":
    main()
