"""Whether keys of one side repeat; where both have the same rows, the other side's do as well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeproof.checks.kinds import NullPolicy
from lakeproof.engines.spark.pairs.rows import PairRows
from lakeproof.model.column import Column
from lakeproof.planning.key_sql import key_step
from lakeproof.planning.plan import KeyStrategy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WAYS = {
    KeyStrategy.TILED: "bitmaps of 64 neighbouring keys",
    KeyStrategy.HASHED: "groups of equal key hashes",
    KeyStrategy.GROUPED: "groups of equal keys",
}


@dataclass(frozen=True, slots=True)
class SourceKeys:
    """Rows of the source, and how many of them have a NULL in the key or one that did not cast."""

    rows: int
    null_keys: int
    uncastable_keys: int


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """How many rows of the source come after the first of their key, and how that was found out.

    Where keys are grouped by their hash these may be too many, never too few.
    """

    surplus_rows: int
    way: str


def count_rows(spark: SparkSession, rows: PairRows) -> int:
    """The rows of the source; mostly out of the table's metadata."""
    return int(spark.sql(f"SELECT count(*) FROM (\n{rows.source_sql}\n)").collect()[0][0])


def count_keys(spark: SparkSession, rows: PairRows) -> SourceKeys:
    """One action that reads the key columns of the source."""
    row = spark.sql(
        "SELECT count(*), count_if(null_key), count_if(NOT is_castable) "
        f"FROM (\n{rows.source_sql}\n)"
    ).collect()[0]
    return SourceKeys(*(int(number) for number in row))


def source_uniqueness(spark: SparkSession, rows: PairRows, null_keys: int) -> Uniqueness:
    """Look for repeated keys in the source, in which `null_keys` rows have a NULL in the key.

    NULLs are equal here. A single row with one has nothing to repeat, and may be left out.
    """
    if null_keys > 1 and len(rows.keys) == 1:
        return Uniqueness(null_keys - 1, "number of NULL keys")
    columns = [
        Column(name, key.type_text) for name, key in zip(rows.keys, rows.step.keys, strict=True)
    ]
    keys = f"(SELECT {', '.join(rows.keys)} FROM (\n{rows.source_sql}\n))"
    step = key_step(
        replace(rows.step.source.pinned, relation=keys),
        rows.step.rule_id,
        columns,
        scope="",
        key_sql="''",
        nulls=NullPolicy.EQUAL if null_keys > 1 else NullPolicy.DISTINCT,
    )
    row = spark.sql(step.sql).collect()[0]
    return Uniqueness(int(row["surplus_rows"]), _WAYS[step.strategy])
