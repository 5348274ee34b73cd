"""Named points of a run where tests may stop the process.

A run passes the points in the order of `POINTS`. Outside tests `reach` is a dictionary look-up.
A test arms a point with an action in this process, or, for a process that it wants to die,
by `LAKEPROOF_FAULT=<point>:<kill|raise>` in the environment of a script that asks for it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POINTS = (
    "after_lease",
    "after_intent",
    "after_read",
    "after_key_index",
    "after_violations",
    "after_quarantine",
    "after_results",
    "after_progress",
    "after_events",
)

LEDGER_POINTS = (
    "after_manifest",
    "after_capture",
    "after_breach",
    "after_input_check",
    "after_verification",
    "after_error_summary",
    "before_ledger",
    "after_ledger",
    "after_key_list",
    "after_key_lists",
    "after_failure_text",
    "after_failed_ledger",
)
"""Those of a pipeline that keeps books."""


STORE_POINTS = ("during_prune", "during_upgrade")
"""Those of upkeep of the state tables."""

PROMOTION_POINTS = ("after_promotion_lease", "after_promotion_move", "after_promotion_record")
"""Those of a promotion or its rollback, for each table."""

CLONE_POINTS = ("after_clone_drop",)
"""Those of a Delta clone that is dropped to be made again."""

KNOWN_POINTS = (*POINTS, *LEDGER_POINTS, *STORE_POINTS, *PROMOTION_POINTS, *CLONE_POINTS)


class FaultInjectedError(Exception):
    """Raised by an armed point; never by a run outside tests, so not a LakeproofError."""


_armed: dict[str, Callable[[], None]] = {}


def reach(point: str) -> None:
    """Pass a named point: does nothing unless a test armed it."""
    action = _armed.get(point)
    if action is not None:
        action()


@contextmanager
def armed(point: str, action: Callable[[], None]) -> Iterator[None]:
    """Run `action` whenever `point` is reached inside this block."""
    if point not in KNOWN_POINTS:
        known = ", ".join(KNOWN_POINTS)
        raise ValueError(f"unknown fault point {point!r}; known: {known}")
    _armed[point] = action
    try:
        yield
    finally:
        del _armed[point]


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _raise() -> None:
    raise FaultInjectedError("a fault point was armed by LAKEPROOF_FAULT")


def arm_from_environment() -> None:
    """Arm the point named in LAKEPROOF_FAULT; only tests call this."""
    text = os.environ.get("LAKEPROOF_FAULT", "")
    if not text:
        return
    point, _, action = text.partition(":")
    if point not in KNOWN_POINTS:
        raise ValueError(f"LAKEPROOF_FAULT names unknown point {point!r}")
    _armed[point] = {"kill": _kill, "raise": _raise}[action or "kill"]
