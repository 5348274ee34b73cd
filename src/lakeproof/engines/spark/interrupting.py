"""Ctrl-C, or the end of a task, while Spark works."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from lakeproof.engines.spark.flavour import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def interruptible(spark: SparkSession) -> Iterator[None]:
    """Ctrl-C cancels Spark's jobs and raises KeyboardInterrupt; the session stays usable.

    pyspark's own handler talks over the connection that is waiting for an answer. Py4J refuses
    that, so the interrupt is lost in an error of the statement that was running, which a run
    would take for the error of one rule and go on.
    """
    if is_connect(spark) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> NoReturn:
        with suppress(Exception):  # whatever is broken by now, the interrupt must not be lost
            cancel_all(spark)
        raise KeyboardInterrupt

    root = logging.getLogger()
    before = signal.signal(signal.SIGINT, interrupt)
    root.addFilter(_is_worth_saying)
    try:
        yield
    finally:
        root.removeFilter(_is_worth_saying)
        signal.signal(signal.SIGINT, before)


def cancel_all(spark: SparkSession) -> None:
    """Cancel everything that this session does, though the calling thread may wait for it."""
    if is_connect(spark):
        spark.interruptAll()
        return
    _hang_up(spark)
    spark.sparkContext.cancelAllJobs()


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Py4J logs the interrupt that passes through it as an error, with its whole trace."""
    return not str(record.msg).startswith("KeyboardInterrupt while sending command")


def _hang_up(spark: SparkSession) -> None:
    """Give up the connection whose answer nobody will read; the next call makes a new one."""
    gateway = spark.sparkContext._gateway  # noqa: SLF001
    client = getattr(gateway, "_gateway_client", None)
    connection = client.get_thread_connection() if client is not None else None
    if connection is not None:
        connection.close()
