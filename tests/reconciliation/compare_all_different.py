"""Compares two tables that differ in every row, on a driver that takes few bytes of results.

Prints what was found and by how much this process has grown as one JSON document.

    python compare_all_different.py FOLDER ROWS RESULT_BYTES
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from lakeproof.engines.spark import session as sessions
from lakeproof.reconciliation import ChecksumReconciliationCheck


def grown_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def make_tables(spark, rows: int) -> tuple[str, str]:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.big")
    names = "iceberg.big.source", "iceberg.big.target"
    for side, name in enumerate(names):
        spark.sql(
            f"CREATE TABLE {name} USING iceberg AS SELECT id, concat('name ', id) AS name, "
            f"CAST(id + {side} AS INT) AS n, CAST(id AS DOUBLE) / 7 AS share FROM range({rows})"
        )
    return names


def main(folder: str, rows: int, result_bytes: int) -> None:
    sessions._require_java_and_jars()
    place = sessions.LakehouseFolder(Path(folder))
    place.iceberg.mkdir(parents=True)
    place.delta.mkdir(parents=True)
    settings = {
        **sessions.session_settings(folder, cores="2"),
        "spark.driver.maxResultSize": str(result_bytes),
    }
    spark = sessions._start_session(settings)
    names = make_tables(spark, rows)
    before = grown_mb()
    found = {}
    for method in ("auto", "hash_join"):
        result = ChecksumReconciliationCheck(*names, ["id"], method=method).run(spark)
        found[method] = {
            "status": result.status,
            "numbers": dict(result.metric_value),
            "samples": len(result.metadata.get("samples", ())),
            "columns": result.metadata.get("column_mismatches"),
            "message": result.failure_message,
        }
    print(json.dumps({"grown_mb": grown_mb() - before, "found": found}))  # noqa: T201
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
