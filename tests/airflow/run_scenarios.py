"""Every scenario by `dag.test()` in one process with one Spark session; prints one document.

python run_scenarios.py > outcome.json
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dag_running import EXAMPLES, SCENARIOS, dags_in, run_again, run_dag

from lakeproof import faults
from lakeproof.airflow.hooks import LakeproofHook
from lakeproof.errors import EngineUnavailableError, PromotionError
from lakeproof.state.spark_store import SparkStore

# Compiling Java and planning again are most of the time of a job over a few records.
FOR_FEW_RECORDS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
CONNECTION = "AIRFLOW_CONN_LAKEPROOF_DEFAULT"
RESULTS = "iceberg.lakehouse._quality_results"
ORDERS = "iceberg.lakehouse.orders"


def make_orders(spark) -> None:
    """40 orders: ids are fine, two prices are not."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(
        f"CREATE OR REPLACE TABLE {ORDERS} USING iceberg AS "
        "SELECT id AS order_id, CAST(id - 1 AS DOUBLE) AS price FROM range(40)"
    )


def rows_kept(spark) -> int:
    """Rows of every run, promotions among them."""
    return spark.table(RESULTS).count() if spark.catalog.tableExists(RESULTS) else 0


def rows_of(spark, run_id: str | None) -> list[list[object]]:
    if not run_id or not spark.catalog.tableExists(RESULTS):
        return []
    rows = spark.sql(
        f"SELECT check_name, status, details, dag_run_id FROM {RESULTS} "
        f"WHERE run_id = '{run_id}' AND check_type <> 'promotion' ORDER BY 1"
    )
    return [list(row) for row in rows.collect()]


def run_id_of(outcome: dict) -> str | None:
    ran = outcome["xcom"].get("quality.run_quality_checks/return_value")
    return ran and ran["run_id"]


def trusted(spark, table: str) -> int | None:
    """The snapshot that the branch `trusted` is at; None without one."""
    if not spark.catalog.tableExists(table):
        return None
    rows = spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'trusted'").collect()
    return rows[0][0] if rows else None


def head(spark, table: str) -> int:
    return spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'").first()[0]


class Scenarios:
    def __init__(self, spark) -> None:
        self.spark = spark
        self.dags = dags_in(SCENARIOS)
        # The module as Airflow has loaded it: callbacks note there what they are told.
        self.noted = self.dags["all_pass"].default_args["on_failure_callback"].__globals__["NOTED"]

    def run_untrusted(self, name: str, before_persist=None) -> dict:
        """The same where nothing was promoted before."""
        self.spark.sql(f"ALTER TABLE {ORDERS} DROP BRANCH IF EXISTS trusted")
        return self.run(name, before_persist)

    def run(self, name: str, before_persist=None) -> dict:
        """The outcome of one run; `before_persist` is called as `persist_results` begins."""
        dag = self.dags[name]
        dag.get_task("quality.persist_results")._pre_execute_hook = before_persist
        return self.seen(lambda: run_dag(dag))

    def seen(self, run: Callable[[], dict]) -> dict:
        """The outcome, with what it has left in the lakehouse."""
        seen, started, kept = len(self.noted), time.monotonic(), rows_kept(self.spark)
        outcome = run()
        outcome["rows_added"] = rows_kept(self.spark) - kept
        outcome["rows"] = rows_of(self.spark, run_id_of(outcome))
        outcome["noted"] = self.noted[seen:]
        outcome["trusted"] = trusted(self.spark, ORDERS)
        outcome["seconds"] = time.monotonic() - started
        return outcome


def drop_results(context) -> None:
    LakeproofHook().get_conn().sql(f"DROP TABLE {RESULTS}")


def lose_server(context) -> None:
    """From now on the connection leads to a server that is not there."""
    known = json.loads(os.environ[CONNECTION])
    os.environ[CONNECTION] = json.dumps({**known, "host": "sc://127.0.0.1:1"})


def outdate_workers(context) -> None:
    """The store is one of a newer release: what a roll-back of workers leaves."""
    set_version(99)


def set_version(version: int) -> None:
    LakeproofHook().get_conn().sql(
        f"ALTER TABLE {RESULTS} SET TBLPROPERTIES ('lakeproof.schema_version' = '{version}')"
    )


def refuse() -> None:
    """As the next table of a run does, when it was replaced meanwhile."""
    raise PromotionError("another table cannot be promoted")


def fail_after_recording(context) -> None:
    """The first try records everything, and then its connection breaks."""
    real = SparkStore.record_results

    def broken(self, results):
        SparkStore.record_results = real
        real(self, results)
        raise EngineUnavailableError("the connection broke")

    if context["ti"].try_number == 1:
        SparkStore.record_results = broken


