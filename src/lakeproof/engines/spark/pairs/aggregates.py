"""Row counts and aggregates of two tables, held against each other by the executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.cancelling import time_limit
from lakeproof.engines.spark.overflow import overflow_obstacle
from lakeproof.engines.spark.pairs.aggregate_texts import (
    numbered,
    read_samples,
    sample_notes,
    violations_sql,
)
from lakeproof.engines.spark.pairs.failures import failed_side, failure_of
from lakeproof.errors import LakeproofError
from lakeproof.model.names import quote
from lakeproof.model.pairing import ColumnMatch, PairFound
from lakeproof.model.printable import counted
from lakeproof.planning.pairs.steps import AggregateStep, CountStep

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def compare_counts(
    spark: SparkSession, step: CountStep, timeout_seconds: float | None
) -> PairFound:
    """The number of rows on both sides; one action each."""
    counts: list[int] = []
    side = step.source
    try:
        with time_limit(spark, timeout_seconds):
            for side in (step.source, step.target):
                counts.append(int(spark.sql(side.sql).collect()[0]["rows"]))
    except LakeproofError:
        raise
    except Exception as problem:  # noqa: BLE001 (whatever it is, it is told)
        return _without_verdict(step, failure_of(side, problem))
    source, target = counts
    return PairFound(
        numbers={"source_count": source, "target_count": target},
        mismatches=abs(target - source),
        total=max(source, target),
        metadata={**step.notes, **_emptiness(step, is_empty=not source and not target)},
    )


def compare_aggregates(
    spark: SparkSession, step: AggregateStep, timeout_seconds: float | None
) -> PairFound:
    """The aggregates that differ: one action if all agree, one more for samples if not."""
    obstacle = overflow_obstacle(spark)
    if obstacle:
        return _without_verdict(step, obstacle)
    try:
        with time_limit(spark, timeout_seconds):
            found = _compare(spark, step)
    except LakeproofError:
        raise
    except Exception:
        error = failed_side(spark, step, timeout_seconds)
        if not error:  # neither side breaks alone, so it is no matter of one of them
            raise
        return _without_verdict(step, error)
    if not found.view:
        release_aggregates(spark, step)
    return found


def release_aggregates(spark: SparkSession, step: AggregateStep) -> None:
    """Give back the memory; the step's view stays, and is computed anew if it is read."""
    spark.catalog.dropTempView(_held_view(step))


def _without_verdict(step: CountStep | AggregateStep, error: str) -> PairFound:
    return PairFound(numbers={}, mismatches=0, total=0, metadata=step.notes, error=error)


def _compare(spark: SparkSession, step: AggregateStep) -> PairFound:
    try:
        return _found(spark, step)
    except BaseException:
        release_aggregates(spark, step)
        spark.catalog.dropTempView(step.view)
        raise


def _found(spark: SparkSession, step: AggregateStep) -> PairFound:
    held = _held_view(step)
    frame = spark.sql(_differences_sql(step))
    frame.createOrReplaceTempView(held)
    spark.catalog.cacheTable(held)
    totals = spark.sql(_totals_sql(step)).collect()[0]
    if step.needs_one_row and totals["target_rows"] != 1:
        return _without_verdict(step, _not_one_row(step, totals["target_rows"]))
    compared = int(totals["compared"])
    columns = tuple(
        ColumnMatch(aggregate.name, int(totals[f"misses_{number}"]), compared)
        for number, aggregate in enumerate(step.aggregates)
    )
    mismatches = sum(column.mismatches for column in columns)
    types: Any = frame.schema["difference"].dataType
    if mismatches:
        spark.sql(violations_sql(step, held, types)).createOrReplaceTempView(step.view)
    samples = read_samples(spark, step, held, types) if mismatches else ()
    checked = compared * len(step.aggregates)
    return PairFound(
        numbers={"mismatches": mismatches, "total_checked": checked},
        mismatches=mismatches,
        total=checked,
        view=step.view if mismatches else "",
        columns=columns,
        samples=samples,
        metadata={
            **step.notes,
            "samples": sample_notes(samples),
            "source_rows": totals["source_rows"],
            "target_rows": totals["target_rows"],
            **_emptiness(step, is_empty=_is_empty(totals)),
        },
    )


