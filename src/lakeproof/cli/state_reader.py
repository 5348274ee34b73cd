"""The way to kept results: without Spark where that is possible, else through it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakeproof.cli.options import Where
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.config import Config
from lakeproof.running.progress import Listener
from lakeproof.state.reading import SparkReader, StateReader
from lakeproof.state.without_spark import reader_without_spark


@contextmanager
def state_reader(where: Where, settings: Config, listener: Listener) -> Iterator[StateReader]:
    """Without Spark where that is possible, because Spark takes seconds to say the same."""
    store = where.store_to_open(settings)
    session = settings.session
    require_lakehouse(session)
    quick = reader_without_spark(session, store)
    if quick is not None:
        yield quick
        return
    with session_for(session, listener) as spark:
        from lakeproof.state import open_store

        yield SparkReader(open_store(spark, store))
