"""Rivals timed side by side in one warm session."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def median_seconds(rivals: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Each rival's median, printed with every round; all warmed up first, then interleaved."""
    for run in rivals.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, run in rivals.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    for name, taken in medians.items():
        print(
            f"  {name:12} {taken:7.2f} s   all: {' '.join(f'{one:.2f}' for one in seconds[name])}"
        )
    return medians
