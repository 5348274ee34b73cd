"""Runs that read no more files than the statistics leave open."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql.functions import expr

from lakeproof import QualityCheck, load_contract, plan, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.running import verifying
from oracle.kept_state import store_in

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILES, FEW_FILES, ROWS = 50, 16, 2_000
PREFIXES = {"delta": "spark_catalog.files", "iceberg": "iceberg.files"}
ROWS_SQL = (
    "id",
    "id + 1 AS place",
    "date_add(DATE'2025-01-01', CAST(id / 100 AS INT)) AS day",
    "CAST(id % 90 AS INT) AS amount",
    "concat('name ', id) AS name",
)


@pytest.fixture(scope="module")
def spark(spark):
    for prefix in PREFIXES.values():
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {prefix}")
    return spark


@pytest.fixture(params=["delta", "iceberg"])
def table(request, spark):
    """Fifty files by ranges of id; row 707 alone has a negative amount if `bad` is asked for."""
    name = f"{PREFIXES[request.param]}.t_{request.node.originalname[:40]}"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    rows = spark.range(ROWS).selectExpr(*ROWS_SQL)
    if "one_file" in request.node.originalname:
        rows = rows.withColumn("amount", expr("if(id = 707, -1, amount)"))
    ranged = rows.repartitionByRange(FILES, "id")
    ranged.write.format(request.param).saveAsTable(name)
    return name


def suite(table: str) -> list[QualityCheck]:
    return [
        QualityCheck("there", "not_null", table, "day"),
        QualityCheck("known", "range", table, "amount", {"min_value": 0, "max_value": 89}),
        QualityCheck("counted", "positive", table, "place"),
        QualityCheck("high", "positive", table, "id", filter="id > 5"),
        QualityCheck("past", "no_future_dates", table, "day"),
        QualityCheck("rows", "row_count_range", table, params={"min_count": ROWS}),
        QualityCheck(
            "newest", "aggregate", table, "day", {"function": "max", "max_value": "2025-01-20"}
        ),
    ]


CONTRACT = {
    "apiVersion": "v3.2.0",
    "kind": "DataContract",
    "id": "days",
    "version": "1.0.0",
    "status": "active",
    "schema": [
        {
            "name": "days",
            "quality": [{"metric": "rowCount", "mustBe": ROWS}],
            "properties": [
                {"name": "day", "logicalType": "date", "required": True},
                {
                    "name": "amount",
                    "logicalType": "integer",
                    "logicalTypeOptions": {"minimum": 0, "maximum": 89},
                    "quality": [{"metric": "nullValues", "mustBe": 0}],
                },
            ],
        }
    ],
}


def data_files(spark, table: str) -> dict[Path, set[int]]:
    """Each data file with the ids in it."""
    rows = spark.sql(f"SELECT input_file_name() AS file, id FROM {table}").collect()
    found: dict[Path, set[int]] = {}
    for row in rows:
        found.setdefault(Path(row["file"].removeprefix("file:").replace("//", "/")), set()).add(
            row["id"]
        )
    return found


def by_name(outcome):
    return {result.check_name: result for result in outcome.results}


def test_rules_that_statistics_decide_read_no_file(spark, table):
    planned = str(plan(spark, suite(table)))
    undecided = "high"  # its filter holds for a part of the first file
    assert f"proven from statistics: 6 rules, 0 of {FILES} files read; scan: 1 rule, 1 " in planned
    decided = [check for check in suite(table) if check.name != undecided]
    assert "no scan: the file statistics decide" in str(plan(spark, decided))
    for file in data_files(spark, table):
        file.unlink()

    found = by_name(run_checks(spark, decided, clock=lambda: NOW))
    for result in found.values():
        assert (result.status, result.total_rows) == ("passed", ROWS)
        assert (result.method, result.files_read) == ("statistics", 0)
    assert found["rows"].measure == ROWS
    assert found["newest"].details.startswith("2025-01-20")

    implied = run_checks(spark, load_contract(CONTRACT), tables={"days": table}, clock=lambda: NOW)
    assert len(implied.results) > 4
    assert {(one.status, one.method) for one in implied.results} == {("passed", "statistics")}

    # Counts and the newest day Spark takes from metadata itself.
    over_rows = [check for check in decided if check.name in {"there", "known", "counted", "past"}]
    scanned = run_checks(spark, over_rows, method="scan", clock=lambda: NOW)
    assert {result.status for result in scanned.results} == {"error"}
    settings = Config(tables={table: TableSettings(statistics=False)})
    unread = run_checks(spark, over_rows, config=settings, clock=lambda: NOW)
    assert {result.status for result in unread.results} == {"error"}


def test_of_a_rule_that_one_file_violates_that_file_is_read(spark, table):
    files = data_files(spark, table)
    (needed,) = [file for file, ids in files.items() if 707 in ids]
    for file in files:
        if file != needed:
            file.unlink()
    checks = [check for check in suite(table) if check.name != "high"]
    outcome = run_checks(spark, checks, keys={table: ["id"]}, clock=lambda: NOW)
    found = by_name(outcome)
    bad = found.pop("known")
    assert (bad.status, bad.failing_rows, bad.total_rows) == ("failed", 1, ROWS)
    assert (bad.method, bad.files_read) == ("mixed", 1)
    assert bad.sample_keys == ('{"id":["i","707"]}',)
    assert {result.method for result in found.values()} == {"statistics"}
    assert [row["violation_key"] for row in outcome.violations().collect()] == [*bad.sample_keys]


def test_a_small_table_is_read_at_once_unless_statistics_are_asked_for(spark):
    name = f"{PREFIXES['delta']}.small"
    spark.range(5).selectExpr(*ROWS_SQL).write.format("delta").mode("overwrite").saveAsTable(name)
    check = [QualityCheck("there", "not_null", name, "day")]
    (read,) = run_checks(spark, check).results
    assert (read.method, read.files_read) == ("scan", None)
    (asked,) = run_checks(spark, check, method="statistics").results
    assert (asked.method, asked.files_read) == ("statistics", 0)


@pytest.mark.slow
def test_a_first_run_that_follows_changes_takes_what_is_proven(spark):
    name = f"{PREFIXES['delta']}.followed"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    rows = spark.range(ROWS).selectExpr(*ROWS_SQL).repartitionByRange(FEW_FILES, "id")
    rows.write.format("delta").option("delta.enableChangeDataFeed", "true").saveAsTable(name)
    checks = [
        QualityCheck("there", "not_null", name, "day"),
        QualityCheck("small", "range", name, "amount", {"max_value": 88}),
        QualityCheck("once", "uniqueness", name, "id"),
    ]
    options = {"store": store_in("delta", "files_followed"), "keys": {name: ["id"]}}
    large = sum(number % 90 > 88 for number in range(ROWS))

    first = by_name(run_checks(spark, checks, **options))
    assert {one.mode for one in first.values()} == {"cdf"}
    assert [first[key].method for key in ("there", "small", "once")] == ["statistics", "", ""]
    assert [first[key].failing_rows for key in ("there", "small", "once")] == [0, large, 0]

    spark.sql(f"INSERT INTO {name} SELECT 5L, 6L, CAST(NULL AS DATE), 89, 'again'")
    second = by_name(run_checks(spark, checks, **options))
    for key, failing in (("there", 1), ("small", large + 1), ("once", 1)):
        result = second[key]
        assert result.mode_reason.startswith("changes after"), key
        assert (result.failing_rows, result.total_rows) == (failing, ROWS + 1), key
        assert result.new_violations == 1, key


@pytest.mark.parametrize("table_format", PREFIXES)
def test_statistics_that_lie_are_found_and_named(spark, table_format, monkeypatch):
    monkeypatch.setattr(verifying, "FILES_AT_ONCE", 12)
    name = f"{PREFIXES[table_format]}.lying"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    rows = spark.range(ROWS).selectExpr(*ROWS_SQL).repartitionByRange(FEW_FILES, "id")
    rows.write.format(table_format).saveAsTable(name)
    lying = {"delta": _understate_in_log, "iceberg": _understate_in_manifest}[table_format](
        spark, name
    )
    check = [QualityCheck("known", "range", name, "amount", {"min_value": 0, "max_value": 50})]
    wide = [replace(check[0], params={"min_value": 0, "max_value": 95})]
    newest = [
        QualityCheck("newest", "aggregate", name, "id", {"function": "max", "max_value": ROWS})
    ]

    (fooled,) = run_checks(spark, check, keys={name: ["id"]}).results
    assert 0 < fooled.failing_rows < sum(number % 90 > 50 for number in range(ROWS))
    (sound,) = run_checks(spark, wide, verify_statistics=1.0).results
    assert (sound.status, sound.method) == ("passed", "statistics")
    with monkeypatch.context() as broken:
        broken.setattr(SparkEngine, "chosen_files", _cannot_be_read)
        (unsure,) = run_checks(spark, wide, verify_statistics=1.0).results
    assert unsure.status == "error"
    assert f"the statistics of {name} could not be verified: OSError" in unsure.details
    for lied_about in (check, newest):
        (told,) = run_checks(spark, lied_about, keys={name: ["id"]}, verify_statistics=1.0).results
        assert told.status == "error"
        assert f"the statistics of {lying} are not those of its rows" in told.details


def _cannot_be_read(*_, **__):
    raise OSError("no such file")


def _understate_in_log(spark, table: str) -> str:
    """Edit the log: one file says that its ids and amounts are smaller than they are."""
    location = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    (log,) = Path(location.removeprefix("file:"), "_delta_log").glob("*0.json")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    adds = [line["add"] for line in lines if "add" in line]
    stats = {add["path"]: json.loads(add["stats"]) for add in adds}
    victim = max(adds, key=lambda add: stats[add["path"]]["maxValues"]["id"])
    told = stats[victim["path"]]
    told["maxValues"].update(id=told["minValues"]["id"] + 1, amount=1)
    victim["stats"] = json.dumps(told)
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    return victim["path"]


def _understate_in_manifest(spark, table: str) -> str:
    """Commit the newest file anew, as a writer would that has its greatest values wrong."""
    newest = spark.sql(
        "SELECT file_path, readable_metrics.id.lower_bound AS low "
        f"FROM {table}.files ORDER BY low DESC LIMIT 1"
    ).collect()[0]
    java = spark._jvm
    stored = java.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    value = java.org.apache.iceberg.expressions.Expressions.lit
    with closing(stored.newScan().includeColumnStats().planFiles()) as planned:
        tasks = planned.iterator()
        while (file := tasks.next().file()).location() != newest["file_path"]:
            pass
    highest = java.java.util.HashMap(file.upperBounds())
    for column, wrong in (("id", newest["low"] + 1), ("amount", 1)):
        field = stored.schema().findField(column)
        highest.put(field.fieldId(), value(wrong).to(field.type()).toByteBuffer())
    metrics = java.org.apache.iceberg.Metrics(
        file.recordCount(),
        file.columnSizes(),
        file.valueCounts(),
        file.nullValueCounts(),
        file.nanValueCounts(),
        file.lowerBounds(),
        highest,
    )
    copied = java.org.apache.iceberg.DataFiles.builder(stored.spec()).copy(file)
    lying = copied.withMetrics(metrics).build()
    stored.newOverwrite().deleteFile(file).addFile(lying).commit()
    spark.catalog.refreshTable(table)
    return newest["file_path"]
