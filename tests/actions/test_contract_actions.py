"""A contract of forty rules: its table is read once, and once more per key set, query and key."""

from __future__ import annotations

import copy

import pytest
from executions import counted_executions

import lakeproof

TABLE = "iceberg.contracted.orders"
CUSTOMERS = "iceberg.contracted.customers"
TABLES = {"orders": TABLE, "customers": CUSTOMERS}
KEY_SETS = QUERIES = 3


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.contracted")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS SELECT id AS order_id, "
        "CAST(id % 50 AS INT) AS customer_no, CAST(id DIV 50 AS INT) AS line, "
        "concat('A-', lpad(CAST(id AS STRING), 6, '0')) AS code, "
        "CAST(id % 90 + 1 AS DECIMAL(10, 2)) AS amount, "
        "element_at(array('new', 'paid', 'sent'), CAST(id % 3 + 1 AS INT)) AS state, "
        "date_add(DATE'2024-01-01', CAST(id % 300 AS INT)) AS day FROM range(2000)"
    )
    spark.sql(
        f"CREATE OR REPLACE TABLE {CUSTOMERS} USING iceberg AS "
        "SELECT CAST(id AS INT) AS cid FROM range(50)"
    )


def metric(name: str, **more: object) -> dict[str, object]:
    return {"metric": name, "mustBe": 0, **more}


def query(condition: str) -> dict[str, object]:
    text = f"SELECT count(*) FROM ${{table}} WHERE {condition}"
    return {"type": "sql", "query": text, "mustBe": 0}


def column(name: str, *quality: dict[str, object], **more: object) -> dict[str, object]:
    """A property with three rules at least: it is required, it holds no NULL and nothing empty."""
    usual = [metric("nullValues"), metric("missingValues", arguments={"missingValues": ["", "-"]})]
    return {"name": name, "required": True, "quality": [*usual, *quality], **more}


CONTRACT: dict[str, object] = {
    "apiVersion": "v3.2.0",
    "kind": "DataContract",
    "id": "forty",
    "version": "1.0.0",
    "status": "active",
    "schema": [
        {
            "name": "orders",
            "quality": [
                metric("duplicateValues", arguments={"properties": ["customer", "line"]}),
                metric(
                    "duplicateValues", arguments={"properties": ["day", "code"]}, unit="percent"
                ),
                {"metric": "rowCount", "mustBeGreaterThan": 0},
                {"metric": "rowCount", "mustBeLessThan": 10_000},
                query("amount < 0"),
                query("line > 1000 AND state = 'new'"),
                {
                    "type": "sql",
                    "query": "SELECT avg(amount) FROM ${table}",
                    "mustBeBetween": [1, 90],
                },
            ],
            "properties": [
                column("id", metric("duplicateValues"), physicalName="order_id"),
                column(
                    "customer",
                    physicalName="customer_no",
                    relationships=[{"to": "customers.id"}],
                ),
                column("line", logicalTypeOptions={"minimum": 0}, logicalType="integer"),
                column(
                    "code",
                    metric("invalidValues", arguments={"pattern": "^A-[0-9]{6}$"}),
                    logicalType="string",
                    logicalTypeOptions={"minLength": 8, "maxLength": 8},
                ),
                column(
                    "amount",
                    metric("invalidValues", arguments={"validValues": [*range(1, 91)]}),
                    logicalType="number",
                    logicalTypeOptions={"exclusiveMinimum": 0, "maximum": 90},
                ),
                column("state", enum=[{"value": word} for word in ("new", "paid", "sent")]),
                column(
                    "day",
                    {"metric": "nullValues", "unit": "percent", "mustBeLessThan": 5},
                    logicalType="date",
                    logicalTypeOptions={"minimum": "2024-01-01"},
                ),
            ],
        },
        {"name": "customers", "properties": [{"name": "id", "physicalName": "cid"}]},
    ],
}


def test_forty_rules_read_their_table_eight_times(spark):
    contract = lakeproof.load_contract(CONTRACT)
    with counted_executions(spark, TABLE) as counted:
        outcome = lakeproof.run(spark, contract, tables=TABLES)
    mine = [
        result
        for result in outcome.results
        if result.table_fqn == TABLE and result.check_type != "column_type"  # of the schema alone
    ]
    assert outcome.ok, outcome.gate.reasons
    assert len(mine) == 40
    assert {result.status.value for result in mine} == {"passed"}
    assert len(counted.reading) <= 1 + KEY_SETS + QUERIES + 1, counted.reading


def test_the_plan_says_how_often(spark):
    planned = lakeproof.plan(spark, lakeproof.load_contract(CONTRACT), tables=TABLES)
    assert not planned.rejected, planned.rejected
    actions = {str(table.pinned.table): table.actions for table in planned.tables}
    assert actions[TABLE] == 1 + KEY_SETS + QUERIES + 1


def test_one_question_with_eight_operators_costs_no_more_than_with_one(spark):
    contract = copy.deepcopy(CONTRACT)
    orders = contract["schema"][0]
    orders["quality"] += [
        metric("duplicateValues", arguments={"properties": ["customer", "line"]}) | bound
        for bound in (
            {"mustBeLessThan": 1},
            {"mustBeLessOrEqualTo": 0, "unit": "percent"},
            {"mustNotBe": 1},
            {"mustBeBetween": [0, 3]},
        )
    ]
    planned = lakeproof.plan(spark, lakeproof.load_contract(contract), tables=TABLES)
    actions = {str(table.pinned.table): table.actions for table in planned.tables}
    assert actions[TABLE] == 1 + KEY_SETS + QUERIES + 1


def test_failing_rules_add_at_most_two_reads(spark):
    contract = copy.deepcopy(CONTRACT)
    orders = contract["schema"][0]
    orders["quality"][4] = query("amount = 7")
    orders["properties"][4]["logicalTypeOptions"]["maximum"] = 80
    orders["quality"].append(metric("duplicateValues", arguments={"properties": ["line"]}))
    with counted_executions(spark, TABLE) as counted:
        outcome = lakeproof.run(spark, lakeproof.load_contract(contract), tables=TABLES)
    failed = sorted((result.check_type, result.failing_rows) for result in outcome.failed)
    assert failed == [("range", 220), ("sql_value", 23), ("uniqueness", 40)]
    assert len(counted.reading) <= 1 + (KEY_SETS + 1) + QUERIES + 1 + 2, counted.reading
