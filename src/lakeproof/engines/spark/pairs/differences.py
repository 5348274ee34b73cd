"""What is wrong with each key in question, out of all rows that have it.

A key with at most one row on each side is judged by one GROUP BY. Only keys with copies take the
long way, by windows (`copies`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.pairs.copies import copies_sql, has_copies, misses_sql, row_sql
from lakeproof.engines.spark.pairs.rows import SOURCE, TARGET, PairRows
from lakeproof.engines.spark.pairs.samples import read_samples
from lakeproof.engines.spark.pairs.texts import listed_sql, violations_sql
from lakeproof.model.names import quote
from lakeproof.model.pairing import (
    ColumnMatch,
    DifferenceKind,
    DuplicatePolicy,
    NullKeyPolicy,
    Sample,
)
from lakeproof.planning.pairs.steps import AggregateStep, CompareStep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Differences:
    """What the keys in question amount to; `excess` is the number of mismatches.

    `changed` and `missing_*` count keys. `source_rows`, `target_rows` and `duplicate_keys` are
    over all keys that were looked at; `unequal_copies` adds up how far the two numbers of rows lie
    apart, key by key. Nobody has set `compared` of the `columns` yet. `frame` is never collected:
    one row for each differing key, with its columns under the target's names, and both values as
    text.
    """

    differing: int
    missing_in_target: int
    missing_in_source: int
    changed: int
    null_keys: int
    surplus_rows: int
    excess: int
    unequal_copies: int
    source_rows: int
    target_rows: int
    duplicate_keys: int
    columns: tuple[ColumnMatch, ...]
    samples: tuple[Sample, ...]
    frame: DataFrame
    held: Mapping[str, DataFrame]
    step: CompareStep

    def release(self) -> None:
        """Give back the memory; the step's views stay, and are computed anew if they are read."""
        _release(self.frame.sparkSession, self.held, self.step)

    def forget(self) -> None:
        """Leave nothing, since nobody will read what differs."""
        _forget(self.frame.sparkSession, self.held, self.step)


def differences_view(step: CompareStep) -> str:
    """The view of the differing keys with their values, once they are found."""
    return f"{step.view}_differences"


def views_of(step: CompareStep | AggregateStep) -> tuple[str, ...]:
    """The views that a step leaves for those who read what differs."""
    return (step.view, differences_view(step)) if isinstance(step, CompareStep) else (step.view,)


def find_differences(spark: SparkSession, rows: PairRows, drilled_sql: str) -> Differences:
    """Judge the keys of `drilled_sql`, which returns all their rows on both sides.

    Its columns: side, the key's identity, value_*, hash_*, exact_hash, null_key; of sets only side,
    the identity and null_key. Two actions, three if keys have copies; then it is read twice.
    """
    held: dict[str, DataFrame] = {}
    try:
        return _find(spark, rows, drilled_sql, held)
    except BaseException:
        _forget(spark, held, rows.step)
        raise


def _find(
    spark: SparkSession, rows: PairRows, drilled_sql: str, held: dict[str, DataFrame]
) -> Differences:
    """What the executors have to hold is put into `held`, by the name of its view."""
    step = rows.step
    once, copies, judged = (f"{step.view}_{part}" for part in ("once", "copies", "judged"))
    _hold(spark, _once_sql(rows, drilled_sql), once, held)
    spark.sql(_judged_sql(rows, f"SELECT * FROM {quote(once)}")).createOrReplaceTempView(judged)
    totals = _totals(spark, rows, judged)
    if totals["duplicate_keys"] and not step.as_sets:
        _hold(spark, copies_sql(rows, drilled_sql, once), copies, held)
        both = (
            f"SELECT * FROM {quote(once)} WHERE NOT ({has_copies()})\n"
            f"UNION ALL SELECT * FROM {quote(copies)}"
        )
        spark.sql(_judged_sql(rows, both)).createOrReplaceTempView(judged)
        totals = _totals(spark, rows, judged)
    types = spark.table(judged).schema
    spark.sql(violations_sql(step, judged, types)).createOrReplaceTempView(step.view)
    frame = spark.sql(listed_sql(step, judged, types))
    frame.createOrReplaceTempView(differences_view(step))
    misses = {name: totals.pop(f"misses_{n}") for n, name in enumerate(_names(step))}
    return Differences(
        **totals,
        columns=tuple(ColumnMatch(name, count, 0) for name, count in misses.items()),
        samples=read_samples(spark, step, judged, types) if totals["differing"] else (),
        frame=frame,
        held=held,
        step=step,
    )


