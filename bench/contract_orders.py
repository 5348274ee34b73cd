"""A contract of forty-odd rules over generated orders, and the tables that it is about.

Some rules fail on purpose. It keeps to what datacontract-cli can read: no two rules of one metric
on one column, one operator a rule, names that are the physical ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMESPACE = "iceberg.bench"
CUSTOMERS = 10_000
STATES = ("new", "paid", "sent", "returned")
Raw = dict[str, object]


def load_orders(spark: SparkSession, rows: int) -> dict[str, str]:
    """The tables by the contract's names; built if this size is not there.

    Planted: every 1000th e-mail is NULL, every 500th state unknown, 20 codes occur twice, every
    100,000th customer does not exist.
    """
    tables = {name: f"{NAMESPACE}.contract_{name}_{rows}" for name in ("orders", "customers")}
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    if all(spark.catalog.tableExists(table) for table in tables.values()):
        return tables
    states = ", ".join(f"'{state}'" for state in STATES)
    spark.sql(
        f"""
        CREATE OR REPLACE TABLE {tables["orders"]} USING iceberg AS
        SELECT id AS order_id,
               if(id % 100000 = 7, {CUSTOMERS}, id % {CUSTOMERS}) AS customer_id,
               CAST(id DIV {CUSTOMERS} AS INT) AS line,
               concat('A-', lpad(CAST(if(id < 20, id + 20, id) AS STRING), 9, '0')) AS code,
               CAST(id % 100000 + 1 AS DECIMAL(12, 2)) AS amount,
               CAST(id % 9 + 1 AS INT) AS quantity,
               if(id % 500 = 3, 'lost', element_at(array({states}), CAST(id % 4 + 1 AS INT)))
                   AS state,
               date_add(DATE'2024-01-01', CAST(id % 365 AS INT)) AS day,
               if(id % 1000 = 1, NULL, concat('user', id, '@example.org')) AS email,
               sha2(CAST(id AS STRING), 256) AS note
        FROM range({rows})
        """
    )
    spark.sql(
        f"CREATE OR REPLACE TABLE {tables['customers']} USING iceberg AS "
        f"SELECT id AS customer_id FROM range({CUSTOMERS})"
    )
    return tables


def contract() -> Raw:
    """The contract, with a DataFrame for a server, as datacontract-cli wants it written."""
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "bench",
        "version": "1.0.0",
        "status": "active",
        "servers": [
            {
                "server": "spark",
                "type": "custom",
                "customProperties": [{"property": "customType", "value": "dataframe"}],
            }
        ],
        "schema": [
            {"name": "orders", "properties": _properties(), "quality": _of_the_table()},
            {"name": "customers", "properties": [{"name": "customer_id"}]},
        ],
    }


def _rule(name: str, metric: str, **more: object) -> Raw:
    bound = {} if any(key.startswith("must") for key in more) else {"mustBe": 0}
    return {"id": name, "metric": metric, **bound, **more}


def _column(name: str, *quality: Raw, **more: object) -> Raw:
    nulls = _rule(f"{name}_nulls", "nullValues")
    return {"name": name, "quality": [nulls, *quality], **more}


def _listed(name: str, bound: Raw | None = None, **arguments: object) -> Raw:
    metric = "missingValues" if "missingValues" in arguments else "invalidValues"
    return _rule(name, metric, arguments=arguments, **(bound or {}))


def _properties() -> list[Raw]:
    blanks = ["", "N/A", "-"]
    numbers = {"logicalType": "integer"}
    return [
        _column("order_id", required=True, unique=True, **numbers),
        _column(
            "customer_id", required=True, relationships=[{"to": "customers.customer_id"}], **numbers
        ),
        _column("line", required=True, logicalTypeOptions={"minimum": 0}, **numbers),
        _column(
            "code",
            _rule("code_duplicates", "duplicateValues", mustBeLessThan=5),
            _listed("code_shape", pattern="^A-[0-9]{9}$"),
            _listed("code_missing", missingValues=blanks),
            required=True,
            logicalType="string",
            logicalTypeOptions={"minLength": 11, "maxLength": 11},
        ),
        _column(
            "amount",
            logicalType="number",
            logicalTypeOptions={"minimum": 1, "maximum": 99_999},
        ),
        _column(
            "quantity",
            _listed("quantity_known", validValues=[*range(1, 10)]),
            logicalTypeOptions={"minimum": 1, "maximum": 9},
            **numbers,
        ),
        _column(
            "state",
            _listed("state_known", validValues=[*STATES]),
            _listed("state_missing", missingValues=blanks),
            required=True,
        ),
        _column("day", required=True, logicalType="date"),
        _column(
            "email",
            _listed("email_shape", pattern="@example[.]org$"),
            _listed(
                "email_missing", {"unit": "percent", "mustBeLessThan": 1}, missingValues=blanks
            ),
            logicalType="string",
            logicalTypeOptions={"maxLength": 60},
        ),
        _column("note", logicalType="string", logicalTypeOptions={"minLength": 64}),
    ]


def _of_the_table() -> list[Raw]:
    return [
        _rule("rows", "rowCount", mustBeGreaterThan=0),
        _rule(
            "customer_line", "duplicateValues", arguments={"properties": ["customer_id", "line"]}
        ),
        _query("cheap", "amount <= 0"),
        _query("late_and_lost", "state = 'lost' AND day > DATE '2024-12-01'"),
        {
            "id": "mean_amount",
            "type": "sql",
            "query": "SELECT avg(amount) FROM orders",
            "mustBeBetween": [1, 100_000],
        },
    ]


def _query(name: str, condition: str) -> Raw:
    text = f"SELECT count(*) FROM orders WHERE {condition}"
    return {"id": name, "type": "sql", "query": text, "mustBe": 0}
