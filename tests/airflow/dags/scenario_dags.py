"""One DAG for each thing that can happen, as `quality_dag` makes them."""

from __future__ import annotations

from datetime import timedelta

from lakeproof import QualityCheck
from lakeproof.airflow.dags import quality_dag

NOTED: list[dict[str, str]] = []
"""Why a task failed or is tried again, in the order that it happened."""


def note(context) -> None:
    instance = context["ti"]
    problem = context.get("exception")
    NOTED.append(
        {
            "dag_id": instance.dag_id,
            "task": instance.task_id,
            "kind": type(problem).__name__,
            "text": str(problem),
        }
    )


IMPATIENT = {
    "retry_delay": timedelta(seconds=0),
    "on_failure_callback": note,
    "on_retry_callback": note,
}

ID_PRESENT = QualityCheck("id_present", "not_null", "orders", "order_id")
PRICE_POSITIVE = QualityCheck("price_positive", "positive", "orders", "price")

SCENARIOS = {
    "all_pass": [ID_PRESENT],
    "one_failed": [ID_PRESENT, PRICE_POSITIVE],
    "one_error": [ID_PRESENT, QualityCheck("no_such_column", "not_null", "orders", "nowhere")],
    "warnings_only": [
        ID_PRESENT,
        QualityCheck("price_positive", "positive", "orders", "price", severity="warning"),
    ],
    "missing_table": [ID_PRESENT, QualityCheck("gone", "not_null", "no_such_table", "id")],
    "unknown_type": [ID_PRESENT, QualityCheck("odd", "not_nul", "orders", "order_id")],
    "query_timeout": [
        ID_PRESENT,
        QualityCheck(
            "slow",
            "custom_sql",
            "orders",
            params={
                "sql": "SELECT a.order_id FROM orders a, orders b, orders c, orders d, orders e, "
                "orders f, orders g, orders h WHERE a.price + h.price < -1"
            },
            timeout_seconds=1,
        ),
    ],
    "results_table_absent": [ID_PRESENT],
    "persist_fails_once": [ID_PRESENT],
    "persist_fails_for_good": [ID_PRESENT],
}

for name, checks in SCENARIOS.items():
    globals()[name] = quality_dag(
        name, checks, None, default_args=IMPATIENT, options={"keys": {"orders": ["order_id"]}}
    )

empty_suite = quality_dag("empty_suite", [], None, default_args=IMPATIENT)
unreachable_engine = quality_dag(
    "unreachable_engine", [ID_PRESENT], None, default_args=IMPATIENT, conn_id="nobody_there"
)
mistyped_warehouse = quality_dag(
    "mistyped_warehouse", [ID_PRESENT], None, default_args=IMPATIENT, conn_id="mistyped"
)
promoted_elsewhere = quality_dag(
    "promoted_elsewhere", [ID_PRESENT], None, promotion={"options": {"branch": "qa"}}
)
unknown_connection = quality_dag(
    "unknown_connection", [ID_PRESENT], None, default_args=IMPATIENT, conn_id="not_defined"
)
misspelt_option = quality_dag(
    "misspelt_option", [ID_PRESENT], None, default_args=IMPATIENT, options={"kyes": {}}
)
nothing_selected = quality_dag(
    "nothing_selected", [ID_PRESENT], None, default_args=IMPATIENT, select="tag:nightly"
)
