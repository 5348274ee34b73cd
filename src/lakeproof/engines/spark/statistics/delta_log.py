"""The log of a Delta table at one version, read through Spark.

The live files are those of the newest checkpoint, less the ones that later commits touch, and
what these commits leave of them. A file with another deletion vector counts as another file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.statistics.stated import NoStatisticsError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_COMMITS = 5_000
"""Commits after the checkpoint that are read at most."""

_CHECKPOINT = re.compile(
    r"(?P<version>\d{20})\.checkpoint"
    r"(?:\.\d{10}\.(?P<parts>\d{10})|\.(?P<uuid>[0-9a-fA-F-]{36}))?\.(?P<kind>parquet|json)"
)
_PATTERN_SIGNS = set("*?[]{}\\")
"""Spark reads a path with one of these as a pattern."""

_KNOWN_FEATURES = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantType",
        "variantType-preview",
    }
)
"""Features under which a log is read as it is here; another may give its actions a new meaning."""

_FEATURES_VERSION = 3
"""The reader version from which on a table lists its features."""

_VECTOR = "STRUCT<storageType: STRING, pathOrInlineDv: STRING, `offset`: INT, cardinality: BIGINT>"
_ACTIONS = (
    "add STRUCT<path: STRING, partitionValues: MAP<STRING, STRING>, stats: STRING, "
    f"deletionVector: {_VECTOR}>, "
    f"remove STRUCT<path: STRING, deletionVector: {_VECTOR}>, "
    "metaData STRUCT<schemaString: STRING, partitionColumns: ARRAY<STRING>>, "
    "protocol STRUCT<minReaderVersion: INT, readerFeatures: ARRAY<STRING>>, "
    "sidecar STRUCT<path: STRING, sidecarType: STRING>"
)
"""The actions of a commit, as far as they are read."""

_STRICT = {"mode": "FAILFAST", "ignoreMissingFiles": "false", "ignoreCorruptFiles": "false"}
_OF_COMMIT = "CAST(substr(_metadata.file_name, 1, 20) AS BIGINT)"


@dataclass(frozen=True, slots=True)
class DeltaLog:
    """What the log says at a version.

    `files` has one row per live file: path, partition_values, stats (JSON text), vector ('' if it
    has none) and deleted, the number of rows in the vector. `fields` are those of its schema.
    """

    files: DataFrame
    fields: Sequence[Mapping[str, Any]]
    partition_columns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Described:
    """A commit that says what the table's columns are; `moves_files`: rows came or went with it."""

    version: int
    fields: Sequence[Mapping[str, Any]]
    moves_files: bool


def read_log(spark: SparkSession, location: str, version: int) -> DeltaLog:
    """The log of the table in this folder, up to the version."""
    with _readable(location) as folder:
        return _read(spark, folder, version)


def describing_commits(
    spark: SparkSession, location: str, first: int, last: int
) -> Sequence[Described]:
    """The commits of a range that describe the table anew, oldest first."""
    numbers = range(first, last + 1)
    if len(numbers) > MOST_COMMITS:
        raise NoStatisticsError(f"its Delta log has {len(numbers):,} commits to look through")
    with _readable(location) as folder:
        commits = _json(spark, [f"{folder}/{number:020d}.json" for number in numbers])
        described = commits.groupBy("version").agg(
            *_expressions(
                "max(metaData.schemaString) AS schema",
                "bool_or(add.path IS NOT NULL OR remove.path IS NOT NULL) AS moves_files",
            )
        )
        rows = described.where("schema IS NOT NULL").collect()
    found = [
        Described(row["version"], json.loads(row["schema"])["fields"], row["moves_files"])
        for row in rows
    ]
    return sorted(found, key=lambda one: one.version)


@contextmanager
def _readable(location: str) -> Iterator[str]:
    """The folder of the log; what Spark cannot read there is NoStatisticsError."""
    from pyspark.errors import AnalysisException

    if _PATTERN_SIGNS & set(location):
        raise NoStatisticsError(f"Spark reads the name of its folder as a pattern: {location}")
    try:
        yield f"{location.rstrip('/')}/_delta_log"
    except AnalysisException as problem:
        first_line = str(problem).partition("\n")[0]
        raise NoStatisticsError(f"its Delta log cannot be read: {first_line}") from problem


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    version: int
    names: tuple[str, ...]
    is_json: bool


