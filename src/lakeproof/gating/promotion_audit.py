"""What a run has said, taken from the store and from nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakeproof.errors import (
    CheckDefinitionError,
    EngineUnavailableError,
    NothingSelectedError,
    PromotionError,
)
from lakeproof.gating.policy import EVALUATED, GateDecision, closes, decide
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest
from lakeproof.model.outcome import PARTITION, CheckResult
from lakeproof.model.position import Position
from lakeproof.model.printable import counted
from lakeproof.model.promotion import is_other_table
from lakeproof.state.kept_runs import (
    LATEST,
    failed_beside,
    intended_rules,
    known_runs,
    latest_run,
    results_of_run,
    said_of_other_partitions,
    table_ids_read,
)
from lakeproof.state.reading import Among, StateReader

AGAIN = "Run the checks again and promote that run"

_NAMED_MAX = 5

_BOOKS = "zero_loss"
"""The check type of what a ledger says: its table is a pipeline's input, by any name."""


@dataclass(frozen=True, slots=True)
class Audited:
    """A table as a run has read it; `table_ids` are its identities then, if they are known."""

    run_id: str
    checked: TableName
    position: Position
    table_ids: frozenset[str]

    def require_same_table(self, table_id: str) -> None:
        """Refuse a table that was dropped and made again since: its positions mean other rows.

        Versions of Delta begin at 0 in each table, so there its identity must be known; no two
        snapshots of Iceberg have the same number.
        """
        if not self.table_ids and self.position.kind == "delta":
            raise PromotionError(
                f"nothing is kept that says whether {self.checked} is the table that run "
                f"{self.run_id!r} has read. {AGAIN}"
            )
        if any(is_other_table(one, table_id) for one in self.table_ids):
            raise PromotionError(
                f"{self.checked} was dropped and made again, or replaced, since run "
                f"{self.run_id!r} has read it. {AGAIN}"
            )


@dataclass(frozen=True, slots=True)
class Audit:
    """A run that is over: its results with those given beside, and the gate over all of them.

    Over all, and not only those of the table to promote: the run was passed or failed as a whole,
    a rule of one table may speak of another (a foreign key, a comparison), and tables that are
    promoted together should be of one making.
    """

    run_id: str
    results: tuple[CheckResult, ...]
    gate: GateDecision
    reader: StateReader

    def tables_checked(self) -> list[TableName]:
        """Every table that the run has results of, in the order of their names."""
        names = {one.table_fqn for one in self.results if one.check_type != _BOOKS}
        return [TableName.parse(name) for name in sorted(names) if name]

    def require_table(self, checked: TableName) -> None:
        """Refuse a table that the run has not looked at."""
        if not self._of(checked):
            raise NothingSelectedError(
                f"run {self.run_id!r} has no results of {checked}. It has results of: "
                f"{_tables_told(self.results)}"
            )

    def read_at(self, checked: TableName) -> Audited:
        """Where the run has read it: one position, and at least one rule evaluated there."""
        own = [one for one in self._of(checked) if one.status in EVALUATED]
        if not own:
            raise PromotionError(
                f"run {self.run_id!r} has evaluated no rule of {checked}. Nothing says that it "
                "may be promoted"
            )
        checked = TableName.parse(own[0].table_fqn)  # as the store spells it
        texts = sorted({one.position for one in own})
        if "" in texts:
            raise PromotionError(
                f"run {self.run_id!r} has read {checked} at no position: it has no history that a "
                "promotion could point into. Write to it first and run the checks again, or name "
                "the tables to promote"
            )
        positions = [Position.from_json(text) for text in texts]
        if len(positions) > 1:
            told = " and ".join(map(str, positions))
            raise PromotionError(
                f"run {self.run_id!r} has read {checked} at {told}. Run the checks again under "
                "one run id, and promote that run"
            )
        self._require_nothing_failed_beside(checked, positions[0])
        self._require_no_partition_failed(checked)
        rule_ids = sorted({one.rule_id for one in own})
        ids = table_ids_read(self.reader, self.run_id, checked, positions[0], rule_ids)
        return Audited(self.run_id, checked, positions[0], ids)

    def _require_nothing_failed_beside(self, checked: TableName, position: Position) -> None:
        """Refuse what another run has failed there: this one may have had some of the rules."""
        own = self._of(checked)
        failed = [one for one in failed_beside(self.reader, checked, position, own) if closes(one)]
        if failed:
            told = [f"{one.check_name} ({one.status}, run {one.run_id})" for one in failed]
            raise PromotionError(
                f"run {self.run_id!r} has not evaluated rules of its suite that did not pass at "
                f"{position} of {checked}: {_listed(told)}. Run the whole suite and promote that "
                "run"
            )

    def _require_no_partition_failed(self, checked: TableName) -> None:
        """Refuse rows that an earlier run has failed: a promotion shows all partitions."""
        said = said_of_other_partitions(self.reader, checked, self._of(checked))
        failed = [one for one in said if closes(one)]
        if failed:
            told = [
                f"{one.check_name} of {one.declared.get(PARTITION) or 'the whole table'} "
                f"({one.status}, run {one.run_id})"
                for one in failed
            ]
            raise PromotionError(
                f"run {self.run_id!r} has looked at one partition of {checked}, and what was said "
                f"last of others did not pass: {_listed(told)}. Mend these rows, run the checks of "
                "these partitions, or of the whole table, and promote the last of these runs"
            )

    def _of(self, checked: TableName) -> list[CheckResult]:
        """The results of rules on this table."""
        return [
            one
            for one in self.results
            if one.check_type != _BOOKS and _is_named(one.table_fqn, checked)
        ]


