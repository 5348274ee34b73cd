"""Implied checks on Spark: every option passes and fails at every depth, and NULL never fails."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from lakeproof import QualityCheck, run_checks, split
from lakeproof.config import Config, ContractSettings
from lakeproof.contracts.draft import Setting
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.odcs.implied import implied_drafts
from lakeproof.contracts.odcs.relationships import relationship_drafts
from lakeproof.model.names import TableName

NAMESPACE = "iceberg.implied"


@dataclass(frozen=True)
class Case:
    """An option, and one value that is as it asks and one that is not, both as Spark SQL."""

    logical_type: str
    options: dict[str, object]
    type: str
    good: str
    bad: str
    what: str = ""
    in_keys: bool = True

    @property
    def name(self):
        return self.what or next(iter(self.options))


def text(options, good, bad, **more):
    return Case("string", options, "STRING", f"'{good}'", f"'{bad}'", **more)


def number(options, kind, good, bad, **more):
    return Case(
        "number", options, kind, f"CAST({good} AS {kind})", f"CAST({bad} AS {kind})", **more
    )


def moment(logical_type, options, kind, good, bad, **more):
    return Case(logical_type, options, kind, f"{kind}'{good}'", f"{kind}'{bad}'", **more)


def written(logical_type, options, good, bad, **more):
    return Case(logical_type, options, "STRING", f"'{good}'", f"'{bad}'", **more)


UUID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
CASES = {
    "texts": [
        text({"minLength": 2}, "ab", "a"),
        text({"maxLength": 2}, "ab", "abc"),
        text({"pattern": "^[A-Z]+$"}, "AB", "AB\\n"),
        text({"format": "uuid"}, UUID, UUID[:-1]),
        text({"format": "email"}, "a@b.example", "a@b"),
        text({"format": "uri"}, "https://a.example/b", "a b"),
        text({"format": "hostname"}, "a.example", "-a"),
        text({"format": "ipv4"}, "10.0.0.1", "10.0.0.256"),
        text({"format": "ipv6"}, "::1", "::g"),
        text({"format": "byte"}, "YWJj", "YWJ"),
    ],
    "numbers": [
        number({"minimum": 0}, "INT", "0", "-1"),
        number({"maximum": 10}, "BIGINT", "10", "11"),
        number({"exclusiveMinimum": 0}, "DECIMAL(10,2)", "0.01", "0"),
        number({"exclusiveMaximum": 1.5}, "DOUBLE", "1.4", "1.5"),
        number({"minimum": 1, "exclusiveMinimum": True}, "INT", "2", "1"),
        number({"multipleOf": 5}, "INT", "15", "16"),
        number({"multipleOf": 0.05}, "DECIMAL(10,2)", "0.15", "0.16"),
        number({"multipleOf": 0.1}, "DOUBLE", "0.3", "0.35"),
        number({"multipleOf": 0.1}, "FLOAT", "0.7", "'NaN'"),
        Case("integer", {"format": "i8"}, "INT", "127", "128"),
        Case("integer", {"format": "u8"}, "SMALLINT", "0S", "-1S"),
        Case("integer", {"format": "u64"}, "DECIMAL(38,0)", "0BD", "18446744073709551616BD"),
        Case("integer", {"format": "i64"}, "DECIMAL(38,0)", "-1BD", "9223372036854775808BD"),
        Case("integer", {"format": "u128"}, "BIGINT", "0L", "-1L"),
        number({"format": "f32"}, "DOUBLE", "1", "1e39"),
        number({"format": "f64"}, "DOUBLE", "1e308", "'Infinity'"),
    ],
    "moments": [
        moment("date", {"minimum": "2020-01-01"}, "DATE", "2020-01-01", "2019-12-31"),
        moment("date", {"exclusiveMaximum": "2020-01-02"}, "DATE", "2020-01-01", "2020-01-02"),
        moment(
            "timestamp",
            {"minimum": "2020-01-01T00:00:00+10:00"},
            "TIMESTAMP",
            "2019-12-31 14:00:00Z",
            "2019-12-31 13:59:59Z",
        ),
        moment(
            "timestamp",
            {"maximum": "2021-01-01 00:00:00"},
            "TIMESTAMP_NTZ",
            "2021-01-01 00:00:00",
            "2021-01-01 00:00:01",
        ),
        written("date", {"format": "dd.MM.uuuu"}, "29.02.2024", "29.02.2023"),
        written(
            "timestamp",
            {"format": "yyyy-MM-dd'T'HH:mm:ssXXX"},
            "2024-01-01T08:00:00+01:00",
            "2024-01-01 08:00:00",
        ),
        written("time", {"format": "HH:mm:ss"}, "23:59:59", "24:00:01"),
        written("time", {"minimum": "08:00:00"}, "08:00", "07:59:59.5"),
        written("time", {"exclusiveMaximum": "18:00"}, "17:59:59", "18:00:00"),
        written(
            "date",
            {"minimum": "2024-01-01", "format": "dd.MM.yyyy"},
            "01.01.2024",
            "31.12.2023",
        ),
    ],
    "collections": [
        Case("array", {"minItems": 1}, "ARRAY<INT>", "array(1)", "CAST(array() AS ARRAY<INT>)"),
        Case("array", {"maxItems": 1}, "ARRAY<INT>", "array(1)", "array(1, 2)"),
        Case("array", {"uniqueItems": True}, "ARRAY<INT>", "array(1, NULL)", "array(1, 1)"),
        Case(
            "object",
            {"minProperties": 1},
            "STRUCT<a: INT, b: INT>",
            "named_struct('a', 1, 'b', CAST(NULL AS INT))",
            "CAST(named_struct('a', NULL, 'b', NULL) AS STRUCT<a: INT, b: INT>)",
        ),
        Case(
            "object",
            {"maxProperties": 1},
            "STRUCT<a: INT, b: INT>",
            "named_struct('a', 1, 'b', CAST(NULL AS INT))",
            "named_struct('a', 1, 'b', 2)",
        ),
        Case(
            "object",
            {"required": ["b"]},
            "STRUCT<a: INT, b: INT>",
            "named_struct('a', 1, 'b', 2)",
            "named_struct('a', 1, 'b', CAST(NULL AS INT))",
            what="required[b]",
        ),
        Case(
            "object",
            {"maxProperties": 1},
            "MAP<STRING, INT>",
            "map('a', 1)",
            "map('a', 1, 'b', 2)",
            in_keys=False,
        ),
        Case("vector", {"dimensions": 2}, "ARRAY<FLOAT>", "array(1F, 2F)", "array(1F)"),
        Case("vector", {"normalized": True}, "ARRAY<FLOAT>", "array(0.6F, 0.8F)", "array(1F, 1F)"),
        Case("vector", {"normalized": True}, "ARRAY<DOUBLE>", "array(-1D)", "array(1D, NULL)"),
    ],
    "enums": [
        Case("string", {}, "STRING", "'a'", "'A'", what="enum"),
        Case("integer", {}, "INT", "1", "3", what="enum"),
    ],
}
ENUMS = {"string": ["a", "b"], "integer": [1, 2]}


def properties_of(number, case):
    """The case's property at the top, in a struct, an array, a map, its keys, and twice deep."""
    inner = {"logicalType": case.logical_type}
    if case.options:
        inner["logicalTypeOptions"] = case.options
    if case.what == "enum":
        inner["enum"] = [{"value": value} for value in ENUMS[case.logical_type]]
    field = {"name": "v", **inner}
    text = {"logicalType": "string"}
    found = [
        {"name": f"top{number}", **inner},
        {"name": f"struct{number}", "logicalType": "object", "properties": [field]},
        {
            "name": f"array{number}",
            "logicalType": "array",
            "items": {"logicalType": "object", "properties": [field]},
        },
        {"name": f"map{number}", "logicalType": "map", "map": {"key": text, "value": inner}},
        {
            "name": f"deep{number}",
            "logicalType": "array",
            "items": {"logicalType": "array", "items": inner},
        },
    ]
    if case.in_keys:
        entries = {"key": inner, "value": text}
        found.append({"name": f"keys{number}", "logicalType": "map", "map": entries})
    return found


