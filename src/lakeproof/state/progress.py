"""The log of progress: where each rule stands, read and moved on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import Standing
from lakeproof.state import literals
from lakeproof.state.access import StateAccess
from lakeproof.state.attempts import Attempt
from lakeproof.state.leases import IntentStatus
from lakeproof.state.store import Batch, Move, RuleProgress
from lakeproof.state.tables import COUNT, PROGRESS, StateColumn
from lakeproof.state.violations import lease_is_lost

if TYPE_CHECKING:
    from pyspark.sql import Row

_STEPS = replace(
    PROGRESS, columns=(*PROGRESS.columns, StateColumn("previous", COUNT, "the row it builds on"))
)


@dataclass(frozen=True, slots=True)
class Head:
    """The newest progress of a rule, and the attempts that its index is made of."""

    progress: RuleProgress
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One rule's move as it is to be written."""

    batch: Batch
    move: Move
    attempts: tuple[Attempt, ...]

    def row(self, run_id: str, now: datetime) -> dict[str, object]:
        work, mark = self.batch.work, self.move.mark
        parent, standing = self.move.parent, self.move.standing
        return {
            "table_name": str(work.table),
            "rule_id": self.move.rule_id,
            "mode": self.move.mode.value,
            "watermark_col": self.move.watermark_col or None,
            "last_version": mark.position.value if mark.position else None,
            "last_value": str(mark.watermark) if mark.watermark else None,
            "processed_at": now,
            "table_id": work.table_id,
            "table_fqn": str(work.table),
            "group_id": work.group,
            "position": mark.to_json(),
            "batch_seq": self.batch.batch_seq,
            "run_id": run_id,
            "updated_at": now,
            "generation": self.move.generation,
            "epoch": self.batch.epoch,
            "attempts": [one.to_text() for one in self.attempts],
            "parent_position": parent.to_json() if parent else None,
            "standing": standing.to_json() if standing else None,
            "rule_key": self.move.rule_key,
            "suite": self.move.suite,
            "shape": self.move.shape,
            "previous": self.move.previous,
        }


