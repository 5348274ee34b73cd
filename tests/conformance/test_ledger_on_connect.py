"""The whole ledger through Spark Connect: the same books, and files that the verifier accepts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crashes.connect_server import serving
from lakeproof.accounting.without_spark.verifying import verify_ledger

FOLDER = Path(__file__).parent
READABLE = {"AGGREGATED": 2, "FILTERED": 2, "ERROR": 1}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("json", "iceberg"), id="some"),
        pytest.param(("csv", "parquet", "delta", "frame"), id="others", marks=pytest.mark.slow),
    ],
)
def test_books_kept_through_connect_are_whole(spark, tmp_path, names):
    with serving(spark) as address:
        done = subprocess.run(
            [sys.executable, "ledger_run.py", address, tmp_path, *names],
            cwd=FOLDER,
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])

    for name in names:
        counts = {**READABLE}
        if name == "json":
            counts["ERROR"] = 3
            assert found[name]["null_keys"] == 2
        if name == "csv":  # which holds no arrays, so nothing explodes to nothing
            counts |= {"AGGREGATED": 3, "FILTERED": 1}
        assert found[name]["counts"] == counts, name
        report = verify_ledger(str(tmp_path / f"run_{name}"))
        assert list(report.findings) == [], name
        if name != "csv":
            assert found[name]["rows"] == [
                ["ERROR(check)", counts["ERROR"], counts["ERROR"]],
                ["FILTERED(wanted)", 1, 1],
                ["FILTERED(apart)", 1, 1],
                ["AGGREGATED(sums)", 2, 3],
            ]
    lost = found["lost"]
    assert lost["missing"] == [1, "b"]
    assert "rand()" in lost["refused"]
    assert "ledger.failed.json" in lost["files"]
    assert "ledger.json" not in lost["files"]
