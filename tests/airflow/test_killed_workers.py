"""A worker that dies between persist and gate: one set of results, and no promotion unasked for."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from airflow_home import BIN, HERE, AirflowHome

from crashes.connect_server import serving

KILLED = -9
RESULTS = "iceberg.lakehouse._quality_results"
ORDERS = "iceberg.lakehouse.orders"


@dataclass(frozen=True)
class Workers:
    process: subprocess.Popen

    def ask(self, *words: str) -> tuple[int, dict | None]:
        print(*words, file=self.process.stdin, flush=True)
        return tuple(json.loads(self.process.stdout.readline()))


@contextmanager
def working(home: AirflowHome):
    log = (home.folder / "workers.log").open("w", encoding="utf-8")
    process = subprocess.Popen(
        [BIN / "python", HERE / "killed_dag_runs.py"],
        cwd=home.folder,
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    with log, process:
        yield Workers(process)
        process.stdin.close()


@pytest.fixture(scope="module")
def workers(spark, migrated_database, tmp_path_factory):
    """Tasks are clients of the tests' own Spark, so that a new worker costs seconds."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(
        f"CREATE OR REPLACE TABLE {ORDERS} USING iceberg AS "
        "SELECT id AS order_id, CAST(id - 1 AS DOUBLE) AS price FROM range(40)"
    )
    with serving(spark) as address:
        home = AirflowHome(tmp_path_factory.mktemp("airflow"), address)
        with working(home.with_copy_of(migrated_database)) as found:
            yield found


@pytest.fixture(scope="module")
def workers_with_spark(airflow):
    """Each task starts a Spark of its own, which dies with it."""
    with working(airflow) as found:
        assert found.ask("orders") == (0, {})
        yield found


@pytest.fixture
def untrusted(spark):
    spark.sql(f"REFRESH TABLE {ORDERS}")
    spark.sql(f"ALTER TABLE {ORDERS} DROP BRANCH IF EXISTS trusted")


def snapshot(spark, ref: str) -> int | None:
    spark.sql(f"REFRESH TABLE {ORDERS}")  # others commit
    rows = spark.sql(f"SELECT snapshot_id FROM {ORDERS}.refs WHERE name = '{ref}'").collect()
    return rows[0][0] if rows else None


def tries_of(run: dict) -> list[int]:
    return sorted(tries for _, tries in run["tasks"].values())


def results_of(spark, run: dict) -> list[str]:
    run_id = run["xcom"]["quality.run_quality_checks/return_value"]["run_id"]
    spark.sql(f"REFRESH TABLE {RESULTS}")
    rows = spark.sql(
        f"SELECT check_name FROM {RESULTS} "
        f"WHERE run_id = '{run_id}' AND check_type <> 'promotion' ORDER BY 1"
    )
    return [row[0] for row in rows.collect()]


FROM_PERSIST_TO_GATE = (
    "before_recording",
    "during_recording",
    "after_statement",
    "persist_returned",
    "before_gate",
    "gate_connected",
    "gate_has_read",
    "gate_returned",
)
"""Ten with those of the other test; what `make test` kills is not among them."""
ELSEWHERE = (
    "after_lease",
    "after_violations",
    "after_results",
    "after_progress",
    "before_persist",
    "before_promote",
    "after_promotion_move",
)


def slowly(points):
    return [pytest.param(point, marks=pytest.mark.slow) for point in points]


@pytest.mark.parametrize(
    "point", ["after_recording", "in_gate", *slowly((*FROM_PERSIST_TO_GATE, *ELSEWHERE))]
)
def test_a_run_whose_worker_was_killed_ends_as_if_it_had_not_been(spark, workers, untrusted, point):
    code, _ = workers.ask("begin", "all_pass", "1", point)
    assert code == KILLED
    if point != "after_promotion_move":
        assert snapshot(spark, "trusted") is None  # nothing is promoted before the gate is open
    code, run = workers.ask("go_on", "all_pass")
    assert (code, run["state"]) == (0, "success")
    assert results_of(spark, run) == ["id_present"]
    assert snapshot(spark, "trusted") == snapshot(spark, "main")
    assert tries_of(run) == [1, 1, 1, 2]


@pytest.mark.parametrize("point", ["before_gate", *slowly(["after_recording", "in_gate"])])
def test_a_killed_worker_does_not_open_the_gate(spark, workers, untrusted, point):
    code, _ = workers.ask("begin", "one_failed", "1", point)
    assert code == KILLED
    code, run = workers.ask("go_on", "one_failed")
    assert (code, run["state"]) == (0, "failed")
    assert run["tasks"]["quality.evaluate_gate"][0] == "failed"
    assert run["tasks"]["promote"] == ["upstream_failed", 0]
    assert results_of(spark, run) == ["id_present", "price_positive"]
    assert snapshot(spark, "trusted") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dag_id", "point"), [("one_failed", "during_recording"), ("all_pass", "after_statement")]
)
def test_a_worker_killed_with_its_spark_leaves_no_half_of_the_results(
    workers_with_spark, dag_id, point
):
    checks = {"one_failed": ["id_present", "price_positive"], "all_pass": ["id_present"]}[dag_id]
    code, _ = workers_with_spark.ask("begin", dag_id, "1", point, "with_spark")
    assert code == KILLED
    code, kept = workers_with_spark.ask("kept", dag_id)
    assert (code, kept["trusted"]) == (0, None)
    assert kept["results"] in ([], checks)
    code, run = workers_with_spark.ask("go_on", dag_id)
    passes = dag_id == "all_pass"
    assert (code, run["state"]) == (0, "success" if passes else "failed")
    assert tries_of(run) == ([1, 1, 1, 2] if passes else [0, 1, 1, 2])
    code, kept = workers_with_spark.ask("kept", dag_id)
    assert (code, kept["results"]) == (0, checks)
    assert kept["trusted"] == (kept["head"] if passes else None)
