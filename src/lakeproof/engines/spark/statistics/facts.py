"""One row per live data file of a pinned table, as a view."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof.engines.spark.statistics.delta import stated_by_delta
from lakeproof.engines.spark.statistics.iceberg import stated_by_iceberg
from lakeproof.engines.spark.statistics.stated import (
    NoStatisticsError,
    Stated,
    StatedFiles,
    WantedColumns,
    type_sql,
    wanted_columns,
)
from lakeproof.model.column import Column, TypeFamily, folded
from lakeproof.model.names import quote
from lakeproof.planning.possible import ColumnFacts, FileFacts
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["HeldFacts", "NoStatisticsError", "file_facts"]

_Reader = Callable[["SparkSession", PinnedTable, WantedColumns], StatedFiles]
_READERS: Mapping[str, _Reader] = {"iceberg": stated_by_iceberg, "delta": stated_by_delta}
_FACTS = ("nulls", "nans", "low", "high", "exact")


@dataclass(slots=True)
class HeldFacts:
    """The facts, and the view that they are read from. Call `release` after the last read."""

    facts: FileFacts
    held: ExitStack

    def release(self) -> None:
        self.held.close()


def file_facts(
    spark: SparkSession, pinned: PinnedTable, paths: Collection[tuple[str, ...]]
) -> HeldFacts:
    """What the metadata say of these columns in every file at the table's position.

    Reads metadata only, and leaves them with the executors. Raises NoStatisticsError, or whatever
    Spark raises, if they cannot be read.
    """
    read = _READERS.get(pinned.format)
    if read is None or pinned.position is None:
        raise NoStatisticsError(f"{pinned.table} is no Iceberg or Delta table at a position")
    wanted = wanted_columns(pinned, paths)
    stated = read(spark, pinned, wanted)
    view = f"_lakeproof_statistics_{uuid.uuid4().hex}"
    with ExitStack() as held:
        stated.files.selectExpr(*_items(stated, wanted)).createOrReplaceTempView(view)
        held.callback(spark.catalog.dropTempView, view)
        facts = FileFacts(
            relation=quote(view),
            columns={
                path: ColumnFacts(wanted[path], *(_named(fact, number) for fact in _FACTS))
                for number, path in enumerate(stated.columns)
            },
            partitions=frozenset(map(folded, stated.partitions)),
        )
        return HeldFacts(facts, held.pop_all())


def _items(stated: StatedFiles, wanted: WantedColumns) -> Iterator[str]:
    yield f"{stated.path} AS `_lakeproof_path`"
    yield f"{stated.rows} AS `_lakeproof_rows`"
    yield f"{stated.live_rows} AS `_lakeproof_live_rows`"
    for number, (path, of) in enumerate(stated.columns.items()):
        for fact, sql in zip(_FACTS, _facts_sql(of, wanted[path]), strict=True):
            yield f"{sql} AS {_named(fact, number)}"
    for name, value in stated.partitions.items():
        yield f"{value} AS {quote(name)}"


def _facts_sql(of: Stated, column: Column) -> tuple[str, ...]:
    if not (of.low and of.high):
        is_other = column.family is TypeFamily.OTHER
        nothing = "NULL" if is_other else f"CAST(NULL AS {type_sql(column)})"
        return of.nulls, of.nans, nothing, nothing, "false"
    low, high = (f"CAST({bound} AS {type_sql(column)})" for bound in (of.low, of.high))
    # A file without bounds has none that rows hold.
    is_exact = f"{of.is_exact} AND {low} IS NOT NULL AND {high} IS NOT NULL"
    return of.nulls, of.nans, low, high, is_exact


def _named(fact: str, number: int) -> str:
    return f"`_lakeproof_{fact}_{number}`"
