"""Counts what Spark really did, from its own status store."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field


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


@contextmanager
def counted_executions(spark, table: str):
    """An execution reads the table if a scan of it gave rows to a task of that execution.

    Cached rows that are read again do not count: the scan below the cache has no tasks then.
    """
    context = spark.sparkContext._jsc.sc()
    store = spark._jsparkSession.sharedState().statusStore()
    context.listenerBus().waitUntilEmpty()
    before = max((run.executionId() for run in _scala_list(store.executionsList())), default=-1)
    counted = Executions()
    yield counted
    context.listenerBus().waitUntilEmpty()
    for run in _scala_list(store.executionsList()):
        if run.executionId() <= before:
            continue
        counted.jobs += run.jobs().size()
        for stage in _scala_list(run.stages()):
            attempt = context.statusStore().lastStageAttempt(int(stage))
            counted.shuffle_bytes += attempt.shuffleWriteBytes()
        if _rows_scanned(store, run.executionId(), table):
            counted.reading.append(run.description())


def _rows_scanned(store, execution_id: int, table: str) -> bool:
    values = store.executionMetrics(execution_id)
    for node in _scala_list(store.planGraph(execution_id).allNodes()):
        if not node.name().startswith("BatchScan") or table not in node.desc():
            continue
        for metric in _scala_list(node.metrics()):
            if metric.name() == "number of output rows":
                value = values.get(metric.accumulatorId())
                if value.isDefined() and value.get() not in {"", "0"}:
                    return True
    return False