@dataclass(frozen=True, slots=True)
class Committed:
    """What a look after the write tells: steps that were not taken, batches that were lost."""

    overtaken: tuple[Step, ...]
    lost: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class ProgressLog:
    access: StateAccess

    @property
    def table(self) -> TableName:
        return self.access.tables["progress"]

    def heads(self, rule_ids: Sequence[str]) -> dict[str, Head]:
        return self._heads(f"rule_id IN ({literals.texts(rule_ids)})")

    def heads_of_table(self, table: TableName) -> dict[str, Head]:
        return self._heads(f"table_fqn = {literals.text(str(table))}")

    def _heads(self, condition: str) -> dict[str, Head]:
        return {rule_id: heads[0] for rule_id, heads in self.newest(condition, count=1).items()}

    def newest(self, condition: str, count: int) -> dict[str, list[Head]]:
        """The newest progress of each rule, that many, the newest first."""
        self.access.refresh("progress")
        rows = self.access.read(
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY rule_id "
            "ORDER BY batch_seq DESC, coalesce(epoch, 0) DESC) AS age "
            f"FROM {self.table.sql} WHERE {condition}) WHERE age <= {count} ORDER BY age"
        )
        found: dict[str, list[Head]] = {}
        for row in rows:
            found.setdefault(str(row["rule_id"]), []).append(_head_of(row))
        return found

    def strays(self, rule_ids: Sequence[str]) -> frozenset[str]:
        """The rules that have a violation whose stamp no progress of theirs names."""
        self.access.refresh("progress", "violations")
        found = self.access.read(
            f"SELECT DISTINCT v.rule_id FROM {self.access.tables['violations'].sql} v "
            f"LEFT ANTI JOIN {self.table.sql} p "
            "ON p.rule_id = v.rule_id AND p.batch_seq = v.batch_seq "
            f"WHERE v.rule_id IN ({literals.texts(rule_ids)})"
        )
        return frozenset(str(row["rule_id"]) for row in found)

    def advance(self, steps: Sequence[Step], run_id: str, now: datetime) -> int | None:
        """Compare and set: a rule that was moved since, or whose lease is lost, gets no row.

        Gives how many got one, where the format tells.

        A MERGE with a matched branch, because both formats validate what it has read: of two
        that start from one row, the slower one fails, looks again and finds itself overtaken.
        """
        intents = self.access.tables["intents"]
        source = "\nUNION ALL\n".join(
            f"SELECT * FROM ({literals.rows(_STEPS, [one.row(run_id, now) for one in of_batch])}) "
            f"WHERE NOT ({lease_is_lost(intents, batch, run_id)})"
            for batch, of_batch in _by_batch(steps).items()
        )
        rule_ids = literals.texts(step.move.rule_id for step in steps)
        values = ", ".join(f"s.`{column.name}`" for column in PROGRESS.columns)
        self.access.refresh("progress", "intents")
        return self.access.write(
            f"MERGE INTO {self.table.sql} t USING ({source}) s\n"
            "ON t.rule_id = s.rule_id AND t.batch_seq > least(s.previous, s.batch_seq - 1) "
            f"AND t.rule_id IN ({rule_ids})\n"
            f"{self.access.format.insert_guard}\n"
            f"WHEN NOT MATCHED THEN INSERT ({PROGRESS.names_sql}) VALUES ({values})"
        )

    def committed(self, steps: Sequence[Step], batches: Sequence[Batch], run_id: str) -> Committed:
        """What has become of these steps, and of the leases under which they were made."""
        names = literals.texts(str(batch.work.table) for batch in batches)
        asked = f"""
SELECT table_fqn AS name, batch_seq, epoch, status FROM {self.access.tables["intents"].sql}
WHERE run_id = {literals.text(run_id)} AND table_fqn IN ({names})"""
        if steps:
            asked += f"""
UNION ALL
SELECT rule_id, batch_seq, CAST(NULL AS BIGINT), '' FROM {self.table.sql}
WHERE rule_id IN ({literals.texts(step.move.rule_id for step in steps)})
AND batch_seq IN ({", ".join(str(batch.batch_seq) for batch in batches)})"""
        self.access.refresh("progress", "intents")
        found = self.access.read(asked)
        moved = {(row["name"], row["batch_seq"]) for row in found if row["epoch"] is None}
        entries = [row for row in found if row["epoch"] is not None]
        return Committed(
            overtaken=tuple(
                step for step in steps if (step.move.rule_id, step.batch.batch_seq) not in moved
            ),
            lost=tuple(one for one in batches if any(_is_lost(one, entry) for entry in entries)),
        )


def _by_batch(steps: Sequence[Step]) -> dict[Batch, list[Step]]:
    grouped: dict[Batch, list[Step]] = {}
    for step in steps:
        grouped.setdefault(step.batch, []).append(step)
    return grouped


def _is_lost(batch: Batch, entry: Row) -> bool:
    """Whether an entry of the log says that another driver ended or adopted our intent."""
    if (entry["name"], entry["batch_seq"]) != (str(batch.work.table), batch.batch_seq):
        return False
    was_ended = entry["epoch"] == batch.epoch and entry["status"] == IntentStatus.ABANDONED
    return was_ended or bool(entry["epoch"] > batch.epoch)


def _head_of(row: Row) -> Head:
    """A row as it was written; one of an older version knows no standing and no index."""
    standing, parent = row["standing"], row["parent_position"]
    progress = RuleProgress(
        rule_id=row["rule_id"],
        mode=Mode(row["mode"]),
        mark=_mark_of(row["position"], row["table_id"]),
        standing=Standing.from_json(standing) if standing else None,
        generation=row["generation"] or 0,
        parent=Mark.from_json(parent) if parent else None,
        rule_key=row["rule_key"] or "",
        suite=row["suite"] or "",
        shape=row["shape"] or "",
        table=row["table_fqn"],
        batch_seq=row["batch_seq"],
        epoch=row["epoch"] or 0,
        run_id=row["run_id"],
        processed_at=row["updated_at"],
    )
    return Head(progress, tuple(Attempt.from_text(text) for text in row["attempts"] or ()))


def _mark_of(text: str | None, table_id: str) -> Mark | None:
    """Up to version 3 the column held the bare position."""
    if text is None:
        return None
    if "table_id" in json.loads(text):
        return Mark.from_json(text)
    return Mark(table_id, Position.from_json(text))
