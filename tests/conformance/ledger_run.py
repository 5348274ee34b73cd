"""A pipeline with every helper, over every kind of input; as a script, through Spark Connect."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from accounting.small_runs import SCHEMA, Flow
from lakeproof.accounting.ledger import AccountingLedger
from lakeproof.errors import AccountingFailureException, LedgerError
from spark_settings import for_few_records

LINES = (
    '{"id":"a","n":1,"tags":["x","y"]}',
    '{"id":"b","n":0,"tags":["x"]}',
    '{"id":"c","n":null,"tags":["x"]}',
    '{"id":"d","n":2,"tags":[]}',
    '{"id":"e","n":3,"tags":["y"]}',
    '{"n":4}',
    '{"id":"f"',
)
TABLE = "iceberg.ledgers.records"


def write_input(spark, folder: Path, name: str) -> dict[str, object]:
    """The records in one form, and what a ledger must be told of it.

    Only the lines of JSON hold records that cannot be read.
    """
    place = str(folder / name)
    if name == "json":
        return {"input_dataset_path": lines_in(folder), "input_format": "json", "schema": SCHEMA}
    rows = spark.read.schema(SCHEMA).json(lines_in(folder)).where("id IS NOT NULL")
    if name == "iceberg":
        spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.ledgers")
        rows.writeTo(TABLE).using("iceberg").createOrReplace()
        return {"input_dataset_path": TABLE}
    if name == "csv":
        rows.drop("tags").write.option("header", "true").csv(place)
        options = {"schema": "id STRING, n INT", "options": {"header": "true"}}
        return {"input_dataset_path": place, "input_format": "csv", **options}
    if name == "frame":
        rows.write.parquet(place)
        return {"input_dataset_path": spark.read.parquet(place)}
    rows.write.format(name).save(place)
    return {"input_dataset_path": place, "input_format": name}


def lines_in(folder: Path) -> str:
    place = folder / "lines"
    place.mkdir(exist_ok=True)
    (place / "records.json").write_text("\n".join(LINES), encoding="utf-8")
    return str(place)


def facts_of(spark, folder: Path, name: str) -> dict[str, object]:
    """Everything of the records that their form allows, to the ledger."""
    ledger = AccountingLedger(
        "a-run",
        output_dir=folder / f"run_{name}",
        spark=spark,
        lineage="FULL" if name == "iceberg" else "KEY_DERIVABLE",
        **write_input(spark, folder, name),
    )
    ledger.initialize_input("id")
    flow = Flow(ledger).demand("n IS NOT NULL").where("n > 0")
    if "tags" in flow.frame.columns:
        flow = flow.explode()
    flow.group("n")
    document = ledger.finish()
    return {
        "counts": dict(document.verification.partition_counts),
        "null_keys": document.input_accounting.null_keys,
        "rows": [
            [part.name, part.record_count, part.rows]
            for part in document.output_accounting.partitions
        ],
    }


def loss_of(spark, folder: Path) -> dict[str, object]:
    """A record that is lost on the way, after a step that cannot be repeated was refused."""
    ledger = AccountingLedger(
        "lossy", output_dir=folder / "run_lost", spark=spark, **write_input(spark, folder, "json")
    )
    ledger.initialize_input("id")
    found: dict[str, object] = {}
    frame = ledger.input_frame()
    try:
        Flow(ledger).where("rand() > 0.5")
    except LedgerError as refusal:
        found["refused"] = str(refusal)
    Flow(ledger, frame.where("id <> 'b' OR id IS NULL")).group()
    try:
        ledger.finish()
    except AccountingFailureException as failure:
        found["missing"] = [failure.discrepancy.missing_count, *failure.discrepancy.missing_keys]
    found["files"] = sorted(file.name for file in (folder / "run_lost").iterdir())
    return found


def main(address: str, folder: str, *names: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    with for_few_records(spark):
        found = {name: facts_of(spark, Path(folder), name) for name in names}
        found["lost"] = loss_of(spark, Path(folder))
    print(json.dumps(found))  # noqa: T201 (the test reads it)


if __name__ == "__main__":
    main(*sys.argv[1:])
