"""What Spark's event log says of the work done since it was last asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.java import find_java, use_java
from lakeproof.engines.spark.session import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Work:
    """What the tasks took; records are those read from files."""

    cpu_seconds: float
    shuffle_mb: float
    records_read: int


def logged_session(warehouse: Path, log_folder: Path, app_name: str) -> SparkSession:
    """The embedded lakehouse, with an event log that can be read while it is written."""
    from pyspark.sql import SparkSession

    java = find_java()
    if java is not None:
        use_java(java, os.environ)
    for folder in (log_folder, warehouse / "iceberg", warehouse / "delta"):
        folder.mkdir(parents=True, exist_ok=True)
    settings = session_settings(warehouse, app_name=app_name) | {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log_folder.resolve().as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    session: SparkSession = SparkSession.builder.config(map=dict(settings)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


class EventLog:
    """The log of a `logged_session`, read on from where it was left."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._context: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001 (no other way)
        self._file = folder / f"{spark.sparkContext.applicationId}.inprogress"
        self._read_to = 0

    def work(self) -> Work:
        """What was done since this was last called."""
        self._context.listenerBus().waitUntilEmpty()
        cpu_nanoseconds = shuffle_bytes = records = 0
        for metrics in self._finished_tasks():
            cpu_nanoseconds += metrics["Executor CPU Time"]
            shuffle_bytes += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            records += metrics["Input Metrics"]["Records Read"]
        return Work(cpu_nanoseconds / 1e9, shuffle_bytes / 1e6, records)

    def _finished_tasks(self) -> Iterator[dict[str, Any]]:
        with self._file.open("rb") as log:
            log.seek(self._read_to)
            for line in log:
                self._read_to += len(line)
                if b'"SparkListenerTaskEnd"' in line[:60]:
                    yield json.loads(line)["Task Metrics"]
