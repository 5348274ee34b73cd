"""Rows of a statement in a view of their own."""

from __future__ import annotations

import uuid
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Hold(Enum):
    """What is held of a statement until it is released.

    `NOTHING`: it is computed by each reader. `RESULT`: it is computed once; anew, though, when a
    table that it read is written in the same session. `ROWS`: it is computed once and never again,
    so that every reader sees the same rows although the table may move.
    """

    NOTHING = "nothing"
    RESULT = "result"
    ROWS = "rows"


class HeldRows:
    """Rows of a statement under a name that no other run has; `is_snapshot`: all there is."""

    def __init__(
        self,
        spark: SparkSession,
        sql: str,
        *,
        is_snapshot: bool = False,
        hold: Hold = Hold.RESULT,
    ) -> None:
        self._spark = spark
        self.relation = f"_lakeproof_rows_{uuid.uuid4().hex}"
        self.is_snapshot = is_snapshot
        self._is_cached = hold is Hold.RESULT
        frame = spark.sql(sql)
        match hold:
            case Hold.RESULT:
                frame = frame.persist()
            case Hold.ROWS:
                # By the first action, which may have a time limit.
                frame = frame.localCheckpoint(eager=False)
        self._frame = frame
        frame.createOrReplaceTempView(self.relation)

    def release(self) -> None:
        self._spark.catalog.dropTempView(self.relation)
        if self._is_cached:
            self._frame.unpersist()
            self._is_cached = False
