"""The two verifications that the ledger replaces, as their design wrote them.

Both compare sets of keys: one by joins of frames, one by sets in the driver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ledger_tables import ERRORS_SCHEMA, KeyTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def verify_by_frames(spark: SparkSession, tables: KeyTables) -> dict[str, int]:
    """Two anti joins, one group-by with the list of partitions, and the counts of each."""
    from pyspark.sql import functions as sf

    keys, partitions = input_keys(spark, tables), partition_keys(spark, tables)
    accounted = _union(partitions).distinct()
    missing = keys.join(accounted, ["source_key"], "left_anti").count()
    extra = accounted.join(keys, ["source_key"], "left_anti").count()
    named = {
        name: frame.select(sf.lit(name).alias("partition_type"), "source_key")
        for name, frame in partitions.items()
    }
    duplicate = (
        _union(named)
        .groupBy("source_key")
        .agg(sf.count("*").alias("count"), sf.collect_list("partition_type").alias("partitions"))
        .where("count > 1")
        .count()
    )
    told = {"missing": missing, "extra": extra, "duplicate": duplicate}
    if not any(told.values()):
        counts = [frame.distinct().count() for frame in partitions.values()]
        assert keys.count() == accounted.count() == sum(counts) == tables.rows
    return told


def verify_by_driver_sets(spark: SparkSession, tables: KeyTables) -> dict[str, int]:
    """Every key on the driver, in a set for each partition."""
    keys = _collected(input_keys(spark, tables))
    partitions = [_collected(frame) for frame in partition_keys(spark, tables).values()]
    accounted = set().union(*partitions)
    stands_in = Counter(key for partition in partitions for key in partition)
    told = {
        "missing": len(keys - accounted),
        "extra": len(accounted - keys),
        "duplicate": sum(count > 1 for count in stands_in.values()),
    }
    if not any(told.values()):
        assert len(keys) == sum(len(partition) for partition in partitions) == tables.rows
    return told


def input_keys(spark: SparkSession, tables: KeyTables) -> DataFrame:
    return spark.read.parquet(str(tables.input)).selectExpr("segment_id AS source_key")


def partition_keys(spark: SparkSession, tables: KeyTables) -> dict[str, DataFrame]:
    """The keys on storage; the schema of the errors is given, which saves a pass over them."""
    errors = spark.read.schema(ERRORS_SCHEMA).json(str(tables.errors))
    return {
        "AGGREGATED": spark.read.parquet(str(tables.reverse_joins)).select("source_key"),
        "FILTERED": spark.read.parquet(str(tables.filtered_keys)).select("source_key"),
        "ERROR": errors.select("source_key"),
    }


def _union(frames: Mapping[str, DataFrame]) -> DataFrame:
    first, *others = frames.values()
    for other in others:
        first = first.union(other)
    return first


def _collected(frame: DataFrame) -> set[str]:
    return {row[0] for row in frame.distinct().collect()}
