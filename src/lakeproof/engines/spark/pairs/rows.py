"""The rows of two tables as they are compared: under one set of names, after the limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.planning.pairs.steps import CompareStep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE, TARGET = 1, -1
"""`side` of a row: what both sides have alike adds up to nothing."""
_APART: Final = "apart"


@dataclass(frozen=True, slots=True)
class PairRows:
    """Both sides, each a SELECT that returns the columns that `Side` promises.

    `limit_applied`: there are more rows than the step's limit, so only those with the smallest
    `sample_hash` are here, the same keys of both sides.
    """

    step: CompareStep
    source_sql: str
    target_sql: str
    limit_applied: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the key's columns: key_0, key_1, .."""
        return tuple(f"key_{number}" for number in range(len(self.step.keys)))

    @property
    def values(self) -> tuple[str, ...]:
        """The names of the compared columns: value_0, value_1, .."""
        return tuple(f"value_{number}" for number in range(len(self.step.columns)))

    @property
    def hashes(self) -> tuple[str, ...]:
        """The names of the row hash's words: hash_0, .."""
        return tuple(f"hash_{number}" for number in range(self.step.algorithm.words))

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells one key from another.

        A key that could not be cast is NULL, but neither a NULL key nor one of the other side:
        `apart` is the side of such a row, and 0 otherwise.
        """
        return (*self.keys, _APART) if casts_keys(self.step) else self.keys

    def selected(self, columns: Sequence[str], side: int) -> str:
        """The items of a SELECT over a side's rows; `side` is 1 for the source, -1 the target."""
        apart = f"if(is_castable, 0, {side}) AS {_APART}"
        named = [apart if name == _APART else name for name in columns]
        return ", ".join([f"{side} AS side", *named])

    def union_sql(self, columns: Sequence[str]) -> str:
        """The rows of both sides."""
        return (
            f"SELECT {self.selected(columns, SOURCE)} FROM (\n{self.source_sql}\n)\n"
            f"UNION ALL SELECT {self.selected(columns, TARGET)} FROM (\n{self.target_sql}\n)"
        )


def casts_keys(step: CompareStep) -> bool:
    """Whether keys are compared under another type, so that some may not be castable."""
    return any(
        key.type_text != column.type_text
        for key in step.keys
        for column in (key.source, key.target)
    )


def rows_of(spark: SparkSession, step: CompareStep) -> PairRows:
    """The rows to compare; an action only where the step has a limit."""
    rows = PairRows(step, step.source.sql, step.target.sql)
    if step.row_limit is None:
        return rows
    found = spark.sql(_bound_sql(rows, step.row_limit)).collect()[0]
    if found["bound"] is None:  # there are fewer rows than that
        return rows
    inside = f"WHERE sample_hash <= {found['bound']}L"
    return PairRows(
        step,
        source_sql=f"SELECT * FROM (\n{rows.source_sql}\n) {inside}",
        target_sql=f"SELECT * FROM (\n{rows.target_sql}\n) {inside}",
        limit_applied=bool(found["is_cut"]),
    )


def _bound_sql(rows: PairRows, limit: int) -> str:
    """The largest hash that is compared: of the limit's last row on a side, or last key on both.

    Each side gives its smallest hashes only, which takes no shuffle of the table. Beyond the last
    of a side that was cut nothing is known of it: a key there might seem missing.
    """
    smallest = "\nUNION ALL ".join(
        f"SELECT {side} AS side, sample_hash FROM (SELECT sample_hash FROM (\n{sql}\n) "
        f"ORDER BY sample_hash LIMIT {limit + 1})"
        for side, sql in ((SOURCE, rows.source_sql), (TARGET, rows.target_sql))
    )
    bound = f"min(sample_hash) FILTER (WHERE {limit} IN (row_place, key_place))"
    # A key is beyond the bound, or a side has more rows than it was asked for.
    is_cut = f"max(sample_hash) > {bound} OR max(row_place) > {limit}"
    return (
        f"SELECT {bound} AS bound, {is_cut} AS is_cut FROM (SELECT sample_hash, "
        "row_number() OVER (PARTITION BY side ORDER BY sample_hash) AS row_place, "
        f"dense_rank() OVER (ORDER BY sample_hash) AS key_place FROM (\n{smallest}\n))"
    )
