"""Before a table is scanned: what its file statistics decide, and which files are left to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from lakeproof.config import TableSettings
from lakeproof.engines.engine import Engine
from lakeproof.errors import message_without_values
from lakeproof.model.names import TableName
from lakeproof.model.printable import counted
from lakeproof.model.reading import Method
from lakeproof.planning.fuse import narrow
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.statistics import (
    Decided,
    StatisticsStep,
    mentioned_columns,
    statistics_step,
)
from lakeproof.running.progress import Listener, StepDone, ignore
from lakeproof.running.verifying import Verifier

FILES_MIN, BYTES_MIN = 16, 64 * 1024 * 1024
"""Below both, reading the table costs less than asking for its statistics."""

CHOSEN_FILES_MAX = 5_000
"""More files than this are not read one by one: the table is."""

MIXED = "mixed"
"""What a result says of a rule that needed some files only."""


@dataclass(frozen=True, slots=True)
class Proving:
    """What the user asks of statistics: the method, and which share of them to verify."""

    method: Method = Method.AUTO
    verified_share: float = 0.0

    def is_wanted(self, plan: TablePlan, settings: TableSettings) -> bool:
        pinned = plan.pinned
        has_files = pinned.position is not None and pinned.format in {"iceberg", "delta"}
        if self.method is Method.SCAN or not (has_files and plan.needs_scan):
            return False
        return settings.statistics


@dataclass(slots=True)
class Proof:
    """What is decided of a table's scan.

    `relation` reads the files that the other rules need; '' if they read the whole table. `errors`
    says, by rule, what was found wrong with the statistics.
    """

    decided: Decided
    relation: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    files_verified: int = 0
    held: ExitStack = field(default_factory=ExitStack)

    @property
    def proven(self) -> frozenset[str]:
        return self.decided.proven

    def left(self, plan: TablePlan) -> TablePlan:
        """The plan, its scan over the files that must be read."""
        if not self.relation:
            return plan
        step = replace(plan, scan=replace(plan.scan, relation=self.relation))
        return replace(step, scan=narrow(step, frozenset(rule.rule_id for rule in plan.rules)))

    def completed(self, scanned: Mapping[str, object]) -> Mapping[str, object]:
        """What a scan of the whole table would have found."""
        return self.decided.completed(scanned) if self.relation else scanned

    def method_of(self, plan: TablePlan, rule_id: str) -> tuple[str, int]:
        """How the rule was answered, and how many files were read for that."""
        of_its_own = {step.rule_id for step in plan.own_steps}
        if rule_id in self.proven and rule_id not in of_its_own:
            return Method.STATISTICS.value, 0
        if self.relation and rule_id not in of_its_own:
            return MIXED, self.decided.files_read
        return Method.SCAN.value, self.decided.files

    def told(self, plan: TablePlan) -> str:
        """In words: what is proven, and what is left to read."""
        rules = {rule.rule_id for rule in plan.rules} - {step.rule_id for step in plan.own_steps}
        files = counted(self.decided.files, "file")
        proven, left = len(rules & self.proven), len(rules - self.proven)
        parts = []
        if proven:
            parts.append(f"proven from statistics: {counted(proven, 'rule')}, 0 of {files} read")
        if left:
            read = self.decided.files_read if self.relation else self.decided.files
            parts.append(f"scan: {counted(left, 'rule')}, {read:,} of {files}")
        if self.files_verified:
            parts.append(f"verified: {counted(self.files_verified, 'file')}")
        return "; ".join(parts)

    def release(self) -> None:
        self.held.close()


@dataclass(frozen=True, slots=True)
class Prover:
    """Asks the statistics of tables. They only save reading: where they fail, rows are read."""

    engine: Engine
    proving: Proving
    settings_of: Callable[[TableName], TableSettings]
    listener: Listener = ignore

    def prove(self, plan: TablePlan, limit: float | None) -> Proof | None:
        """What statistics decide of the plan's scan; None if nothing, or if they cannot be had."""
        if not self.proving.is_wanted(plan, self.settings_of(plan.pinned.table)):
            return None
        try:
            return self._prove(plan, limit)
        except Exception as problem:  # noqa: BLE001 (whatever it is, a scan does not need it)
            told = f"its file statistics cannot be used: {message_without_values(problem)}"
            self.listener(StepDone(f"{plan.pinned.table}: {told}", 0.0))
            return None

    def _prove(self, plan: TablePlan, limit: float | None) -> Proof | None:
        if self.proving.method is Method.AUTO and self._is_small(plan):
            return None
        with ExitStack() as held:
            statistics = self.engine.file_statistics(plan.pinned, mentioned_columns(plan))
            held.callback(statistics.release)
            step = statistics_step(plan, statistics.facts)
            if step is None:
                return None
            decided = step.read(self.engine.fetch_row(step.sql, limit))
            if not decided.proven and decided.files_read == decided.files:
                return None
            relation = self._relation(plan, step, decided, held, limit)
            verifier = Verifier(plan, self.engine, step, decided, limit)
            errors, files_verified = verifier.verify(self.proving.verified_share)
            return Proof(decided, relation, errors, files_verified, held.pop_all())

    def _is_small(self, plan: TablePlan) -> bool:
        extent = self.engine.extent(plan.pinned)
        return extent.files < FILES_MIN and extent.size_bytes < BYTES_MIN

    def _relation(
        self,
        plan: TablePlan,
        step: StatisticsStep,
        decided: Decided,
        held: ExitStack,
        limit: float | None,
    ) -> str:
        """SQL of the files that must be read; '' where it is as well to read the whole table."""
        if not 0 < decided.files_read < decided.files or decided.files_read > CHOSEN_FILES_MAX:
            return ""
        paths = self.engine.fetch_texts(step.read_paths_sql, limit)
        chosen = self.engine.chosen_files(plan.pinned, paths)
        if chosen is None:
            return ""
        held.callback(chosen.release)
        return chosen.relation