def audit_of(
    reader: StateReader,
    run_id: str,
    checked: Sequence[TableName],
    beside: Sequence[CheckResult] = (),
) -> Audit:
    """The run of this id, or the newest (with results of one of these tables, if any are named)."""
    if run_id == LATEST:
        names = tuple(str(table) for table in checked)
        run_id = latest_run(reader, (Among(("table_fqn",), names),) if names else ())
        if not run_id:
            told = f" of {', '.join(names)}" if names else ""
            raise NothingSelectedError(f"no results{told} are kept. Next: lakeproof run")
    results = results_of_run(reader, run_id)
    intended = intended_rules(reader, run_id)
    if not results:
        raise NothingSelectedError(_unknown(reader, run_id, has_begun=bool(intended)))
    gate = decide([*results, *beside])
    missing = intended - {one.rule_id for one in results}
    if missing:
        told = f"{counted(len(missing), 'rule')} of run {run_id} have no result"
        gate = replace(gate, is_open=False, reasons=(*gate.reasons, told))
    return Audit(run_id, (*results, *beside), gate, reader)


def tables_hint(reader: StateReader, run_id: str) -> str:
    """What to add where a name is wrong: the tables of the run, if it is known."""
    try:
        results = [] if run_id == LATEST else results_of_run(reader, run_id)
    except EngineUnavailableError:  # what is wrong with the store is told where it is needed
        return ""
    return f". Run {run_id!r} has results of: {_tables_told(results)}" if results else ""


def _listed(told: Sequence[str]) -> str:
    more = len(told) - _NAMED_MAX
    return ", ".join(told[:_NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _tables_told(results: Sequence[CheckResult]) -> str:
    return ", ".join(sorted({one.table_fqn or one.table_name for one in results}))


def _unknown(reader: StateReader, run_id: str, *, has_begun: bool) -> str:
    if has_begun:
        return (
            f"run {run_id!r} has begun and kept no results: it did not finish. Repeat it: "
            f"lakeproof run ... --run-id {run_id}"
        )
    near = nearest(run_id, known_runs(reader))
    told = f". Nearest: {', '.join(near)}" if near else ""
    return f"no results of run {run_id!r} are kept{told}"


def _is_named(name: str, table: TableName) -> bool:
    """Whether a full name as results have it is this table's; not every dataset has such a name."""
    try:
        return TableName.parse(name).folded == table.folded
    except CheckDefinitionError:
        return False