def columns_sql(number, case, value):
    """The value at each of these places; NULL in each where it is NULL."""
    kind = case.type
    if value == "NULL":
        types = {
            "top": kind,
            "struct": f"STRUCT<v: {kind}>",
            "array": f"ARRAY<STRUCT<v: {kind}>>",
            "map": f"MAP<STRING, {kind}>",
            "deep": f"ARRAY<ARRAY<{kind}>>",
            "keys": f"MAP<{kind}, STRING>",
        }
        items = {name: f"CAST(NULL AS {of})" for name, of in types.items()}
    else:
        typed = f"CAST({value} AS {kind})"
        null = f"CAST(NULL AS {kind})"
        items = {
            "top": typed,
            "struct": f"named_struct('v', {typed})",
            "array": f"array(named_struct('v', {null}), NULL, named_struct('v', {typed}))",
            "map": f"map('n', {null}, 'v', {typed})",
            "deep": f"array(NULL, array({null}, {typed}))",
            "keys": f"map({typed}, 'v')",
        }
    if not case.in_keys:
        items.pop("keys")
    return [f"{sql} AS {name}{number}" for name, sql in items.items()]


def checks_of(contract, table_of):
    """The implied checks that run, and the drafts that do not."""
    checks, others = [], []
    for owner in contract.objects:
        setting = Setting(
            contract=contract,
            owner=owner,
            part=None,
            settings=ContractSettings(),
            table_of=lambda name: TableName.parse(table_of(name)),
            variables={},
            now=datetime(2024, 3, 10, tzinfo=UTC),
        )
        for placed in (*implied_drafts(setting), *relationship_drafts(setting)):
            draft = placed.draft
            label = placed.part.label if placed.part else ""
            name = f"{owner.name}.{label}:{placed.what}"
            if draft.error or draft.skipped:
                others.append(name)
                continue
            checks.append(
                QualityCheck(
                    name,
                    draft.check,
                    table_of(owner.name),
                    list(draft.columns) or None,
                    draft.params,
                )
            )
    return checks, others


