"""A process killed while it promotes, through Spark Connect: the same command again ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crashes.connect_server import serving
from gating.trusted_layer import Layer
from lakeproof import faults

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def client(quick):
    """Runs the script to its end; gives its exit code and what it printed."""
    with serving(quick) as address:

        def run(*words):
            done = subprocess.run(
                [sys.executable, "promote_killed.py", address, *words],
                cwd=FOLDER,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode in {0, -signal.SIGKILL}, done.stderr[-3000:]
            return done.returncode, json.loads(done.stdout or "{}")

        yield run


@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["iceberg", "delta"])
@pytest.mark.parametrize("point", faults.PROMOTION_POINTS)
def test_a_killed_promotion_is_finished_by_the_next_and_recorded_once(
    quick, client, table_format, point
):
    layer = Layer(quick, table_format)
    layer.keep("only")
    words = (layer.table, f"{layer.short}-only")
    assert client("promote", *words, point) == (-signal.SIGKILL, {})
    code, told = client("promote", *words)
    status = "unchanged" if point == "after_promotion_record" else "promoted"
    assert (code, told["tables"][0]["status"], layer.trusted()) == (0, status, [1])
    assert layer.records() == [("only", "promoted")]
    assert client("rollback", *words, point) == (-signal.SIGKILL, {})
    code, told = client("rollback", *words)
    assert (code, layer.trusted()) == (0, None)
    assert layer.records() == [("only", "promoted"), ("only", "rolled_back")]
