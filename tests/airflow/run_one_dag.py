"""One DAG of the scenarios by `dag.test()`, whose tasks start their sessions themselves.

python run_one_dag.py DAG_ID outcome.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from dag_running import SCENARIOS, dags_in, run_dag
from run_scenarios import make_orders

from lakeproof.airflow.hooks import LakeproofHook


def main() -> None:
    os.dup2(2, 1)
    hook = LakeproofHook()
    with hook.session() as spark:
        make_orders(spark)
        master = spark.conf.get("spark.master")
    outcome = {**run_dag(dags_in(SCENARIOS)[sys.argv[1]]), "master": master}
    outcome["connection"] = hook.test_connection()
    Path(sys.argv[2]).write_text(json.dumps(outcome, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
