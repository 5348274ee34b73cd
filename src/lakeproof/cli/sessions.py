"""The session of a command, with the wait for it told like any other step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakeproof.config import SessionSettings
from lakeproof.engines.spark.interrupting import interruptible
from lakeproof.engines.spark.opening import is_lakehouse_missing, open_session
from lakeproof.errors import ConfigError
from lakeproof.running.progress import Listener, StepDone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require_lakehouse(settings: SessionSettings) -> None:
    """Refuse a folder that is not there: mistyped, it would pass for an empty lakehouse."""
    if is_lakehouse_missing(settings):
        raise ConfigError(
            f"no lakehouse in {settings.warehouse!r}. Next: name its folder with --warehouse or "
            "under [session]; lakeproof store init makes a new one"
        )


@contextmanager
def session_for(settings: SessionSettings, listener: Listener) -> Iterator[SparkSession]:
    """A session that obeys Ctrl-C, and is stopped at the end if it was started here."""
    started = time.monotonic()
    with open_session(settings) as spark, interruptible(spark):
        listener(StepDone("Spark is ready", time.monotonic() - started))
        yield spark
