"""Any CSV file into the table of its name, or into `table`; columns are inferred."""

from __future__ import annotations

from airflow.sdk import DAG, Param, task

from lakeproof.airflow.dags import START
from lakeproof.airflow.failures import failing_at_once
from lakeproof.airflow.hooks import LakeproofHook


@task
def ingest(path: str, table: str) -> dict[str, int | str]:
    """Append the file to its table, which is made if it is not there."""
    from lakeproof.airflow.example_dags.csv_files import ingest_csv, table_name_of
    from lakeproof.model.names import TableName

    hook = LakeproofHook()
    with failing_at_once(), hook.session() as spark:
        name = TableName.parse(table or table_name_of(path)).resolve(
            hook.settings.default_catalog, hook.settings.default_namespace
        )
        return {"table": str(name), "rows_inserted": ingest_csv(spark, path, name)}


with DAG(
    "csv_auto_ingest",
    schedule=None,
    start_date=START,
    catchup=False,
    tags=["lakehouse", "iceberg", "ingestion"],
    params={"path": Param("", type="string"), "table": Param("", type="string")},
    default_args={"owner": "data-engineering"},
    doc_md=__doc__,
) as dag:
    ingest("{{ params.path }}", "{{ params.table }}")
