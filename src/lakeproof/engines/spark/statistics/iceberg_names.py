"""Which names mean the same column in a snapshot of an Iceberg table as they do now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.statistics.stated import NoStatisticsError

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

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
    from pyspark.errors import PySparkException

    why = f"the table was altered after snapshot {snapshot_id}, and {file} does not say how"
    try:
        taken = _described(spark, file, snapshot_id)
    except PySparkException as problem:  # such as a store that only Iceberg has the keys of
        first_line = str(problem).partition("\n")[0]
        raise NoStatisticsError(f"{why}: {first_line}") from problem
    schemas = [json.loads(text) for text in taken[0]["schemas"] or ()] if taken else []
    by_id = {schema.get("schema-id"): dict(_named(schema)) for schema in schemas}
    then = taken[0]["then"] if taken else None
    if not then or then[0] not in by_id or taken[0]["now"] not in by_id:
        raise NoStatisticsError(why)
    return by_id[then[0]], by_id[taken[0]["now"]]


def _described(spark: SparkSession, file: str, snapshot_id: int) -> list[Row]:
    """The schemas, and which of them is that of the snapshot and that of now."""
    whole = text_literal(_METADATA).sql("spark")
    texts = spark.read.text(file, wholetext=True).selectExpr(f"from_json(value, {whole}) AS found")
    return texts.selectExpr(
        "found.schemas AS schemas",
        "found.`current-schema-id` AS now",
        f"filter(found.snapshots, one -> one.`snapshot-id` = {snapshot_id}).`schema-id` AS then",
    ).collect()


def _named(struct: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, int]]:
    for field in struct["fields"]:
        name = before + str(field["name"])
        yield name, int(field["id"])
        kind = field["type"]
        if isinstance(kind, dict) and kind.get("type") == "struct":
            yield from _named(kind, f"{name}.")
