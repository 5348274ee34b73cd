"""What can be said of operators and DAGs without running them, as one line of JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from dag_running import EXAMPLES, SCENARIOS, dags_in

from lakeproof.airflow import operators
from lakeproof.airflow.places import place_of
from lakeproof.airflow.run_ids import run_id_of
from lakeproof.errors import ConfigError

HEAVY = ("pyspark", "py4j", "sqlglot", "pyiceberg", "pyarrow", "pandas")


def tried(number: int, *, tries_max: int, run_id: str = "manual__1"):
    return SimpleNamespace(
        dag_id="Sales.Checks",
        run_id=run_id,
        task_id="run",
        map_index=-1,
        try_number=number,
        max_tries=tries_max,
        task=SimpleNamespace(retries=1),
    )


def connection(conn_type: str, host: str, **given):
    plain = {"port": None, "password": None, "extra_dejson": {}}
    return SimpleNamespace(conn_type=conn_type, host=host, **{**plain, **given})


def places() -> dict[str, list[str]]:
    given = {
        "local": connection("lakeproof", "local", extra_dejson={"warehouse": "/data"}),
        "sc": connection("lakeproof", "sc://spark", port=15002, password="secret"),  # noqa: S106
        "spark": connection("spark", "spark://spark", port=7077),
        "of_the_spark_provider": connection(
            "spark_connect", "spark", port=15002, extra_dejson={"use_ssl": True}
        ),
    }
    found = {name: place_of(one, name) for name, one in given.items()}
    return {name: [one.master, one.remote, one.warehouse] for name, one in found.items()}


def mistake() -> str:
    try:
        place_of(connection("lakeproof", "local", extra_dejson={"werehouse": "/data"}), "ours")
    except ConfigError as problem:
        return str(problem)
    return ""


def staged() -> dict[str, object]:
    from lakeproof.airflow.stages import DocumentStage
    from lakeproof.model.outcome import CheckResult, CheckStatus

    result = CheckResult(
        "a", "range", "orders", "price", CheckStatus.FAILED, 2, 40, "2 \u00e9 bad", "2025-01-01",
        run_id="the-run", rule_key="a", tags=("x",), measure=2.0, measures={"low": 2.0},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        stage = DocumentStage(Path(folder).as_uri() + "/staged")
        stage.write("the-run", [result])
        stage.write("the-run", [result, replace(result, rule_key="b")])
        stage.write("nothing", [])
        store = DocumentStage("memory://bucket/staged")
        store.write("the-run", [result])
        return {
            "same_by_address": store.read("the-run") == [result] and store.read("nothing") is None,
            "same": stage.read("the-run") == [result, replace(result, rule_key="b")],
            "missing": stage.read("another"),
            "empty": stage.read("nothing"),
            "files": len(list((Path(folder) / "staged").iterdir())),
        }


def main() -> None:
    shipped, _ = dags_in(EXAMPLES), dags_in(SCENARIOS)
    heavy = sorted({name.partition(".")[0] for name in sys.modules} & set(HEAVY))
    dag = shipped["data_quality_checks"]
    names = [name for name in dir(operators) if name.endswith("Operator") and name[0] != "_"]
    told = {
        "heavy": heavy,
        "dag_ids": sorted(shipped),
        "dag": {
            "dag_id": dag.dag_id,
            "schedule": dag.schedule,
            "start_date": dag.start_date.isoformat(),
            "catchup": dag.catchup,
            "max_active_runs": dag.max_active_runs,
            "tags": sorted(dag.tags),
            "retries": sorted({task.retries for task in dag.tasks}),
            "retry_delay": sorted({task.retry_delay.total_seconds() for task in dag.tasks}),
            "owner": sorted({task.owner for task in dag.tasks}),
        },
        "edges": sorted(
            [task.task_id, behind] for task in dag.tasks for behind in task.downstream_task_ids
        ),
        "group": sorted(dag.task_group_dict["quality"].children),
        "template_fields": {
            name: list(getattr(operators, name).template_fields)
            for name in names
            if name not in {"BaseOperator", "LakeproofOperator"}
        },
        "run_ids": [
            run_id_of(tried(1, tries_max=1)),
            run_id_of(tried(2, tries_max=1)),
            run_id_of(tried(3, tries_max=3)),
            run_id_of(tried(4, tries_max=3)),
            run_id_of(tried(1, tries_max=1, run_id="manual__2")),
        ],
        "places": places(),
        "mistake": mistake(),
        "staged": staged(),
    }
    sys.stdout.write(f"\n{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
