"""An incremental run killed at any point and run again leaves what an undisturbed one does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checked_shop import CheckedShop

from lakeproof import faults
from spark_settings import for_few_records

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@pytest.fixture(scope="module")
def shops(spark):
    return CheckedShop.in_both_formats(spark, "killed")


def kills():
    """Every point on both formats, after the first run of all."""
    for table_format in ("delta", "iceberg"):
        yield pytest.param(table_format, "after_violations", id=f"{table_format}-first-run")
        for point in faults.POINTS:
            yield pytest.param(table_format, point)


@pytest.mark.parametrize(("table_format", "point"), [*kills()])
def test_a_killed_run_repeated_leaves_what_an_undisturbed_one_does(
    shops, drivers, table_format, point
):
    """The first of all runs builds the state; under its own id or as another, in turn."""
    shop = shops[table_format]
    if shop.steps or shop.lives.hits:
        shop.change()
    killed = f"run-{shop.steps:02}"
    again = killed if shop.steps % 2 == (shop.format == "delta") else f"{killed}-again"

    assert drivers.end((shop.format, shop.name, killed, point)) == [-signal.SIGKILL]
    shop.run(again)

    assert shop.wrong(again, killed if again == killed else "") == []


@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
@pytest.mark.parametrize("point", ["after_key_index", "after_violations", "after_results"])
def test_a_driver_killed_with_its_spark_leaves_what_another_completes(
    tmp_path, point, table_format
):
    def start(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "killed_warehouse.py", tmp_path, table_format, *words],
            cwd=FOLDER,
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent), **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    killed = start(point, LAKEPROOF_FAULT=f"{point}:kill")
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    again = start("again")
    assert again.returncode == 0, again.stderr[-2000:]
    assert json.loads(again.stdout.strip().splitlines()[-1]) == []
