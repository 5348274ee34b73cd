"""DAGs that check tables and publish what passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, TaskGroup

from lakeproof.airflow.hooks import DEFAULT_CONNECTION
from lakeproof.airflow.operator_base import RUN_TASK
from lakeproof.airflow.operators import (
    GateOperator,
    PersistResultsOperator,
    PromoteOperator,
    RunChecksOperator,
)

if TYPE_CHECKING:
    from lakeproof.contracts.gathering import Checks

GROUP = "quality"
TAGS = ("lakehouse", "iceberg", "data-quality")
START = datetime(2024, 1, 1, tzinfo=UTC)

_RUN = f"ti.xcom_pull(task_ids='{GROUP}.{RUN_TASK}')"
RUN_ID = f"{{{{ {_RUN}['run_id'] }}}}"
"""The run of this DAG run, for templates of tasks beside the group."""
_RESULTS = f"{{{{ {_RUN}['counts'].values() | sum }}}}"


def quality_dag(  # noqa: PLR0913 (what people set of a DAG; all but three are keywords)
    dag_id: str,
    checks: Checks,
    schedule: Any = "@daily",  # noqa: ANN401 (whatever Airflow takes: cron, timetable, assets)
    *,
    conn_id: str = DEFAULT_CONNECTION,
    promotion: Mapping[str, Any] | None = MappingProxyType({}),
    start_date: datetime = START,
    tags: Sequence[str] = TAGS,
    default_args: Mapping[str, Any] | None = None,
    doc_md: str = "",
    **run_options: Any,  # noqa: ANN401 (those of RunChecksOperator)
) -> DAG:
    """A DAG of four tasks in a row: run the checks, persist their results, gate, promote.

    The first three are the group `quality`. Whatever stops one stops those behind it, so a table
    is promoted only if its results are kept and let it pass. `promotion` are arguments of
    `PromoteOperator`; with None the DAG ends at its gate. `run_options` are those of
    `RunChecksOperator` (`partition`, `select`, `options`, ...).
    """
    defaults = {"owner": "data-engineering", "retries": 1, "retry_delay": timedelta(seconds=60)}
    with DAG(
        dag_id,
        schedule=schedule,
        start_date=start_date,
        catchup=False,
        max_active_runs=1,
        tags=list(tags),
        default_args={**defaults, **(default_args or {})},
        doc_md=doc_md or __doc__,
    ) as dag:
        with TaskGroup(GROUP, tooltip="checks, their results, and the gate"):
            run = RunChecksOperator(task_id=RUN_TASK, checks=checks, conn_id=conn_id, **run_options)
            persist = PersistResultsOperator(
                task_id="persist_results", run_id=RUN_ID, conn_id=conn_id
            )
            gate = GateOperator(
                task_id="evaluate_gate", run_id=RUN_ID, results_expected=_RESULTS, conn_id=conn_id
            )
        run >> persist >> gate
        if promotion is not None:
            gate >> PromoteOperator(task_id="promote", run_id=RUN_ID, conn_id=conn_id, **promotion)
    return dag
