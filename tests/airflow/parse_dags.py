"""What can be said of operators and DAGs without running them, as one line of JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
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
from lakeproof.errors import ConfigError, LakeproofError, RuleTimeoutError

HEAVY = ("pyspark", "py4j", "sqlglot", "pyiceberg", "pyarrow", "pandas")


def run_id(
    number: int, *, tries_max: int, dag_run_id: str = "manual__1", cleared: int = 0, hour: int = 0
) -> str:
    dag_run = SimpleNamespace(
        clear_number=cleared, start_date=datetime(2025, 1, 1, hour, tzinfo=UTC)
    )
    instance = SimpleNamespace(
        dag_id="Sales.Checks",
        run_id=dag_run_id,
        task_id="run",
        map_index=-1,
        try_number=number,
        max_tries=tries_max,
        task=SimpleNamespace(retries=1),
    )
    return run_id_of(instance, dag_run)


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
        "quoted": connection("lakeproof", "sc://spark", password="a%;#b=="),  # noqa: S106
        "typed_into_a_form": connection(
            "lakeproof", "sc://spark", extra_dejson={"use_ssl": "false"}
        ),
    }
    found = {name: place_of(one, name) for name, one in given.items()}
    return {name: [one.master, one.remote, one.warehouse] for name, one in found.items()}


def mistakes() -> list[str]:
    given = [{"werehouse": "/data"}, {"use_ssl": "flase"}]
    return [
        _message_of(
            ConfigError,
            lambda extra=extra: place_of(
                connection("lakeproof", "local", extra_dejson=extra), "us"
            ),
        )
        for extra in given
    ]


def warehouse_at_home() -> list[str]:
    """Of a configuration that names its folder from the user's home, and from its own."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lakeproof.toml"
        for named in ("~/lakehouse", "lakehouse"):
            file.write_text(f'[session]\nwarehouse = "{named}"\n', encoding="utf-8")
            extra = {"config": str(file)}
            place = place_of(connection("lakeproof", "local", extra_dejson=extra), "ours")
            found.append(place.settings().session.warehouse.replace(folder, "BESIDE"))
    return [text.replace(str(Path.home()), "HOME") for text in found]


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
        damaged = Path(folder) / "staged" / "damaged.results.json"
        damaged.write_text('{"results": [', encoding="utf-8")
        told = _message_of(LakeproofError, lambda: stage.read("damaged"))
        damaged.unlink()
        store = DocumentStage("memory://bucket/staged")
        store.write("the-run", [result])
        return {
            "same_by_address": store.read("the-run") == [result] and store.read("nothing") is None,
            "same": stage.read("the-run") == [result, replace(result, rule_key="b")],
            "missing": stage.read("another"),
            "empty": stage.read("nothing"),
            "damaged": told.replace(folder, ""),
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

    def broken(_):
        raise RuntimeError("the session is gone")

    interrupting.cancel_all = broken
    task = operators.PromoteOperator(task_id="promote")
    task._session = object()
    left = {}
    for kind in (RuleTimeoutError, AirflowTaskTimeout):
        try:
            raise kind  # noqa: TRY301
        except kind:
            left[kind.__name__] = bool(_message_of(KeyboardInterrupt, task.on_kill))
    return left


def session_of_the_gate() -> bool:
    """Whether a gate that reads through Spark knows its session, which a kill cancels."""
    from lakeproof import state
    from lakeproof.airflow.places import Place
    from lakeproof.state import kept_runs

    spark, seen = object(), []

    @contextmanager
    def session():
        yield spark

    task = operators.GateOperator(task_id="gate", run_id="the-run")
    task.hook.__dict__["place"] = Place(remote="sc://spark")
    task.hook.session = session
    state.open_store = lambda *_: None
    kept_runs.results_of_run = lambda *_: seen.append(task._session) or []
    task.kept_results("the-run")
    return [*seen, task._session] == [spark, None]


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
            run_id(1, tries_max=1),
            run_id(2, tries_max=1),
            run_id(3, tries_max=3, cleared=1),
            run_id(4, tries_max=3, cleared=1),
            run_id(1, tries_max=1, dag_run_id="manual__2"),
            run_id(2, tries_max=1, cleared=1),  # while it was at work
            run_id(1, tries_max=1, hour=1),
        ],
        "places": places(),
        "mistakes": mistakes(),
        "warehouse_at_home": warehouse_at_home(),
        "staged": staged(),
        "refused": refused(),
        "trusted_targets": trusted_targets(),
        "left_when_killed": left_when_killed(),
        "session_of_the_gate": session_of_the_gate(),
    }
    sys.stdout.write(f"\n{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
