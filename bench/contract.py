"""One contract, one table, two tools: lakeproof beside datacontract-cli, and the bare scan.

    .venv/bin/python bench/contract.py [--rows 1000000] [--runs 5]

datacontract-cli is installed into an environment of its own in .cache, which borrows our PySpark.
Each tool keeps one warm session in its own process; the rounds are interleaved. What both say of
each rule is compared first, then wall time and scheduler jobs are printed. lakeproof also lists
the bad rows, which is part of its time. Exit code 0 if both agree wherever both answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contract_orders import contract, load_orders
from lineitem import DATA
from peers import Player, answer, peer_python

import lakeproof

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PEER = "datacontract-cli"
PEER_PACKAGE = f"{PEER}[dataframe]==1.2.*"
KINDS = {  # of the peer, by the names that we give to what the schema implies
    "field_is_present": "schema",
    "field_type": "schema",
    "field_required": "required",
    "field_unique": "unique",
    "field_minimum": "minimum",
    "field_maximum": "maximum",
    "field_min_length": "minLength",
    "field_max_length": "maxLength",
    "field_relationships": "foreignKey",
}
Answers = dict[str, tuple[str, float | None]]
"""Status and number by rule."""


# ------------------------------------------------------------------ what plays in its own process


def play(tool: str, rows: int) -> None:
    """Answer each line of the input with one timed run, in one warm session."""
    spark = lakeproof.local_session(DATA / "warehouse", app_name=tool)
    spark.sparkContext.setLogLevel("ERROR")
    tables = load_orders(spark, rows)
    players: dict[str, Callable[[], Answers]] = {
        "lakeproof": lambda: run_lakeproof(spark, tables),
        PEER: lambda: run_peer(spark, tables),
        "bare scan": lambda: scan(spark, tables["orders"]),
    }
    answer({})
    for line in sys.stdin:
        jobs, started = jobs_so_far(spark), time.perf_counter()
        answers = players[line.strip()]()
        seconds = time.perf_counter() - started
        answer({"seconds": seconds, "jobs": jobs_so_far(spark) - jobs, "answers": answers})


def jobs_so_far(spark: SparkSession) -> int:
    """Spark's own count of scheduler jobs."""
    context = spark.sparkContext._jsc.sc()  # noqa: SLF001 (PySpark has no other way)
    context.listenerBus().waitUntilEmpty()
    listed: int = context.statusStore().jobsList(None).size()
    return listed


def scan(spark: SparkSession, table: str) -> Answers:
    spark.table(table).write.format("noop").mode("overwrite").save()
    return {}


def run_lakeproof(spark: SparkSession, tables: Mapping[str, str]) -> Answers:
    outcome = lakeproof.run(spark, lakeproof.load_contract(contract()), tables=dict(tables))
    answers: Answers = {}
    for result in outcome.results:
        is_schema = result.check_type == "column_type"
        place, _, kind = result.rule_key.partition("/")[2].partition(":")
        name = result.declared.get("id") or f"{place}:{'schema' if is_schema else kind}"
        # A rule that the schema implies has no number of its own: it counts bad rows.
        number = result.measure if "id" in result.declared else float(result.failing_rows)
        answers[name] = (result.status.value, None if is_schema else number)
    return answers


def run_peer(spark: SparkSession, tables: Mapping[str, str]) -> Answers:
    from datacontract.data_contract import DataContract

    for name, table in tables.items():
        spark.table(table).createOrReplaceTempView(name)
    run = DataContract(data_contract_str=json.dumps(contract()), spark=spark).test()
    answers: Answers = {}
    for check in run.checks:
        kind = KINDS.get(check.type, check.type)
        name = check.qualityId or f"{check.model}.{check.field}:{kind}"
        found: dict[str, Any] = check.diagnostics or {}
        number = found.get("percent", found.get("value"))
        status = check.result.value
        if kind == "schema" and answers.get(name, ("passed",))[0] != "passed":
            status = answers[name][0]  # it tells presence and type apart; the worse one counts
        answers[name] = (status, None if kind == "schema" or number is None else float(number))
    return answers


# -------------------------------------------------------------------------- who sets them to play


def compare(ours: Answers, theirs: Answers) -> bool:
    """Print the answers rule by rule; whether they agree wherever both answer."""
    agree = True
    print(f"  {'rule':32} {'lakeproof':>18} {PEER:>18}")
    for name in sorted({*ours, *theirs}):
        left, right = ours.get(name), theirs.get(name)
        differ = bool(left and right) and not same(left, right)
        agree &= not differ
        print(f"  {name:32} {shown(left):>18} {shown(right):>18}{'  DIFFERENT' * differ}")
    return agree


def same(left: tuple[str, float | None], right: tuple[str, float | None]) -> bool:
    """One status, and one number where both have one; the peer rounds at six places."""
    if left[0] != right[0] or left[1] is None or right[1] is None:
        return left[0] == right[0]
    return abs(left[1] - right[1]) < 1e-6


def shown(answer: tuple[str, float | None] | None) -> str:
    if answer is None:
        return "-"
    status, number = answer
    return status if number is None else f"{status} {number:g}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--play", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.play:
        play(given.play, given.rows)
        return
    pythons = {"lakeproof": Path(sys.executable), PEER: peer_python(PEER, PEER_PACKAGE)}
    rows = ("--rows", str(given.rows))
    players = {name: Player(name, python, __file__, rows) for name, python in pythons.items()}
    first = {name: player.run() for name, player in players.items()}
    agree = compare(*(first[name]["answers"] for name in ("lakeproof", PEER)))
    turns = {**{name: (player, name) for name, player in players.items()}}
    turns["bare scan"] = (players["lakeproof"], "bare scan")
    players["lakeproof"].run("bare scan")
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in turns}
    for _ in range(given.runs):
        for name, (player, what) in turns.items():
            taken[name].append(player.run(what))
    for player in players.values():
        player.stop()
    report(taken, given.rows)
    raise SystemExit(0 if agree else 1)


def report(taken: Mapping[str, list[dict[str, Any]]], rows: int) -> None:
    print(f"{rows} rows, median of {len(taken[PEER])} interleaved runs, each tool in its process")
    medians = {}
    for name, runs in taken.items():
        seconds = [one["seconds"] for one in runs]
        medians[name] = statistics.median(seconds)
        every = " ".join(f"{one:.2f}" for one in seconds)
        print(f"  {name:18} {medians[name]:7.2f} s  {runs[-1]['jobs']:4} jobs   all: {every}")
    print(f"  {PEER} / lakeproof = {medians[PEER] / medians['lakeproof']:.2f}")
    print(f"  lakeproof / bare scan = {medians['lakeproof'] / medians['bare scan']:.2f}")


if __name__ == "__main__":
    main()
