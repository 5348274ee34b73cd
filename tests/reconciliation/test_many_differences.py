"""Every row differs: nothing is collected but totals and samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTE = 2**20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "result_bytes"), [(100_000, 800 * 2**10), (1_000_000, 8 * MEGABYTE)]
)
def test_a_table_that_differs_in_every_row_stays_with_spark(tmp_path, rows, result_bytes):
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("compare_all_different.py")),
            str(tmp_path / "lakehouse"),
            str(rows),
            str(result_bytes),
        ],
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    for found in told["found"].values():
        assert found["status"] == "failed", found["message"]
        assert found["numbers"]["hash_mismatches"] == rows
        assert found["numbers"]["mismatch_pct"] == 1.0
        assert found["numbers"]["total_compared"] == rows
        assert found["columns"] == {"n": rows, "name": 0, "share": 0}
        assert found["samples"] == 10
    assert told["grown_mb"] < 100