def _read(spark: SparkSession, folder: str, version: int) -> DeltaLog:
    checkpoint = _newest_checkpoint(_checkpoint_names(spark, folder), version)
    first = checkpoint.version + 1 if checkpoint else 0
    numbers = range(first, version + 1)
    if len(numbers) > MOST_COMMITS:
        raise NoStatisticsError(f"its Delta log has {len(numbers):,} commits after a checkpoint")
    parts = _checkpoint_parts(spark, folder, checkpoint) if checkpoint else []
    commits = _json(spark, [f"{folder}/{number:020d}.json" for number in numbers])
    found = _newest_metadata(parts, first - 1, commits, len(numbers))
    return DeltaLog(
        files=_live_files([_adds(part) for part in parts if "add" in part.columns], commits),
        fields=json.loads(found["schema"])["fields"],
        partition_columns=frozenset(found["partition_columns"] or ()),
    )


def _checkpoint_names(spark: SparkSession, folder: str) -> list[str]:
    """The list of a folder; no file is opened for its path alone."""
    found = spark.read.format("binaryFile").option("pathGlobFilter", "*.checkpoint*").load(folder)
    return [row["path"].rpartition("/")[2] for row in found.select("path").collect()]


def _newest_checkpoint(names: Iterable[str], version: int) -> _Checkpoint | None:
    """The newest one that is complete: one in parts must have them all."""
    groups: dict[tuple[int, str, str, str], list[str]] = {}
    for match in filter(None, map(_CHECKPOINT.fullmatch, names)):
        key = int(match["version"]), match["parts"] or "", match["uuid"] or "", match["kind"]
        groups.setdefault(key, []).append(match[0])
    complete = [
        _Checkpoint(number, tuple(sorted(found)), kind == "json")
        for (number, parts, _, kind), found in sorted(groups.items())
        if number <= version and len(found) == int(parts or 1)
    ]
    return max(complete, key=lambda one: one.version, default=None)


def _checkpoint_parts(
    spark: SparkSession, folder: str, checkpoint: _Checkpoint
) -> Sequence[DataFrame]:
    """The actions of a checkpoint: its own, and those in the sidecars that it names."""
    paths = [f"{folder}/{name}" for name in checkpoint.names]
    top = _json(spark, paths) if checkpoint.is_json else _parquet(spark, paths)
    if "sidecar" not in top.columns:
        return [top]
    sidecars = top.where("sidecar.path IS NOT NULL").select("sidecar.*").collect()
    if any(row.asDict().get("sidecarType") for row in sidecars):
        raise NoStatisticsError("its checkpoint has sidecars of an unknown kind")
    names = [row["path"] for row in sidecars]
    inside = [name if "/" in name else f"{folder}/_sidecars/{name}" for name in names]
    return [top, _parquet(spark, inside)] if inside else [top]


def _json(spark: SparkSession, paths: list[str]) -> DataFrame:
    if not paths:
        nothing = spark.createDataFrame([], _ACTIONS)
        return nothing.selectExpr("*", "CAST(NULL AS BIGINT) AS version")
    actions = spark.read.schema(_ACTIONS).options(**_STRICT).json(paths)
    return actions.selectExpr("*", f"{_OF_COMMIT} AS version")


def _parquet(spark: SparkSession, paths: list[str]) -> DataFrame:
    strict = {name: value for name, value in _STRICT.items() if name != "mode"}
    return spark.read.options(**strict).parquet(*paths)


