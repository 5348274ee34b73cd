"""The rows behind cells that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.pairs.cells import (
    KEYS_MAX,
    CellSums,
    cells_left,
    cells_of,
    drilled_sql,
    keys_in,
    readable_keys,
)
from lakeproof.engines.spark.pairs.rows import PairRows
from lakeproof.engines.spark.values import values_view
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_UNREAD_MAX: Final = 16
"""Cells of several rows that the keys read off other cells mostly explain; more are looked up."""


@dataclass(frozen=True, slots=True)
class Drilled:
    """All rows of some keys on both sides, held by the executors."""

    view: str
    frame: DataFrame
    listed: str

    @property
    def sql(self) -> str:
        return f"SELECT * FROM {quote(self.view)}"

    def release(self) -> None:
        self.frame.sparkSession.catalog.dropTempView(self.view)
        self.frame.unpersist()
        self.frame.sparkSession.catalog.dropTempView(self.listed)


def drill(spark: SparkSession, rows: PairRows, summed: PairRows, sums: CellSums) -> Drilled | None:
    """The rows of the keys that explain every bad cell; None if they cannot be found so.

    Most keys are read off the sums. What their rows leave unexplained is looked up in those
    cells among the rows that were `summed`, once.
    """
    keys, unread = readable_keys(sums.bad)
    wanted = unread if len(unread) > _UNREAD_MAX or not keys else []
    for _ in range(2):
        if wanted:
            found = keys_in(spark, summed, wanted)
            if found is None:
                return None
            keys |= found
        if not 0 < len(keys) <= KEYS_MAX:
            return None
        drilled = _hold(spark, rows, keys)
        try:
            wanted = cells_left(sums.bad, cells_of(spark, rows, drilled.view))
        except BaseException:
            drilled.release()
            raise
        if not wanted:
            return drilled
        drilled.release()
    return None


def _hold(spark: SparkSession, rows: PairRows, keys: set[int]) -> Drilled:
    # By another name of BIGINT the view is ours alone to drop, whatever lists the rules have.
    listed = values_view(spark, [str(key) for key in sorted(keys)], "LONG")
    frame = spark.sql(drilled_sql(rows, keys, listed)).persist()
    drilled = Drilled(f"{rows.step.view}_drilled", frame, listed.strip("`"))
    frame.createOrReplaceTempView(drilled.view)
    return drilled
