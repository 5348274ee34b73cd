"""Reads and writes of the state tables: the session, the format's habits, and retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from lakeproof.config import StoreSettings
from lakeproof.errors import EngineUnavailableError, short_message
from lakeproof.model.names import TableName
from lakeproof.state import literals
from lakeproof.state.attempts import Attempt
from lakeproof.state.statements import table_format
from lakeproof.state.table_format import Fence
from lakeproof.state.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

TRIES_MAX = 6
WAIT_SECONDS = 0.4

Answer = TypeVar("Answer")


class StateAccess:
    """The tables of one namespace. `spark` is used as it is and never stopped."""

    def __init__(self, spark: SparkSession, settings: StoreSettings) -> None:
        self.spark = spark
        self.format = table_format(settings.format)
        self.max_hits = settings.max_hits_per_rule
        self.namespace = TableName((settings.catalog, *settings.namespace.split(".")))
        self.tables = {
            kind: TableName((*self.namespace.parts, settings.tables[kind])) for kind in TABLES
        }

    @property
    def description(self) -> str:
        return f"{self.format.name} tables in {self.namespace}"

    def refresh(self, *kinds: str) -> None:
        """See what other processes have committed by now."""
        if self.format.caches_metadata:
            for kind in kinds:
                self.spark.sql(f"REFRESH TABLE {self.tables[kind].sql}")

    def frame(self, sql: str) -> DataFrame:
        return self.spark.sql(sql)

    def read(self, sql: str) -> list[Row]:
        """All rows of a query; only for answers that are small by construction."""
        return self.spark.sql(sql).collect()

    def write(self, sql: str, fence: Fence | None = None) -> int | None:
        """Gives how many rows a MERGE has written, where the format tells."""
        with self.format.writing(self.spark, fence):
            # collect, because a command is only sure to have run once its answer is fetched.
            answer = self.spark.sql(sql).collect()
        return answer[0].asDict().get("num_affected_rows") if answer else None

    def append(self, kind: str, values: Sequence[Mapping[str, object]]) -> None:
        """Add rows; an append conflicts with nothing, so it needs no retry."""
        names = TABLES[kind].names_sql
        rows = literals.rows(TABLES[kind], values)
        self.write(f"INSERT INTO {self.tables[kind].sql} ({names}) {rows}")

    def append_anew(self, batch_seq: int, statement: Callable[[Attempt], str]) -> Attempt:
        """Append what the statement selects, under a token of its own; gives the one that counts.

        Each try has another: a conflict may hide that rows came through, and those do not count.
        """

        def attempt() -> Attempt:
            own = Attempt.anew(batch_seq)
            self.write(statement(own))
            return own

        return self.retrying(attempt)

    def retrying(self, attempt: Callable[[], Answer]) -> Answer:
        """Try again while other writers are faster; what is tried must be safe to repeat."""
        for number in range(1, TRIES_MAX + 1):
            try:
                return attempt()
            except spark_errors() as problem:
                if number == TRIES_MAX or not self.format.is_conflict(problem):
                    raise
            pause(number)
            self.refresh(*self.tables)
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def reaching(self, doing: str) -> Iterator[None]:
        """Turn what Spark raises inside into EngineUnavailableError: nothing was evaluated yet."""
        try:
            yield
        except spark_errors() as problem:
            raise EngineUnavailableError(
                f"could not {doing} ({self.description}): {short_message(problem)}. Check that the "
                "catalog and the namespace exist and can be written, then run again"
            ) from problem


def pause(number: int) -> None:
    """Wait a little, longer each time; by chance, so that two that collided part ways."""
    time.sleep(WAIT_SECONDS * number * random.uniform(0.5, 1.0))  # noqa: S311 (no secret)


def spark_errors() -> tuple[type[Exception], ...]:
    """What a Spark call may raise, classic or Connect (where Py4J may be missing)."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    except ImportError:
        return (PySparkException, OSError)
    return (PySparkException, Py4JError, OSError)
