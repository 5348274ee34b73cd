"""On generated rows the rules of every corpus contract find the planted faults and nothing else."""

from __future__ import annotations

import json

import pytest
from generated import FAULT, Expected, Generator, expected_of, key_text
from generated_values import NOW
from pyspark.sql import types as T  # noqa: N812 (its usual name)
from test_corpus_rules import ERRORS, FILES

import lakeproof
from lakeproof.config import Config
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.tables import Given
from lakeproof.model.outcome import CheckStatus

ADVENTURE_WORKS = "implied/dev_examples_all_postgresql-adventureworks-contract"
LARGE = {"valid/dev_examples_all_full-example", "valid/fixtures_export_datacontract.large"}
FIVE_TABLES = ("employee", "person", "product", "salesorderheader", "vendor")
CONTRACTS = [
    pytest.param(
        name,
        FIVE_TABLES if name == ADVENTURE_WORKS else (),
        id=name,
        # Older generations become the same rules as newer ones, and what is implied is in most
        # of the others: `test_corpus_rules` holds all of them.
        marks=()
        if (name.startswith("valid/") and name not in LARGE) or name == ADVENTURE_WORKS
        else pytest.mark.slow,
    )
    for name in FILES
    if load_contract(FILES[name]).objects
] + [pytest.param(ADVENTURE_WORKS, (), id="all of AdventureWorks", marks=pytest.mark.slow)]
NO_CARRIER = dict.fromkeys(
    ("Air_Quality.UniqueID:quality[0]", "Air_Quality.UniqueID:quality[1]"), "error"
)

# What rules of quality ask of values, in the schema's words; `null` and `unique` are those rules.
ASKED = {
    "valid/dev_examples_all_full-example": {"tbl.rcvr_cntry_code": {"null": True}},
    "valid/dev_examples_quality_column-completeness": {"Air_Quality.UniqueID": {"null": True}},
    "valid/dev_examples_quality_column-validity": {
        "Air_Quality.air_quality_status": {"validValues": ["", "n/a"]}
    },
    "valid/dev_examples_tags_tags": {
        "payments.status": {"validValues": ["pending", "completed", "refunded"]}
    },
    "valid/fixtures_bigquery_datacontract_with_quality_rules": {
        "test_table.field_with_quality_rules": {"unique": True}
    },
    "valid/fixtures_great-expectations_datacontract_quality_column": {"orders.type": {"length": 1}},
    "valid/fixtures_odcs_v3_full-example": {"tbl.rcvr_cntry_code": {"null": True}},
    "valid/imports_pydantic-model_datacontract": {
        "Orders.status": {"validValues": ["pending", "shipped", "delivered"]}
    },
    "legacy/v2.2.1_examples_all_full-example": {"tbl.rcvr_cntry_code": {"null": True}},
    "legacy/v2.2.2_examples_all_full-example": {"tbl.rcvr_cntry_code": {"null": True}},
    "legacy/v3.0.2_examples_all_full-example": {"tbl.rcvr_cntry_code": {"null": True}},
    "legacy/v2.2.2_examples_quality_column-accuracy": {
        "Air_Quality.DataValue": {"minimum": 0, "maximum": 500}
    },
    "legacy/v3.0.2_examples_quality_column-accuracy": {
        "Air_Quality.DataValue": {"minimum": 0, "maximum": 500}
    },
    "legacy/v2.2.2_examples_quality_column-completeness": {"Air_Quality.UniqueID": {"null": True}},
    "legacy/v3.0.2_examples_quality_column-completeness": {"Air_Quality.UniqueID": {"null": True}},
    "legacy/v2.2.2_examples_quality_column-validity": {"Air_Quality.UniqueID": {"minimum": 100000}},
    "legacy/v3.0.2_examples_quality_column-validity": {"Air_Quality.UniqueID": {"minimum": 100000}},
}


# Row counts that no small table has, and SQL whose tables or columns are not in its contract.
NOT_PASSED = {
    "valid/dev_examples_all_full-example": {"tbl:quality[0]": "failed"},
    # `carrier` and `shipment_numer` are not in the schema, so they are not in the table either.
    "valid/dev_examples_quality_column-custom": NO_CARRIER,
    "legacy/v3.0.2_examples_quality_column-custom": NO_CARRIER,
    "valid/examples_orders_orders": {"orders:quality[0]": "failed"},
    "valid/fixtures_excel_shipments-odcs": {
        "shipments:quality[1]": "failed",  # exactly 7 rows
        "shipments:quality[2]": "error",  # duration
        "shipments:quality[3]": "error",  # carries
        "shipments:quality[4]": "error",  # duration
        "shipments:quality[5]": "error",  # AVG(*)
    },
    "valid/fixtures_export_datacontract.large": {"orders:quality[0]": "failed"},
    "valid/fixtures_great-expectations_datacontract_quality_yaml": {"orders:quality[0]": "failed"},
    "valid/fixtures_great-expectations_odcs": {"orders:quality[0]": "failed"},
    "valid/fixtures_kafka_datacontract": {"inventory:quality[0]": "failed"},
    "valid/fixtures_lint_valid-3.1.0": {"shipments2:quality[0]": "error"},  # FROM shipments
    "valid/fixtures_lint_valid": {"shipments2:quality[0]": "error"},  # FROM shipments
    "valid/fixtures_odcs_v3_full-example": {"tbl:quality[0]": "failed"},
    "valid/fixtures_oracle_datacontract-oracle-odcs": {
        "checks_testcase:quality[0]": "failed",
        "checks_testcase.AMOUNT:quality[0]": "error",  # selects rows, and here there is none
    },
    # A DataFrame has no history to travel in.
    "valid/fixtures_quality-sql-dialects_databricks": {
        "orders:quality[0]": "error",
        "orders:quality[1]": "error",
    },
    # Rows of today by CURRENT_TIMESTAMP, which no test's clock moves.
    "valid/fixtures_quality-sql-dialects_snowflake": {"orders:quality[2]": "failed"},
    "valid/fixtures_sodacl_datacontract": {
        "orders:quality[0]": "failed",
        "line_items:quality[0]": "failed",
    },
}

