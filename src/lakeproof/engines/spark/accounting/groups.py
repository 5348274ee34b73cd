"""Groups that carry the commitment of the records they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeproof.engines.spark.accounting.captures import (
    GROUPS,
    REVERSE_JOINS,
    Step,
    column_named,
    condition_column,
    ensure_keyed,
    identity_columns,
    quoted,
    source_key,
    step_columns,
    write_table,
)
from lakeproof.engines.spark.accounting.commitments import (
    LIMB_COLUMNS,
    RECORDS,
    ROWS,
    ensure_sums_raise,
    sum_columns,
)
from lakeproof.engines.spark.accounting.repeatable import ensure_repeatable_frame
from lakeproof.engines.spark.accounting.source_keys import KEY, SOURCE, WEIGHT, weight_of
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import NO_KEY, Level, Lineage
from lakeproof.model.column import folded
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class CapturedGroups:
    """What a grouping wrote.

    `output` reads the groups as a plain `groupBy().agg()` gives them, `reverse_join` the table of
    FULL lineage; `members` are the records that went in, to be computed again if need be.
    """

    output: DataFrame
    groups: DataFrame
    reverse_join: DataFrame | None
    members: DataFrame


def plain_groups(
    frame: DataFrame, group_cols: Sequence[str], agg_exprs: Sequence[Column | str]
) -> DataFrame:
    """The same without books."""
    return frame.groupBy(*map(quoted, group_cols)).agg(*map(condition_column, agg_exprs))


def capture_groups(
    frame: DataFrame, group_cols: Sequence[str], agg_exprs: Sequence[Column | str], step: Step
) -> CapturedGroups:
    """Aggregate by one action into the groups' file; in FULL lineage write each member too."""
    ensure_keyed(frame, step)
    ensure_sums_raise(frame.sparkSession)
    _ensure_exact(frame, step)
    keys = [
        quoted(column_named(frame, name, "the group column", step)).alias(name)
        for name in group_cols
    ]
    table = _groups_table(frame, keys, agg_exprs, step)
    groups = write_table(table, step.location(GROUPS))
    parts = [name for name in ("group_key", "output") if name in groups.columns]
    joined = None
    if step.lineage is Lineage.FULL:
        joined = write_table(_reverse_join(frame, keys, step), step.location(REVERSE_JOINS))
    hidden = [name for name in (KEY, WEIGHT, SOURCE) if name in frame.columns]
    return CapturedGroups(
        output=groups.select(*(f"{part}.*" for part in parts)),
        groups=groups,
        reverse_join=joined,
        members=frame.select(*hidden),
    )


def ensure_one_source(frame: DataFrame, step: Step) -> None:
    """A group's commitment adds its members up, whichever input they are from."""
    if SOURCE in frame.columns and step.lineage is not Lineage.FULL:
        raise LedgerError(
            f"step {step.morphism_id!r}: the frame may hold records of several inputs, and a "
            f"group's commitment cannot tell them apart in lineage {step.lineage}. Use "
            "lineage='FULL' for this step, or, if all records are of one input, name it: "
            "ledger.adjoint(..., source='...')"
        )


def _ensure_exact(frame: DataFrame, step: Step) -> None:
    # Two actions read the frame in FULL: a record must be in the same group in both.
    if step.lineage is Lineage.FULL:
        ensure_repeatable_frame(frame, step)


def _groups_table(
    frame: DataFrame, keys: Sequence[Column], agg_exprs: Sequence[Column | str], step: Step
) -> DataFrame:
    """One row for each group: its key, its aggregates and the sums over its members.

    The hashes are summed inside the same aggregate, so no key crosses the shuffle. A row without a
    key, as an outer join makes them, is summed under the name that it has wherever keys are read.
    """
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    key = f"coalesce({quote(KEY)}, '{NO_KEY}')"
    sums = sum_columns(step.salt, step.level, key, weight_of(frame))
    limbs = LIMB_COLUMNS if step.level is Level.COMMIT else ()
    aggregated = frame.groupBy(*keys).agg(
        *map(condition_column, agg_exprs), *(F.expr(total) for total in sums)
    )
    names = aggregated.columns[: -len(sums)]
    _ensure_distinct(names, step)
    # By place: an aggregate may be called `records` too.
    placed = [f"c{number}" for number in range(len(names))]
    aggregated = aggregated.toDF(*placed, ROWS, RECORDS, *limbs)
    values = [F.col(place).alias(name) for place, name in zip(placed, names, strict=True)]
    # Parquet has no empty struct: a global aggregate has no group key.
    group_key = [F.struct(*values[: len(keys)]).alias("group_key")] if keys else []
    output = F.struct(*values[len(keys) :]).alias("output")
    return aggregated.select(*group_key, output, RECORDS, ROWS, *limbs, *step_columns(step))


def _ensure_distinct(names: Sequence[str], step: Step) -> None:
    spelled = [folded(name) for name in names]
    twice = [name for at, name in enumerate(names) if folded(name) in spelled[:at]]
    if twice:
        raise LedgerError(
            f"step {step.morphism_id!r}: two columns of the result are called {twice[0]!r}. "
            "Give each aggregate an alias of its own"
        )


def _reverse_join(frame: DataFrame, keys: Sequence[Column], step: Step) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    group_key = [F.struct(*keys).alias("group_key")] if keys else []
    return frame.select(*group_key, source_key(), *step_columns(step), *identity_columns(frame))
