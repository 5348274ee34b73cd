"""What no run will look at again, taken out of the state tables.

Done under the lease of every rule, and never to what the two newest batches of a rule name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from lakeproof import faults
from lakeproof.model.names import TableName, quote
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.weighing import Resolution
from lakeproof.state import literals
from lakeproof.state.access import StateAccess
from lakeproof.state.assigning import Assigner
from lakeproof.state.attempts import Attempt, is_named
from lakeproof.state.kept_rows import BATCH, TOKEN, KeptRows
from lakeproof.state.progress import Head, ProgressLog, Step
from lakeproof.state.store import Batch, Move, TableWork
from lakeproof.state.violations import RESOLVED

GROUP = "prune"


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows were removed, and rules that left rows behind and never were committed.

    `skipped` are tables that a run is at work on.
    """

    index_rows: int = 0
    kept_rows: int = 0
    resolved_violations: int = 0
    ghosts: int = 0
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ghost:
    """A rule that left rows behind and never was committed."""

    rule_id: str
    table: str


@dataclass(frozen=True, slots=True)
class Pruner:
    """`newest` are the two newest progress rows of each rule, the newest first."""

    access: StateAccess
    newest: Mapping[str, Sequence[Head]]
    ghosts: Sequence[Ghost]

    @classmethod
    def over(cls, access: StateAccess) -> Pruner:
        return cls(access, ProgressLog(access).newest("true", count=2), _ghosts(access))

    def works(self) -> list[TableWork]:
        """The leases to take: every rule of every table."""
        rules: dict[str, list[str]] = {}
        ids: dict[str, str] = {}
        for rule_id, (head, *_) in self.newest.items():
            rules.setdefault(head.progress.table, []).append(rule_id)
            if head.progress.mark is not None and head.progress.mark.table_id:
                ids[head.progress.table] = head.progress.mark.table_id
        for ghost in self.ghosts:
            rules.setdefault(ghost.table, []).append(ghost.rule_id)
        return [
            TableWork(
                TableName.parse(name), ids.get(name, ""), GROUP, tuple(sorted(of_table)), None
            )
            for name, of_table in sorted(rules.items())
        ]

    def within(self, rule_ids: Collection[str]) -> Pruner:
        """Only what concerns these rules.

        A rule that came up after the leases were taken is no ghost: its first run is at work.
        """
        newest = {name: heads for name, heads in self.newest.items() if name in rule_ids}
        ghosts = [one for one in self.ghosts if one.rule_id in rule_ids]
        return replace(self, newest=newest, ghosts=ghosts)

    def prune(
        self, batches: Sequence[Batch], run_id: str, now: datetime, *, drops_resolved: bool
    ) -> Pruned:
        """Whatever it dies in between: what is left is what a repeat takes out."""
        retired = self._retire_ghosts(batches, run_id, now)
        conditions = [*self._unnamed(), *_up_to(retired)]
        index_rows = self._delete(self.access.tables["key_index"], conditions)
        faults.reach("during_prune")
        kept_rows = sum(
            self._prune_kept(rule_id, heads)
            for rule_id, heads in self.newest.items()
            if not heads[0].progress.rule_key and heads[0].attempts
        )
        resolved = 0
        if drops_resolved:
            resolved = self._delete(self.access.tables["violations"], self._resolved())
        return Pruned(index_rows, kept_rows, resolved, sum(map(len, retired.values())))

    def _retire_ghosts(
        self, batches: Sequence[Batch], run_id: str, now: datetime
    ) -> dict[Batch, list[str]]:
        """Resolve what rules have open that no run has committed and none is at work on.

        First each is moved, as by a run that reads nothing: from then on no attempt that is as old
        as ours can be committed, so its rows may go, even if we have slept past our lease.
        """
        log = ProgressLog(self.access)
        retired: dict[Batch, list[str]] = {}
        for batch in batches:
            steps = [
                Step(batch, Move(one.rule_id, Mode.SNAPSHOT, Mark("", None), None), ())
                for one in self.ghosts
                if one.table == str(batch.work.table)
            ]
            if steps:
                self.access.retrying(partial(log.advance, steps, run_id, now))
                overtaken = log.committed(steps, [batch], run_id).overtaken
                retired[batch] = [one.move.rule_id for one in steps if one not in overtaken]
                why = dict.fromkeys(retired[batch], Resolution.RULE_REMOVED)
                Assigner(self.access, batch, run_id, now).close(dict(why))
        return retired

    def _unnamed(self) -> list[str]:
        """Conditions of index rows that no batch will count again.

        They are older than the two newest batches of their rule, and neither names them.
        """
        groups: dict[tuple[int, tuple[Attempt, ...]], list[str]] = {}
        for rule_id, heads in self.newest.items():
            named = sorted({one for head in heads for one in head.attempts})
            groups.setdefault((_oldest(heads), tuple(named)), []).append(rule_id)
        return [
            f"rule_id IN ({literals.texts(rules)}) AND batch_seq < {oldest} "
            f"AND NOT ({is_named(named)})"
            for (oldest, named), rules in groups.items()
        ]

    def _resolved(self) -> list[str]:
        groups: dict[int, list[str]] = {}
        for rule_id, heads in self.newest.items():
            groups.setdefault(_oldest(heads), []).append(rule_id)
        return [
            f"status = {RESOLVED} AND rule_id IN ({literals.texts(rules)}) AND batch_seq < {oldest}"
            for oldest, rules in groups.items()
        ]

    def _prune_kept(self, kept_id: str, heads: Sequence[Head]) -> int:
        kept = KeptRows(self.access, kept_id)
        if not kept.exists():
            return 0
        named = is_named({one for head in heads for one in head.attempts}, quote(TOKEN))
        return self._delete(kept.table, [f"{quote(BATCH)} < {_oldest(heads)} AND NOT ({named})"])

    def _delete(self, table: TableName, conditions: Sequence[str]) -> int:
        """Nothing to delete makes no commit."""
        where = " OR ".join(f"({condition})" for condition in conditions) or "false"
        if self.access.format.caches_metadata:
            self.access.frame(f"REFRESH TABLE {table.sql}")
        rows = int(self.access.read(f"SELECT count(*) FROM {table.sql} WHERE {where}")[0][0])
        if rows:
            self.access.retrying(
                lambda: self.access.write(f"DELETE FROM {table.sql} WHERE {where}")
            )
        return rows


def _up_to(retired: Mapping[Batch, Sequence[str]]) -> list[str]:
    return [
        f"rule_id IN ({literals.texts(rules)}) AND batch_seq <= {batch.batch_seq}"
        for batch, rules in retired.items()
        if rules
    ]


def _oldest(heads: Sequence[Head]) -> int:
    return min(head.progress.batch_seq for head in heads)


def _ghosts(access: StateAccess) -> list[Ghost]:
    """Rules with rows in the index or open violations, and without any progress."""
    tables = access.tables
    access.refresh("violations", "key_index", "progress")
    rows = access.read(
        "SELECT rule_id, max(table_fqn) AS table_fqn FROM ("
        f"SELECT rule_id, table_fqn FROM {tables['violations'].sql} WHERE status <> {RESOLVED} "
        f"UNION ALL SELECT rule_id, table_name FROM {tables['key_index'].sql}) left_behind "
        f"LEFT ANTI JOIN {tables['progress'].sql} p ON p.rule_id = left_behind.rule_id "
        "GROUP BY rule_id ORDER BY rule_id"
    )
    return [Ghost(str(row["rule_id"]), str(row["table_fqn"])) for row in rows]
