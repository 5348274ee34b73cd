"""Twenty suites of all shapes: the table is read as often as the plan says, and no more."""

from __future__ import annotations

import random

import pytest
from executions import counted_executions

import lakeproof
from lakeproof import QualityCheck, run_checks

TABLE = "iceberg.mixed.orders"
CUSTOMERS = "iceberg.mixed.customers"
REGIONS = "iceberg.mixed.regions"


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.mixed")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS SELECT id, CAST(id % 50 AS INT) AS c, "
        "CAST(id % 5 AS INT) AS r, concat('code-', id) AS code, CAST(id % 90 + 1 AS DOUBLE) AS a, "
        "array(CAST(id AS INT), 7) AS xs, DATE'2024-01-01' AS day FROM range(2000)"
    )
    for name, count in ((CUSTOMERS, 50), (REGIONS, 5)):
        spark.sql(
            f"CREATE OR REPLACE TABLE {name} USING iceberg AS "
            f"SELECT CAST(id AS INT) AS id FROM range({count})"
        )


def references(table: str) -> dict[str, object]:
    return {"references": table, "referenced_columns": "id"}


ROW_CHECKS = [
    QualityCheck("present", "not_null", TABLE, "code"),
    QualityCheck("above", "positive", TABLE, "a"),
    QualityCheck("elements", "positive", TABLE, "xs[]", filter="id > 0"),
    QualityCheck("shape", "matches_pattern", TABLE, "code", {"pattern": "^code-[0-9]+$"}),
    QualityCheck("length", "length_range", TABLE, "code", {"min_length": 6}),
    QualityCheck("pair", "column_pair", TABLE, ["r", "c"], {"operator": "<="}, filter="c > 4"),
    QualityCheck("holds", "row_expression", TABLE, params={"expression": "a > 0 OR id < 0"}),
    QualityCheck("past", "no_future_dates", TABLE, "day"),
    QualityCheck("rows", "row_count_range", TABLE, params={"min_count": 1}),
    QualityCheck("mean", "aggregate", TABLE, "a", {"function": "avg", "min_value": 1}),
    QualityCheck("share", "ratio", TABLE, params={"condition": "a > 0", "min_share": 1.0}),
    QualityCheck("columns", "schema", TABLE, params={"columns": ["id", "code"]}),
]
OWN_ACTION = [
    QualityCheck("customer", "foreign_key", TABLE, "c", references(CUSTOMERS)),
    QualityCheck("region", "foreign_key", TABLE, "r", references(REGIONS)),
    QualityCheck("id_key", "unique_key", TABLE, "id"),
    QualityCheck("code_key", "unique_key", TABLE, ["code", "r"], {"nulls": "forbid"}),
    QualityCheck("rising", "is_increasing", TABLE, "id", {"order_by": "id", "within": "r"}),
    QualityCheck(
        "listed",
        "accepted_values",
        TABLE,
        "c",
        {"accepted_table": CUSTOMERS, "accepted_column": "id"},
    ),
    QualityCheck("kinds", "aggregate", TABLE, "r", {"function": "distinct_count", "max_value": 5}),
    QualityCheck(
        "sql", "custom_sql", TABLE, params={"sql": f"SELECT id FROM {TABLE} WHERE length(code) < 0"}
    ),
]
COUNTED = {"rows", "columns"}
CHANCE = random.Random(4)  # noqa: S311 - the same suites in every run
SUITES = [
    [
        *CHANCE.sample(ROW_CHECKS, CHANCE.randint(0, len(ROW_CHECKS))),
        *CHANCE.sample(OWN_ACTION, CHANCE.randint(1, 4)),
    ]
    for _ in range(20)
]


@pytest.mark.parametrize(
    "checks",
    [
        pytest.param(suite, marks=pytest.mark.slow if number % 4 else ())
        for number, suite in enumerate(SUITES)
    ],
    ids=lambda suite: f"{len(suite)}-checks",
)
def test_a_suite_reads_its_table_as_often_as_its_plan_says(spark, checks):
    planned = lakeproof.plan(spark, checks)
    assert not planned.rejected, planned.rejected
    own = sum(check in OWN_ACTION for check in checks)
    assert planned.tables[0].actions == 1 + own
    with counted_executions(spark, TABLE) as counted:
        outcome = run_checks(spark, checks)
    assert outcome.ok, outcome.gate.reasons
    # A scan that only has to count the rows is answered by the table's metadata.
    needs_rows = any(check in ROW_CHECKS and check.name not in COUNTED for check in checks)
    assert len(counted.reading) == own + needs_rows, counted.reading


def test_adding_row_checks_adds_no_action(spark):
    for count in range(1, len(ROW_CHECKS) + 1):
        assert lakeproof.plan(spark, ROW_CHECKS[:count]).tables[0].actions == 1


def test_each_foreign_key_adds_one_action(spark):
    pairs = OWN_ACTION[:2]
    assert [lakeproof.plan(spark, pairs[:count]).tables[0].actions for count in (1, 2)] == [2, 3]
