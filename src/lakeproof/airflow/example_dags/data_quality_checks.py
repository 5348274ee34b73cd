"""The table `sales`, checked every day; what passes is promoted to its trusted rows."""

from __future__ import annotations

from lakeproof.airflow.dags import quality_dag
from lakeproof.demo.suites import SALES_CHECKS

dag = quality_dag(
    "data_quality_checks",
    SALES_CHECKS,
    "@daily",
    options={"keys": {"sales": ["order_id"]}},
    doc_md=__doc__,
)
