"""A table of a hundred thousand files is decided on the executors."""

from __future__ import annotations

import json
import resource
import time
from contextlib import closing
from pathlib import Path

import pytest

from actions.executions import executions_after, newest_execution
from lakeproof import QualityCheck, run_checks

FILES, ROWS_PER_FILE = 100_000, 10
NAMES = {"delta": "spark_catalog.files.many", "iceberg": "iceberg.files.many"}
SECONDS_MAX = 60
RESULT_BYTES_MAX = 1_000_000
PYTHON_KB_MAX = 50_000
HEAP_KB_MAX = 100_000


@pytest.fixture(params=NAMES)
def many_files(request, spark):
    """A real file with ten rows, one with a bad row; of the others metadata only.

    Who opens one of those fails.
    """
    name = NAMES[request.param]
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name.rpartition('.')[0]}")
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT, amount INT) USING {request.param}")
    spark.sql(f"INSERT INTO {name} SELECT id, 1 FROM range(0, {ROWS_PER_FILE}, 1, 1)")
    {"delta": _log_many, "iceberg": _list_many}[request.param](spark, name)
    spark.sql(f"INSERT INTO {name} VALUES (-1, -1)")
    return name


def _log_many(spark, table: str) -> None:
    location = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    log = Path(location.removeprefix("file:"), "_delta_log", f"{2:020d}.json")
    stats = {
        "numRecords": ROWS_PER_FILE,
        "minValues": {"id": 0, "amount": 1},
        "maxValues": {"id": ROWS_PER_FILE - 1, "amount": 1},
        "nullCount": {"id": 0, "amount": 0},
    }
    add = {
        "partitionValues": {},
        "size": 1000,
        "modificationTime": 0,
        "dataChange": True,
        "stats": json.dumps(stats),
    }
    with log.open("w", encoding="utf-8") as lines:
        lines.write(json.dumps({"commitInfo": {"timestamp": 0, "operation": "WRITE"}}) + "\n")
        for number in range(FILES - 2):
            lines.write(json.dumps({"add": {"path": f"part-{number:06d}.parquet", **add}}) + "\n")


def _list_many(spark, table: str) -> None:
    """Commit the table's one file again under many names."""
    java = spark._jvm
    stored = java.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    with closing(stored.newScan().includeColumnStats().planFiles()) as planned:
        real = planned.iterator().next().file()
    copy = java.org.apache.iceberg.DataFiles.builder(stored.spec()).copy(real)
    folder, append = stored.location(), stored.newAppend()
    for number in range(FILES - 2):
        copy.withPath(f"{folder}/data/part-{number:06d}.parquet")
        append.appendFile(copy.build())
    append.commit()
    spark.catalog.refreshTable(table)


def _result_bytes(spark, before: int) -> int:
    """What tasks have sent to the driver since that execution."""
    store = spark.sparkContext._jsc.sc().statusStore()
    found = 0
    for run in executions_after(spark, before):
        stages = run.stages().iterator()
        while stages.hasNext():
            found += store.lastStageAttempt(int(stages.next())).resultSize()
    return found


def _heap_kb(spark) -> int:
    """What the driver's JVM keeps; the executors of a local session are in it."""
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    runtime.gc()
    return (runtime.totalMemory() - runtime.freeMemory()) // 1024


def _measured(spark, checks):
    """The results by name, after a look at what they took.

    A peak of the JVM would be that of its executors, which may hold what they read.
    """
    heap_kb = _heap_kb(spark)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = newest_execution(spark)
    started = time.monotonic()
    results = run_checks(spark, checks).results
    seconds = time.monotonic() - started
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_kb
    sent_bytes = _result_bytes(spark, before)
    kept_kb = _heap_kb(spark) - heap_kb
    told = (
        f"{seconds:.1f} s, {sent_bytes:,} bytes to the driver, {grown_kb:,} kB more of Python, "
        f"{kept_kb:,} kB more of the JVM after it"
    )
    print(told)  # noqa: T201 (shown with -s)
    assert seconds < SECONDS_MAX
    assert sent_bytes < RESULT_BYTES_MAX
    assert grown_kb < PYTHON_KB_MAX
    assert kept_kb < HEAP_KB_MAX
    return {result.check_name: result for result in results}


@pytest.mark.slow
def test_a_hundred_thousand_files_are_decided_in_a_minute(spark, many_files):
    rows = (FILES - 1) * ROWS_PER_FILE + 1
    last = {"function": "max", "max_value": 100}
    proven = [
        QualityCheck("there", "not_null", many_files, "id"),
        QualityCheck("known", "range", many_files, "amount", {"min_value": -1, "max_value": 100}),
        QualityCheck("all", "row_count_range", many_files, params={"min_count": rows}),
        QualityCheck("last", "aggregate", many_files, "id", last),
    ]
    found = _measured(spark, proven)
    for result in found.values():
        assert (result.status, result.method, result.total_rows) == ("passed", "statistics", rows)
    assert found["last"].measure == ROWS_PER_FILE - 1

    above = QualityCheck("above", "range", many_files, "amount", {"min_value": 0})
    bad = _measured(spark, [*proven, above])["above"]
    assert (bad.status, bad.failing_rows, bad.total_rows) == ("failed", 1, rows)
    assert (bad.method, bad.files_read) == ("mixed", 1)
