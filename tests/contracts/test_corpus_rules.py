"""Every rule of the corpus is in the plan: it runs, or it says why not."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import cache

import pytest
from corpus_files import corpus, pointers_of_rules

from lakeproof.config import Config
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.tables import Given
from lakeproof.model.rule import Rule

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
FAMILIES = ("bitol-io__open-data-contract-standard__", "datacontract__datacontract-cli__")


def short(path):
    """A file's name without whose it is."""
    name = path.name
    for family in FAMILIES:
        name = name.removeprefix(family)
    return name.removesuffix(".yaml").removesuffix(".odcs")


FILES = {
    f"{kind}/{short(path)}": path
    for kind in ("valid", "implied", "legacy")
    for path in corpus(kind)
}


@cache
def rules_of(path):
    """The rules of a file whose tables are all there; nothing is read."""
    contract = load_contract(path)
    given = Given(frames=[one.name for one in contract.objects])
    return gather(contract, Config(), NOW, given).rules


def fate(rule):
    if isinstance(rule, Rule):
        return "run"
    return "skipped" if rule.is_skipped else "error"


def counted(path):
    """How many rules run, are skipped and are errors: of quality, implied and sla."""
    found = Counter((rule.declared["origin"], fate(rule)) for rule in rules_of(path))
    return tuple(
        tuple(found[origin, one] for one in ("run", "skipped", "error"))
        for origin in ("quality", "implied", "sla")
    )


# (run, skipped, error) of quality, implied and sla.
COUNTS = {
    "valid/dev_examples_all_full-example": ((2, 0, 0), (19, 0, 1), (3, 0, 5)),
    "valid/dev_examples_quality_column-accuracy": ((1, 0, 0), (1, 0, 0), (0, 0, 0)),
    "valid/dev_examples_quality_column-completeness": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "valid/dev_examples_quality_column-custom": ((2, 0, 0), (2, 0, 0), (0, 0, 0)),
    "valid/dev_examples_quality_column-validity": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "valid/dev_examples_tags_tags": ((1, 0, 0), (4, 0, 0), (0, 0, 0)),
    "valid/examples_orders_orders": ((2, 0, 0), (22, 0, 0), (2, 0, 0)),
    "valid/examples_user_interactions_user_interactions": ((0, 4, 0), (7, 0, 0), (0, 0, 0)),
    "valid/fixtures_azure-blob-file_datacontract": ((1, 0, 3), (10, 0, 0), (0, 0, 0)),
    "valid/fixtures_bigquery_datacontract_with_quality_rules": ((1, 0, 0), (1, 0, 0), (0, 0, 0)),
    "valid/fixtures_dqx_datacontract": ((0, 30, 0), (27, 0, 0), (0, 1, 1)),
    "valid/fixtures_excel_shipments-odcs": ((6, 1, 0), (16, 2, 0), (0, 1, 0)),
    "valid/fixtures_export_datacontract.large": ((1, 0, 1), (52, 2, 0), (0, 0, 0)),
    "valid/fixtures_great-expectations_datacontract_quality_column": (
        (1, 0, 0),
        (6, 0, 0),
        (0, 0, 0),
    ),
    "valid/fixtures_great-expectations_datacontract_quality_yaml": (
        (1, 0, 0),
        (2, 0, 0),
        (0, 0, 0),
    ),
    "valid/fixtures_great-expectations_odcs": ((1, 0, 0), (4, 0, 0), (0, 0, 0)),
    "valid/fixtures_kafka_datacontract": ((1, 0, 0), (4, 0, 0), (0, 0, 0)),
    "valid/fixtures_lint_valid-3.1.0": ((3, 1, 0), (16, 2, 0), (0, 1, 0)),
    "valid/fixtures_lint_valid": ((1, 1, 0), (16, 2, 0), (0, 1, 0)),
    "valid/fixtures_odcs_v3_full-example": ((2, 0, 0), (7, 0, 0), (3, 0, 5)),
    "valid/fixtures_oracle_datacontract-oracle-odcs": ((2, 0, 0), (33, 3, 0), (0, 0, 0)),
    "valid/fixtures_postgres_odcs": ((2, 0, 0), (7, 0, 0), (0, 0, 0)),
    "valid/fixtures_quality-dimensions_datacontract": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "valid/fixtures_quality-id_datacontract": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "valid/fixtures_quality-sql-dialects_bigquery": ((2, 0, 0), (4, 0, 0), (0, 0, 0)),
    "valid/fixtures_quality-sql-dialects_databricks": ((2, 0, 0), (4, 0, 0), (0, 0, 0)),
    "valid/fixtures_quality-sql-dialects_dataframe": ((1, 0, 0), (4, 0, 0), (0, 0, 0)),
    "valid/fixtures_quality-sql-dialects_snowflake": ((2, 0, 1), (4, 0, 0), (0, 0, 0)),
    "valid/fixtures_row-filter_datacontract": ((1, 0, 0), (3, 0, 0), (0, 0, 0)),
    "valid/fixtures_sodacl_datacontract": ((2, 0, 1), (7, 0, 0), (2, 0, 0)),
    "valid/imports_pydantic-model_datacontract": ((1, 0, 0), (11, 0, 0), (0, 0, 0)),
    "implied/dev_examples_all_postgresql-adventureworks-contract": (
        (0, 0, 0),
        (524, 22, 0),
        (0, 0, 0),
    ),
    "implied/dev_examples_data-types_all-data-types": ((0, 0, 0), (34, 6, 0), (0, 0, 0)),
    "implied/dev_examples_references_relationships": ((0, 0, 0), (15, 0, 2), (0, 0, 0)),
    "implied/dev_examples_schema_all-schema-types": ((0, 0, 0), (10, 0, 0), (0, 0, 0)),
    "implied/dev_examples_schema_enum": ((0, 0, 0), (11, 0, 0), (0, 0, 0)),
    "implied/dev_examples_schema_map": ((0, 0, 0), (21, 0, 0), (0, 0, 0)),
    "implied/dev_examples_schema_measures-and-dimensions": ((0, 0, 0), (7, 3, 0), (0, 0, 0)),
    "implied/dev_examples_sla_database-table-sla": ((0, 0, 0), (0, 0, 0), (0, 8, 0)),
    "legacy/v2.2.1_examples_all_full-example": ((1, 1, 0), (7, 0, 0), (3, 0, 5)),
    "legacy/v2.2.2_examples_all_full-example": ((1, 1, 0), (7, 0, 0), (3, 0, 5)),
    "legacy/v2.2.2_examples_quality_column-accuracy": ((1, 0, 0), (1, 0, 0), (0, 0, 0)),
    "legacy/v2.2.2_examples_quality_column-completeness": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "legacy/v2.2.2_examples_quality_column-validity": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "legacy/v3.0.2_examples_all_full-example": ((1, 1, 0), (4, 0, 0), (3, 0, 5)),
    "legacy/v3.0.2_examples_quality_column-accuracy": ((1, 0, 0), (1, 0, 0), (0, 0, 0)),
    "legacy/v3.0.2_examples_quality_column-completeness": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
    "legacy/v3.0.2_examples_quality_column-custom": ((2, 0, 0), (2, 0, 0), (0, 0, 0)),
    "legacy/v3.0.2_examples_quality_column-validity": ((1, 0, 0), (2, 0, 0), (0, 0, 0)),
}

