"""Daily revenue of an airline, with books that show where every booking went.

    .venv/bin/python examples/airline/run.py [--folder build/airline]

Reads what generate.py wrote. The pipeline is ordinary PySpark; the lines that keep the books are
those with `ledger` and `_with_adjoint`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as Spark's own documentation has it)

import lakeproof
from lakeproof import AccountingLedger, Ledger, Requirement

RUN_ID = "baseline-test"

# Declared, not inferred: a price that is no number is then an error of its record, and not a
# reason for Spark to read the column as text.
SCHEMA = """
    segment_id STRING, pnr STRING, airline STRING, flight_number STRING, flight_date DATE,
    origin STRING, destination STRING, departure_time TIMESTAMP_NTZ, arrival_time TIMESTAMP_NTZ,
    booked_at TIMESTAMP, cabin STRING, fare_basis STRING, ticket_price DECIMAL(10, 2),
    currency STRING, passengers INT, bags INT, channel STRING, loyalty_tier STRING,
    refundable BOOLEAN, seat STRING
"""

# The first one that is false, or that cannot be told because something is NULL, is the error of
# the record. Malformed lines need no rule of their own: they are errors of type `parse`.
RULES = (
    Requirement("known_airline", "airline IN ('AF', 'BA', 'IB', 'KL', 'LH', 'LX', 'OS', 'SK')"),
    Requirement("someone_flies", "passengers > 0"),
    Requirement("goes_somewhere", "origin <> destination"),
    Requirement("lands_after_departure", "arrival_time > departure_time"),
)


def run(spark: SparkSession, folder: Path, level: str = "COMMIT") -> Ledger | None:
    """One accounted run over the dataset in this folder; gives its ledger, or raises."""
    dataset = folder / "datasets" / "airline-clean"

    # Every run has a directory of its own, <MMDD_HHmmss>_<run_id>: books are written once.
    directory = lakeproof.new_run_directory(folder / "runs", RUN_ID)
    ledger = AccountingLedger(RUN_ID, dataset, directory, spark, schema=SCHEMA, level=level)

    # Lists and digests the files of the input and counts its keys. From here on the run reads
    # these files, and no others that appear meanwhile.
    ledger.initialize_input("segment_id")
    bookings = ledger.input_frame()

    # What cannot be read or breaks a rule goes to errors/, by type, with the reason.
    checked = lakeproof.errors_with_adjoint(bookings, RULES, ledger.adjoint("booking_rules"))
    ledger.add_result(checked)

    # What is not revenue is left out, and its keys are kept. A price of NULL is neither above
    # zero nor not above zero: it is left out too, with a reason of its own.
    priced = lakeproof.filter_with_adjoint(
        checked.output, F.col("ticket_price") > 0, config=ledger.adjoint("positive_price_filter")
    )
    ledger.add_result(priced)

    # Each day's row carries a commitment to the bookings that went into it.
    daily = lakeproof.group_by_with_adjoint(
        priced.output,
        ["flight_date"],
        [F.sum("ticket_price").alias("total_revenue"), F.count("*").alias("flight_count")],
        ledger.adjoint("daily_revenue_aggregation"),
    )
    ledger.add_result(daily)
    daily.output.write.mode("overwrite").parquet(str(folder / "daily_revenue"))

    # Reads everything again from storage, compares, writes ledger.json and says so. If a booking
    # were missing or counted twice, this would name it and raise AccountingFailureException.
    return ledger.finish()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path, default=Path("build/airline"))
    given = options.parse_args()
    spark = lakeproof.local_session(given.folder / "lakehouse")
    run(spark, given.folder)
    spark.stop()


if __name__ == "__main__":
    main()
