"""How far a mark lies behind its table, and for how long the changes after it can still be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lakeproof.config import TableSettings
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.pinning import TableHead, read_head
from lakeproof.engines.spark.problems import unreadable_table
from lakeproof.errors import LakeproofError
from lakeproof.model.distance import Distance
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mark, Mode, Readable, Reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELTA_KEEPS = {
    "delta.logRetentionDuration": timedelta(days=30),
    "delta.deletedFileRetentionDuration": timedelta(days=7),
}
"""What a feed is read from, and for how long Delta keeps it where the table does not say."""

_ICEBERG_KEEPS = "history.expire.max-snapshot-age-ms"
_ICEBERG_KEEPS_DEFAULT = timedelta(days=5)
_PART = re.compile(r"(\d+)\s+(week|day|hour|minute|second|millisecond)s?", re.IGNORECASE)


def distance_of(spark: SparkSession, table: TableName, mark: Mark, mode: str) -> Distance:
    """How far the mark is behind the table's head; LakeproofError if the table cannot be read.

    Reads metadata, and of a Delta feed the footers of its files: no row.
    """
    try:
        return _distance_of(spark, table, mark, mode)
    except LakeproofError:
        raise
    except Exception as problem:
        raise unreadable_table(spark, table, problem) from problem


def _distance_of(spark: SparkSession, table: TableName, mark: Mark, mode: str) -> Distance:
    head = read_head(spark, table)
    other = _why_another(head, mark, mode)
    if other or head.position is None:
        return Distance(other)
    if mark.position == head.position:
        return Distance(head=head.position, commits=0)
    reading = _reading(spark, table, mark) if mode == Mode.CDF else Reading(Readable.OK)
    problem = _problem(reading)
    if reading.outcome is Readable.GAP or mark.position is None:
        return Distance(problem, head.position)
    read = _behind_on_delta if head.format == "delta" else _behind_on_iceberg
    commits, since = read(spark, table, head, mark)
    if mode != Mode.CDF:  # no other mode goes back into the history
        return Distance("", head.position, commits)
    kept_for = _kept_for(head.format, _properties(spark, head.branch_of or table))
    return Distance(problem, head.position, commits, since, kept_for)


def _why_another(head: TableHead, mark: Mark, mode: str) -> str:
    """What shows that the mark is not one of this table; '' if nothing does."""
    if head.table_id != mark.table_id and not _is_a_name(head.table_id, mark.table_id):
        return "the table was replaced since"
    if mark.position is None:  # of a table with changes: before its first snapshot
        is_same = head.position is None or mode == Mode.CDF
        return "" if is_same else "the table has a history now"
    if mark.position.kind != head.format:
        return f"the table is {head.format} now"
    return "" if head.position else "the table has no snapshot any more"


def _reading(spark: SparkSession, table: TableName, mark: Mark) -> Reading:
    """Whether the changes after the mark are to be had, as a run would find out."""
    engine = SparkEngine(spark)
    source = engine.change_source(engine.pin(table, ()), Mode.CDF, TableSettings(), None)
    try:
        return source.can_read(mark)
    finally:
        source.release()


def _problem(reading: Reading) -> str:
    """Why not every rule can follow the changes; '' if nothing is known against it."""
    if reading.outcome is Readable.SPLIT and reading.altered:
        names = ", ".join(sorted(reading.altered))
        return f"{reading.reason}, which rules that read {names} cannot follow"
    return reading.reason if reading.outcome is Readable.GAP else ""


def _behind_on_delta(
    spark: SparkSession, table: TableName, head: TableHead, mark: Mark
) -> tuple[int | None, datetime | None]:
    """How many commits lie after the mark, and when the first of them was made."""
    assert mark.position is not None and head.position is not None  # noqa: S101, PT018
    commits = head.position.value - mark.position.value
    if commits < 0:  # restored from elsewhere: there is no way from one to the other
        return None, None
    first = spark.sql(f"DESCRIBE HISTORY {table.sql}").where(f"version = {mark.position.value + 1}")
    rows = first.selectExpr("unix_micros(timestamp) AS since").collect()
    return commits, _moment(rows[0]["since"]) if rows else None


def _behind_on_iceberg(
    spark: SparkSession, table: TableName, head: TableHead, mark: Mark
) -> tuple[int | None, datetime | None]:
    """How many commits lie after the mark, and when its own was made.

    The snapshot of the mark itself must still be there when its changes are asked for.
    """
    assert mark.position is not None and head.position is not None  # noqa: S101, PT018
    rows = spark.sql(
        "SELECT snapshot_id, parent_id, unix_micros(committed_at) AS since "
        f"FROM {(head.branch_of or table).sql}.snapshots"
    ).collect()
    parents = {int(row["snapshot_id"]): row["parent_id"] for row in rows}
    since = {int(row["snapshot_id"]): int(row["since"]) for row in rows}
    wanted = mark.position.value
    path = list(_ancestors(head.position.value, parents))
    return (path.index(wanted), _moment(since[wanted])) if wanted in path else (None, None)


def _kept_for(format_name: str, properties: Mapping[str, str]) -> timedelta:
    """For how long the table keeps what its changes are read from."""
    if format_name == "delta":
        return min(
            _interval(properties.get(name, "")) or default for name, default in _DELTA_KEEPS.items()
        )
    millis = properties.get(_ICEBERG_KEEPS, "")
    told = timedelta(milliseconds=int(millis)) if millis.isdecimal() else None
    return told or _ICEBERG_KEEPS_DEFAULT


def _is_a_name(*table_ids: str) -> bool:
    """Whether a session could not tell the table's own id: on Connect, of an Iceberg table."""
    return any(table_id.startswith("name:") for table_id in table_ids)


def _ancestors(snapshot: int, parents: Mapping[int, int | None]) -> Iterable[int]:
    found: int | None = snapshot
    while found is not None and found in parents:
        yield found
        found = parents[found]


def _properties(spark: SparkSession, table: TableName) -> dict[str, str]:
    rows = spark.sql(f"SHOW TBLPROPERTIES {table.sql}").collect()
    return {str(row["key"]): str(row["value"]) for row in rows}


def _interval(text: str) -> timedelta | None:
    """An interval as Delta's properties write it: `interval 7 days`; None if it is none."""
    parts = _PART.findall(text)
    units = [(int(number), f"{unit.lower()}s") for number, unit in parts]
    return sum((timedelta(**{unit: number}) for number, unit in units), timedelta()) or None


def _moment(micros: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(micros))
