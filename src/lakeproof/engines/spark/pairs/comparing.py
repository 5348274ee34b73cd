"""Two tables compared row by row: the planned way, or the hash join where that way ends.

All ways give the same numbers. Snapshots and cells show that two tables have the same rows; that
no key repeats is looked for beside. Where something repeats, or too much differs, the hash join
knows every key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeproof.engines.spark.cancelling import time_limit
from lakeproof.engines.spark.pairs.cells import BAD_CELLS_MAX, CELLS, CellSums, sum_cells
from lakeproof.engines.spark.pairs.differences import Differences, find_differences
from lakeproof.engines.spark.pairs.drilling import drill
from lakeproof.engines.spark.pairs.failures import failed_side
from lakeproof.engines.spark.pairs.hash_join import JoinFound, join_by_hash
from lakeproof.engines.spark.pairs.numbers import (
    pair_found,
    totals_of_join,
    totals_of_rows,
    without_verdict,
)
from lakeproof.engines.spark.pairs.output import ensure_output, write_differences
from lakeproof.engines.spark.pairs.rows import PairRows, casts_keys, rows_of
from lakeproof.engines.spark.pairs.shared_files import SharedFiles, without_shared_files
from lakeproof.engines.spark.pairs.uniqueness import count_keys, count_rows, source_uniqueness
from lakeproof.errors import LakeproofError
from lakeproof.model.pairing import DuplicatePolicy, Method, NullKeyPolicy, PairFound
from lakeproof.model.printable import counted
from lakeproof.planning.pairs.steps import CompareStep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found, and the differing keys, which the executors hold until they are released."""

    found: PairFound
    differences: Differences | None = None

    def release(self) -> None:
        if self.differences is not None:
            self.differences.release()


class _HashJoinNeededError(Exception):
    """The planned way cannot tell; the message says why."""


def compare_rows(spark: SparkSession, step: CompareStep, timeout_seconds: float | None) -> Compared:
    """Compare the two sides of the step; a side that cannot be read is an error of its own."""
    try:
        with time_limit(spark, timeout_seconds):
            if step.output_table is not None:
                ensure_output(spark, step, step.output_table)
            rows = rows_of(spark, step)
            compared = _compare(spark, rows)
            return compared if step.output_table is None else _written(spark, rows, compared)
    except LakeproofError:
        raise
    except Exception:
        error = failed_side(spark, step, timeout_seconds)
        if not error:  # neither breaks alone: what broke is told as any statement's trouble is
            raise
        return Compared(PairFound({}, 0, 0, metadata=step.notes, error=error))


def _written(spark: SparkSession, rows: PairRows, compared: Compared) -> Compared:
    """Put what differs into the step's table; where nothing does, the table has no rows."""
    table = rows.step.output_table
    if table is None or compared.found.error:
        return compared
    if compared.differences is None:
        columns = (*rows.identity, "null_key")
        if not rows.step.as_sets:
            columns = (*columns, *rows.values, *rows.hashes, "exact_hash")
        nothing = f"SELECT * FROM (\n{rows.union_sql(columns)}\n) WHERE false"
        compared = replace(compared, differences=find_differences(spark, rows, nothing))
    try:
        write_differences(spark, rows.step, table)
    except BaseException:
        if compared.differences is not None:
            compared.differences.forget()
        raise
    return compared


def _compare(spark: SparkSession, rows: PairRows) -> Compared:
    facts: dict[str, object] = {}
    ways = {Method.SNAPSHOT: _by_snapshot, Method.CELLS: _by_cells}
    way = None if rows.step.as_sets else ways.get(rows.step.method)
    if way is not None:
        try:
            return way(spark, rows, facts)
        except _HashJoinNeededError as need:
            facts["method_reason"] = str(need)
    return _by_hash_join(spark, rows, facts)


def _by_snapshot(spark: SparkSession, rows: PairRows, facts: dict[str, object]) -> Compared:
    """Both sides are the same rows, so only what may be wrong with each of them is looked for."""
    null_keys = None
    if rows.step.duplicates is DuplicatePolicy.MULTISET and not _judges_keys(rows.step):
        number = count_rows(spark, rows)
    else:
        counted_keys = count_keys(spark, rows)
        number, null_keys = counted_keys.rows, counted_keys.null_keys
        _ensure_sound_keys(rows.step, null_keys, counted_keys.uncastable_keys)
        _ensure_unique(spark, rows, null_keys, facts)
    totals = totals_of_rows(rows.step.duplicates, number, number, unequal_copies=0)
    totals = replace(totals, null_keys_source=null_keys, null_keys_target=null_keys)
    return Compared(pair_found(rows, totals, None, Method.SNAPSHOT, facts))


def _by_cells(spark: SparkSession, rows: PairRows, facts: dict[str, object]) -> Compared:
    shared = _shared_files(spark, rows, facts)
    try:
        remaining = rows if shared is None else _without(rows, shared)
        return _by_cells_of(spark, rows, remaining, shared, facts)
    finally:
        if shared is not None:
            shared.release()


