"""Main itself as the target: writers write a branch, and main is forwarded to what passed.

Main is forwarded to a tag on the audited snapshot and not to the branch: a commit to the branch
after the look then stays where it is. Iceberg itself refuses if main is not in the history of the
tag by then, against the metadata that it commits to. The tag lives for this one statement; one
that a killed process has left is replaced, and dropped, by the next promotion.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.pinning import read_head
from lakeproof.engines.spark.promotion.snapshots import (
    MAIN,
    Snapshots,
    alter,
    branch_part,
    expired,
    position_of,
    read_snapshots,
)
from lakeproof.engines.spark.promotion.target import Look
from lakeproof.errors import PromotionError
from lakeproof.model.names import TableName, quote
from lakeproof.model.position import Position

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TAG = "lakeproof_audited"


@dataclass(frozen=True, slots=True)
class IcebergMain:
    """Main of `table`; what runs have read is its `branch`."""

    spark: SparkSession
    table: TableName
    branch: str

    @property
    def name(self) -> TableName:
        return self.table

    @property
    def checked(self) -> TableName:
        return TableName((*self.table.parts, branch_part(self.branch)))

    @property
    def way_out(self) -> str:
        return f"Roll {self.table} back by hand if what came since is not wanted"

    def look(self, audited: Position) -> Look:
        kept = read_snapshots(self.spark, self.table)
        head, present = kept.at(self.branch), kept.at(MAIN)
        is_overtaken = present is not None and not kept.came_from(head, present)
        has_moved_on = head != audited.value and kept.came_from(head, audited.value)
        return Look(
            table_id=read_head(self.spark, self.table).table_id,
            present=position_of(present),
            head=position_of(head),
            is_newer=present != audited.value and kept.came_from(present, audited.value),
            newer_commits=kept.commits_after(audited.value, head) if has_moved_on else 0,
            refusal=self._refusal(kept, audited),
            remedy=self._anew if is_overtaken else "",
        )

    def present(self) -> Position | None:
        return position_of(read_snapshots(self.spark, self.table).at(MAIN))

    def move(self, position: Position, table_id: str) -> None:
        with self._tagged(position):
            self._call("fast_forward", f"branch => '{MAIN}', to => '{_TAG}'")

    def restore(self, position: Position | None, shown: Position | None) -> None:
        """Iceberg rolls main back from wherever it is: its history says afterwards from where."""
        if position is None:
            raise PromotionError(
                f"{self.table} had no snapshot before: there is nothing to go back to"
            )
        if position.value not in read_snapshots(self.spark, self.table).parents:
            raise PromotionError(
                f"{self.table} keeps {position} no longer, so it cannot be rolled back to it"
            )
        self._call("rollback_to_snapshot", f"snapshot_id => {position.value}L")
        left = self._left_by_rollback(position)
        if left != shown:
            raise PromotionError(
                f"main of {self.table} was rolled back to {position}, and not from {shown} but "
                f"from {left}: what another writer has committed just now is in main no longer. "
                "Roll back again, which only adds the record; then have that writer write again, "
                f"or take its commit over (CALL {quote(self.table.catalog)}.system."
                "cherrypick_snapshot)"
            )

    def _left_by_rollback(self, position: Position) -> Position | None:
        """Where main was before it last came to the position."""
        rows = self.spark.sql(f"SELECT snapshot_id FROM {self.table.sql}.history").collect()
        log = [int(row["snapshot_id"]) for row in rows]  # in the order of the log itself
        places = [at for at, snapshot in enumerate(log) if snapshot == position.value]
        return position_of(log[places[-1] - 1]) if places and places[-1] else None

    def _refusal(self, kept: Snapshots, audited: Position) -> str:
        head, main = kept.at(self.branch), kept.at(MAIN)
        if audited.value not in kept.parents:
            return expired(self.table, audited)
        if head != audited.value:
            now = position_of(head) or "gone"
            return f"{self.checked} is at {now} now, not at {audited}: it moved since the audit"
        if main is not None and not kept.came_from(audited.value, main):
            return f"main of {self.table} has commits that {self.checked} does not have"
        return ""

    @property
    def _anew(self) -> str:
        made = f"ALTER TABLE {self.table.sql} CREATE OR REPLACE BRANCH {quote(self.branch)}"
        return (
            f"Make branch {self.branch} anew from main ({made}), write there again, run the checks "
            "and promote that run"
        )

    @contextmanager
    def _tagged(self, position: Position) -> Iterator[None]:
        tagged = f"TAG {quote(_TAG)} AS OF VERSION {position.value}"
        alter(self.spark, self.table, f"CREATE OR REPLACE {tagged}")
        try:
            yield
        finally:
            alter(self.spark, self.table, f"DROP TAG IF EXISTS {quote(_TAG)}")

    def _call(self, procedure: str, arguments: str) -> None:
        within = TableName(self.table.parts[1:])
        table = text_literal(within.sql).sql("spark")
        system = f"{quote(self.table.catalog)}.system.{procedure}"
        self.spark.sql(f"CALL {system}(table => {table}, {arguments})").collect()
        self.spark.sql(f"REFRESH TABLE {self.table.sql}")