# The table is called `tbl` in these files, and everywhere but in their service levels.
TAB1 = dict.fromkeys(
    (
        "tbl:latency",
        "tbl:retention",
        "tbl:frequency",
        "tbl:timeOfAvailability",
        "tbl:timeOfAvailability[2]",
    ),
    "element 'tab1.txn_ref_dt' is not in the schema. Nearest: tbl.",
)

# Each is the contract's own mistake, which no reading mends.
ERRORS = {
    "valid/dev_examples_all_full-example": {
        "receivers.receiver_type:foreignKey": "no object 'receiver_types' in the contract",
        **TAB1,
    },
    "valid/fixtures_odcs_v3_full-example": TAB1,
    "legacy/v2.2.1_examples_all_full-example": TAB1,
    "legacy/v2.2.2_examples_all_full-example": TAB1,
    "legacy/v3.0.2_examples_all_full-example": TAB1,
    # An operator without a metric: the schema lets it pass, the standard gives it no meaning.
    "valid/fixtures_azure-blob-file_datacontract": {
        "orders_files.size:quality[0]": "mustBeLessOrEqualTo of what?",
        "orders_files.contentType:quality[0]": "mustBe of what?",
        "orders_files.blobType:quality[0]": "mustBe of what?",
    },
    "valid/fixtures_dqx_datacontract": {
        "datacontract_test_with_quality:generalAvailability": "'Available 24/7' is no ISO date",
    },
    # DuckDB's function; neither Snowflake, which the contract names, nor Spark has it.
    "valid/fixtures_export_datacontract.large": {
        "orders.order_total:quality[0]": "function QUANTILE_CONT() is not one of Spark's",
    },
    "valid/fixtures_sodacl_datacontract": {
        "orders.order_total:quality[0]": "function quantile_cont() is not one of Spark's",
    },
    "valid/fixtures_quality-sql-dialects_snowflake": {
        "orders:quality[0]": "TABLESAMPLE is refused: a sample cannot be repeated",
    },
    "implied/dev_examples_references_relationships": {
        "orders:foreignKey": "object 'addresses' has no property 'address_street'",
        "orders.shipping_address_street:foreignKey": "has no property 'address_street'",
    },
}

