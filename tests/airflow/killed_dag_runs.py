"""Workers that die: each line on standard input is a DAG run to begin or to go on with.

    begin DAG_ID DAY POINT      killed at that point, if it comes so far
    go_on DAG_ID                what the scheduler does then

Each is a process of its own, forked when Airflow is loaded and before anything is connected.
Answers with a line: how the process ended, and what it told.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from dag_running import SCENARIOS, DagRun, create_session, dags_in, go_on, run_dag, select

from lakeproof import faults
from lakeproof.gating import policy
from lakeproof.state.spark_store import SparkStore


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(owner, name: str) -> None:
    """The function does its work, and then the process is gone."""
    real = getattr(owner, name)

    def killed(*given, **named):
        real(*given, **named)
        die()

    setattr(owner, name, killed)


def arm(dag, point: str) -> None:
    if point == "after_recording":  # inside persist_results
        dag.get_task("quality.persist_results")._pre_execute_hook = lambda _: die_after(
            SparkStore, "record_results"
        )
    elif point == "before_gate":
        dag.get_task("quality.evaluate_gate")._pre_execute_hook = die
    elif point == "in_gate":  # it has read everything, and not yet said so
        dag.get_task("quality.evaluate_gate")._pre_execute_hook = lambda _: die_after(
            policy, "decide"
        )
    elif point == "before_persist":
        dag.get_task("quality.persist_results")._pre_execute_hook = die
    elif point == "before_promote":
        dag.get_task("promote")._pre_execute_hook = die
    else:
        faults._armed[point] = die


def main() -> None:
    answers, output = os.fdopen(os.dup(1), "w"), Path("told.json")
    os.dup2(2, 1)
    dags = dags_in(SCENARIOS)
    for line in sys.stdin:
        what, dag_id, *rest = line.split()
        output.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            told = begin(dags[dag_id], *rest) if what == "begin" else end(dags[dag_id])
            output.write_text(json.dumps(told, default=str), encoding="utf-8")
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        told = json.loads(output.read_text(encoding="utf-8")) if output.exists() else None
        answers.write(json.dumps([os.waitstatus_to_exitcode(status), told]) + "\n")
        answers.flush()


def begin(dag, day: str, point: str) -> dict:
    arm(dag, point)
    return run_dag(dag, int(day))


def end(dag) -> dict:
    with create_session() as session:
        newest = select(DagRun.run_id).where(DagRun.dag_id == dag.dag_id).order_by(DagRun.id.desc())
        dag_run_id = session.scalars(newest).first()
    return go_on(dag, dag_run_id)


if __name__ == "__main__":
    main()
