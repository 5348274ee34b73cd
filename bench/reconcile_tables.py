"""Pairs of tables that agree, nearly agree or do not: ten columns, with planted differences.

A source and three targets, each written in another row order and file layout than the source.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lineitem import DATA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEYS = {
    "integer": "id",
    "string": "concat(substr(md5(CAST(id AS STRING)), 1, 8), '-',"
    " substr(md5(CAST(id AS STRING)), 9, 9))",
}
"""The key column by its kind; whole numbers are dense, texts are without order or prefix."""

CASES = ("identical", "near", "far")
CHANGED, LOST, ADDED = 80, 12, 8
"""Rows of the near target that differ from the source."""


def truth(case: str, rows: int) -> dict[str, int]:
    """The numbers that a comparison must give."""
    changed, lost, added = {
        "identical": (0, 0, 0),
        "near": (CHANGED, LOST, ADDED),
        "far": (rows // 10, 0, 0),
    }[case]
    return {
        "hash_mismatches": changed,
        "missing_in_target": lost,
        "missing_in_source": added,
        "source_rows_alone": changed + lost,
        "target_rows_alone": changed + added,
    }


def load_pairs(spark: SparkSession, rows: int) -> None:
    """Write the tables that are not there yet."""
    for key in KEYS:
        for name in ("source", *CASES):
            if not (folder_of(rows, key, name) / "_SUCCESS").exists():
                table = _table(spark, rows, key, name)
                table.write.mode("overwrite").parquet(str(folder_of(rows, key, name)))


def folder_of(rows: int, key: str, name: str) -> Path:
    return DATA / "reconcile" / str(rows) / key / name


def _table(spark: SparkSession, rows: int, key: str, name: str) -> DataFrame:
    step = rows // (CHANGED + LOST)
    planted = {  # which rows have another quantity, and which are there at all
        "source": ("false", f"id <= {rows}"),
        "identical": ("false", f"id <= {rows}"),
        "near": (
            f"id % {step} = 0 AND id <= {step * CHANGED}",
            f"id % {step} <> 0 OR id <= {step * CHANGED} OR id > {step * (CHANGED + LOST)}",
        ),
        "far": ("id % 10 = 3", f"id <= {rows}"),
    }
    changed, present = planted[name]
    table = spark.sql(
        f"""
        SELECT {KEYS[key]} AS id,
               if(pmod(xxhash64(id, 1), 50) = 0, NULL,
                  concat('customer ', pmod(xxhash64(id, 2), 1000000))) AS customer,
               element_at(array('open', 'paid', 'sent', 'back', 'lost'),
                          CAST(pmod(xxhash64(id, 3), 5) AS INT) + 1) AS status,
               if(pmod(xxhash64(id, 4), 40) = 0, NULL,
                  substr(sha2(CAST(id AS STRING), 256), 1, 24)) AS note,
               CAST(pmod(xxhash64(id, 5), 1000) AS INT) + if({changed}, 1, 0) AS quantity,
               CAST(pmod(xxhash64(id, 6), 2000000000) AS INT) AS shop,
               if(pmod(xxhash64(id, 7), 60) = 0, NULL,
                  pmod(xxhash64(id, 8), 10000000000) / 9973D) AS price,
               pmod(xxhash64(id, 9), 100000) / 1000D AS discount,
               CAST(pmod(xxhash64(id, 10), 10000000000) / 100 AS DECIMAL(18, 2)) AS total,
               timestamp_micros(1600000000000000 + id * 1234567) AS ordered_at
        FROM range(1, {rows + ADDED + 1}, 1, 8) WHERE {present}
        """
    )
    return table if name == "source" else table.repartitionByRange(5, "discount", "note")