# Why rules that nothing is wrong with do not run: a word of each reason, and how often it is said.
SKIPS = {
    "does not run engine 'dqx'": 34,
    "a text for people": 3,
    "countCheck has no bounds": 3,
    "a measure is computed by who reads the data": 3,
    "it names no element, so no column can answer it": 1,
    "how much of the time a service answers is not in its tables": 3,
    "the contract has no object that a result could be about": 8,
    "has no type in Spark that it is stored as": 16,  # json, xml, intervals
    "is not known as a type": 16,  # types of AdventureWorks' own, and BFILE
    "says how it is shown": 5,
    "which zone is meant where none is written": 1,
    "timezone is about how a text is written": 1,
}


def test_the_table_names_every_file():
    assert sorted(COUNTS) == sorted(FILES)
    assert len(COUNTS) == 31 + 8 + 10


@pytest.mark.parametrize("name", FILES)
def test_every_rule_of_the_walk_is_in_the_plan_and_no_other(name):
    planned = {
        rule.declared["pointer"]
        for rule in rules_of(FILES[name])
        if rule.declared["origin"] == "quality"
    }
    assert planned == set(pointers_of_rules(FILES[name]))


def test_103_rules_are_planned_and_three_in_ten_of_them_are_for_another_engine():
    declared = {
        (name, rule.declared["pointer"]): rule
        for name, path in FILES.items()
        for rule in rules_of(path)
        if rule.declared["origin"] == "quality"
    }
    assert len(declared) == 103
    assert Counter(map(fate, declared.values())) == {"run": 57, "skipped": 40, "error": 6}
    assert sum(rule.declared["engine"] == "dqx" for rule in declared.values()) == 34


@pytest.mark.parametrize("name", FILES)
def test_as_many_run_are_skipped_and_are_errors_as_the_table_says(name):
    assert counted(FILES[name]) == COUNTS[name]


@pytest.mark.parametrize("name", FILES)
def test_keys_are_unique_and_every_rule_says_where_it_stands(name):
    rules = rules_of(FILES[name])
    assert len({rule.key for rule in rules}) == len(rules)
    assert [rule.key for rule in rules if f"{FILES[name].name}:" not in rule.source] == []


@pytest.mark.parametrize("name", FILES)
def test_an_error_is_the_contracts_own_mistake(name):
    errors = {
        rule.key.partition("/")[2]: rule.reason
        for rule in rules_of(FILES[name])
        if fate(rule) == "error"
    }
    wanted = ERRORS.get(name, {})
    assert sorted(errors) == sorted(wanted)
    assert {key: reason for key, reason in errors.items() if wanted[key] not in reason} == {}


def test_every_skip_has_one_of_the_known_reasons():
    reasons = [
        rule.reason for path in FILES.values() for rule in rules_of(path) if fate(rule) == "skipped"
    ]
    told = Counter(word for reason in reasons for word in SKIPS if word in reason)
    assert [reason for reason in reasons if not any(word in reason for word in SKIPS)] == []
    assert dict(told) == SKIPS


@pytest.mark.parametrize("path", corpus("negative"), ids=short)
def test_a_negative_file_has_a_located_finding_and_its_rules_are_planned(path):
    contract = load_contract(path)
    rules = rules_of(path)
    assert contract.findings or any(fate(rule) == "error" for rule in rules)
    assert all(one.location.line for one in contract.findings)
    declared = {r.declared["pointer"] for r in rules if r.declared["origin"] == "quality"}
    assert declared == set(pointers_of_rules(path))


def test_invalid_values_without_arguments_are_those_that_the_enum_does_not_list():
    (rule,) = [
        rule
        for rule in rules_of(FILES["valid/dev_examples_tags_tags"])
        if rule.declared["origin"] == "quality"
    ]
    assert rule.arguments["valid_values"] == ("pending", "completed", "refunded")
    assert "enum" in rule.declared["note"]
