"""The process that forks drivers, seen from a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crashes.connect_server import serving

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Drivers:
    process: subprocess.Popen

    def end(self, *drivers: tuple[str, ...]) -> list[int]:
        """Start these drivers at once; gives how each ended."""
        print(" ; ".join(" ".join(one) for one in drivers), file=self.process.stdin, flush=True)
        return [int(code) for code in self.process.stdout.readline().split()]


@contextmanager
def ready_drivers(spark) -> Iterator[Drivers]:
    """Drivers that are clients of this session's Spark."""
    with serving(spark) as address:
        process = subprocess.Popen(
            [sys.executable, "killed_incremental.py", address],
            cwd=FOLDER,
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            yield Drivers(process)
            process.stdin.close()