def _held_view(step: AggregateStep) -> str:
    return f"{step.view}_compared"


def _differences_sql(step: AggregateStep) -> str:
    """The rows that differ, those alike as one with their number, and one row for all others.

    So one computation gives the totals and the differences, and what agrees is not kept.
    """
    names = numbered("differs", step.aggregates)
    judged = ", ".join(
        f"NOT (in_source AND in_target AND ({_equal_sql(aggregate.equal_sql, number)})) AS {name}"
        for number, (aggregate, name) in enumerate(zip(step.aggregates, names, strict=True))
    )
    kept = [
        *numbered("group", step.groups),
        *numbered("source", step.aggregates),
        *numbered("target", step.aggregates),
        *names,
    ]
    return (
        "SELECT difference, count(*) AS copies, "
        "max(source_rows) AS source_rows, max(target_rows) AS target_rows\n"
        "FROM (SELECT source_rows, target_rows,\n"
        f"if({' OR '.join(names)}, struct({', '.join(kept)}, in_source, in_target), NULL) "
        f"AS difference\nFROM (SELECT *, {judged}\nFROM (\n{_joined_sql(step)}\n)))\n"
        "GROUP BY difference"
    )


def _equal_sql(template: str, number: int) -> str:
    return template.format(source=f"source_{number}", target=f"target_{number}")


def _joined_sql(step: AggregateStep) -> str:
    """Each row of the target beside its group of the source; NULL is a group like any other."""
    groups = numbered("group", step.groups)
    items = [f"coalesce(s.{group}, t.{group}) AS {group}" for group in groups]
    relations = []
    for side, alias in ((step.source, "s"), (step.target, "t")):
        items += [
            f"{alias}.{value} AS {side.name}_{number}"
            for number, value in enumerate(numbered("value", step.aggregates))
        ]
        rows = "CAST(NULL AS BIGINT)" if groups else f"{alias}.`rows`"
        items += [f"{alias}.is_there IS NOT NULL AS in_{side.name}", f"{rows} AS {side.name}_rows"]
        relations.append(f"(SELECT *, true AS is_there FROM (\n{side.sql}\n)) AS {alias}")
    join = "\nFULL OUTER JOIN " if groups else "\nCROSS JOIN "
    same = " AND ".join(f"s.{group} <=> t.{group}" for group in groups)
    on = f"\nON {same}" if groups else ""
    return f"SELECT {', '.join(items)}\nFROM {join.join(relations)}{on}"


def _totals_sql(step: AggregateStep) -> str:
    misses = ", ".join(
        f"coalesce(sum(if(difference.differs_{number}, copies, 0)), 0) AS misses_{number}"
        for number in range(len(step.aggregates))
    )
    return (
        "SELECT coalesce(sum(copies), 0) AS compared, "
        f"max(source_rows) AS source_rows, max(target_rows) AS target_rows, {misses}\n"
        f"FROM {quote(_held_view(step))}"
    )


def _emptiness(step: CountStep | AggregateStep, *, is_empty: bool) -> dict[str, object]:
    """Whether there was nothing to look at, and whether that is because of a condition."""
    if not is_empty:
        return {"empty": False}
    is_narrowed = bool(step.source.where or step.target.where)
    return {"empty": True, "empty_reason": "selection" if is_narrowed else "tables"}


def _is_empty(totals: Row) -> bool:
    """Whether there was nothing to aggregate on either side."""
    if totals["source_rows"] is None:
        return not totals["compared"]
    return not totals["source_rows"] and not totals["target_rows"]


def _not_one_row(step: AggregateStep, rows: int) -> str:
    return (
        f"the target table {step.target.pinned.table} has {counted(rows, 'row')} here, and "
        f"{', '.join(step.needs_one_row)} must be one value: what is neither a SUM nor a COUNT "
        "does not add up. Filter the target to exactly one row, or say by target_expression how "
        "the value comes out of its rows"
    )