def _newest_metadata(
    parts: Sequence[DataFrame], version: int, commits: DataFrame, expected: int
) -> Mapping[str, Any]:
    """The schema and partitioning that count now. Raises if a commit or the meaning is missing."""
    described = [_described(part, str(version)) for part in parts if "metaData" in part.columns]
    described.append(_described(commits, "version"))
    newest = _united(described).selectExpr(
        "max_by(schema, if(schema IS NULL, NULL, version)) AS schema",
        "max_by(partition_columns, if(schema IS NULL, NULL, version)) AS partition_columns",
        "max_by(features, if(reader IS NULL, NULL, version)) AS features",
        "max_by(reader, if(reader IS NULL, NULL, version)) AS reader",
        f"count(DISTINCT if(version > {version}, version, NULL)) AS commits",
    )
    found = newest.collect()[0].asDict()
    if found["commits"] != expected:
        raise NoStatisticsError("commits are missing in its Delta log")
    if found["schema"] is None or found["reader"] is None:
        raise NoStatisticsError("its Delta log does not say what the table's columns are")
    unknown = set(found["features"] or ()) - _KNOWN_FEATURES
    if unknown or found["reader"] > _FEATURES_VERSION:
        named = ", ".join(sorted(unknown)) or f"reader version {found['reader']}"
        raise NoStatisticsError(f"its Delta log is of a kind that is not known here: {named}")
    return found


def _described(actions: DataFrame, version_sql: str) -> DataFrame:
    features = _if_there(actions, "protocol", "readerFeatures", "ARRAY<STRING>")
    return actions.selectExpr(
        "metaData.schemaString AS schema",
        "metaData.partitionColumns AS partition_columns",
        f"{features} AS features",
        "protocol.minReaderVersion AS reader",
        f"CAST({version_sql} AS BIGINT) AS version",
    )


def _live_files(held: Sequence[DataFrame], commits: DataFrame) -> DataFrame:
    """Few files are touched after a checkpoint, so that its many need not be sorted."""
    touched = (
        commits.where("add.path IS NOT NULL OR remove.path IS NOT NULL")
        .selectExpr(
            "coalesce(add.path, remove.path) AS path",
            f"{_vector_key('coalesce(add.deletionVector, remove.deletionVector)')} AS vector",
            "add",
            "version",
        )
        .groupBy("path", "vector")
        .agg(*_expressions("max_by(add, version) AS add"))
    )
    left = _adds(touched)
    if not held:
        return left
    known = _united(held).join(touched.select("path", "vector"), ["path", "vector"], "left_anti")
    return known.unionByName(left)


def _adds(actions: DataFrame) -> DataFrame:
    """The files that are added, in the same columns whatever the log's writer has left out."""
    stats = _if_there(actions, "add", "stats", "STRING")
    if "stats_parsed" in _names(actions, "add"):
        stats = f"coalesce({stats}, to_json(add.stats_parsed))"
    vector, deleted = "''", "CAST(NULL AS BIGINT)"
    if "deletionVector" in _names(actions, "add"):
        vector, deleted = _vector_key("add.deletionVector"), "add.deletionVector.cardinality"
    return actions.where("add.path IS NOT NULL").selectExpr(
        "add.path AS path",
        f"{vector} AS vector",
        "add.partitionValues AS partition_values",
        f"{stats} AS stats",
        f"{deleted} AS deleted",
    )


def _vector_key(vector: str) -> str:
    """What tells deletion vectors apart; '' for none."""
    offset = f"CAST({vector}.`offset` AS STRING)"
    return f"concat_ws('|', {vector}.storageType, {vector}.pathOrInlineDv, {offset})"


def _if_there(actions: DataFrame, action: str, name: str, kind: str) -> str:
    return f"{action}.{name}" if name in _names(actions, action) else f"CAST(NULL AS {kind})"


def _names(actions: DataFrame, action: str) -> Collection[str]:
    struct: Any = actions.schema[action].dataType
    return list(struct.names)


def _united(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)


def _expressions(*texts: str) -> list[Any]:
    from pyspark.sql.functions import expr

    return [expr(text) for text in texts]


def json_stats_sql(text_sql: str, ddl: str) -> str:
    """SQL of a file's statistics as a struct."""
    return f"from_json({text_sql}, {text_literal(ddl).sql('spark')})"
