"""A table of a hundred thousand files is decided on the executors."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path

import pytest

from lakeproof import QualityCheck, run_checks

FILES = 100_000
TABLE = "spark_catalog.files.many"


@pytest.fixture
def many_files(spark):
    """Only metadata: no such file is there, so that who opens one fails."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.files")
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    spark.sql(f"CREATE TABLE {TABLE} (id BIGINT, amount INT) USING delta")
    location = spark.sql(f"DESCRIBE DETAIL {TABLE}").collect()[0]["location"]
    log = Path(location.removeprefix("file:"), "_delta_log", f"{1:020d}.json")
    with log.open("w", encoding="utf-8") as lines:
        lines.write(json.dumps({"commitInfo": {"timestamp": 0, "operation": "WRITE"}}) + "\n")
        for number in range(FILES):
            stats = {
                "numRecords": 10,
                "minValues": {"id": number * 10, "amount": 1},
                "maxValues": {"id": number * 10 + 9, "amount": 99},
                "nullCount": {"id": 0, "amount": 0},
            }
            add = {
                "path": f"part-{number:06d}.parquet",
                "partitionValues": {},
                "size": 1000,
                "modificationTime": 0,
                "dataChange": True,
                "stats": json.dumps(stats),
            }
            lines.write(json.dumps({"add": add}) + "\n")
    return TABLE


@pytest.mark.slow
def test_a_hundred_thousand_files_are_decided_in_a_minute(spark, many_files):
    checks = [
        QualityCheck("there", "not_null", many_files, "id"),
        QualityCheck("known", "range", many_files, "amount", {"min_value": 0, "max_value": 100}),
        QualityCheck("all", "row_count_range", many_files, params={"min_count": FILES * 10}),
        QualityCheck(
            "last", "aggregate", many_files, "id", {"function": "max", "max_value": 10**7}
        ),
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    results = run_checks(spark, checks).results
    seconds = time.monotonic() - started
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert [(one.status, one.method, one.total_rows) for one in results] == [
        ("passed", "statistics", FILES * 10)
    ] * 4
    assert results[-1].measure == FILES * 10 - 1
    assert seconds < 60
    assert grown_kb < 50_000