def results_of(spark, contract, table_of):
    checks, others = checks_of(contract, table_of)
    outcome = run_checks(spark, checks, config=Config())
    return {result.check_name: result for result in outcome.results}, others


@pytest.fixture(scope="module")
def option_results(spark):
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    objects = []
    for family, cases in CASES.items():
        rows = [
            ", ".join(
                item
                for number, case in enumerate(cases)
                for item in columns_sql(number, case, value(case))
            )
            for value in (lambda case: case.good, lambda case: case.bad, lambda _case: "NULL")
        ]
        selected = "\nUNION ALL ".join(f"SELECT {row}" for row in rows)
        spark.sql(f"CREATE OR REPLACE TABLE {NAMESPACE}.{family} USING iceberg AS {selected}")
        listed = [one for number, case in enumerate(cases) for one in properties_of(number, case)]
        objects.append({"name": family, "properties": listed})
    contract = load_contract({"apiVersion": "v3.2.0", "schema": objects})
    found, others = results_of(spark, contract, lambda name: f"{NAMESPACE}.{name}")
    assert others == []
    return found


@pytest.mark.parametrize("family", CASES)
def test_every_option_finds_its_bad_row_at_every_depth(option_results, family):
    wrong = []
    for number, case in enumerate(CASES[family]):
        keys = [f"keys{number}{{key}}"] if case.in_keys else []
        labels = ["top{}", "struct{}.v", "array{}[].v", "map{}{{}}", "deep{}[][]"]
        for label in (*(one.format(number) for one in labels), *keys):
            result = option_results[f"{family}.{label}:{case.name}"]
            if (result.status, result.failing_rows, result.total_rows) != ("failed", 1, 3):
                wrong.append((case, label, result.status, result.details))
    assert wrong == []


def test_types_at_every_depth_are_as_declared(option_results):
    types = {name: one for name, one in option_results.items() if name.endswith(":type")}
    assert len(types) > 300
    wrong = {name: one.details for name, one in types.items() if one.status != "passed"}
    assert wrong == {}


SCHEMA = {
    "apiVersion": "v3.2.0",
    "schema": [
        {
            "name": "orders",
            "properties": [
                {
                    "name": "id",
                    "physicalName": "order id",
                    "physicalType": "bigint",
                    "required": True,
                    "primaryKey": True,
                },
                {"name": "gone", "logicalType": "string"},
                {"name": "lost", "physicalName": "a.b"},
                {"name": "code", "physicalType": "decimal(10,2)"},
                {
                    "name": "at",
                    "logicalType": "timestamp",
                    "logicalTypeOptions": {"timezone": False},
                },
                {
                    "name": "day",
                    "logicalType": "date",
                    "logicalTypeOptions": {"format": "dd.MM.yyyy"},
                },
                {
                    "name": "ship",
                    "logicalType": "object",
                    "properties": [
                        {
                            "name": "zip",
                            "logicalType": "string",
                            "required": True,
                            "unique": True,
                            "relationships": [{"to": "places.home.zip"}],
                        },
                        {"name": "box", "primaryKey": True, "logicalType": "integer"},
                    ],
                },
                {
                    "name": "lines",
                    "logicalType": "array",
                    "items": {
                        "logicalType": "object",
                        "required": True,
                        "properties": [{"name": "sku", "logicalType": "string", "required": True}],
                    },
                },
                {
                    "name": "v",
                    "logicalType": "vector",
                    "logicalTypeOptions": {"elementType": "float32"},
                },
            ],
        },
        {
            "name": "places",
            "properties": [{"name": "home", "properties": [{"name": "zip"}]}],
        },
    ],
}


