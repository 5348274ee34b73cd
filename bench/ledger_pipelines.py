"""A day's figures four ways: bare, bare with the key read, with books, with every key kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ledger_tables import bookings_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUMMARIES = {
    "revenue": (
        ["flight_date"],
        ["sum(ticket_price) AS total_revenue", "count(*) AS flight_count"],
    ),
    "report": (
        ["flight_date", "airline"],
        [
            "sum(ticket_price) AS total_revenue",
            "count(*) AS flight_count",
            "sum(passengers) AS passengers",
            "sum(bags) AS bags",
            "count_if(cabin = 'BUSINESS') AS in_business",
            "count_if(refundable) AS refundable",
            "min(departure_time) AS first_departure",
            "max(arrival_time) AS last_arrival",
        ],
    ),
}
"""What is computed: of two columns, the least there is, or a report as it is asked for."""

Result = list[list[str]]


class Phases(Protocol):
    """Who measures a step."""

    def take(self, name: str, step: Callable[[], Any]) -> Any: ...  # noqa: ANN401 (the step's)


def bare(
    also: Sequence[str],
    spark: SparkSession,
    source: Path,
    summary: str,
    folder: Path,
    phases: Phases,
) -> Result:
    """Without books; what is to be computed `also` is no part of the result."""
    schema, target = bookings_schema(spark), str(folder / "daily")

    def pipeline() -> None:
        bookings = spark.read.schema(schema).format(source.name).load(str(source))
        groups, sums = _columns(summary, also)
        bookings.groupBy(*groups).agg(*sums).write.parquet(target)

    phases.take("pipeline", pipeline)
    return _result(spark.read.parquet(target).drop(*also), summary)


def accounted(
    lineage: str, spark: SparkSession, source: Path, summary: str, folder: Path, phases: Phases
) -> Result:
    import lakeproof

    target = str(folder / "daily")
    ledger = lakeproof.AccountingLedger(
        "bench",
        source,
        folder / "run",
        spark,
        input_format=source.name,
        schema=bookings_schema(spark),
        key_uniqueness="assume",
        lineage=lineage,
    )
    phases.take("input pass", lambda: ledger.initialize_input("segment_id"))

    def pipeline() -> None:
        groups, sums = _columns(summary)
        daily = lakeproof.group_by_with_adjoint(
            ledger.input_frame(), groups, sums, ledger.adjoint("daily")
        )
        ledger.add_result(daily)
        daily.output.write.parquet(target)

    phases.take("pipeline", pipeline)
    verdict = phases.take("verify", ledger.verify)
    ledger.write_ledger(verdict)
    return _result(spark.read.parquet(target), summary)


def _columns(summary: str, also: Sequence[str] = ()) -> tuple[list[str], list[Any]]:
    from pyspark.sql import functions as sf

    groups, sums = SUMMARIES[summary]
    return groups, [sf.expr(text) for text in (*sums, *also)]


def _result(daily: DataFrame, summary: str) -> Result:
    rows = daily.orderBy(*SUMMARIES[summary][0]).collect()
    return [[str(value) for value in row] for row in rows]


PIPELINES: dict[str, Callable[[SparkSession, Path, str, Path, Phases], Result]] = {
    "bare": partial(bare, ()),
    "key": partial(bare, ("count(segment_id)",)),
    "commit": partial(accounted, "KEY_DERIVABLE"),
    "full": partial(accounted, "FULL"),
}
