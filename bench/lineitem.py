"""TPC-H lineitem as an Iceberg table, generated once into bench/data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = Path(__file__).parent / "data"
TABLE = "iceberg.bench.lineitem"


def load_lineitem(spark: SparkSession, scale: float) -> str:
    """The table's name; built if this scale is not there. `l_id` is a dense surrogate key."""
    name = f"{TABLE}_{str(scale).replace('.', '_')}"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.bench")
    if spark.catalog.tableExists(name):
        return name
    source = spark.read.parquet(str(generate_lineitem(scale)))
    source.createOrReplaceTempView("generated_lineitem")
    spark.sql(
        f"CREATE TABLE {name} USING iceberg "
        "TBLPROPERTIES ('write.target-file-size-bytes' = '67108864') AS "
        "SELECT *, row_number() OVER (ORDER BY l_orderkey, l_linenumber) AS l_id "
        "FROM generated_lineitem"
    )
    return name


def generate_lineitem(scale: float) -> Path:
    """The Parquet file with the rows of this scale, ordered by their key."""
    folder = DATA / f"tpch_{scale:g}"
    file = folder / "lineitem.parquet"
    if not file.exists():
        generator = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run(
            [generator, "parquet", "-s", str(scale), "--tables=lineitem", f"--output-dir={folder}"],
            check=True,
        )
    return file
