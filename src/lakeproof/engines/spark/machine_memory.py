"""How much memory the machine, or the container that this process runs in, has."""

from __future__ import annotations

import os
from pathlib import Path

DRIVER_GIGABYTES_MIN, DRIVER_GIGABYTES_MAX = 2, 4
_GIGABYTE = 2**30
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where Linux tells what a container may use: version 2 of control groups, and version 1."""


def driver_memory() -> str:
    """What an embedded Spark may use if nobody has said: a quarter, within bounds.

    Not more, for several may be at work beside each other, and limits of groups within groups, as
    of a batch system, are not known here.
    """
    quarter = memory_bytes() // 4 // _GIGABYTE
    return f"{min(max(DRIVER_GIGABYTES_MIN, quarter), DRIVER_GIGABYTES_MAX)}g"


def memory_bytes() -> int:
    """0 where the system does not tell."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # as on Windows
        return 0
    return min([machine, *filter(None, map(_limit_in, _LIMITS))])


def _limit_in(file: Path) -> int | None:
    """None where there is no such file, or no number in it: `max` is no limit."""
    try:
        told = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(told) if told.isdigit() else None
