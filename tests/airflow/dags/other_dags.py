"""DAGs of operators that stand alone."""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG

from lakeproof.airflow.operators import ReconcileOperator, VerifyLedgerOperator

IMPATIENT = {"retries": 1, "retry_delay": timedelta(seconds=0)}

with DAG("two_tables", schedule=None, default_args=IMPATIENT, catchup=False) as two_tables:
    for copy in ("same", "damaged"):
        ReconcileOperator(
            task_id=copy,
            source="iceberg.lakehouse.orders",
            target=f"iceberg.lakehouse.orders_{copy}",
            key="order_id",
        )
    ReconcileOperator(
        task_id="one_day",
        source="iceberg.lakehouse.orders",
        target="iceberg.lakehouse.orders_damaged",
        key="order_id",
        partition="{{ ds }}",
        options={"partition_column": "day"},
    )

with DAG("books", schedule=None, default_args=IMPATIENT, catchup=False) as books:
    for run in ("balanced", "altered", "missing"):
        VerifyLedgerOperator(task_id=run, ledger=f"{{{{ params.folder }}}}/{run}")
