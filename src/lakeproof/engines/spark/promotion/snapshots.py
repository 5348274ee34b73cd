"""The snapshots of an Iceberg table as a tree, with the branches and tags that name some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof.model.names import TableName
from lakeproof.model.position import Position

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAIN = "main"
BRANCH = "BRANCH"
_BRANCH_PREFIX = "branch_"


@dataclass(frozen=True, slots=True)
class Snapshots:
    """`parents` has every snapshot that the table still keeps; `refs` are types and snapshots."""

    parents: Mapping[int, int | None]
    refs: Mapping[str, tuple[str, int]]

    def at(self, name: str) -> int | None:
        """The snapshot of a branch or tag; None if there is none."""
        return self.refs[name][1] if name in self.refs else None

    def back_from(self, snapshot: int | None) -> Iterator[int]:
        """The snapshot and those it came from, as far as they are kept."""
        while snapshot is not None and snapshot in self.parents:
            yield snapshot
            snapshot = self.parents[snapshot]

    def came_from(self, newer: int | None, older: int) -> bool:
        """Whether `older` is in the history of `newer`; a snapshot is in its own."""
        return older in self.back_from(newer)

    def commits_after(self, older: int, newer: int | None) -> int:
        """How many commits lead from one to the other, which came from it."""
        return list(self.back_from(newer)).index(older)


def read_snapshots(spark: SparkSession, table: TableName) -> Snapshots:
    """From metadata alone, as of now: the catalog's cached copy is refreshed first."""
    spark.sql(f"REFRESH TABLE {table.sql}")
    kept = spark.sql(f"SELECT snapshot_id, parent_id FROM {table.sql}.snapshots").collect()
    named = spark.sql(f"SELECT name, type, snapshot_id FROM {table.sql}.refs").collect()
    return Snapshots(
        {int(row["snapshot_id"]): row["parent_id"] for row in kept},
        {str(row["name"]): (str(row["type"]), int(row["snapshot_id"])) for row in named},
    )


def alter(spark: SparkSession, table: TableName, change: str) -> None:
    spark.sql(f"ALTER TABLE {table.sql} {change}").collect()


def expired(table: TableName, position: Position) -> str:
    return f"{table} keeps {position} no longer: it has expired, or the table is another"


def position_of(snapshot: int | None) -> Position | None:
    return None if snapshot is None else Position("iceberg", snapshot)


def branch_part(branch: str) -> str:
    """The last part of the name by which a branch is read: `branch_trusted`."""
    return f"{_BRANCH_PREFIX}{branch}"


def branch_named(part: str) -> str:
    """The branch that is read by such a part."""
    return part.removeprefix(_BRANCH_PREFIX)
