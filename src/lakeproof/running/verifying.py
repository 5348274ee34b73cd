"""Files that need not be read, held against what their statistics say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lakeproof.engines.engine import Engine
from lakeproof.errors import message_without_values
from lakeproof.planning.fuse import narrow
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.statistics import Decided, StatisticsStep

FILES_AT_ONCE = 5_000
"""Files that are looked into together: the driver holds their names, and a statement lists them."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """Looks into a share of a table's files."""

    plan: TablePlan
    engine: Engine
    step: StatisticsStep
    decided: Decided
    limit: float | None

    def verify(self, share: float) -> tuple[Mapping[str, str], int]:
        """Proven rules in any file, others in those that are not read for them.

        Gives what is wrong, by rule, and how many files were looked into. To be unable to look is
        wrong too: who asks for it does not take the statistics' word.
        """
        decided, step = self.decided, self.step
        mixed = frozenset(step.of_rule) - step.undecidable - decided.proven
        errors: dict[str, str] = {}
        looked_into = 0
        for rule_ids, is_unread in ((decided.proven, False), (mixed, True)):
            among = decided.files - decided.files_read if is_unread else decided.files
            if not (share and rule_ids and among):
                continue
            size = max(1, round(share * among))
            try:
                lies, files = self._look_into(size, rule_ids, is_unread=is_unread)
            except Exception as problem:  # noqa: BLE001 (whatever it is, the rules are unverified)
                told = (
                    f"the statistics of {self.plan.pinned.table} could not be verified: "
                    f"{message_without_values(problem)}; read its rows with --method scan"
                )
                errors.update(dict.fromkeys(rule_ids, told))
                continue
            errors.update((name, _told(path)) for name, path in lies.items())
            looked_into = max(looked_into, files)
        return errors, looked_into

    def _look_into(
        self, files: int, rule_ids: frozenset[str], *, is_unread: bool
    ) -> tuple[dict[str, str], int]:
        """By rule the first file found that is not as its statistics say; and how many were read.

        Few at a time, as a table may have any number.
        """
        assert self.plan.pinned.position is not None  # noqa: S101 (who proves has looked)
        seed = self.plan.pinned.position.value  # in time every file has its turn
        lies: dict[str, str] = {}
        looked_into, last = 0, ""
        while looked_into < files and len(lies) < len(rule_ids):
            size = min(FILES_AT_ONCE, files - looked_into)
            sample = self.step.sample_sql(size, seed, is_unread=is_unread, after=last)
            paths = self.engine.fetch_texts(sample, self.limit)
            if not paths:
                break
            lies.update(self._lies(paths, rule_ids - lies.keys()))
            looked_into, last = looked_into + len(paths), paths[-1]
        return lies, looked_into

    def _lies(self, paths: Sequence[str], rules: frozenset[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        pending = [(paths, rules)]
        while pending:
            some, rule_ids = pending.pop()
            wrong = frozenset(self._wrong(some, rule_ids - found.keys())) if some else frozenset()
            if not wrong:
                continue
            if len(some) == 1:
                found.update(dict.fromkeys(wrong, some[0]))
                continue
            middle = len(some) // 2
            pending += [(some[middle:], wrong), (some[:middle], wrong)]
        return found

    def _wrong(self, paths: Sequence[str], rule_ids: frozenset[str]) -> Sequence[str]:
        if not rule_ids:
            return []
        said = self.engine.fetch_row(self.step.values_sql(rule_ids, paths), self.limit)
        chosen = self.engine.chosen_files(self.plan.pinned, paths, may_filter=True)
        assert chosen is not None  # noqa: S101 (it may filter)
        step = replace(self.plan, scan=replace(self.plan.scan, relation=chosen.relation))
        try:
            held = self.engine.fetch_row(narrow(step, rule_ids).sql, self.limit)
        finally:
            chosen.release()
        return [
            name
            for name in rule_ids
            if any(_unlike(said[alias], held.get(alias)) for alias in self.step.of_rule[name])
        ]


def _told(path: str) -> str:
    return (
        f"the statistics of {path} are not those of its rows; rewrite the file, or set "
        "statistics = false for the table"
    )


def _unlike(said: object, held: object) -> bool:
    return str(said) != str(held)
