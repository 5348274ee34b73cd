"""The whole incremental story through Spark Connect, on both formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from crashes.connect_server import serving

FOLDER = Path(__file__).parent


def test_bootstrap_change_crash_and_rerun_are_right_on_connect(spark):
    with serving(spark) as address:
        done = subprocess.run(
            [sys.executable, "incremental_run.py", address, "delta", "iceberg"],
            cwd=FOLDER,
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    for table_format in ("delta", "iceberg"):
        assert found[table_format] == {
            "first": [],
            "second": "died",
            "third": [],
            "modes": ["cdf"],
            "statistics": [
                ["passed", 0, 30, "statistics"],
                ["passed", 0, 30, "statistics"],
                ["failed", 2, 30, "scan"],
            ],
        }