def scenarios(spark) -> dict[str, dict]:
    make_orders(spark)
    every = Scenarios(spark)
    found = {
        name: every.run_untrusted(name)
        for name in (
            "one_failed", "one_error", "missing_table", "unknown_type", "query_timeout",
            "empty_suite", "unreachable_engine", "unknown_connection", "mistyped_warehouse",
            "misspelt_option", "nothing_selected", "all_pass", "warnings_only",
        )
    }  # fmt: skip
    version = spark.sql(f"SHOW TBLPROPERTIES {RESULTS}").where("key = 'lakeproof.schema_version'")
    known = int(version.first()["value"])
    found["store_too_new"] = every.run_untrusted("all_pass", outdate_workers)
    set_version(known)
    connection = os.environ[CONNECTION]
    found["persist_fails_for_good"] = every.run_untrusted("persist_fails_for_good", lose_server)
    os.environ[CONNECTION] = connection
    found["persist_fails_once"] = every.run("persist_fails_once", fail_after_recording)
    found["results_table_absent"] = every.run("results_table_absent", drop_results)
    found["run_again"] = every.run("all_pass")
    found["cleared"] = every.seen(
        lambda: run_again(every.dags["all_pass"], found["run_again"]["dag_run_id"])
    )
    found["head"] = head(spark, ORDERS)
    spark.sql(f"INSERT INTO {ORDERS} VALUES (40, 39.0)")
    with faults.armed("after_promotion_record", refuse):
        found["moved_and_failed"] = every.run("all_pass")
    found["promoted_elsewhere"] = every.run("promoted_elsewhere")
    found["told_later"] = every.run("all_pass")
    runs = {name: run_id_of(found[name]) for name in ("run_again", "cleared", "told_later")}
    found["kept_of_one_date"] = {name: rows_of(spark, run_id) for name, run_id in runs.items()}
    return found


def acceptance(spark, folder: Path) -> dict[str, object]:
    """The seed's criteria: files ingested by its DAGs, checked by `data_quality_checks`."""
    dags = dags_in(EXAMPLES)
    sales = "iceberg.lakehouse.sales"
    sample = (EXAMPLES / "sales_sample.csv").read_text(encoding="utf-8").splitlines()
    found: dict[str, object] = {}
    found["ingested"] = run_dag(dags["csv_to_iceberg_pipeline"])
    found["ingested_again"] = run_dag(dags["csv_to_iceberg_pipeline"], 2)
    found["good"] = checked(spark, dags, 1)
    good = trusted(spark, sales)
    for day, (name, line) in enumerate(
        {
            "negative_amount": "9001,C0001,Italy,-12.50,2024-01-05",
            "duplicate_order_id": sample[1],
        }.items(),
        start=2,
    ):
        file = folder / f"{name}.csv"
        file.write_text(f"{sample[0]}\n{line}\n", encoding="utf-8")
        found[f"{name}_ingested"] = run_dag(
            dags["csv_auto_ingest"], day, {"path": str(file), "table": "sales"}
        )
        found[name] = checked(spark, dags, day)
        # The next file is to be bad by itself.
        spark.sql(f"DELETE FROM {sales} WHERE amount < 0")
    found["trusted_rows"] = spark.sql(f"SELECT 1 FROM {sales} VERSION AS OF 'trusted'").count()
    found["is_trusted_as_it_was"] = trusted(spark, sales) == good
    found["history"] = [
        list(row)
        for row in spark.sql(
            "SELECT DATE(executed_at) IS NOT NULL, count_if(status = 'failed'), "
            f"count_if(status = 'passed') FROM {RESULTS} "
            "WHERE table_name = 'sales' AND status IN ('passed', 'failed') "
            "GROUP BY run_id, executed_at ORDER BY executed_at"
        ).collect()
    ]
    trend = spark.sql(
        "SELECT DATE(executed_at) AS check_date, "
        "COUNT(*) FILTER (WHERE status = 'failed') AS failures, "
        f"COUNT(*) FILTER (WHERE status = 'passed') AS passes FROM {RESULTS} "
        "WHERE table_name = 'sales' GROUP BY DATE(executed_at) ORDER BY check_date DESC"
    )
    days = trend.collect()
    found["by_the_query_of_the_seed"] = [
        sum(row[name] for row in days) for name in ("failures", "passes")
    ]
    return found


def checked(spark, dags, day: int) -> dict:
    outcome = run_dag(dags["data_quality_checks"], day)
    ran = outcome["xcom"]["quality.run_quality_checks/return_value"]
    return {**outcome, "rows": rows_of(spark, ran["run_id"])}


def main() -> None:
    os.dup2(2, 1)  # Airflow writes its logs to standard output
    started = time.monotonic()
    # dag.test() waits a second for each task that will never run.
    wait = time.sleep
    time.sleep = lambda seconds: wait(min(seconds, 0.05))
    with LakeproofHook().session() as spark:
        for name, value in FOR_FEW_RECORDS.items():
            spark.conf.set(name, value)
        outcome = {"scenarios": scenarios(spark), "acceptance": acceptance(spark, Path.cwd())}
    outcome["seconds"] = time.monotonic() - started
    Path(sys.argv[1]).write_text(json.dumps(outcome, default=str, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
