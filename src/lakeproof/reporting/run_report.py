"""The one value that every report of a run is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from lakeproof.model.outcome import CheckResult


class Passed(Enum):
    """Whether rules that passed are listed, or only counted."""

    COUNTED = "counted"
    LISTED = "listed"


class Decision(Protocol):
    """What a report needs of the gate's decision."""

    @property
    def is_open(self) -> bool: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...

    @property
    def failures(self) -> tuple[CheckResult, ...]: ...


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run's outcome, and what a reader wants to see of it.

    `passed` and `see_more` (the command that lists the bad rows) are for reports that people
    read; `root` is the folder below which the places of rules are named.
    """

    run_id: str
    results: Sequence[CheckResult]
    gate: Decision
    passed: Passed = Passed.COUNTED
    see_more: str = ""
    root: str = ""

    @property
    def executed_at(self) -> str:
        """The run's one moment, UTC; '' if it has no results."""
        return self.results[0].executed_at if self.results else ""
