"""State in Iceberg tables.

Iceberg has no fence of its own for MERGE. What fences here: the batch stamp on every violation
(resolved ones are kept, and with them their stamp), the look at the lease inside the MERGE, and
serializable isolation, which fails a MERGE that another commit overtook.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from lakeproof.state.table_format import Fence, TableFormat

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _writing(_spark: SparkSession, _fence: Fence | None) -> AbstractContextManager[None]:
    return nullcontext()


ICEBERG = TableFormat(
    name="iceberg",
    properties={
        "format-version": "2",
        # Copy-on-write: no delete files, so every reader of version 2 reads these tables.
        "write.merge.mode": "copy-on-write",
        "write.merge.isolation-level": "serializable",
        # A run makes a few small commits; without this each leaves a metadata file for ever.
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "100",
    },
    conflicts=(
        "org.apache.iceberg.exceptions.ValidationException",
        "Found conflicting files",
        "CommitFailedException",
        "CommitStateUnknownException",
        "SQLITE_BUSY",
        "database is locked",
    ),
    # Spark's Iceberg catalog may answer from metadata that it read up to 30 s ago.
    caches_metadata=True,
    # Spark turns a MERGE that only inserts into a plain append, which Iceberg does not validate:
    # two drivers of one run could both insert. A branch that never applies (a matched run_id is
    # not NULL) keeps it a row-level operation, and the slower one fails and looks again.
    insert_guard="WHEN MATCHED AND t.`run_id` IS NULL THEN UPDATE SET `run_id` = s.`run_id`",
    writing=_writing,
    kept_extremes=lambda _columns: {},
)
