"""A run whose results are put aside, to be recorded by another process.

Lease, key index, violations and progress are written as in any run. Only the results go to a
stage instead of their table, at the same moment: before progress. So whatever dies, a repeated
run finds either no document and evaluates again at the same positions, or one that it keeps.

An engine that is lost meanwhile looks like an error of every rule. A stage needs no engine, so it
would take these errors for good: before any error is staged, the engine must answer once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from lakeproof.config import StoreSettings
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.state.spark_store import SparkStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Stage(Protocol):
    """A place for the results of runs, one document for each."""

    def read(self, run_id: str) -> Sequence[CheckResult] | None:
        """What was put aside; None if nothing ever was, which is not the same as no results."""

    def write(self, run_id: str, results: Sequence[CheckResult]) -> None:
        """Put the document there as a whole: no reader ever sees a part of it."""


class StagingStore(SparkStore):
    """The store of one run that puts its results aside."""

    def __init__(
        self, spark: SparkSession, settings: StoreSettings, stage: Stage, run_id: str
    ) -> None:
        super().__init__(spark, settings)
        self._stage = stage
        self._run_id = run_id

    @property
    def description(self) -> str:
        return f"their stage, not yet in {super().description}"

    def recorded_results(self, run_id: str) -> Mapping[str, CheckResult]:
        staged = {result.rule_key: result for result in self._stage.read(run_id) or ()}
        return {**super().recorded_results(run_id), **staged}

    def record_results(self, results: Sequence[CheckResult]) -> int:
        """As into the table: what this run said first stands."""
        known = self._stage.read(self._run_id)
        keys = {result.rule_key for result in known or ()}
        added = [result for result in results if result.rule_key not in keys]
        if any(result.status == CheckStatus.ERROR for result in added):
            self._require_engine()
        if added or known is None:
            self._stage.write(self._run_id, [*(known or ()), *added])
        return len(added)

    def _require_engine(self) -> None:
        """EngineUnavailableError if session or catalog are lost: a retry may then do better."""
        with self._access.reaching("stage errors of rules without an engine that answers"):
            super().recorded_results(self._run_id)
