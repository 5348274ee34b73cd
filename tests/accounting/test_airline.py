"""The example: every booking is accounted for, in the numbers that were planted."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import Decimal
from hashlib import sha256

import pytest
from airline import FULL, SMALL, example, finished_run
from pyarrow import parquet

import lakeproof

generate = example("generate")

FULL_SHA256 = "667c2369c679b6235db17d94b8cabe1c615d9b094e7a00dd12d2370085fefb0e"


def planted(records):
    """What the lines say to somebody who reads them one by one: fates, and revenue by day."""
    fates, revenue, flights = Counter(), defaultdict(Decimal), Counter()
    for line in generate.lines(records):
        try:
            booking = json.loads(line, parse_float=Decimal)
        except ValueError:
            fates["parse"] += 1
            continue
        fate = fate_of(booking)
        fates[fate] += 1
        if fate == "AGGREGATED":
            revenue[booking["flight_date"]] += booking["ticket_price"]
            flights[booking["flight_date"]] += 1
    return fates, revenue, flights


def fate_of(booking):
    price = booking["ticket_price"]
    if isinstance(price, str):
        return "parse"
    good = (
        booking["airline"] in generate.AIRLINES
        and booking["passengers"] > 0
        and booking["origin"] != booking["destination"]
        and booking["arrival_time"] > booking["departure_time"]
    )
    if not good:
        return "validation"
    if price is None:
        return "PREDICATE_NULL"
    return "AGGREGATED" if price > 0 else "PREDICATE_FALSE"


def test_the_generator_plants_the_numbers_that_it_says():
    assert generate.shares_of(FULL) == generate.Shares(345_000, 4_000, 150, 510)
    fates, revenue, _ = planted(SMALL)
    shares = generate.shares_of(SMALL)
    assert fates["AGGREGATED"] == shares.aggregated
    assert fates["PREDICATE_NULL"] + fates["PREDICATE_FALSE"] == shares.filtered
    assert (fates["parse"], fates["validation"]) == (
        shares.parse_errors,
        shares.validation_errors,
    )
    assert fates["PREDICATE_NULL"] > 0
    assert len(revenue) == 31


@pytest.fixture(params=[SMALL, pytest.param(FULL, marks=pytest.mark.slow)])
def airline(request, spark, tmp_path_factory):
    """The example's run, as the user starts it, over few records or all."""
    return finished_run(spark, tmp_path_factory.getbasetemp(), "COMMIT", request.param)


def test_every_booking_of_the_example_is_accounted_for(spark, airline):
    ledger, records, directory = airline.ledger, airline.records, airline.directory
    shares = generate.shares_of(records)
    assert ledger.verification.accounting_balanced
    assert ledger.verification.input_count == ledger.verification.accounted_count == records
    assert ledger.verification.partition_counts == {
        "AGGREGATED": shares.aggregated,
        "FILTERED": shares.filtered,
        "ERROR": shares.parse_errors + shares.validation_errors,
    }
    assert directory.name.endswith("_baseline-test")
    assert lakeproof.load_ledger(directory) == ledger

    fates, revenue, flights = planted(records)
    daily = spark.read.parquet(str(airline.folder / "daily_revenue")).collect()
    assert {str(row.flight_date): row.total_revenue for row in daily} == revenue
    assert {str(row.flight_date): row.flight_count for row in daily} == flights
    filtered = parquet.read_table(
        directory / "adjoint" / "filtered_keys" / "positive_price_filter.parquet"
    )
    assert Counter(filtered["reason"].to_pylist()) == {
        reason: fates[reason] for reason in ("PREDICATE_NULL", "PREDICATE_FALSE")
    }
    errors = spark.read.json(f"{directory}/errors")
    assert {row[0]: row[1] for row in errors.groupBy("error_type").count().collect()} == {
        kind: fates[kind] for kind in ("parse", "validation")
    }


def test_the_verifier_agrees_with_the_example(airline):
    report = lakeproof.verify_ledger(airline.directory)
    assert (report.findings, report.not_checked) == ((), ())
    assert report.verified


@pytest.mark.slow  # six seconds; the smaller one is the same code
def test_the_dataset_is_the_same_bytes_everywhere():
    digest = sha256()
    for line in generate.lines(FULL):
        digest.update(f"{line}\n".encode())
    assert digest.hexdigest() == FULL_SHA256
