"""Tasks on a Spark cluster of its own processes, by the address of its master."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from airflow_home import HERE, AirflowHome

from lakeproof.engines.spark.java import find_java, use_java
from lakeproof.engines.spark.session import session_settings

pytestmark = pytest.mark.slow

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
START_SECONDS_MAX = 60


@contextmanager
def started(*words: str):
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    use_java(find_java(), environment)
    process = subprocess.Popen(
        [SPARK_CLASS, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def await_listener(port: int) -> None:
    until = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < until:
        with socket.socket() as knock:
            if knock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise TimeoutError(port)


@pytest.fixture(scope="module")
def on_cluster(migrated_database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    settings = {
        name: value
        for name, value in session_settings(folder / "lakehouse").items()
        if name != "spark.master"
    }
    with ExitStack() as running:
        at = ("--host", "127.0.0.1")
        running.enter_context(
            started(f"{DEPLOY}.master.Master", *at, "--port", str(port), "--webui-port", "0")
        )
        await_listener(port)
        running.enter_context(
            started(
                f"{DEPLOY}.worker.Worker",
                *at,
                "--cores",
                "1",
                "--memory",
                "1g",
                "--webui-port",
                "0",
                "--work-dir",
                str(folder / "work"),
                master,
            )
        )
        (folder / "lakehouse" / "iceberg").mkdir(parents=True)
        yield AirflowHome(folder / "home", master, settings).with_copy_of(migrated_database)


def test_a_dag_runs_on_a_spark_master(on_cluster):
    file = on_cluster.folder / "outcome.json"
    on_cluster.run("python", HERE / "run_one_dag.py", "all_pass", file)
    outcome = json.loads(file.read_text(encoding="utf-8"))
    assert outcome["state"] == "success"
    assert outcome["master"] == on_cluster.lakehouse
    assert outcome["connection"][0] is True