def _by_cells_of(
    spark: SparkSession,
    rows: PairRows,
    remaining: PairRows,
    shared: SharedFiles | None,
    facts: dict[str, object],
) -> Compared:
    """Sum up the `remaining` rows; whatever differs is then looked at among all rows."""
    policy = rows.step.duplicates
    nothing = CellSums(0, 0, 0, 0, 0, 0, {})
    is_empty = shared is not None and shared.everything_is_shared
    sums = nothing if is_empty else sum_cells(spark, remaining)
    if sums.bad_cells > BAD_CELLS_MAX:
        raise _HashJoinNeededError(f"{sums.bad_cells:,} of {CELLS:,} cells differ")
    null_keys = sums.null_keys_source + sums.null_keys_target
    _ensure_sound_keys(rows.step, null_keys, sums.uncastable_keys)
    if policy is not DuplicatePolicy.MULTISET:
        of_source = sums.null_keys_source if shared is None else count_keys(spark, rows).null_keys
        _ensure_unique(spark, rows, of_source, facts)
    differences = _differences(spark, rows, remaining, sums) if sums.bad else None
    left_out = shared.shared_rows if shared is not None else 0
    totals = totals_of_rows(
        policy,
        sums.source_rows + left_out,
        sums.target_rows + left_out,
        differences.unequal_copies if differences else 0,
    )
    if shared is None:
        totals = replace(
            totals,
            null_keys_source=sums.null_keys_source,
            null_keys_target=sums.null_keys_target,
        )
    return Compared(pair_found(rows, totals, differences, Method.CELLS, facts), differences)


def _differences(
    spark: SparkSession, rows: PairRows, remaining: PairRows, sums: CellSums
) -> Differences:
    drilled = drill(spark, rows, remaining, sums)
    if drilled is None:
        raise _HashJoinNeededError(
            f"what differs in {counted(sums.bad_cells, 'cell')} could not be told apart"
        )
    try:
        differences = find_differences(spark, rows, drilled.sql)
    finally:
        drilled.release()
    if differences.duplicate_keys and rows.step.duplicates is not DuplicatePolicy.MULTISET:
        differences.forget()
        raise _HashJoinNeededError("keys repeat among the rows that differ")
    return differences


def _by_hash_join(spark: SparkSession, rows: PairRows, facts: dict[str, object]) -> Compared:
    joined = join_by_hash(spark, rows)
    facts.setdefault("uniqueness", "of both sides, by the hash join")
    try:
        totals = totals_of_join(joined)
        if rows.step.duplicates is DuplicatePolicy.ERROR and joined.duplicate_keys:
            error = _duplicates_text(joined)
            return Compared(without_verdict(rows, totals, Method.HASH_JOIN, error))
        differences = None
        if joined.differing:
            differences = find_differences(spark, rows, joined.drilled_sql)
            try:
                error = _change_text(rows, joined, differences)
            except BaseException:
                differences.forget()
                raise
            if error:
                differences.forget()
                return Compared(without_verdict(rows, totals, Method.HASH_JOIN, error))
    finally:
        joined.release()
    return Compared(pair_found(rows, totals, differences, Method.HASH_JOIN, facts), differences)


def _change_text(rows: PairRows, joined: JoinFound, differences: Differences) -> str:
    """What to say if the differing keys had other rows when they were read again; '' if not.

    Only a side without a position can change between two reads.
    """
    pinned = [side.pinned for side in (rows.step.source, rows.step.target)]
    unpinned = [str(table.table) for table in pinned if table.position is None]
    if rows.step.as_sets or not unpinned:
        return ""
    first = joined.frame.where("differs").selectExpr("sum(source_rows)", "sum(target_rows)")
    if tuple(first.collect()[0]) == (differences.source_rows, differences.target_rows):
        return ""
    return (
        f"{' or '.join(unpinned)} gave other rows when it was read again, so that there is no "
        "verdict. Compare it while nothing writes to it, or as a table that keeps its versions"
    )


def _judges_keys(step: CompareStep) -> bool:
    """Whether single keys can be wrong by themselves, so that all of them must be looked at."""
    return casts_keys(step) or step.null_keys is NullKeyPolicy.FAIL


def _ensure_sound_keys(step: CompareStep, null_keys: int, uncastable_keys: int) -> None:
    if uncastable_keys:
        raise _HashJoinNeededError(f"{counted(uncastable_keys, 'key')} could not be cast")
    if null_keys and step.null_keys is NullKeyPolicy.FAIL:
        raise _HashJoinNeededError(f"{counted(null_keys, 'row')} with NULL in the key")


def _ensure_unique(
    spark: SparkSession, rows: PairRows, null_keys: int, facts: dict[str, object]
) -> None:
    found = source_uniqueness(spark, rows, null_keys)
    facts["uniqueness"] = f"of the source, by {found.way}"
    if found.surplus_rows:
        raise _HashJoinNeededError("keys of the source repeat")


def _duplicates_text(joined: JoinFound) -> str:
    return (
        f"{counted(joined.duplicate_keys, 'key')} repeat, {joined.duplicate_keys_source:,} in the "
        f"source and {joined.duplicate_keys_target:,} in the target, and duplicate_policy is "
        "'error'. Name columns that are a key, or set duplicate_policy to 'fail' or 'multiset'"
    )


def _shared_files(
    spark: SparkSession, rows: PairRows, facts: dict[str, object]
) -> SharedFiles | None:
    """The files that both sides have; None if all rows must be read anyway, or nothing is gained.

    Files can only be left out where their table's name is replaced in the statement.
    """
    step = rows.step
    sides = (step.source, step.target)
    if not step.shares_files or rows.limit_applied or _judges_keys(step):
        return None
    if any(side.sql.count(side.pinned.relation) != 1 for side in sides):
        return None
    shared = without_shared_files(spark, step.source.pinned, step.target.pinned)
    facts["shared_files"] = {
        "files": shared.shared_files,
        "rows": shared.shared_rows,
        "reason": shared.reason,
    }
    return shared if shared.shared_files else None


def _without(rows: PairRows, shared: SharedFiles) -> PairRows:
    source, target = rows.step.source, rows.step.target
    return replace(
        rows,
        source_sql=source.sql.replace(source.pinned.relation, shared.source_relation),
        target_sql=target.sql.replace(target.pinned.relation, shared.target_relation),
    )
