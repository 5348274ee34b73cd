"""Airflow in its own environment, seen from a test: a home folder and processes in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BIN = ROOT / ".venv-airflow" / "bin"
EXAMPLES = ROOT / "src" / "lakeproof" / "airflow" / "example_dags"
RUN_URL = "https://quality.example.com/runs/{run_id}"


@dataclass(frozen=True)
class AirflowHome:
    """`lakehouse` is where the connection `lakeproof_default` leads: a folder, or an address.

    `spark_conf` are settings of a session on a Spark master.
    """

    folder: Path
    lakehouse: str
    spark_conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        is_address = "://" in self.lakehouse
        extra = {
            "staging": str(self.folder / "staged"),
            "run_url": RUN_URL,
            "warehouse": "" if is_address else self.lakehouse,
            "spark_conf": dict(self.spark_conf),
        }
        bundles = [
            {
                "name": name,
                "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle",
                "kwargs": {"path": str(folder)},
            }
            for name, folder in (("scenarios", HERE / "dags"), ("shipped", EXAMPLES))
        ]
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),  # these sources, wherever the environment was made
            "AIRFLOW_HOME": str(self.folder),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
            "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(bundles),
            "AIRFLOW_CONN_LAKEPROOF_DEFAULT": connection(
                self.lakehouse if is_address else "local", extra
            ),
            "AIRFLOW_CONN_NOBODY_THERE": connection("sc://127.0.0.1:1", {}),
            "AIRFLOW_CONN_MISTYPED": connection("local", {"warehouse": "lakehuose"}),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    def run(self, *words: str | Path, seconds_max: float = 900) -> str:
        """What a command of the environment prints; its log is shown if it fails."""
        done = subprocess.run(
            [BIN / words[0], *words[1:]],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds_max,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
        return done.stdout

    @property
    def database(self) -> Path:
        """The metadata database, SQLite."""
        return self.folder / "airflow.db"

    def migrated(self) -> AirflowHome:
        """The same with its database brought up to this Airflow."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.run("airflow", "db", "migrate")
        return self

    def with_copy_of(self, database: Path) -> AirflowHome:
        """The same with a database that was migrated elsewhere."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(database, self.database)
        return self


def connection(host: str, extra: Mapping[str, object]) -> str:
    return json.dumps({"conn_type": "lakeproof", "host": host, "extra": extra})


def require_environment() -> None:
    assert (BIN / "airflow").exists(), "Airflow's environment is missing. Next: make setup-airflow"
