"""What shows the trusted version of a Delta table: a view, or a shallow clone.

A view is `SELECT * FROM table VERSION AS OF n`, with the columns of that version; it is replaced
atomically. It needs a catalog that keeps views, and the table's log back to the version. A clone is
a Delta table whose files are those of the version: every reader of Delta understands it, and its
log is its own. Open-source Delta replaces no clone that has rows, and to empty it first would show
readers an empty table: so it is dropped and made again, and for that moment a reader gets an error.
Both read files of the table, which VACUUM must keep.

Either is marked with the version that it shows and the identity of the table. What is not so
marked was made by somebody else, and is never overwritten. Neither is a clone that somebody has
written to: its marks stay, but its own log does not end with the clone, upkeep aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof import faults
from lakeproof.engines.spark.delta_history import QUIET
from lakeproof.engines.spark.pinning import TableHead, read_head
from lakeproof.engines.spark.promotion.target import Look
from lakeproof.errors import ConfigError, PromotionError
from lakeproof.model.names import TableName
from lakeproof.model.position import Position

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

VIEW, CLONE = "view", "clone"

_VERSION = "lakeproof.promoted_version"
_TABLE_ID = "lakeproof.promoted_table"
_NOT_REPLACED = "DELTA_UNSUPPORTED_NON_EMPTY_CLONE"
_CLONED = "CLONE"


@dataclass(frozen=True, slots=True)
class DeltaTarget:
    """`name` shows a version of `table`, as a clone or a view."""

    spark: SparkSession
    table: TableName
    name: TableName
    kind: str

    @property
    def checked(self) -> TableName:
        return self.table

    @property
    def way_out(self) -> str:
        return f"Look at what is there, drop it ({self._dropping}) and promote again"

    def look(self, audited: Position) -> Look:
        head = self._head()
        present = self._shown(head)
        since = _commits_between(audited, head)
        return Look(
            table_id=head.table_id,
            present=present,
            head=head.position,
            is_newer=present is not None and present.value > audited.value,
            newer_commits=max(since, 0),
            refusal=self._refusal(audited, since),
        )

    def present(self) -> Position | None:
        return self._shown(self._head())

    def move(self, position: Position, table_id: str) -> None:
        """Marked with the table that was looked at: a clone of one made since shows nothing."""
        version = f"{self.table.sql} VERSION AS OF {position.value}"
        # A version that cannot be read must not cost the one that is shown.
        self.spark.sql(f"SELECT * FROM {version} LIMIT 0").collect()
        if self._head().table_id != table_id:
            raise PromotionError(
                f"{self.table} was dropped and made again, or replaced, just now. Run the checks "
                "again and promote that run"
            )
        marks = {_VERSION: str(position.value), _TABLE_ID: table_id}
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in marks.items())
        if self.kind == VIEW:
            self._do(
                f"OR REPLACE VIEW {self.name.sql} TBLPROPERTIES ({listed}) "
                f"AS SELECT * FROM {version}"
            )
            return
        clone = f"TABLE {self.name.sql} SHALLOW CLONE {version} TBLPROPERTIES ({listed})"
        try:
            self._do(f"OR REPLACE {clone}")
        except Exception as problem:
            if _NOT_REPLACED not in str(problem):
                raise
            self._drop()
            faults.reach("after_clone_drop")
            self._do(clone)

    def restore(self, position: Position | None, shown: Position | None) -> None:
        if position is None:
            self._drop()
            return
        head = self._head()
        since = _commits_between(position, head)
        if since < 0 or not self._commits(position, since):
            raise PromotionError(
                f"{self.table} keeps {position} no longer, so {self.name} cannot show it again. "
                "Check the table and promote that run instead"
            )
        self.move(position, head.table_id)

    def _do(self, creation: str) -> None:
        self.spark.sql(f"CREATE {creation}").collect()

    def _drop(self) -> None:
        self.spark.sql(self._dropping).collect()

    @property
    def _dropping(self) -> str:
        return f"DROP {'VIEW' if self.kind == VIEW else 'TABLE'} {self.name.sql}"

    def _head(self) -> TableHead:
        return read_head(self.spark, self.table)

    def _shown(self, head: TableHead) -> Position | None:
        """What the target shows; of a table that was dropped since, as if it were not there."""
        if not self.spark.catalog.tableExists(self.name.sql):
            return None
        is_view = self.spark.catalog.getTable(self.name.sql).tableType == "VIEW"
        rows = self.spark.sql(f"SHOW TBLPROPERTIES {self.name.sql}").collect()
        marks = {str(row["key"]): str(row["value"]) for row in rows}
        if _VERSION not in marks or is_view != (self.kind == VIEW):
            raise PromotionError(
                f"{self.name} is there, and is no {self.kind} that a promotion has made. Drop it, "
                "or name another target by --branch"
            )
        if self.kind == CLONE:
            self._require_unwritten()
        if marks.get(_TABLE_ID) != head.table_id:
            return None
        return Position("delta", int(marks[_VERSION]))

    def _require_unwritten(self) -> None:
        """Refuse a clone that shows something else than what a promotion has cloned."""
        commits = self.spark.sql(f"DESCRIBE HISTORY {self.name.sql}").collect()  # newest first
        written = (one for one in commits if one["operation"] not in QUIET)
        last = next(written, None)
        if last is not None and last["operation"] == _CLONED:
            return
        told = (
            f"was written to since a promotion has made it ({last['operation']} at its version "
            f"{last['version']})"
            if last is not None
            else "has a log that no longer says whether somebody has written to it"
        )
        raise PromotionError(
            f"{self.name} {told}, so it is left alone. {self.way_out}, or name another target by "
            "--branch"
        )

    def _refusal(self, audited: Position, since: int) -> str:
        if since < 0:
            return f"{self.table} has no {audited}: it was replaced or restored from elsewhere"
        commits = self._commits(audited, since)
        if not commits:
            return f"{self.table} keeps {audited} no longer: its log was cleaned up"
        if any(_goes_behind(commit, audited) for commit in commits):
            return f"{self.table} was restored to a version before {audited}"
        return ""

    def _commits(self, position: Position, since: int) -> Sequence[Row]:
        """The commits after the position, newest first, and its own; empty if that is gone."""
        listed = f"DESCRIBE HISTORY {self.table.sql} LIMIT {since + 1}"
        commits = self.spark.sql(listed).collect()
        return commits if commits and commits[-1]["version"] == position.value else ()


def _commits_between(position: Position, head: TableHead) -> int:
    """How many commits lead from the position to the head; below 0 if it never was there."""
    if head.position is None or head.position.kind != position.kind:
        return -1
    return head.position.value - position.value


def _goes_behind(commit: Row, audited: Position) -> bool:
    """Whether it restores the table to before the audited version; to a moment, nobody knows."""
    if commit["operation"] != "RESTORE" or commit["version"] <= audited.value:
        return False
    version = str((commit["operationParameters"] or {}).get("version"))
    return not version.isdigit() or int(version) < audited.value


def kind_for(spark: SparkSession, target: TableName) -> str:
    """What is there already; else a view where the catalog surely keeps views."""
    if spark.catalog.tableExists(target.sql):
        is_view = spark.catalog.getTable(target.sql).tableType == "VIEW"
        return VIEW if is_view else CLONE
    return VIEW if _is_of_session(target) and _has_metastore(spark) else CLONE


def require_view_kept(spark: SparkSession, target: TableName) -> None:
    """Refuse a view that would be gone with the session that makes it."""
    if _is_of_session(target) and not _has_metastore(spark):
        raise ConfigError(
            f"{target.catalog} keeps no views: {target} would be gone with this session. Use "
            "--delta-as clone"
        )


def _has_metastore(spark: SparkSession) -> bool:
    """Whether the session's own catalog keeps views for other sessions, as a metastore does."""
    return spark.conf.get("spark.sql.catalogImplementation", "in-memory") == "hive"


def _is_of_session(target: TableName) -> bool:
    return target.catalog.lower() == "spark_catalog"
