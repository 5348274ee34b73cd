"""The Iceberg branch that shows trusted rows, while writers go on with main.

`CREATE` and `REPLACE BRANCH` are told apart, so that a branch that came or went since the look is
an error and not overwritten. Iceberg commits either against the metadata that it has just loaded:
if any other commit comes between, the statement fails and is tried anew after another look.

A branch is anybody's: it has no mark of who made it. So one with commits that main does not have
is replaced only where the last record of a promotion has left it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof.engines.spark.pinning import read_head
from lakeproof.engines.spark.promotion.snapshots import (
    BRANCH,
    MAIN,
    Snapshots,
    alter,
    branch_part,
    expired,
    position_of,
    read_snapshots,
)
from lakeproof.engines.spark.promotion.target import Look
from lakeproof.errors import ConfigError, PromotionError
from lakeproof.model.names import TableName, quote
from lakeproof.model.position import Position

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class IcebergBranch:
    """`branch` of `table`; the table itself is what runs have read."""

    spark: SparkSession
    table: TableName
    branch: str

    @property
    def name(self) -> TableName:
        return TableName((*self.table.parts, branch_part(self.branch)))

    @property
    def checked(self) -> TableName:
        return self.table

    @property
    def way_out(self) -> str:
        return (
            f"Look at what is there, drop it (ALTER TABLE {self.table.sql} DROP BRANCH "
            f"{quote(self.branch)}) and promote again"
        )

    def look(self, audited: Position) -> Look:
        kept = self._read()
        head, present = kept.at(MAIN), kept.at(self.branch)
        is_in_main = kept.came_from(head, audited.value)
        is_apart = present is not None and not kept.came_from(head, present)
        return Look(
            table_id=read_head(self.spark, self.table).table_id,
            present=position_of(present),
            head=position_of(head),
            is_newer=present != audited.value
            and kept.came_from(present, audited.value)
            and not is_apart,
            newer_commits=kept.commits_after(audited.value, head) if is_in_main else 0,
            refusal="" if is_in_main else self._refusal(kept, audited),
            is_apart=is_apart,
        )

    def present(self) -> Position | None:
        return position_of(self._read().at(self.branch))

    def move(self, position: Position, table_id: str) -> None:
        word = "CREATE" if self.present() is None else "REPLACE"
        alter(
            self.spark,
            self.table,
            f"{word} BRANCH {quote(self.branch)} AS OF VERSION {position.value}",
        )

    def restore(self, position: Position | None, shown: Position | None) -> None:
        if position is None:
            alter(self.spark, self.table, f"DROP BRANCH {quote(self.branch)}")
            return
        kept = self._read()
        if kept.at(self.branch) is None:
            raise PromotionError(
                f"{self.name} is gone: something else than a promotion has dropped it. Promote a "
                "run to have it again"
            )
        if position.value not in kept.parents:
            raise PromotionError(
                f"{self.table} keeps {position} no longer, so {self.name} cannot show it again. "
                "Check the table and promote that run instead"
            )
        alter(
            self.spark,
            self.table,
            f"REPLACE BRANCH {quote(self.branch)} AS OF VERSION {position.value}",
        )

    def _read(self) -> Snapshots:
        kept = read_snapshots(self.spark, self.table)
        if kept.refs.get(self.branch, (BRANCH,))[0] != BRANCH:
            raise ConfigError(f"{self.branch!r} is a tag of {self.table}. Name a branch: --branch")
        return kept

    def _refusal(self, kept: Snapshots, audited: Position) -> str:
        if audited.value not in kept.parents:
            return expired(self.table, audited)
        return (
            f"{audited} is no longer in the history of {self.table}: it was rolled back or replaced"
        )