@pytest.fixture(scope="module")
def schema_results(spark):
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    spark.sql(
        f"CREATE OR REPLACE TABLE {NAMESPACE}.places USING iceberg AS "
        "SELECT named_struct('zip', '1') AS home"
    )
    ship, line = "STRUCT<zip: STRING, box: INT>", "STRUCT<sku: STRING>"
    rows = [
        "(1L, named_struct('zip', '1', 'box', 1), array(named_struct('sku', 'a')))",
        "(2L, named_struct('zip', '1', 'box', 1), array(NULL))",
        "(2L, named_struct('zip', '9', 'box', 1), array(named_struct('sku', NULL)))",
        "(3L, named_struct('zip', NULL, 'box', 1), NULL)",
        f"(4L, CAST(NULL AS {ship}), CAST(array() AS ARRAY<{line}>))",
    ]
    spark.sql(
        f"CREATE OR REPLACE TABLE {NAMESPACE}.orders USING iceberg AS SELECT id AS `order id`, "
        f"CAST(ship AS {ship}) AS ship, CAST(lines AS ARRAY<{line}>) AS lines, 1 AS `a.b`, "
        "'x' AS code, TIMESTAMP'2024-01-01 00:00:00' AS at, DATE'2024-01-01' AS day, "
        f"array(1D) AS v FROM VALUES {', '.join(rows)} AS t(id, ship, lines)"
    )
    contract = load_contract(SCHEMA)
    return results_of(spark, contract, lambda name: f"{NAMESPACE}.{name}")


@pytest.mark.parametrize(
    ("name", "status", "failing", "told"),
    [
        ("id:type", "passed", 0, ""),
        ("id:required", "passed", 0, ""),
        ("gone:type", "failed", 1, "gone is missing"),
        ("lost:presence", "passed", 0, ""),
        ("code:type", "failed", 1, "code is string; it must be decimal(10,2)"),
        ("at:type", "passed", 0, ""),
        ("at:timezone", "failed", 1, "at is timestamp; it must be timestamp_ntz"),
        ("ship.zip:required", "failed", 1, ""),
        ("ship.zip:unique", "failed", 1, "2 rows involved, 1 surplus"),
        ("ship.zip:foreignKey", "failed", 1, "1 orphan key"),
        (":primaryKey", "failed", 2, "NULL or duplicated"),
        ("lines[]:required", "failed", 1, ""),
        ("lines[].sku:required", "failed", 1, ""),
        ("v:elementType", "failed", 1, "v[] is double; it must be float"),
    ],
)
def test_the_schema_of_a_table_is_held_against_it(schema_results, name, status, failing, told):
    result = schema_results[0][f"orders.{name}"]
    assert (result.status, result.failing_rows) == (status, failing), result.details
    assert told in result.details


def test_a_format_has_nothing_to_say_of_a_date(schema_results):
    result = schema_results[0]["orders.day:format"]
    assert result.status == "skipped"
    assert "says how it is shown" in result.details


def test_keys_of_violations_hold_the_fields_of_structs(schema_results):
    unique = schema_results[0]["orders.ship.zip:unique"]
    assert [json.loads(key) for key in unique.sample_keys] == [{"ship.zip": ["s", "1"]}]
    orphan = schema_results[0]["orders.ship.zip:foreignKey"]
    assert [json.loads(key) for key in orphan.sample_keys] == [{"ship.zip": ["s", "9"]}]


def test_rows_that_share_a_field_of_a_struct_are_split_off(spark, schema_results):
    table = f"{NAMESPACE}.orders"
    checks = [
        QualityCheck("zip_unique", "uniqueness", table, "ship.zip"),
        QualityCheck("zip_known", "not_null", table, "ship.zip", {"parent_optional": True}),
    ]
    _, bad = split(spark.table(table), checks)
    rules = sorted((row["order id"], *row["_lakeproof_rules"]) for row in bad.collect())
    assert rules == [(1, "zip_unique"), (2, "zip_unique"), (3, "zip_known")]
