"""Time limits: a job is tagged, and cancelled by its tag when its time is up."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakeproof.engines.spark.flavour import is_connect
from lakeproof.errors import RuleTimeoutError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RETRY_SECONDS = 0.25


@contextmanager
def time_limit(spark: SparkSession, seconds: float | None) -> Iterator[None]:
    """Cancel what runs in this block after `seconds`, as RuleTimeoutError; no limit if None.

    Cancelling is repeated until the block ends: a query that is still being planned has no job
    yet, and a tag cancels only jobs that exist.
    """
    if seconds is None:
        yield
        return
    tag = f"lakeproof-{uuid.uuid4().hex}"
    ended, expired = threading.Event(), threading.Event()

    def watch() -> None:
        if ended.wait(seconds):
            return
        expired.set()
        while not ended.is_set():
            _cancel(spark, tag)
            ended.wait(_RETRY_SECONDS)

    watcher = threading.Thread(target=watch, name=f"time limit {seconds:g} s", daemon=True)
    with _tagged(spark, tag):
        watcher.start()
        try:
            yield
        except Exception as problem:
            if expired.is_set():
                raise RuleTimeoutError(f"timed out after {seconds:g} s") from problem
            raise
        finally:
            ended.set()
            watcher.join()


@contextmanager
def _tagged(spark: SparkSession, tag: str) -> Iterator[None]:
    if is_connect(spark):
        spark.addTag(tag)
        try:
            yield
        finally:
            spark.removeTag(tag)
        return
    # The session's own tags do not reach jobs that start inside its queries; the context's do.
    context = spark.sparkContext
    before = context.getLocalProperty("spark.job.interruptOnCancel")
    context.addJobTag(tag)
    context.setInterruptOnCancel(True)
    try:
        yield
    finally:
        context.removeJobTag(tag)
        context.setInterruptOnCancel(before == "true")


def _cancel(spark: SparkSession, tag: str) -> None:
    if is_connect(spark):
        spark.interruptTag(tag)
    else:
        spark.sparkContext.cancelJobsWithTag(tag)
