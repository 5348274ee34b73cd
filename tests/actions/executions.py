"""Counts what Spark really did, from its own status store."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, takewhile

from py4j.protocol import Py4JJavaError

METADATA = re.compile(r"BatchScan \S*\.(snapshots|files|data_files|delete_files|refs|history)\b")
"""A table's metadata are no rows of it."""


@dataclass
class Executions:
    """SQL executions of a block: how many read the table, and what they cost beside."""

    reading: list[str] = field(default_factory=list)
    jobs: int = 0
    shuffle_bytes: int = 0


def _scala_list(sequence):
    iterator = sequence.iterator()
    while iterator.hasNext():
        yield iterator.next()


def newest_execution(spark) -> int:
    """The number of the last SQL execution; a full store forgets old ones, so none are counted."""
    return max((run.executionId() for run in islice(_newest_first(spark), 1)), default=-1)


def executions_after(spark, number: int) -> list:
    """What has run since, oldest first."""
    newer = takewhile(lambda run: run.executionId() > number, _newest_first(spark))
    return list(newer)[::-1]


def _newest_first(spark):
    """One at a time: each look at the list takes what it holds out of the JVM."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    for at in range(store.executionsCount() - 1, -1, -1):
        yield store.executionsList(at, 1).apply(0)


def newest_job(spark) -> int:
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    jobs = context.statusStore().jobsList(None)
    return max((job.jobId() for job in _scala_list(jobs)), default=-1)


@contextmanager
def counted_executions(spark, table: str):
    """An execution reads the table if a scan of it gave rows to a task of that execution.

    Cached rows that are read again do not count: the scan below the cache has no tasks then.
    """
    context = spark.sparkContext._jsc.sc()
    store = spark._jsparkSession.sharedState().statusStore()
    before = newest_execution(spark)
    counted = Executions()
    yield counted
    for run in executions_after(spark, before):
        counted.jobs += run.jobs().size()
        for stage in _scala_list(run.stages()):
            counted.shuffle_bytes += _shuffle_bytes(context.statusStore(), int(stage))
        if _rows_scanned(store, run.executionId(), table):
            counted.reading.append(run.description())


def _shuffle_bytes(store, stage_id: int) -> int:
    """What a stage wrote; one that was skipped wrote nothing, and a full store forgets it first."""
    try:
        return store.lastStageAttempt(stage_id).shuffleWriteBytes()
    except Py4JJavaError as problem:
        if "NoSuchElementException" not in problem.java_exception.toString():
            raise
        return 0


def _rows_scanned(store, execution_id: int, table: str) -> bool:
    values = store.executionMetrics(execution_id)
    for node in _scala_list(store.planGraph(execution_id).allNodes()):
        is_scan = node.name().startswith("BatchScan") and not METADATA.match(node.desc())
        if not is_scan or table not in node.desc():
            continue
        for metric in _scala_list(node.metrics()):
            if metric.name() == "number of output rows":
                value = values.get(metric.accumulatorId())
                if value.isDefined() and value.get() not in {"", "0"}:
                    return True
    return False
