"""`lakeproof demo`: the tour. Builds the lakehouse, runs both tables, checks what it shows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.api import RunOutcome, run, run_checks
from lakeproof.config import Config
from lakeproof.demo.lakehouse import (
    BAD,
    COPY,
    DAMAGED,
    GOOD,
    KEYS,
    PLANTED,
    PLANTED_BY_CONTRACT,
    PLANTED_DIFFERENCES,
    SOURCE,
    build_lakehouse,
)
from lakeproof.demo.suites import PRODUCTS_CHECKS, SALES_CHECKS
from lakeproof.errors import LakeproofError
from lakeproof.gating.policy import exit_code
from lakeproof.reconciliation import QualityCheckResult, reconcile
from lakeproof.reporting.comparison import comparison_text
from lakeproof.running.progress import Listener, ignore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CONTRACT = "sales.odcs.yaml"


def show_demo(
    spark: SparkSession,
    warehouse: Path,
    say: Callable[[str], None],
    listener: Listener = ignore,
    program: str = "lakeproof",
) -> None:
    """Run the tour; raises if a planted error was not found exactly.

    `program` is how the command line was called, for the commands that are shown at the end.
    """
    say(f"Building a lakehouse in {warehouse}:\na good table, and one with planted errors.")
    build_lakehouse(spark)

    say(f"\n1. The good table, iceberg.{GOOD}.sales, with the eight SALES_CHECKS:\n")
    good = _run(spark, GOOD, listener)
    say(str(good))
    _expect(good, dict.fromkeys(PLANTED, 0))

    say(f"\n2. The same checks on iceberg.{BAD}.sales, which holds planted errors, together with")
    say("   the two PRODUCTS_CHECKS on a good table beside it:\n")
    bad = _run(spark, BAD, listener)
    say(str(bad))
    _expect(bad, PLANTED)

    contract = warehouse / CONTRACT
    shutil.copyfile(str(files("lakeproof.demo") / CONTRACT), contract)
    say(f"\n3. The same table by a data contract, {contract}, with no Python written:\n")
    by_contract = run(spark, contract, store="iceberg", listener=listener)
    say(str(by_contract))
    _expect(by_contract, PLANTED_BY_CONTRACT)

    say(f"\n4. Two copies of {SOURCE}: a Delta table, and one that was damaged:\n")
    planted = {COPY: {}, DAMAGED: PLANTED_DIFFERENCES}
    for target, differences in planted.items():
        found = reconcile(spark, SOURCE, target, key=["order_id"], listener=listener)
        say(comparison_text(found, SOURCE, target))
        _expect_differences(found, differences)

    code = exit_code(bad.results, bad.gate, "error")
    say(f"\nThe planted errors were found, each by its count. Exit code of run 2: {code}")
    say("\nGo on from here:")
    told = f"--warehouse {warehouse} --key sales=order_id"
    say(f"  {program} run lakeproof.demo:SALES_CHECKS {told}; echo $?")
    say(f"  {program} plan lakeproof.demo:SALES_CHECKS {told} --sql")
    say(f"  {program} show violations --warehouse {warehouse}")
    say(f"  {program} contract coverage {contract}")
    say(f"  {program} run {contract} --warehouse {warehouse}; echo $?")
    say(f"  {program} reconcile {SOURCE} {DAMAGED} --key order_id --warehouse {warehouse}")


def _run(spark: SparkSession, namespace: str, listener: Listener) -> RunOutcome:
    config = replace(Config(), default_namespace=namespace)
    checks = SALES_CHECKS if namespace == GOOD else SALES_CHECKS + PRODUCTS_CHECKS
    return run_checks(
        spark,
        checks,
        store="iceberg",
        keys=KEYS if namespace == BAD else {"sales": KEYS["sales"]},
        config=config,
        suite="demo",
        listener=listener,
    )


def _expect(outcome: RunOutcome, counts: dict[str, int]) -> None:
    found = {result.check_name: result.failing_rows for result in outcome.results}
    wrong = {
        name: (expected, found.get(name))
        for name, expected in counts.items()
        if found.get(name) != expected
    }
    if wrong:
        listed = ", ".join(
            f"{name}: {one} planted, {two} found" for name, (one, two) in wrong.items()
        )
        raise LakeproofError(f"the demo found other counts than it planted: {listed}")


def _expect_differences(
    found: QualityCheckResult, planted: Mapping[str, Mapping[str, list[str]]]
) -> None:
    shown: dict[str, dict[str, list[str]]] = {}
    for sample in found.metadata["samples"]:
        of_kind = shown.setdefault(sample["kind"], {})
        of_kind[sample["key"]["order_id"]] = sorted(sample["differing_columns"])
    if shown != planted:
        raise LakeproofError(f"the demo planted {planted} and found {shown}")
