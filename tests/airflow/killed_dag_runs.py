"""Workers that die: each line on standard input is a DAG run to begin or to go on with.

    begin DAG_ID DAY POINT [with_spark]     killed at that point, if it comes so far
    go_on DAG_ID                            what the scheduler does then
    orders                                  makes the table that is checked
    kept DAG_ID                             what is there of the newest run of this DAG

Each is a process of its own, forked when Airflow is loaded and before anything is connected.
Answers with a line: how the process ended, and what it told.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dag_running import SCENARIOS, DagRun, create_session, dags_in, go_on, run_dag, select, told
from run_scenarios import ORDERS, head, make_orders, rows_of, trusted

import lakeproof.state
from lakeproof import faults
from lakeproof.airflow.hooks import LakeproofHook
from lakeproof.gating import policy
from lakeproof.state import kept_runs
from lakeproof.state.access import StateAccess
from lakeproof.state.spark_store import SparkStore

PERSIST, GATE = "quality.persist_results", "quality.evaluate_gate"
INTO_A_STATEMENT_SECONDS = 0.2


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_with_spark(*_: object) -> None:
    """As where a machine is lost: the JVM of the task does not end what it has begun."""
    from pyspark import SparkContext

    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
    die()


@dataclass(frozen=True)
class Killer:
    """Ways to die at a function, and the tasks that may be killed."""

    dag: object
    dies: Callable[..., None]

    def at(self, owner: object, name: str) -> Callable[..., None]:
        """It is called, and has done nothing."""
        return lambda *_: setattr(owner, name, self.dies)

    def after(self, owner: object, name: str) -> Callable[..., None]:
        """It has done its work, and nobody hears of it."""
        real = getattr(owner, name)

        def killed(*given, **named):
            real(*given, **named)
            self.dies()

        return lambda *_: setattr(owner, name, killed)

    def during(self, owner: object, name: str) -> Callable[..., None]:
        """It is at work."""
        real = getattr(owner, name)

        def killed(*given, **named):
            threading.Timer(INTO_A_STATEMENT_SECONDS, self.dies).start()
            return real(*given, **named)

        return lambda *_: setattr(owner, name, killed)

    def arm(self, point: str) -> None:
        before = {  # hooks that run as the task begins
            "before_persist": (PERSIST, self.dies),
            "before_recording": (PERSIST, self.at(StateAccess, "write")),
            "during_recording": (PERSIST, self.during(StateAccess, "write")),
            "after_statement": (PERSIST, self.after(StateAccess, "write")),
            "after_recording": (PERSIST, self.after(SparkStore, "record_results")),
            "before_gate": (GATE, self.dies),
            "gate_connected": (GATE, self.after(lakeproof.state, "open_store")),
            "gate_has_read": (GATE, self.after(kept_runs, "results_of_run")),
            "in_gate": (GATE, self.after(policy, "decide")),
            "before_promote": ("promote", self.dies),
        }
        after = {"persist_returned": PERSIST, "gate_returned": GATE}  # and Airflow was not told
        if point in before:
            task_id, hook = before[point]
            self.dag.get_task(task_id)._pre_execute_hook = hook
        elif point in after:
            self.dag.get_task(after[point])._post_execute_hook = self.dies
        else:
            faults._armed[point] = self.dies


def main() -> None:
    answers, output = os.fdopen(os.dup(1), "w"), Path("told.json")
    os.dup2(2, 1)
    dags = dags_in(SCENARIOS)
    for line in sys.stdin:
        words = line.split()
        output.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            output.write_text(json.dumps(answer(dags, *words), default=str), encoding="utf-8")
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        said = json.loads(output.read_text(encoding="utf-8")) if output.exists() else None
        answers.write(json.dumps([os.waitstatus_to_exitcode(status), said]) + "\n")
        answers.flush()


def answer(dags, what: str, dag_id: str = "", *rest: str) -> dict:
    if what == "orders":
        with LakeproofHook().session() as spark:
            make_orders(spark)
        return {}
    return {"begin": begin, "go_on": end, "kept": kept}[what](dags[dag_id], *rest)


def begin(dag, day: str, point: str, with_spark: str = "") -> dict:
    Killer(dag, die_with_spark if with_spark else die).arm(point)
    return run_dag(dag, int(day))


def end(dag) -> dict:
    return go_on(dag, newest_of(dag).run_id)


def kept(dag) -> dict:
    returned = told(newest_of(dag))["xcom"].get("quality.run_quality_checks/return_value", {})
    with LakeproofHook().session() as spark:
        return {
            "results": [row[0] for row in rows_of(spark, returned.get("run_id"))],
            "trusted": trusted(spark, ORDERS),
            "head": head(spark, ORDERS),
        }


def newest_of(dag) -> DagRun:
    with create_session() as session:
        newest = select(DagRun).where(DagRun.dag_id == dag.dag_id).order_by(DagRun.id.desc())
        return session.scalars(newest).first()


if __name__ == "__main__":
    main()
