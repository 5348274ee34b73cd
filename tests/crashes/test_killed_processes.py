"""A driver that is really killed, and the same run from the shell after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def start(*command, **environment) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=FOLDER,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def lakeproof(*arguments) -> subprocess.CompletedProcess[str]:
    return start("-m", "lakeproof.cli.main", *arguments)


@pytest.mark.slow  # test_killed_runs kills every step as a client, which costs seconds
@pytest.mark.parametrize("store", ["iceberg", "delta"])
@pytest.mark.parametrize("point", ["after_violations", "after_results"])
def test_a_killed_driver_leaves_a_run_that_can_be_completed(tmp_path, point, store):
    warehouse = str(tmp_path / "lakehouse")
    killed = start("killed_suite.py", warehouse, store, LAKEPROOF_FAULT=f"{point}:kill")
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]

    where = ("--warehouse", warehouse, "--store", store)
    again = lakeproof(
        "run", "killed_suite:CHECKS", *where, "--run-id", "the-run", "--key", "orders=order_id"
    )
    assert again.returncode == 1, again.stderr[-2000:]

    results = json.loads(lakeproof("show", "results", *where, "--format", "json").stdout)
    kept = json.loads(lakeproof("show", "violations", *where, "--format", "json").stdout)
    found = {row["check_name"]: row["failing_rows"] for row in results["results"]}
    assert found == {"present": 2, "unique": 1}
    assert len(results["results"]) == 2
    assert [row["status"] for row in kept["violations"]] == ["open"] * 3
    assert {row["first_run_id"] for row in kept["violations"]} == {"the-run"}
