"""What Spark's event log says of the work done since it was last asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.java import find_java, use_java
from lakeproof.engines.spark.session import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Work:
    """What the tasks took; records are those read from files, results what went to the driver.

    `apart_mb` is what was read of the table that the log was told to keep apart.
    """

    cpu_seconds: float
    shuffle_mb: float
    records_read: int
    result_mb: float
    read_mb: float = 0.0
    apart_mb: float = 0.0


def logged_session(
    warehouse: Path, log_folder: Path, app_name: str, more: Mapping[str, str] | None = None
) -> SparkSession:
    """The embedded lakehouse, with an event log that can be read while it is written.

    `more` are settings beside those.
    """
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
        **(more or {}),
    }
    session: SparkSession = SparkSession.builder.config(map=dict(settings)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


class EventLog:
    """The log of a `logged_session`, read on from where it was left.

    `apart`: part of a table's name whose reading is told apart from that of all the others.
    """

    def __init__(self, spark: SparkSession, folder: Path, apart: str = "") -> None:
        self._context: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001 (no other way)
        self._file = folder / f"{spark.sparkContext.applicationId}.inprogress"
        self._read_to = 0
        self._apart = apart
        self._counters_apart: set[int] = set()

    def work(self) -> Work:
        """What was done since this was last called."""
        self._context.listenerBus().waitUntilEmpty()
        cpu_nanoseconds = shuffle_bytes = records = result_bytes = read_bytes = apart_bytes = 0
        for task in self._finished_tasks():
            metrics = task["Task Metrics"]
            cpu_nanoseconds += metrics["Executor CPU Time"]
            shuffle_bytes += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            records += metrics["Input Metrics"]["Records Read"]
            result_bytes += metrics["Result Size"]
            read_bytes += metrics["Input Metrics"]["Bytes Read"]
            counters = {one["ID"] for one in task["Task Info"]["Accumulables"]}
            if counters & self._counters_apart:
                apart_bytes += metrics["Input Metrics"]["Bytes Read"]
        return Work(
            cpu_seconds=cpu_nanoseconds / 1e9,
            shuffle_mb=shuffle_bytes / 1e6,
            records_read=records,
            result_mb=result_bytes / 1e6,
            read_mb=read_bytes / 1e6,
            apart_mb=apart_bytes / 1e6,
        )

    def _finished_tasks(self) -> Iterator[dict[str, Any]]:
        with self._file.open("rb") as log:
            log.seek(self._read_to)
            for line in log:
                self._read_to += len(line)
                if b'"SparkListenerTaskEnd"' in line[:60]:
                    yield json.loads(line)
                elif self._apart and b'"sparkPlanInfo"' in line:
                    self._note_scans(json.loads(line)["sparkPlanInfo"])

    def _note_scans(self, node: dict[str, Any]) -> None:
        """Each scan counts its rows: a task that counts for one has read that scan's files."""
        if "Scan" in node["nodeName"] and self._apart in node["simpleString"]:
            self._counters_apart |= {one["accumulatorId"] for one in node["metrics"]}
        for child in node["children"]:
            self._note_scans(child)
