"""Which names mean the same column in a snapshot of an Iceberg table as they do now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.statistics.stated import NoStatisticsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_METADATA = (
    "STRUCT<`current-schema-id`: INT, schemas: ARRAY<STRING>, "
    "snapshots: ARRAY<STRUCT<`snapshot-id`: BIGINT, `schema-id`: INT>>>"
)


def unchanged_names(
    spark: SparkSession, table: str, snapshot_id: int, names: Collection[str]
) -> frozenset[str]:
    """Those of the names that have the same column id then and now; fields as `struct.field`.

    If nothing was committed after the snapshot, not even to the metadata, it is all of them.
    """
    entries = spark.sql(f"SELECT file, latest_snapshot_id FROM {table}.metadata_log_entries")
    log = entries.collect()  # in the order of the log, which is kept short
    snapshots = [entry["latest_snapshot_id"] for entry in log]
    if snapshots[-1:] == [snapshot_id] and snapshots.count(snapshot_id) == 1:
        return frozenset(names)
    then, now = _ids(spark, log[-1]["file"] if log else "", snapshot_id)
    return frozenset(name for name in names if name in then and then[name] == now.get(name))


def _ids(
    spark: SparkSession, file: str, snapshot_id: int
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The ids of all columns in the snapshot and in the table now, from its metadata file."""
    whole = text_literal(_METADATA).sql("spark")
    texts = spark.read.text(file, wholetext=True).selectExpr(f"from_json(value, {whole}) AS found")
    taken = texts.selectExpr(
        "found.schemas AS schemas",
        "found.`current-schema-id` AS now",
        f"filter(found.snapshots, one -> one.`snapshot-id` = {snapshot_id}).`schema-id` AS then",
    ).collect()
    schemas = [json.loads(text) for text in taken[0]["schemas"] or ()] if taken else []
    by_id = {schema.get("schema-id"): dict(_named(schema)) for schema in schemas}
    then = taken[0]["then"] if taken else None
    if not then or then[0] not in by_id or taken[0]["now"] not in by_id:
        raise NoStatisticsError(f"the columns of snapshot {snapshot_id} are not in {file}")
    return by_id[then[0]], by_id[taken[0]["now"]]


def _named(struct: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, int]]:
    for field in struct["fields"]:
        name = before + str(field["name"])
        yield name, int(field["id"])
        kind = field["type"]
        if isinstance(kind, dict) and kind.get("type") == "struct":
            yield from _named(kind, f"{name}.")
