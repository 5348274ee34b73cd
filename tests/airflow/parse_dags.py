"""What can be said of operators and DAGs without running them, as one line of JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout
from dag_running import EXAMPLES, SCENARIOS, dags_in

from lakeproof.airflow import operators
from lakeproof.airflow.assets import shows_trusted
from lakeproof.airflow.failures import call_with, failing_at_once
from lakeproof.airflow.places import place_of
from lakeproof.airflow.run_ids import run_id_of
from lakeproof.errors import ConfigError, RuleTimeoutError

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
    given = connection("lakeproof", "local", extra_dejson={"werehouse": "/data"})
    return _message_of(ConfigError, lambda: place_of(given, "ours"))


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


def refused() -> dict[str, str]:
    """What is wrong however often it is tried."""
    from lakeproof.promoting import promote

    def with_option(name: str) -> None:
        with failing_at_once():
            call_with({name: ""}, partial(promote, None, "the-run", ledger=None, store=None))

    gate = operators.GateOperator(task_id="gate", run_id="the-run", results_expected="many")
    tried = {
        "unknown": lambda: with_option("brnch"),
        "given": lambda: with_option("ledger"),
        "of_the_connection": lambda: with_option("store"),
        "results_expected": lambda: gate.execute({}),
    }
    return {name: _message_of(AirflowFailException, one) for name, one in tried.items()}


def trusted_targets() -> dict[str, bool]:
    """Whether a promotion of `c.n.orders` to this target moves its trusted rows."""
    targets = (
        "c.n.orders.branch_trusted", "c.n.orders_trusted", "c.n.orders",
        "c.n.orders.branch_qa", "c.n.orders_qa",
    )  # fmt: skip
    return {target: shows_trusted("c.n.orders", target) for target in targets}


def left_when_killed() -> dict[str, bool]:
    """Whether the task is left at once, by the error that is handled when the signal comes."""
    from lakeproof.engines.spark import interrupting

    interrupting.cancel_all = lambda _: None
    task = operators.PromoteOperator(task_id="promote")
    task._session = object()
    left = {}
    for kind in (RuleTimeoutError, AirflowTaskTimeout):
        try:
            raise kind  # noqa: TRY301
        except kind:
            left[kind.__name__] = bool(_message_of(KeyboardInterrupt, task.on_kill))
    return left


def _message_of(kind: type[BaseException], work) -> str:
    try:
        work()
    except kind as problem:
        return str(problem) or kind.__name__
    return ""


def main() -> None:
    shipped, _ = dags_in(EXAMPLES), dags_in(SCENARIOS)
    heavy = sorted({name.partition(".")[0] for name in sys.modules} & set(HEAVY))
    dag = shipped["data_quality_checks"]
    names = [
        name
        for name, found in vars(operators).items()
        if name.endswith("Operator") and found.__module__ == operators.__name__
    ]
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
        "template_fields": {name: list(getattr(operators, name).template_fields) for name in names},
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
        "refused": refused(),
        "trusted_targets": trusted_targets(),
        "left_when_killed": left_when_killed(),
    }
    sys.stdout.write(f"\n{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
