"""Where the objects of a contract are."""

from __future__ import annotations

import pytest

from lakeproof.config import Config
from lakeproof.contracts.contract import Contract, Object, Server
from lakeproof.contracts.files import FileSource, spark_path
from lakeproof.contracts.tables import Given, places_of
from lakeproof.contracts.yaml_document import Document
from lakeproof.errors import ContractError
from lakeproof.model.names import TableName


def server(kind, name="production", **keys):
    return Server(name, kind, {"server": name, "type": kind, **keys}, "/servers/0")


def contract(*servers, physical="orders_v1"):
    owner = Object("orders", physical, "/schema/0", {"name": "orders"})
    return Contract("shop", "", "1.0.0", "v3.2.0", Document({}), (owner,), servers)


def place(*servers, physical="orders_v1", variables=None, **given):
    made = contract(*servers, physical=physical)
    return places_of(made, Given(**given), Config(), variables or {})["orders"]


@pytest.mark.parametrize(
    ("servers", "physical", "table"),
    [
        ((), "orders_v1", "iceberg.lakehouse.orders_v1"),
        ((server(""),), "orders_v1", "iceberg.lakehouse.orders_v1"),
        ((), "sales.orders", "iceberg.sales.orders"),
        ((), "lake.sales.orders", "lake.sales.orders"),
        ((), "`odd.name`", "iceberg.lakehouse.`odd.name`"),
        ((server("iceberg", catalog="lake", namespace="a.b"),), "t", "lake.a.b.t"),
        ((server("iceberg", namespace="sales"),), "t", "iceberg.sales.t"),
        ((server("databricks", catalog="prod", schema="crm"),), "t", "prod.crm.t"),
        ((server("databricks", catalog="prod", schema="crm"),), "hr.t", "prod.hr.t"),
        ((server("Hive", database="crm", host="h"),), "t", "spark_catalog.crm.t"),
        ((server("delta", schema="crm"),), "t", "spark_catalog.crm.t"),
        (
            (
                server(
                    "custom",
                    database="crm",
                    customProperties=[{"property": "customType", "value": "hive"}],
                ),
            ),
            "t",
            "spark_catalog.crm.t",
        ),
        ((server("glue", account="1", database="crm"),), "t", "spark_catalog.crm.t"),
        ((server("databricks", catalog="${STAGE}_db", schema="crm"),), "t", "test_db.crm.t"),
        ((), "orders_${STAGE}", "iceberg.lakehouse.orders_test"),
        ((), "orders_${YEAR:-2025}", "iceberg.lakehouse.orders_2025"),
    ],
)
def test_a_table_is_named_by_its_server_and_physical_name(servers, physical, table):
    found = place(*servers, physical=physical, variables={"STAGE": "test"})
    assert (str(found.table), found.problem, found.source) == (table, "", None)


CSV = {"header": "true", "inferSchema": "true", "escape": '"'}


