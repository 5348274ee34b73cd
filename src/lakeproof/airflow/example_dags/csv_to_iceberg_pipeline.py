"""`sales_sample.csv` into the table `sales`; another file of the same columns as `path`."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG, Param, task

from lakeproof.airflow.dags import START
from lakeproof.airflow.failures import failing_at_once
from lakeproof.airflow.hooks import LakeproofHook

SAMPLE = Path(__file__).with_name("sales_sample.csv")


@task
def ingest(path: str) -> dict[str, int]:
    """Append the file to `sales`, unless it is there already."""
    from lakeproof.airflow.example_dags.csv_files import SALES_COLUMNS, ingest_csv
    from lakeproof.model.names import TableName

    hook = LakeproofHook()
    with failing_at_once(), hook.session() as spark:
        sales = TableName.parse("sales").resolve(
            hook.settings.default_catalog, hook.settings.default_namespace
        )
        return {"rows_inserted": ingest_csv(spark, path, sales, SALES_COLUMNS)}


with DAG(
    "csv_to_iceberg_pipeline",
    schedule=None,
    start_date=START,
    catchup=False,
    tags=["lakehouse", "iceberg", "ingestion"],
    params={"path": Param(str(SAMPLE), type="string")},
    default_args={"owner": "data-engineering"},
    doc_md=__doc__,
) as dag:
    ingest("{{ params.path }}")
