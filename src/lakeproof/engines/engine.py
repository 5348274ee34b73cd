"""What the runner needs of an engine; `spark/` provides it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from lakeproof.model.pairing import PairFound
from lakeproof.model.violation import HitSummary
from lakeproof.planning.pairs.steps import PairStep
from lakeproof.planning.plan import CallStep
from lakeproof.planning.tables import PinnedTable, TableReader


class Hits(Protocol):
    """Bad rows of one table, held by the engine so that they are computed once."""

    @property
    def view(self) -> str:
        """A view with rule_id, hit_id, violation_key, occurrences, excess, observed."""

    def summaries(self) -> Mapping[str, HitSummary]:
        """What they amount to per rule_id; this reads the table, the first time."""

    def release(self) -> None:
        """Let the engine forget them."""


class Engine(TableReader, Protocol):
    """Runs SQL over pinned tables. Never writes, never stops the session it was given."""

    def ensure_ready(self) -> None:
        """Raise EngineUnavailableError if nothing can be asked, or files might be skipped."""

    def fetch_row(self, sql: str, timeout_seconds: float | None) -> Mapping[str, object]:
        """The one row of an aggregate statement; RuleTimeoutError past the limit."""

    def call(
        self, step: CallStep, pinned: PinnedTable, now: datetime, timeout_seconds: float | None
    ) -> object | None:
        """Call the user's function; gives its value, or None if rows are in the step's view."""

    def compare(self, step: PairStep, timeout_seconds: float | None) -> PairFound:
        """Hold two tables against each other; the step's view has what differs."""

    def release_pair(self, step: PairStep, *, forget: bool = False) -> None:
        """Give back the memory of what differs; with `forget` nobody will read it again."""

    def hold_hits(self, sql: str, timeout_seconds: float | None) -> Hits:
        """Bad rows by a statement as `planning.bad_rows` writes it."""