@pytest.mark.parametrize(
    ("given", "source"),
    [
        (
            server("local", path="data/{model}/*.parquet", format="parquet"),
            FileSource("parquet", "data/orders_v1/*.parquet"),
        ),
        (
            server("local", path="./orders.csv", format="CSV"),
            FileSource("csv", "./orders.csv", {**CSV, "sep": ","}),
        ),
        (
            server("local", path="${ROOT}/o.csv", delimiter="semicolon", encoding="ISO-8859-1"),
            FileSource("csv", "/data/o.csv", {**CSV, "sep": ";", "encoding": "ISO-8859-1"}),
        ),
        (
            server("local", path="o.tsv"),
            FileSource("csv", "o.tsv", {**CSV, "sep": "\t"}),
        ),
        (
            server("s3", location="s3://b/{object}/*.json", format="json", delimiter="new_line"),
            FileSource("json", "s3a://b/orders_v1/*.json"),
        ),
        (
            server("s3", location="s3://b/o.json", delimiter="array", endpointUrl="http://m:9000"),
            FileSource(
                "json",
                "s3a://b/o.json",
                {
                    "multiLine": "true",
                    "fs.s3a.endpoint": "http://m:9000",
                    "fs.s3a.path.style.access": "true",
                },
            ),
        ),
        (server("delta", path="/lake/orders"), FileSource("delta", "/lake/orders")),
        (
            server("custom", path="/lake/orders", format="orc"),
            FileSource("orc", "/lake/orders"),
        ),
    ],
)
def test_files_are_read_by_format_path_and_options(given, source):
    found = place(given, variables={"ROOT": "/data"})
    assert (found.source, found.problem) == (source, "")
    assert found.table == TableName(("contract", "shop", "orders"))


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("s3://bucket/a", "s3a://bucket/a"),
        ("s3a://bucket/a", "s3a://bucket/a"),
        ("gs://bucket/a", "gs://bucket/a"),
        ("a/b.csv", "a/b.csv"),
        ("https://acc.blob.core.windows.net/box/a/b/", "abfss://box@acc.dfs.core.windows.net/a/b/"),
        ("az://acc.blob.core.windows.net/box/*.csv", "abfss://box@acc.dfs.core.windows.net/*.csv"),
        ("abfss://acc.dfs.core.windows.net/box/a", "abfss://box@acc.dfs.core.windows.net/a"),
        ("abfss://box@acc.dfs.core.windows.net/a", "abfss://box@acc.dfs.core.windows.net/a"),
        ("https://example.org/a.csv", "https://example.org/a.csv"),
    ],
)
def test_addresses_become_those_of_hadoop(written, path):
    assert spark_path(written) == path


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (server("postgres", database="shop"), "'postgres' is not read by Lakeproof"),
        (server("postgres", database="shop"), "--table orders=catalog.schema.orders_v1"),
        (server("kafka", host="h", format="json"), "'kafka' is not read by Lakeproof"),
        (server("local"), "neither `path` nor `location`"),
        (server("local", path="data/orders"), "no `format`; it must be one of parquet, delta"),
        (server("s3", location="s3://b", format="xml"), "format 'xml' is not one of parquet"),
        (server("s3", location="s3://b", format="json", delimiter="|"), "neither 'new_line' nor"),
        (server("local", path="${NOWHERE}/a.csv"), "the variable ${NOWHERE} is not set"),
        (
            server("custom", customProperties=[{"property": "customType", "value": "dataframe"}]),
            "Pass tables={'orders': df}",
        ),
    ],
)
def test_what_cannot_be_read_is_a_problem_of_its_object(given, said):
    found = place(given)
    assert said in found.problem
    assert str(found.table) == "contract.shop.orders"


def test_the_caller_s_table_comes_before_the_server():
    found = place(server("postgres"), tables={"orders": "lake.sales.orders"})
    assert (str(found.table), found.problem) == ("lake.sales.orders", "")
    assert str(place(tables={"orders_v1": "sales.o"}).table) == "iceberg.sales.o", "physical name"


def test_a_dataframe_stands_under_the_contract_s_name():
    found = place(server("postgres"), frames=["orders"])
    assert (str(found.table), found.problem, found.source) == ("contract.shop.orders", "", None)


def test_a_server_is_chosen_by_name_else_the_first():
    both = (server("hive", "a", database="one"), server("hive", "b", database="two"))
    assert str(place(*both, server="b").table) == "spark_catalog.two.orders_v1"
    first = place(*both)
    assert str(first.table) == "spark_catalog.one.orders_v1"
    assert "the first of 2" in first.why


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tables": {"ordres": "a.b.c"}}, r"no object 'ordres' .* Its objects: orders"),
        ({"frames": ["x"]}, r"no object 'x' .* Its objects: orders"),
        ({"tables": {"orders": "a..c"}}, r"the table given for 'orders': .*cannot be read"),
        ({"server": "prodction"}, r"no server 'prodction'\. Its servers: production"),
    ],
)
def test_what_the_caller_misspelled_is_refused(given, said):
    with pytest.raises(ContractError, match=said):
        place(server("hive", database="a"), **given)
