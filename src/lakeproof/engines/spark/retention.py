"""How far a mark lies behind its table, and for how long the changes after it can still be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lakeproof.engines.spark.pinning import TableHead, read_head
from lakeproof.model.distance import Distance
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mark

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


def distance_of(spark: SparkSession, table: TableName, mark: Mark) -> Distance:
    """How far the mark is behind the table's head; reads metadata only."""
    head = read_head(spark, table)
    if head.table_id != mark.table_id and not _is_a_name(head.table_id, mark.table_id):
        return Distance("the table was replaced since")
    if mark.position is None or head.position is None:
        return Distance("" if mark.position == head.position else "the table has a history now")
    if mark.position.kind != head.format:
        return Distance(f"the table is {head.format} now")
    if mark.position == head.position:
        return Distance(head=head.position, commits=0)
    properties = _properties(spark, head.branch_of or table)
    read = _behind_on_delta if head.format == "delta" else _behind_on_iceberg
    return read(spark, table, head, mark, properties)


def _behind_on_delta(
    spark: SparkSession,
    table: TableName,
    head: TableHead,
    mark: Mark,
    properties: Mapping[str, str],
) -> Distance:
    assert mark.position is not None  # noqa: S101 (distance_of has looked)
    history = spark.sql(f"DESCRIBE HISTORY {table.sql}")
    rows = history.where(f"version > {mark.position.value}").selectExpr(
        "count(*) AS commits",
        "min(version) AS first",
        "unix_micros(min_by(timestamp, version)) AS since",
    )
    found = rows.collect()[0]
    kept_for = min(
        _interval(properties.get(name, "")) or default for name, default in _DELTA_KEEPS.items()
    )
    if not found["commits"]:
        return Distance("the table was rolled back behind it", head.position)
    if found["first"] > mark.position.value + 1:
        return Distance("the log of the next commit is gone", head.position)
    return Distance("", head.position, int(found["commits"]), _moment(found["since"]), kept_for)


def _behind_on_iceberg(
    spark: SparkSession,
    table: TableName,
    head: TableHead,
    mark: Mark,
    properties: Mapping[str, str],
) -> Distance:
    assert mark.position is not None  # noqa: S101 (distance_of has looked)
    assert head.position is not None  # noqa: S101 (distance_of has looked)
    rows = spark.sql(
        "SELECT snapshot_id, parent_id, unix_micros(committed_at) AS since "
        f"FROM {(head.branch_of or table).sql}.snapshots"
    ).collect()
    parents = {int(row["snapshot_id"]): row["parent_id"] for row in rows}
    since = {int(row["snapshot_id"]): int(row["since"]) for row in rows}
    wanted = mark.position.value
    if wanted not in parents:
        return Distance("its snapshot has expired", head.position)
    path = list(_ancestors(head.position.value, parents))
    if wanted not in path:
        return Distance("the table was rolled back behind it", head.position)
    millis = properties.get(_ICEBERG_KEEPS, "")
    kept_for = timedelta(milliseconds=int(millis)) if millis.isdecimal() else None
    return Distance(
        "",
        head.position,
        path.index(wanted),
        # The snapshot of the mark itself must still be there when its changes are asked for.
        _moment(since[wanted]),
        kept_for or _ICEBERG_KEEPS_DEFAULT,
    )


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
