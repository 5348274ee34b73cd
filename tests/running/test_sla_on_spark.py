"""Promises of service on Spark: each has data that keeps it and data that breaks it."""

from __future__ import annotations

import json
import random
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest

from lakeproof import QualityCheck, run_checks, split
from lakeproof.config import Config, TableSettings

ORDERS = "iceberg.sla.orders"
DRAWN = "iceberg.sla.drawn"
NOW = datetime(2026, 1, 15, 17, 0, tzinfo=UTC)
CONFIG = Config(tables={name: TableSettings(key=("id",)) for name in (ORDERS, DRAWN)})
ZONES = ["UTC", "America/St_Johns"]

ROWS = """
SELECT * FROM VALUES
  (1, DATE'2023-01-14', TIMESTAMP'2026-01-15 15:59:59.999999Z',
    TIMESTAMP'2026-01-15 16:00:00Z', TIMESTAMP_NTZ'2026-01-10 00:00:00'),
  (2, DATE'2023-01-15', TIMESTAMP'2026-01-12 10:00:00Z',
    TIMESTAMP'2026-01-12 14:00:00.000001Z', TIMESTAMP_NTZ'2026-01-11 00:00:00'),
  (3, DATE'2026-01-14', TIMESTAMP'2026-01-12 10:00:00Z',
    TIMESTAMP'2026-01-12 09:00:00Z', TIMESTAMP_NTZ'2026-01-11 00:00:00'),
  (4, NULL, NULL, TIMESTAMP'2026-01-12 09:00:00Z', TIMESTAMP_NTZ'2026-01-13 00:00:00.5'),
  (5, DATE'2026-01-14', TIMESTAMP'2026-01-12 10:00:00Z', NULL, NULL)
AS t(id, day, sent_at, loaded_at, local_at)
"""


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.sla")
    spark.sql(f"CREATE OR REPLACE TABLE {ORDERS} USING iceberg AS {ROWS}")


