"""What a run tells while it works. A listener may show it, and must never decide anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepDone:
    """One finished step: what it was and how long it took."""

    text: str
    seconds: float


Listener = Callable[[StepDone], None]


def ignore(step: StepDone) -> None:
    """The listener of a run that nobody watches."""
