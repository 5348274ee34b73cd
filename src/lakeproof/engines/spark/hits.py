"""Bad rows, computed once by the executors and kept there."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakeproof.engines.spark.cancelling import time_limit
from lakeproof.engines.spark.canonical_sql import hit_id_expression
from lakeproof.model.violation import HitSummary, Samples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SAMPLE_KEYS = 3


def hits_frame(spark: SparkSession, sql: str) -> DataFrame:
    """The bad rows of a statement with their hit_id, lazily."""
    hit_id = hit_id_expression("rule_id", "violation_key")
    return spark.sql(
        f"SELECT rule_id, {hit_id} AS hit_id, violation_key, occurrences, excess, observed "
        f"FROM (\n{sql}\n)"
    )


def named_hits_frame(
    spark: SparkSession, sql: str, names: Mapping[str, Sequence[str]]
) -> DataFrame:
    """The bad rows with the names of the rules they break; rules of equal logic share a row."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    frame = hits_frame(spark, sql)
    pairs = [
        part
        for rule_id, of_rule in names.items()
        for part in (F.lit(rule_id), F.array(*[F.lit(name) for name in of_rule]))
    ]
    rules = F.create_map(*pairs)[F.col("rule_id")] if pairs else F.array().cast("array<string>")
    told = [name for name in frame.columns if name != "excess"]
    return frame.select(rules.alias("rules"), *told)


class SparkHits:
    """Cached on first use: the counts, the samples and the store all read one computation."""

    def __init__(self, spark: SparkSession, sql: str, timeout_seconds: float | None) -> None:
        self._spark = spark
        self._timeout_seconds = timeout_seconds
        self._view = f"_lakeproof_hits_{uuid.uuid4().hex}"
        self._frame = hits_frame(spark, sql).persist()
        self._frame.createOrReplaceTempView(self._view)

    @property
    def view(self) -> str:
        return self._view

    def summaries(self) -> Mapping[str, HitSummary]:
        with time_limit(self._spark, self._timeout_seconds):
            counted = self._spark.sql(
                "SELECT rule_id, count(*) AS hits, sum(occurrences) AS occurrences, "
                "sum(excess) AS excess "
                f"FROM {self._view} GROUP BY rule_id"
            ).collect()
            samples = self._samples(self._view)
        return {
            row["rule_id"]: HitSummary(
                rule_id=row["rule_id"],
                hits=int(row["hits"]),
                occurrences=int(row["occurrences"]),
                excess=int(row["excess"]),
            ).showing(samples.get(row["rule_id"], ()))
            for row in counted
        }

    def samples_without(self, rule_ids: Sequence[str], left_out: str) -> Mapping[str, Samples]:
        wanted = ", ".join(f"'{rule_id}'" for rule_id in rule_ids)
        with time_limit(self._spark, self._timeout_seconds):
            return self._samples(
                f"{self._view} LEFT ANTI JOIN ({left_out}) USING (hit_id) "
                f"WHERE rule_id IN ({wanted})"
            )

    def _samples(self, rows: str) -> Mapping[str, Samples]:
        """The first of each rule, of rows that are an SQL behind FROM."""
        sampled = self._spark.sql(
            "SELECT rule_id, violation_key, observed "
            "FROM (SELECT rule_id, violation_key, observed, "
            "row_number() OVER (PARTITION BY rule_id ORDER BY violation_key) AS place "
            f"FROM {rows}) WHERE place <= {_SAMPLE_KEYS} ORDER BY rule_id, place"
        ).collect()
        samples: dict[str, Samples] = {}
        for row in sampled:
            name = row["rule_id"]
            found = (row["violation_key"], row["observed"] or "")
            samples[name] = (*samples.get(name, ()), found)
        return samples

    def release(self) -> None:
        self._spark.catalog.dropTempView(self._view)
        self._frame.unpersist()
