"""The DAGs of `other_dags.py`, by `dag.test()`; prints one document.

python run_other_dags.py outcome.json
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from dag_running import SCENARIOS, dags_in, run_dag
from pyspark.sql import functions as sf

from lakeproof import AccountingLedger, filter_with_adjoint, group_by_with_adjoint
from lakeproof.airflow.hooks import LakeproofHook


def make_tables(spark) -> None:
    """A copy that is the same, and one where an order of the second day is another."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    rows = "SELECT id AS order_id, date_add(DATE'2025-01-01', CAST(id % 2 AS INT)) AS day, {} AS n"
    for name, n in (("", "0"), ("_same", "0"), ("_damaged", "IF(id = 7, 1, 0)")):
        spark.sql(
            f"CREATE TABLE iceberg.lakehouse.orders{name} USING iceberg AS "
            f"{rows.format(n)} FROM range(20)"
        )


def make_books(spark, folder: Path) -> None:
    """Books of 5 records, of which 2 are dropped; the copy of them was edited."""
    lines = folder / "input"
    lines.mkdir(parents=True)
    (lines / "records.json").write_text(
        "".join(json.dumps({"id": f"r{n}", "n": n}) + "\n" for n in range(5)), encoding="utf-8"
    )
    kept = AccountingLedger(
        "balanced", str(lines), str(folder / "balanced"), spark, schema="id STRING, n INT"
    )
    kept.initialize_input("id")
    step = filter_with_adjoint(
        kept.input_frame(), sf.col("n") > 1, capture_filtered=True, config=kept.adjoint("big")
    )
    totals = group_by_with_adjoint(
        step.output, ["n"], [sf.count("*").alias("rows")], kept.adjoint("by_n")
    )
    for one in (step, totals):
        kept.add_result(one)
    kept.finish()
    shutil.copytree(folder / "balanced", folder / "altered")
    ledger = folder / "altered" / "ledger.json"
    told = json.loads(ledger.read_text(encoding="utf-8"))
    told["run_id"] = "another"
    ledger.write_text(json.dumps(told), encoding="utf-8")


def main() -> None:
    os.dup2(2, 1)
    dags = dags_in(SCENARIOS)
    folder = Path.cwd() / "books"
    with LakeproofHook().session() as spark:
        make_tables(spark)
        make_books(spark, folder)
        outcome = {"two_tables": run_dag(dags["two_tables"], 1)}
    outcome["books"] = run_dag(dags["books"], 1, {"folder": str(folder)})
    Path(sys.argv[1]).write_text(json.dumps(outcome, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
