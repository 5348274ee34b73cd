"""SQL of a contract becomes Spark's SQL over the contract's own tables, or one error."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property, Server
from lakeproof.contracts.dialects import dialect_of, spark_sql
from lakeproof.contracts.draft import Placed, Setting
from lakeproof.contracts.odcs.sql_rules import predicate_drafts, sql_drafts
from lakeproof.contracts.yaml_document import Document
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit
from lakeproof.model.names import TableName

QTY = Property("Quantity", "qty", "qty", "Quantity", "/p", {})
CITY = Property("City", "city", "ship.`home city`", "Ship.City", "/p", {})
TAG = Property("Tag", "tag", "tags[]", "Tags", "/p", {})
STOCK = Object("StockTable", "stock_v1", "/schema/0", {}, properties=(QTY,))
ORDERS = Object("orders", "sales.orders_2024", "/schema/1", {})
PLACES = {"schema": "public", "database": "shop", "project": "my-project", "dataset": "ds"}
NONE = Comparison((Term(Operator.MUST_BE, 0),))
FULL = {"StockTable": "`ice`.`shop`.`stock_v1`", "orders": "`ice`.`shop`.`orders_2024`"}


def placed(*, server="", owner=STOCK, part=None, variables=None, sql_dialect=""):
    servers = (Server("s", server, PLACES, "/servers/0"),) if server else ()
    contract = Contract("id", "", "1", "v3.1.0", Document({}), (STOCK, ORDERS), servers)
    setting = Setting(
        contract=contract,
        owner=owner,
        part=part,
        settings=ContractSettings(sql_dialect=sql_dialect),
        table_of=lambda name: TableName.parse(FULL[name]),
        variables=variables or {},
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Placed(DeclaredRule({}, "/quality/0", 0), setting)


def draft_of(query, comparison=NONE, **place):
    (draft,) = sql_drafts(placed(**place), query, comparison)
    return draft


def sql_of(query, **place):
    draft = draft_of(query, **place)
    assert not draft.error, draft.error
    assert (draft.check, draft.comparison) == ("sql_value", NONE)
    return draft.params["sql"]


STOCK_SQL = "`ice`.`shop`.`stock_v1`"
RESOLVED = {
    "a placeholder": ("SELECT 1 FROM ${table};", f"SELECT 1 FROM {STOCK_SQL} AS `StockTable`"),
    "braces alone": ("SELECT 1 FROM {object} s", f"SELECT 1 FROM {STOCK_SQL} s"),
    "the object's name": ("SELECT 1 FROM StockTable s", f"SELECT 1 FROM {STOCK_SQL} s"),
    "its physical name": ("SELECT 1 FROM stock_v1", f"SELECT 1 FROM {STOCK_SQL}"),
    "in another case": ("SELECT 1 FROM STOCK_V1", f"SELECT 1 FROM {STOCK_SQL}"),
    "in backticks": ("SELECT 1 FROM `stock_v1`", f"SELECT 1 FROM {STOCK_SQL}"),
    "with its own time travel": (
        "SELECT 1 FROM ${table} VERSION AS OF 3 WHERE StockTable.qty > 0",
        f"SELECT 1 FROM {STOCK_SQL} VERSION AS OF 3 AS `StockTable`",
    ),
    "a dotted physical name": (
        "SELECT 1 FROM sales.orders_2024 o",
        "SELECT 1 FROM `ice`.`shop`.`orders_2024` o",
    ),
    "a CTE of that name": (
        "WITH orders AS (SELECT 1 AS x) SELECT x FROM orders",
        "WITH orders AS (SELECT 1 AS x) SELECT x FROM orders",
    ),
    "regex braces": (
        "SELECT count(*) FROM stock_v1 WHERE qty RLIKE '^[0-9]{4}$'",
        f"SELECT count(*) FROM {STOCK_SQL} WHERE qty RLIKE '^[0-9]{{4}}$'",
    ),
    "a name in a text": ("SELECT '{table}'", "SELECT 'stock_v1'"),
}


@pytest.mark.parametrize("case", RESOLVED)
def test_names_of_objects_become_their_tables(case):
    query, expected = RESOLVED[case]
    assert sql_of(query).startswith(expected)


COLUMNS = {
    "a column": (QTY, "SELECT max(${column}) FROM stock_v1", "max(`qty`)"),
    "a field of a struct": (
        CITY,
        "SELECT max({property}) FROM stock_v1",
        "max(`ship`.`home city`)",
    ),
    "in quotes": (QTY, "SELECT '{field}'", "'qty'"),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_a_column_placeholder_is_the_physical_column(case):
    part, query, expected = COLUMNS[case]
    assert expected in sql_of(query, part=part)


TRANSLATED = {
    "postgres": (
        "postgresql",
        'SELECT count(*) FROM public."stock_v1" WHERE public."stock_v1".code ~ \'^\\d{4}$\';',
        f"SELECT COUNT(*) FROM {STOCK_SQL} WHERE `stock_v1`.code RLIKE '^\\\\d{{4}}$'",
    ),
    "a quoted placeholder": (
        "postgres",
        "SELECT count(*) FROM ${schema}.${table} WHERE ${table}.qty > 1",
        f"SELECT COUNT(*) FROM {STOCK_SQL} AS `StockTable` WHERE `StockTable`.qty > 1",
    ),
    "whole numbers": (
        "postgres",
        "SELECT count(*) * 100 / count(*) FROM stock_v1",
        f"SELECT CAST(COUNT(*) * 100 / COUNT(*) AS BIGINT) FROM {STOCK_SQL}",
    ),
    "snowflake keeps the time of day": (
        "snowflake",
        "SELECT 1 FROM ${model} s WHERE t >= DATEADD('day', -1, CURRENT_TIMESTAMP())",
        f"SELECT 1 FROM {STOCK_SQL} AS s WHERE t >= (CURRENT_TIMESTAMP() + INTERVAL '-1' DAY)",
    ),
    "bigquery's one pair of quotes": (
        "bigquery",
        "SELECT countif(qty < 0) FROM `${project}.${dataset}.${model}`",
        f"SELECT COUNT_IF(qty < 0) FROM {STOCK_SQL}",
    ),
    "sqlserver": (
        "sqlserver",
        "SELECT TOP 1 ISNULL([qty], 0) FROM [stock_v1]",
        f"SELECT COALESCE(`qty`, 0) FROM {STOCK_SQL} LIMIT 1",
    ),
    "duckdb": (
        "duckdb",
        "SELECT count(*) FILTER (WHERE qty IS NULL) FROM stock_v1",
        f"SELECT COUNT(*) FILTER(WHERE qty IS NULL) FROM {STOCK_SQL}",
    ),
}


@pytest.mark.parametrize("case", TRANSLATED)
def test_a_query_is_read_in_its_servers_dialect(case):
    server, query, expected = TRANSLATED[case]
    draft = draft_of(query, server=server)
    assert (draft.error, draft.params["sql"]) == ("", expected)
    assert draft.choices["query"] == query
    assert draft.choices["spark_query"] == expected


REFUSED = {
    "a column at table level": (
        "SELECT {column} FROM ${table}",
        "",
        "${column} cannot be identified",
    ),
    "two statements": ("SELECT 1; SELECT 2", "postgres", "one query is needed"),
    "no query": ("DELETE FROM stock_v1", "postgres", "one query is needed"),
    "no query of Spark's": ("DELETE FROM stock_v1", "", "begins with SELECT"),
    "not the dialect": ("SELECT FROM WHERE (", "mysql", "no mysql SQL"),
    "a lock": ("SELECT 1 FROM stock_v1 FOR UPDATE", "postgres", "FOR UPDATE"),
    "FINAL": ("SELECT count() FROM stock_v1 FINAL", "clickhouse", "Final"),
    "a sample": ("SELECT 1 FROM stock_v1 SAMPLE (10 ROWS)", "snowflake", "TABLESAMPLE"),
    "an unknown function": ("SELECT quantile_cont(x, 0.9) FROM stock_v1", "", "quantile_cont"),
    "an unset variable": ("SELECT 1 FROM ${TARGET}", "", "${TARGET} is not set"),
    "no text": (5, "", "query must be SQL text"),
    "blank": (" ", "", "query must be SQL text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_run_is_one_error_that_names_it(case):
    query, server, told = REFUSED[case]
    draft = draft_of(query, server=server)
    assert told in draft.error
    assert not draft.check


def test_the_dialect_setting_overrides_the_server():
    draft = draft_of("SELECT countif(qty < 0) FROM stock_v1", server="s3", sql_dialect="bigquery")
    assert draft.choices["sql_dialect"] == "bigquery"
    assert draft.params["sql"] == f"SELECT COUNT_IF(qty < 0) FROM {STOCK_SQL}"
    assert "sql_dialect 'bigqery' is not known" in draft_of("SELECT 1", sql_dialect="bigqery").error


def test_a_servers_type_gives_its_dialect():
    kinds = {
        "postgresql": "postgres", "sqlserver": "tsql", "databricks": "spark", "s3": "spark",
        "local": "spark", "Snowflake": "snowflake", "athena": "athena", "custom": "spark",
    }  # fmt: skip
    assert {kind: dialect_of(Server("", kind, {}, "")) for kind in kinds} == kinds


def test_tables_that_no_object_is_stay_and_are_listed():
    draft = draft_of("SELECT count(*) FROM stock_v1 JOIN other.customers c ON true JOIN x ON true")
    assert draft.choices["other_tables"] == "other.customers, x"
    assert "JOIN other.customers c" in draft.params["sql"]


def test_a_foreign_schema_is_not_the_objects():
    draft = draft_of("SELECT count(*) FROM archive.stock_v1", server="postgres")
    assert draft.choices["other_tables"] == "archive.stock_v1"


def test_percent_needs_a_query_that_counts():
    percent = Comparison((Term(Operator.LESS, 5),), Unit.PERCENT)
    counts = draft_of("SELECT count(*) FROM ${table} WHERE qty < 0", percent)
    assert (counts.error, counts.comparison) == ("", percent)
    assert "unit percent needs" in draft_of("SELECT max(qty) FROM ${table}", percent).error


def test_no_operator_means_truth():
    assert draft_of("SELECT 1", None).comparison == Comparison()


def test_the_value_of_a_variable_runs_and_is_not_kept():
    draft = draft_of(
        "SELECT count(*) FROM stock_v1 WHERE k = '${KEY}'", variables={"KEY": "hunter2"}
    )
    assert "'hunter2'" in draft.params["sql"]
    assert "hunter2" not in str([draft.choices, draft.notes])


def test_a_column_inside_an_array_has_no_sql():
    draft = draft_of("SELECT count(${column}) FROM ${table}", part=TAG)
    assert "many values in one row" in draft.error


def test_raw_sql_under_rule_is_a_condition_on_each_row():
    (draft,) = predicate_drafts(placed(part=QTY), "${column} > 0", None)
    assert (draft.check, draft.params) == ("row_expression", {"expression": "`qty` > 0"})
    (other,) = predicate_drafts(placed(server="postgres"), "qty::int > 0 AND a ILIKE 'x'", None)
    assert other.params["expression"] == "CAST(qty AS INT) > 0 AND a ILIKE 'x'"
    (bad,) = predicate_drafts(placed(), "qty IN (SELECT 1)", None)
    assert "one condition on a row" in bad.error


# The queries of public contracts, each with its server; what cannot run says why.
CORPUS = [
    ("", "select count(*) from Air_Quality where DataValue <= 0 or DataValue >= 500", ""),
    ("", "SELECT COUNT(*) FROM orders WHERE order_total < 0", ""),
    ("", "SELECT AVG(duration) FROM shipments", ""),
    ("", "SELECT COUNT(*) FROM shipments where carries='active'", ""),
    (
        "snowflake",
        "SELECT quantile_cont(order_total, 0.95) AS percentile_95\nFROM orders",
        "QUANTILE",
    ),
    ("snowflake", "SELECT COUNT(*) AS row_count\nFROM orders", ""),
    ("oracle", "SELECT {field} FROM {model} where {field} = 100", ""),
    ("oracle", "SELECT count(*) as row_count\nFROM {model}", ""),
    (
        "postgres",
        "SELECT (COUNT(*) FILTER (WHERE field_two IS NULL) * 100.0 / COUNT(*)) AS p FROM my_table",
        "",
    ),
    ("postgres", "SELECT COUNT(*) FROM my_table WHERE field_two IS NOT NULL", ""),
    (
        "bigquery",
        "SELECT count(*) FROM `${project}.${dataset}.${model}` WHERE DATE(t) = CURRENT_DATE()",
        "",
    ),
    ("bigquery", "SELECT countif(order_total < 0) FROM ${model}", ""),
    ("databricks", "SELECT count(*) FROM ${model} TIMESTAMP AS OF '2026-01-01'", ""),
    ("databricks", "SELECT count(*) FROM ${model} VERSION AS OF 3", ""),
    ("custom", "SELECT percentile_approx(order_total, 0.95) FROM ${model}", ""),
    ("snowflake", "SELECT count(*) FROM ${model} SAMPLE (10 ROWS)", "TABLESAMPLE"),
    ("snowflake", "SELECT count_if(order_total < 0) FROM ${model}", ""),
]


@pytest.mark.parametrize(("server", "query", "told"), CORPUS)
def test_queries_of_public_contracts_run_or_say_why_not(server, query, told):
    draft = draft_of(query, server=server, part=QTY)
    assert bool(draft.error) is bool(told), draft.error
    assert told.lower() in draft.error.lower()


def test_spark_sql_stays_as_it_is():
    text = "SELECT  count( * )\nFROM t -- mine\nWHERE a <=> 'x';"
    assert spark_sql(text, "spark").sql == text.rstrip(";")
    assert spark_sql(text, "databricks").other_tables == ("t",)
    with pytest.raises(CheckDefinitionError, match="oracle SQL"):
        spark_sql("SELECT 1 FROM (", "oracle")