# Rules that no value of the column's type breaks.
UNBREAKABLE = {
    "valid/fixtures_export_datacontract.large": {
        "orders.labels:minItems",  # at least 0
        "orders.order_total:multipleOf",  # of 0.01, in a NUMBER without fraction
    },
    "implied/dev_examples_data-types_all-data-types": {
        "transactions_tbl.age:format",  # i64, in an int
        "transactions_tbl.latest_txns:minItems",  # at least 0
    },
}

MEASURES = {"column_type", "row_count_range", "sql_value"}


def contract_of(name, objects):
    """The contract, or a part of it: what it says of these objects."""
    whole = load_contract(FILES[name])
    if not objects:
        return whole
    value = whole.document.value
    kept = [one for one in value["schema"] if one["name"] in objects]
    return load_contract({**value, "schema": kept})


def run(spark, contract, frames, **options):
    """The outcome, with rows known by their faults."""
    gathered = gather(contract, Config(), NOW, Given(frames=list(frames)))
    keys = {str(table): [FAULT] for table in gathered.frames}
    return lakeproof.run(spark, contract, tables=frames, keys=keys, clock=lambda: NOW, **options)


def frames_of(spark, tables):
    return {name: spark.createDataFrame(one.rows, one.schema) for name, one in tables.items()}


def own_key(rule_key):
    """A rule's key without the contract's id."""
    return rule_key.partition("/")[2]


def found_by(outcome):
    """How many each rule counts as failing, and the keys of their rows: a fault where it is one."""
    keys = {own_key(one.rule_key): set() for one in outcome.results}
    for hit in outcome.violations().collect():
        key = json.loads(hit["violation_key"])
        named = key[FAULT][1] if FAULT in key else key_text(key)
        for rule in hit["rules"]:
            keys[own_key(rule)].add(named)
    return {
        own_key(one.rule_key): Expected(one.failing_rows, frozenset(keys[own_key(one.rule_key)]))
        for one in outcome.results
    }


def of_wrong_types(schema):
    """The same columns; none of their types is one that stands for the declared one."""
    return T.StructType(
        [
            one
            if one.name == FAULT
            else T.StructField(
                one.name,
                T.DateType() if isinstance(one.dataType, T.BooleanType) else T.BooleanType(),
            )
            for one in schema.fields
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "objects"), CONTRACTS)
def test_rows_that_are_as_the_schema_asks_break_nothing(spark, name, objects):
    contract = contract_of(name, objects)
    tables = Generator(contract, ASKED.get(name, {})).tables(planted=False)
    outcome = run(spark, contract, frames_of(spark, tables))
    others = {
        own_key(one.rule_key): one.status.value
        for one in outcome.results
        if one.status not in {CheckStatus.PASSED, CheckStatus.SKIPPED}
    }
    assert others == {**dict.fromkeys(ERRORS.get(name, {}), "error"), **NOT_PASSED.get(name, {})}


@pytest.mark.parametrize(("name", "objects"), CONTRACTS)
def test_the_rules_find_exactly_the_planted_faults(spark, name, objects):
    contract = contract_of(name, objects)
    tables = Generator(contract, ASKED.get(name, {})).tables(planted=True)
    outcome = run(spark, contract, frames_of(spark, tables))
    found, wanted = found_by(outcome), expected_of(tables)
    assert {key: found[key] for key in wanted} == wanted
    judged_by_rows = {
        own_key(one.rule_key)
        for one in outcome.results
        if one.declared["origin"] != "sla"
        and one.check_type not in MEASURES
        and one.status not in {CheckStatus.SKIPPED, CheckStatus.ERROR}
    }
    assert judged_by_rows == set(wanted)
    assert {key for key, one in wanted.items() if not one.failing} == UNBREAKABLE.get(name, set())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "objects"), CONTRACTS)
def test_columns_of_other_types_break_their_types_and_are_there(spark, name, objects):
    contract = contract_of(name, objects)
    tables = Generator(contract).tables(planted=False)
    frames = {one: spark.createDataFrame([], of_wrong_types(tables[one].schema)) for one in tables}
    outcome = run(spark, contract, frames, select="check:column_type")
    passed = {own_key(one.rule_key) for one in outcome.results if one.failing_rows == 0}
    there = {
        f"{table.owner.name}.{part.label}:presence"
        for table in tables.values()
        for part in table.owner.properties
    }
    assert passed == {own_key(one.rule_key) for one in outcome.results} & there
