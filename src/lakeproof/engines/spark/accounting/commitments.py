"""Commitments summed by Spark: one row of sums for any number of records, no key is moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    LIMB_MIDDLE,
    centred_limbs_sql,
    committed_hash_sql,
    limbs_sql,
    weight_of,
)
from lakeproof.engines.spark.overflow import overflow_obstacle
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import LIMBS, Commitment, Level
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

RECORDS: Final = "records"
ROWS: Final = "rows"
LIMB_COLUMNS: Final = tuple(f"limb_{number}" for number in range(LIMBS))


@dataclass(frozen=True, slots=True)
class Measured:
    """The commitment of some records, and in how many rows they stand."""

    commitment: Commitment
    rows: int


def ensure_sums_raise(spark: SparkSession) -> None:
    """Refuse a session in which a sum of hashes may be too large and nobody is told."""
    obstacle = overflow_obstacle(spark)
    if obstacle:
        raise LedgerError(f"the books cannot be kept: {obstacle}")


def sum_columns(
    salt: str, level: Level, key_text_sql: str = KEY, weight_sql: str | None = None
) -> list[str]:
    """The aggregates of a commitment, as groups store them: `rows`, `records` and two limbs.

    At level COUNT there are no limbs. From 2^31 records in one group a sum overflows, and raises.
    """
    return _columns(level, limbs_sql(committed_hash_sql(key_text_sql, salt)), weight_sql)


def total_columns(
    salt: str, level: Level, key_text_sql: str = KEY, weight_sql: str | None = None
) -> list[str]:
    """The same for any number of records: sums of centred limbs, which `commitment_in` reads."""
    return _columns(level, centred_limbs_sql(committed_hash_sql(key_text_sql, salt)), weight_sql)


def _columns(level: Level, limbs: Sequence[str], weight_sql: str | None) -> list[str]:
    """Spark evaluates the hash once for both limbs."""
    records = "count(*)" if weight_sql is None else f"coalesce(sum({weight_sql}), 0L)"
    times = "" if weight_sql is None else f" * {weight_sql}"
    sums = [
        f"coalesce(sum({limb}{times}), 0L) AS {name}"
        for limb, name in zip(limbs, LIMB_COLUMNS, strict=True)
    ]
    counts = [f"count(*) AS {ROWS}", f"{records} AS {RECORDS}"]
    return [*counts, *sums] if level is Level.COMMIT else counts


def group_total_columns(level: Level) -> list[str]:
    """As `total_columns`, over the rows of groups that store their sums."""
    limbs = LIMB_COLUMNS if level is Level.COMMIT else ()
    centred = [(name, f"{name} - {RECORDS} * {LIMB_MIDDLE}L") for name in limbs]
    return [
        f"coalesce(sum({each}), 0L) AS {name}"
        for name, each in [(ROWS, ROWS), (RECORDS, RECORDS), *centred]
    ]


def commitment_in(row: Row | Mapping[str, int]) -> Commitment:
    """The commitment that a row of totals holds."""
    sums = row if isinstance(row, Mapping) else row.asDict()
    limbs = tuple(int(sums[name]) for name in LIMB_COLUMNS if name in sums)
    return uncentred(int(sums[RECORDS]), limbs)


def uncentred(records: int, sums: Sequence[int]) -> Commitment:
    """The commitment of records whose centred limbs sum up to these."""
    return Commitment(records, tuple(total + records * LIMB_MIDDLE for total in sums))


def commitment_of(frame: DataFrame, salt: str, level: Level) -> Measured:
    """The commitment of a frame's `_lakeproof_key`, by `_lakeproof_weight` if it is there."""
    sums = total_columns(salt, level, quote(KEY), weight_of(frame))
    (row,) = frame.selectExpr(*sums).collect()
    return Measured(commitment_in(row), int(row[ROWS]))
