"""A Connect client that promotes or rolls back, and may be killed on its way.

Arguments: the server's address, `promote` or `rollback`, the table, the run, a fault point or none.
"""

from __future__ import annotations

import json
import os
import sys

from lakeproof import faults, promote, rollback
from oracle.kept_state import store_in


def main(address: str, act: str, table: str, run_id: str, point: str = "") -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    if point:
        os.environ["LAKEPROOF_FAULT"] = f"{point}:kill"
        faults.arm_from_environment()
    doing = {"promote": promote, "rollback": rollback}[act]
    outcome = doing(spark, run_id, tables=table, store=store_in("iceberg", "promoted_state"))
    print(json.dumps(outcome.to_dict()))  # noqa: T201 (the test reads it)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
