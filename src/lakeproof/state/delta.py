"""State in Delta tables.

Delta's own fence is a pair (txnAppId, txnVersion) in the log: a version that the application has
already written is skipped. It can only be given as session settings, which every write of the
session obeys, so no two of our writes run at once while they are set.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakeproof.state.table_format import Fence, TableFormat

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPLICATION_SETTING = "spark.databricks.delta.write.txnAppId"
VERSION_SETTING = "spark.databricks.delta.write.txnVersion"

_one_writer = threading.RLock()


@contextmanager
def _writing(spark: SparkSession, fence: Fence | None) -> Iterator[None]:
    """Set the fence for the statement inside, and put back what was set before.

    A setting that stayed would make Delta skip the session's next write without a word.
    """
    with _one_writer:
        if fence is None:
            yield
            return
        wanted = {APPLICATION_SETTING: fence.application, VERSION_SETTING: str(fence.version)}
        before = {name: spark.conf.get(name, None) for name in wanted}
        try:
            _set(spark, wanted)
            yield
        finally:
            _set(spark, before)


def _set(spark: SparkSession, settings: Mapping[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def _kept_extremes(columns: Sequence[str]) -> Mapping[str, str]:
    """Delta takes them row by row, and looks at them in a job of its own, however small the table.

    Of every column they are half of what it costs to write a row of the index.
    """
    if columns:
        return {"delta.dataSkippingStatsColumns": ",".join(columns)}
    return {"delta.dataSkippingNumIndexedCols": "0"}


DELTA = TableFormat(
    name="delta",
    properties={
        # Deletion vectors would shut out readers that do not know them.
        "delta.enableDeletionVectors": "false",
        # At Delta's default, 10, nearly every run would wait for the checkpoint of some table.
        "delta.checkpointInterval": "50",
    },
    conflicts=("DELTA_CONCURRENT", "ConcurrentModificationException", "ConcurrentAppendException"),
    caches_metadata=False,
    # Delta checks what an insert-only MERGE read; nothing needs to be added.
    insert_guard="",
    writing=_writing,
    kept_extremes=_kept_extremes,
)
