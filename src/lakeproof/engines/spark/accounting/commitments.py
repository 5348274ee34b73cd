"""Commitments summed by Spark: one row of sums for any number of records, no key is moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.source_keys import KEY, limb_sums, weight_of
from lakeproof.model.accounting import LIMBS, Commitment, Level
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

RECORDS: Final = "records"
ROWS: Final = "rows"
LIMB_COLUMNS: Final = tuple(f"limb_{number}" for number in range(LIMBS))


@dataclass(frozen=True, slots=True)
class Measured:
    """The commitment of some records, and in how many rows they stand."""

    commitment: Commitment
    rows: int


def sum_columns(
    salt: str, level: Level, key_text_sql: str = KEY, weight_sql: str | None = None
) -> list[str]:
    """The aggregates of a commitment: `rows`, `records` and, at COMMIT, `limb_0` and `limb_1`."""
    records = "count(*)" if weight_sql is None else f"coalesce(sum({weight_sql}), 0L)"
    sums = limb_sums(key_text_sql, salt, weight_sql) if level is Level.COMMIT else []
    limbs = [f"{total} AS {name}" for total, name in zip(sums, LIMB_COLUMNS, strict=False)]
    return [f"count(*) AS {ROWS}", f"{records} AS {RECORDS}", *limbs]


def commitment_in(row: Row | Mapping[str, int]) -> Commitment:
    """The commitment that a row of `sum_columns` holds."""
    sums = row if isinstance(row, Mapping) else row.asDict()
    limbs = tuple(int(sums[name]) for name in LIMB_COLUMNS if name in sums)
    return Commitment(int(sums[RECORDS]), limbs)


def commitment_of(frame: DataFrame, salt: str, level: Level) -> Measured:
    """The commitment of a frame's `_lakeproof_key`, by `_lakeproof_weight` if it is there."""
    sums = sum_columns(salt, level, quote(KEY), weight_of(frame))
    (row,) = frame.selectExpr(*sums).collect()
    return Measured(commitment_in(row), int(row[ROWS]))
