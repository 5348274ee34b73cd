"""DAG runs by `dag.test()`, told as plain values. Runs where Airflow is installed, nowhere else."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from airflow.models.asset import AssetEvent, AssetModel
from airflow.models.dagrun import DagRun
from airflow.models.xcom import XComModel
from airflow.sdk.definitions.dag import _run_task
from airflow.serialization.serialized_objects import DagSerialization
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState, TaskInstanceState
from sqlalchemy import select

import lakeproof.airflow.example_dags as examples
from airflow import settings

EXAMPLES = Path(examples.__file__).parent
SCENARIOS = Path(__file__).parent / "dags"


def dags_in(folder: Path) -> dict[str, object]:
    """The DAGs of a folder, as the DAG processor finds them; a file that breaks is told."""
    from airflow.dag_processing.dagbag import DagBag

    found = DagBag(dag_folder=folder)
    if found.import_errors:
        raise RuntimeError(found.import_errors)
    return dict(found.dags)


def told(run) -> dict:
    """What became of a DAG run and of each of its tasks, and what the tasks have passed on."""
    with create_session() as session:
        instances = run.get_task_instances(session=session)
        passed_on = session.scalars(select(XComModel).where(XComModel.run_id == run.run_id)).all()
        return {
            "state": str(run.state),
            "dag_run_id": run.run_id,
            "tasks": {one.task_id: [str(one.state), one.try_number] for one in instances},
            "xcom": {
                f"{one.task_id}/{one.key}": XComModel.deserialize_value(one) for one in passed_on
            },
            "events": asset_events(session, run.run_id),
        }


def asset_events(session, dag_run_id: str) -> list[list[object]]:
    rows = session.execute(
        select(AssetModel.uri, AssetEvent.extra)
        .join(AssetModel, AssetModel.id == AssetEvent.asset_id)
        .where(AssetEvent.source_run_id == dag_run_id)
    )
    return [list(row) for row in rows]


def run_dag(dag, day: int = 1, conf: dict | None = None) -> dict:
    """One run of the DAG for a day of January 2025, retries and all."""
    date = datetime(2025, 1, day, tzinfo=UTC)
    sys.stderr.write(f"--- {dag.dag_id}\n")
    return told(dag.test(logical_date=date, run_conf=conf))


def run_again(dag, dag_run_id: str) -> dict:
    """The same DAG run after all of its tasks were cleared, as the button of the UI does."""
    session = settings.Session()
    known = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag))
    known.clear(run_id=dag_run_id, dag_run_state=DagRunState.RUNNING, session=session)
    session.commit()
    return go_on(dag, dag_run_id)


def go_on(dag, dag_run_id: str) -> dict:
    """The rest of a DAG run whose worker was lost, as the scheduler does it.

    A task that is still said to run has failed, and is tried again if it may be.
    """
    session = settings.Session()
    known = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag))
    run = session.scalar(
        select(DagRun).where(DagRun.dag_id == dag.dag_id, DagRun.run_id == dag_run_id)
    )
    run.dag = known
    for lost in run.get_task_instances(session=session):
        if lost.state in {TaskInstanceState.RUNNING, TaskInstanceState.QUEUED}:
            lost.task = known.get_task(lost.task_id)
            lost.handle_failure("the worker was lost", session=session)
    session.commit()
    while run.state == DagRunState.RUNNING:
        time.sleep(0.05)
        session.expire_all()
        ready, _ = run.update_state(session=session)
        for instance in ready:
            instance.try_number += 1
            instance.state = TaskInstanceState.SCHEDULED
        session.commit()
        for instance in ready:
            _run_task(ti=instance, task=dag.task_dict[instance.task_id])
    return told(run)
