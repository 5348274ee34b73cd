"""Results: each run's, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakeproof.errors import LakeproofError
from lakeproof.model.outcome import CheckResult
from lakeproof.state import literals
from lakeproof.state.access import StateAccess
from lakeproof.state.statements import (
    build_quality_result_insert,
    previous_measures_sql,
    result_of_row,
)


@dataclass(frozen=True, slots=True)
class ResultLog:
    """`first_timers` are runs that began just now: they have recorded nothing under a lease."""

    access: StateAccess
    first_timers: set[str] = field(default_factory=set)

    def has_begun(self, run_id: str) -> bool:
        self.access.refresh("intents")
        intents = self.access.tables["intents"].sql
        asked = f"SELECT 1 FROM {intents} WHERE run_id = {literals.text(run_id)} LIMIT 1"
        return bool(self.access.read(asked))

    def recorded_results(self, run_id: str) -> Mapping[str, CheckResult]:
        self.access.refresh("results")
        rows = self.access.read(
            f"SELECT * FROM {self.access.tables['results'].sql} "
            f"WHERE run_id = {literals.text(run_id)}"
        )
        said = [result_of_row(row.asDict()) for row in rows]
        return {result.rule_key: result for result in said}

    def previous_measures(
        self, rule_ids: Sequence[str], run_id: str, *, is_repeated: bool
    ) -> Mapping[str, float]:
        self.access.refresh("results", "intents")
        tables = self.access.tables
        sql = previous_measures_sql(tables["results"], rule_ids, run_id)
        if is_repeated:
            sql = previous_measures_sql(tables["results"], rule_ids, run_id, tables["intents"])
        rows = self.access.read(sql)
        return {str(row["rule_id"]): float(str(row["measure"])) for row in rows}

    def record(self, results: Sequence[CheckResult]) -> int:
        """Add those that are not there yet, by (run_id, rule_key); gives how many."""
        return self.access.retrying(lambda: self._record(results))

    def _record(self, results: Sequence[CheckResult]) -> int:
        table = self.access.tables["results"]
        wanted = Counter(
            (literals.storable(result.run_id), literals.storable(result.rule_key))
            for result in results
        )
        self.access.refresh("results")
        added = len(wanted.keys() - self._recorded_before(results).keys())
        if added and self._merge(results) != added:
            # Another thread of this session may have made it forget what was just committed.
            self.access.refresh("results")
            found = self._recorded(results)
            wrong = [key for key in wanted if found[key] != 1]
            if wrong:
                raise LakeproofError(
                    f"{table}: result {wrong[0]} is there {found[wrong[0]]} times after writing it "
                    "once; another program writes to this table"
                )
        return added

    def _merge(self, results: Sequence[CheckResult]) -> int | None:
        table, name = self.access.tables["results"], self.access.format.name
        return self.access.write(build_quality_result_insert(results, table.sql, name))

    def _recorded_before(self, results: Sequence[CheckResult]) -> Counter[tuple[str, str]]:
        """What these runs had recorded; a run that began just now, nothing, without a look."""
        run_ids = {result.run_id for result in results}
        is_first_time = run_ids <= self.first_timers
        self.first_timers.difference_update(run_ids)
        return Counter() if is_first_time else self._recorded(results)

    def _recorded(self, results: Sequence[CheckResult]) -> Counter[tuple[str, str]]:
        run_ids = literals.texts(sorted({result.run_id for result in results}))
        rows = self.access.read(
            f"SELECT run_id, rule_key FROM {self.access.tables['results'].sql} "
            f"WHERE run_id IN ({run_ids})"
        )
        return Counter((str(row["run_id"]), str(row["rule_key"])) for row in rows)
