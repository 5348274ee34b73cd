"""The key index as a log of weights that is compacted, beside one that is merged in place.

    .venv/bin/python bench/index_layout.py [--keys 10000000] [--runs 3] [--format delta|iceberg]
        [--batches 32] [--quick]

The same batches go into both: 100,000 keys of one uniqueness rule, half of which come and half go,
once recent ones, which lie together, once some from everywhere. What is timed is all that a batch
does with its index, from the keys that it has weighed to the commit.

The log is the one that runs have: `IndexLog` itself looks the keys up among the rows that count,
tells which violations open and close, and appends the weights, in the order of the keys.

In place there is one row for each key, in the order of the keys too. They are looked up with the
same statements, less what tells rows that count, and changed by one MERGE with deletion vectors
that updates the count, inserts what is new, and keeps keys without rows for their stamp, so that a
batch that is written again changes nothing. The MERGE is given where the keys lie, and the fence of
its format. Neither side is charged for clean-up: `store prune` there, OPTIMIZE here.

Shown are medians of so many batches that follow each other, after one that does not count: over a
young log, a longer one, and the longest; then the batch that merges the log's small parts, by the
log written again and again on top of the same; and the whole round from one merge to the next.
CPU-seconds are those of this process and of the JVM. MB read are what the JVM read from any file,
with what it shuffled: of Iceberg's reads Spark counts none. Linux tells it. MB written are what the
tables' folder grows by, files those that the table's metadata have. In the end both must say the
same of every key. With --quick, a million keys, and neither the longest log nor its merge.

Exit code 0 whichever is cheaper.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from file_statistics import CATALOGS, cpu_seconds_of
from index_layout_tables import RULE, InPlace, Log
from lineitem import DATA

import lakeproof
from lakeproof.config import StoreSettings
from lakeproof.model.names import TableName
from lakeproof.model.standing import KeyTotals
from lakeproof.state.access import StateAccess
from lakeproof.state.attempts import ATTEMPTS_MAX
from lakeproof.state.creation import create_missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANGED = 100_000
RECENT, RANDOM = "recent keys", "random keys"
LOG, IN_PLACE = "log", "in place"
BATCHES_BEHIND = 4
"""Recent keys that go came so many batches before."""
STRIDE = 618_033_989
"""Steps of this length over any number of keys spread evenly, and meet none twice in a round."""


@dataclass(frozen=True, slots=True)
class Figure:
    seconds: float
    cpu_seconds: float
    read_mb: float
    written_mb: float
    files: float

    def __str__(self) -> str:
        return (
            f"{self.seconds:8.2f} s {self.cpu_seconds:8.2f} CPU-s {self.read_mb:9.1f} MB read"
            f" {self.written_mb:8.1f} MB written {self.files:6.0f} files"
        )


def median(figures: Sequence[Figure]) -> Figure:
    return Figure(*(statistics.median(of) for of in zip(*map(astuple, figures), strict=True)))


def summed(figures: Sequence[Figure]) -> Figure:
    """The files are those that are there in the end."""
    *sums, _ = (sum(of) for of in zip(*map(astuple, figures), strict=True))
    return Figure(*sums, files=figures[-1].files)


@dataclass(slots=True)
class Bench:
    """One case: the same batches into both, and what each batch took."""

    access: StateAccess
    folder: Path
    case: str
    keys: int
    runs: int
    taken: dict[str, list[Figure]] = field(default_factory=lambda: {LOG: [], IN_PLACE: []})

    def measure(self, batches: int) -> None:
        create_missing(self.access)
        logged = Log(self.access)
        placed = InPlace(self.access, TableName((*self.access.namespace.parts, "in_place")))
        first, _ = self._measured(logged.table, lambda: logged.add(1, self._first_keys()))
        print(f"{self.keys:,} keys, {self.case}, {CHANGED:,} a batch; medians of {self.runs}")
        print(f"  {'built':20} {LOG:9} {first}", flush=True)
        placed.begin(logged.table)
        for number in range(1, batches + 1):
            self._add(logged, placed, number + 1, self._changed_keys(number))
        told = {self._told(one.sums) for one in (logged, placed)}
        assert len(told) == 1, told

    def _add(self, logged: Log, placed: InPlace, batch_seq: int, view: str) -> None:
        """Where the log merges, it does so again from where it stood: nothing names the others."""
        head = logged.head
        assert head is not None, "the log has begun"
        is_merged = len(head.attempts) >= ATTEMPTS_MAX
        tries = []
        for _ in range(self.runs + 1 if is_merged else 1):
            logged.head = head
            figure, totals = self._measured(logged.table, lambda: logged.add(batch_seq, view))
            tries.append(figure)
        self.taken[LOG].append(median(tries[1:] or tries))
        figure, others = self._measured(placed.table, lambda: placed.add(batch_seq, view))
        self.taken[IN_PLACE].append(figure)
        assert totals == others, (totals, others)

    def _measured(
        self, table: TableName, work: Callable[[], KeyTotals]
    ) -> tuple[Figure, KeyTotals]:
        written, read = self._written_bytes(), self._read_bytes()
        started, cpu_started = time.perf_counter(), cpu_seconds_of(self.access.spark)
        totals = work()
        figure = Figure(
            seconds=time.perf_counter() - started,
            cpu_seconds=cpu_seconds_of(self.access.spark) - cpu_started,
            read_mb=(self._read_bytes() - read) / 1e6,
            written_mb=(self._written_bytes() - written) / 1e6,
            files=self._files(table),
        )
        return figure, totals

    def _read_bytes(self) -> float:
        jvm: Any = self.access.spark._jvm  # noqa: SLF001 (no other way)
        told = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/io")
        return float(told.read_text().split()[1]) if told.exists() else math.nan

    def _written_bytes(self) -> int:
        """Nothing is removed meanwhile: a table keeps the files that it no longer has."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def _files(self, table: TableName) -> int:
        query = f"SELECT count(*) AS numFiles FROM {table.sql}.files"
        if self.access.format.name == "delta":
            query = f"DESCRIBE DETAIL {table.sql}"
        return int(self.access.read(query)[0]["numFiles"])

    def _first_keys(self) -> str:
        return self._weights(
            f"SELECT 2 * id AS number, 1L AS weight FROM range(1, {self.keys + 1})"
        )

    def _changed_keys(self, number: int) -> str:
        """The keys begin with even numbers. Of random ones, what once went comes back later."""
        half = CHANGED // 2
        place = f"({(number - 1) * half} + id)"
        gone = f"2 * ({place} + {self.keys + 1 - BATCHES_BEHIND * half})"
        come, sign = f"2 * ({place} + {self.keys + 1})", "1L"
        if self.case == RANDOM:
            drawn = f"pmod({place} * {STRIDE}, {self.keys})"
            gone, come = f"2 * ({drawn} + 1)", f"2 * {drawn} + 1"
            sign = f"if({place} div {self.keys} % 2 = 0, 1L, -1L)"
        query = (
            f"SELECT {gone} AS number, -{sign} AS weight FROM range({half}) "
            f"UNION ALL SELECT {come}, {sign} FROM range({half})"
        )
        view = self._weights(query)
        self.access.frame(f"TABLE {view}").localCheckpoint().createOrReplaceTempView("changed")
        return "changed"

    def _weights(self, numbers: str) -> str:
        """A view as the engine gives it to the store."""
        self.access.frame(
            f"SELECT '{RULE}' AS rule_id, '' AS side, violation_key, near, "
            "weight, weight AS present FROM (SELECT number AS near, weight, "
            f"""concat('{{"id":', number, '}}') AS violation_key FROM ({numbers}))"""
        ).createOrReplaceTempView("weights")
        return "weights"

    def _told(self, sums: str) -> tuple[int, ...]:
        told = f"SELECT count(*), sum(weight), bit_xor(xxhash64(key_hash, weight)) FROM ({sums})"
        return tuple(self.access.read(told)[0])

    def report(self) -> None:
        batches = len(self.taken[LOG])
        for behind in (1, 8, ATTEMPTS_MAX - 1 - self.runs):
            last = behind + self.runs - 1
            if last >= batches:
                continue
            of = {name: median(taken[behind : last + 1]) for name, taken in self.taken.items()}
            self._show(f"after {behind} to {last} batches", of)
        if batches == ATTEMPTS_MAX:
            self._show("the log merges", {name: taken[-1] for name, taken in self.taken.items()})
        of = {name: summed(taken[1:]) for name, taken in self.taken.items()}
        self._show(f"batches 2 to {batches}", of)
        cheaper = min(of, key=lambda name: of[name].seconds)
        cheaper_cpu = min(of, key=lambda name: of[name].cpu_seconds)
        print(f"  {self.case}: cheaper by seconds: {cheaper}, by CPU-seconds: {cheaper_cpu}")

    @staticmethod
    def _show(title: str, of: dict[str, Figure]) -> None:
        log, placed = of[LOG], of[IN_PLACE]
        print(f"  {title:20} {LOG:9} {log}\n  {'':20} {IN_PLACE:9} {placed}")
        ratios = (one / other for one, other in zip(astuple(log), astuple(placed), strict=True))
        names = ("s", "CPU-s", "MB read", "MB written", "files")
        told = ", ".join(f"{name} {ratio:.2f}" for name, ratio in zip(names, ratios, strict=True))
        print(f"  {'':20} log / in place: {told}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keys", type=int, default=10_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--format", choices=tuple(CATALOGS), default="delta")
    options.add_argument("--batches", type=int, default=ATTEMPTS_MAX)
    options.add_argument("--quick", action="store_true", help="a million keys, 11 batches")
    given = options.parse_args()
    keys = 1_000_000 if given.quick else given.keys
    assert math.gcd(keys, STRIDE) == 1, "choose another number of keys"
    assert keys >= BATCHES_BEHIND * CHANGED, "choose more keys"
    batches = 8 + given.runs if given.quick else given.batches
    assert given.runs < batches <= ATTEMPTS_MAX, "up to where the log merges"
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        warehouse = Path(folder, "warehouse")
        spark = lakeproof.local_session(warehouse)
        try:
            print(given.format)
            for case in (RECENT, RANDOM):
                access = access_of(spark, given.format, case)
                bench = Bench(access, warehouse / given.format, case, keys, given.runs)
                bench.measure(batches)
                bench.report()
        finally:
            spark.stop()


def access_of(spark: SparkSession, table_format: str, case: str) -> StateAccess:
    """A namespace of its own for each case."""
    namespace = f"bench_{case.partition(' ')[0]}"
    return StateAccess(spark, StoreSettings(table_format, CATALOGS[table_format], namespace))


if __name__ == "__main__":
    main()