@pytest.fixture(params=ZONES)
def session_zone(spark, request):
    """Nothing may depend on the zone that a session happens to have."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


ASKED = [
    ("kept", "retention", "day", {"max_age": "3y"}, "failed", {1}),
    ("kept_longer", "retention", "day", {"max_age": "P3Y1D"}, "passed", set()),
    ("kept_hours", "retention", "sent_at", {"max_age": "3d 7h"}, "passed", set()),
    ("kept_less", "retention", "sent_at", {"max_age": "PT78H59M"}, "failed", {2, 3, 5}),
    ("kept_local", "retention", "local_at", {"max_age": "4d 17h"}, "failed", {1}),
    ("late", "delay", ["sent_at", "loaded_at"], {"max_delay": "4h"}, "failed", {2}),
    ("in_time", "delay", ["sent_at", "loaded_at"], {"max_delay": "PT4H0.000001S"}, "passed", set()),
    ("mixed", "delay", ["day", "loaded_at"], {"max_delay": "36mo"}, "failed", {1}),
    ("gaps", "max_gap", "local_at", {"max_gap": "1d"}, "failed", {4}),
    ("no_gaps", "max_gap", "local_at", {"max_gap": "PT48H0.5S"}, "passed", set()),
    ("day_gaps", "max_gap", "day", {"max_gap": "P2Y11M"}, "failed", {3}),
    ("no_day_gaps", "max_gap", "day", {"max_gap": "3y"}, "passed", set()),
    ("scoped_gaps", "max_gap", "local_at", {"max_gap": "1d"}, "passed", set()),
    ("there", "available_by", "sent_at", {"time": "09:00-08:00"}, "passed", set()),
    ("not_there", "available_by", "day", {"time": "09:00-08:00"}, "failed", set()),
    ("fresh", "freshness", "sent_at", {"max_age": "1mo"}, "passed", set()),
    ("begun", "service_period", None, {"starts_at": "2022-05-12"}, "passed", set()),
    ("to_come", "service_period", None, {"starts_at": "2026-05-12"}, "skipped", set()),
    ("over", "service_period", None, {"ends_at": "2026-01-14"}, "failed", set()),
]


def checks():
    return [
        QualityCheck(
            name,
            check,
            ORDERS,
            column,
            params,
            filter="id <> 4 -- late" if name == "scoped_gaps" else None,
        )
        for name, check, column, params, _, _ in ASKED
    ]


def test_each_promise_finds_exactly_the_rows_that_break_it(spark, session_zone):
    outcome = run_checks(spark, checks(), config=CONFIG, clock=lambda: NOW)
    found = {name: set() for name, *_ in ASKED}
    for hit in outcome.violations().collect():
        for name in hit["rules"]:
            found[name].add(int(json.loads(hit["violation_key"])["id"][1]))
    statuses = {result.check_name: result.status.value for result in outcome.results}
    assert statuses == {name: status for name, *_, status, _ in ASKED}
    # Rows 3 and 5 share the moment that ends a gap of days: the first by its key is listed.
    assert found == {name: bad for name, *_, bad in ASKED}


def test_what_they_say_names_the_limit(spark):
    outcome = run_checks(spark, checks(), config=CONFIG, clock=lambda: NOW)
    told = {result.check_name: result.details for result in outcome.results}
    assert told["kept"] == "1 of 5 rows have day more than 3y ago"
    assert told["late"] == "1 of 5 rows have a delay of more than 4h between sent_at,loaded_at"
    assert told["gaps"] == "1 gap of more than 1d in local_at, 5 rows"
    assert told["not_there"].startswith("newest 2026-01-14, 1 day late; newest >= 2026-01-15")
    assert told["to_come"] == "not in service before 2026-05-12, in 116 days"


def test_rows_are_split_by_the_promises_that_judge_rows(spark):
    by_row = [one for one in checks() if one.name in {"kept", "late", "gaps"}]
    good, bad = split(spark.table(ORDERS), by_row, config=CONFIG, clock=lambda: NOW)
    assert {row["id"] for row in good.collect()} == {3, 5}
    assert {(row["id"], *row["_lakeproof_rules"]) for row in bad.collect()} == {
        (1, "kept"),
        (2, "late"),
        (4, "gaps"),
    }


# --------------------------------------------------------------------- months against an oracle


def months_later(moment: datetime, months: int) -> datetime:
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def test_months_between_moments_are_those_of_the_calendar_in_utc(spark, session_zone):
    chance = random.Random(7)  # noqa: S311 - arranges test data
    edges = [datetime(year, month, monthrange(year, month)[1], 23, 30, tzinfo=UTC)
             for year in (1968, 1969, 1970, 2023, 2024) for month in range(1, 13)]  # fmt: skip
    rows = []
    for number, start in enumerate(edges):
        nudge = timedelta(microseconds=chance.choice([-1, 0, 1]))
        rows.append((number, start, months_later(start, 1) + timedelta(hours=2) + nudge))
    values = ", ".join(
        f"({number}, TIMESTAMP'{start.isoformat()}', TIMESTAMP'{end.isoformat()}')"
        for number, start, end in rows
    )
    spark.sql(
        f"CREATE OR REPLACE TABLE {DRAWN} USING iceberg AS SELECT * FROM VALUES {values} "
        "AS t(id, sent_at, loaded_at)"
    )
    asked = [
        QualityCheck("late", "delay", DRAWN, ["sent_at", "loaded_at"], {"max_delay": "P1MT2H"}),
        QualityCheck("gaps", "max_gap", DRAWN, "sent_at", {"max_gap": "1mo"}),
    ]
    outcome = run_checks(spark, asked, config=CONFIG, clock=lambda: NOW)
    late, gaps = outcome.results
    limit = timedelta(hours=2)
    assert late.failing_rows == sum(end > months_later(start, 1) + limit for _, start, end in rows)
    starts = sorted(start for _, start, _ in rows)
    pairs = pairwise(starts)
    assert gaps.failing_rows == sum(after > months_later(before, 1) for before, after in pairs)
    assert gaps.failing_rows > 1
    assert date(1969, 12, 31) in {start.date() for start in starts}  # before 1970 too
