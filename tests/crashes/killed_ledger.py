"""A pipeline that keeps books; as a script, a Connect client that dies at a point on its way."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from accounting.small_runs import Flow
from lakeproof import faults
from lakeproof.accounting.ledger import AccountingLedger
from lakeproof.accounting.thresholds import ErrorThresholds
from spark_settings import for_few_records

SCHEMA = "id BIGINT, day STRING, price INT"
LINES = (
    '{"id":1,"day":"mon","price":5}',
    '{"id":2,"day":"mon","price":-5}',
    '{"id":3,"day":"tue","price":7}',
    '{"id":4,"day":null,"price":1}',
    '{"id":5,"day":"tue"',
    '{"id":6,"day":"tue","price":null}',
)
COUNTS = {"AGGREGATED": 2, "FILTERED": 2, "ERROR": 2}


def write_input(folder: Path) -> str:
    folder.mkdir()
    (folder / "orders.json").write_text("\n".join(LINES), encoding="utf-8")
    return str(folder)


def run(spark, dataset: str, directory: str, fate: str = "keep"):
    """The whole pipeline.

    To "lose" a record fails the run, and so do its two errors at a "breach"; "whole" families and
    groups are written with each of their members.
    """
    terms = {"thresholds": ErrorThresholds(max_errors=1, early_rows=0)} if fate == "breach" else {}
    ledger = AccountingLedger(
        "the-run", dataset, directory, spark, input_format="json", schema=SCHEMA, **terms
    )
    ledger.initialize_input("id")
    frame = ledger.input_frame()
    if fate == "lose":
        frame = frame.where("id <> 3 OR id IS NULL")
    flow = Flow(ledger, frame).demand("day IS NOT NULL").where("price > 0")
    if fate == "whole":
        twice = flow.frame.selectExpr("*", "array(price, price) AS prices")
        Flow(ledger, twice).explode("prices").group("day", lineage="FULL")
    else:
        flow.group("day")
    return ledger.finish()


class DyingAt:
    """Kills this process when a point is reached for the given time."""

    def __init__(self, time: int) -> None:
        self.left = time

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def main(address: str, dataset: str, directory: str, point: str, time: str, fate: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    with for_few_records(spark), faults.armed(point, DyingAt(int(time))):
        run(spark, dataset, directory, fate)


if __name__ == "__main__":
    main(*sys.argv[1:])