def _hold(spark: SparkSession, sql: str, view: str, held: dict[str, DataFrame]) -> None:
    held[view] = spark.sql(sql).persist()
    held[view].createOrReplaceTempView(view)


def _release(spark: SparkSession, held: Mapping[str, DataFrame], step: CompareStep) -> None:
    # What is held goes with its view. To unpersist the frame, Connect would look once more for the
    # views that it was made of, and some are gone by now.
    for view in (f"{step.view}_judged", *held):
        spark.catalog.dropTempView(view)


def _forget(spark: SparkSession, held: Mapping[str, DataFrame], step: CompareStep) -> None:
    _release(spark, held, step)
    for view in views_of(step):
        spark.catalog.dropTempView(view)


def _names(step: CompareStep) -> list[str]:
    return [column.name for column in step.columns]


def _once_sql(rows: PairRows, drilled_sql: str) -> str:
    """Each key with its row on either side, if it has one there."""
    keys = ", ".join(rows.identity)
    row = row_sql(rows.step)
    misses = "".join(f", {sql}" for sql in misses_sql(rows.step))
    return (
        f"SELECT *{misses} FROM (SELECT {keys}, max(null_key) AS null_key, "
        f"count_if(side = {SOURCE}) AS source_rows, count_if(side = {TARGET}) AS target_rows, "
        f"any_value({row}) FILTER (WHERE side = {SOURCE}) AS source_row, "
        f"any_value({row}) FILTER (WHERE side = {TARGET}) AS target_row\n"
        f"FROM (\n{drilled_sql}\n)\nGROUP BY {keys})"
    )


def _judged_sql(rows: PairRows, keys_sql: str) -> str:
    """The kind of each key's difference, NULL if there is none, and its share of the mismatches."""
    step = rows.step
    either = "greatest(source_rows, target_rows) - 1"
    shared = "source_rows > 0 AND target_rows > 0"
    if step.as_sets:
        surplus = "0L"
    elif step.duplicates is DuplicatePolicy.MULTISET:
        surplus = f"if({shared}, abs(source_rows - target_rows), {either})"
    else:
        surplus = f"if({shared}, source_rows + target_rows - 2, {either})"
    is_changed = " OR ".join(f"misses_{number} > 0" for number in range(len(step.columns)))
    null_fails = "null_key" if step.null_keys is NullKeyPolicy.FAIL else "false"
    judged = (
        f"CASE WHEN target_rows = 0 THEN '{DifferenceKind.MISSING_IN_TARGET}' "
        f"WHEN source_rows = 0 THEN '{DifferenceKind.MISSING_IN_SOURCE}' "
        f"WHEN {is_changed or 'false'} THEN '{DifferenceKind.CHANGED}' "
        f"WHEN surplus_rows > 0 THEN '{DifferenceKind.SURPLUS}' "
        f"WHEN {null_fails} THEN '{DifferenceKind.NULL_KEY}' END"
    )
    return (
        "SELECT *, CASE WHEN difference IS NULL THEN 0L "
        f"WHEN difference = '{DifferenceKind.SURPLUS}' THEN surplus_rows "
        "ELSE surplus_rows + 1 END AS excess\n"
        f"FROM (SELECT *, {judged} AS difference\n"
        f"FROM (SELECT *, {surplus} AS surplus_rows FROM (\n{keys_sql}\n)))"
    )


def _totals(spark: SparkSession, rows: PairRows, judged: str) -> dict[str, Any]:
    counts = {
        "differing": "count(difference)",
        **{
            kind.value: f"count_if(difference = '{kind}')"
            for kind in DifferenceKind
            if kind not in {DifferenceKind.SURPLUS, DifferenceKind.NULL_KEY}
        },
        "null_keys": f"count_if(difference = '{DifferenceKind.NULL_KEY}')",
        "duplicate_keys": f"count_if({has_copies()})",
    }
    sums = {
        "surplus_rows": "surplus_rows",
        "excess": "excess",
        "unequal_copies": "abs(source_rows - target_rows)",
        "source_rows": "source_rows",
        "target_rows": "target_rows",
        **{name: name for name in (f"misses_{n}" for n in range(len(rows.step.columns)))},
    }
    counts |= {name: f"coalesce(sum({sql}), 0)" for name, sql in sums.items()}
    wanted = ", ".join(f"{sql} AS {name}" for name, sql in counts.items())
    found = spark.sql(f"SELECT {wanted} FROM {quote(judged)}").collect()[0]
    return {name: int(found[name]) for name in counts}
