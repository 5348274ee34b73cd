"""A contract of any form, written as version 3.2: valid, complete, and with the same rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files

import pytest
from corpus_files import corpus
from jsonschema import Draft201909Validator

from lakeproof.config import Config
from lakeproof.contracts.export import export_contract
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.rules import ContractReader
from lakeproof.contracts.tables import Given, places_of
from lakeproof.contracts.yaml_document import load_document
from lakeproof.errors import ContractError
from lakeproof.model.rule import RejectedRule, Rule

CORPUS = [path for kind in ("valid", "implied", "legacy", "negative") for path in corpus(kind)]
NOW = datetime(2025, 1, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def standard():
    """The standard's own schema of version 3.2.

    As it is packed, a branch for a logical type also applies to a property that has none, so that
    each of those would have to be a map. The standard has mended that since.
    """
    text = (files("open_data_contract_standard") / "schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    for branch in schema["$defs"]["SchemaBaseProperty"]["allOf"]:
        if "if" in branch:
            branch["if"] = {"allOf": [branch["if"], {"required": ["logicalType"]}]}
    return Draft201909Validator(schema)


def exported(given):
    contract = load_contract(given)
    text = export_contract(contract)
    return contract, text, load_document(text, "exported.yaml").value


def one_rule(rule):
    """The rules that one rule of a property becomes."""
    _, _, value = exported(
        {"schema": [{"name": "t", "properties": [{"name": "a", "quality": [rule]}]}]}
    )
    return value["schema"][0]["properties"][0]["quality"]


def rule_ids(contract):
    """The rules that run, wherever the tables are; and how many are skipped or in error."""
    given = Given(tables={one.name: f"a.b.t{n}" for n, one in enumerate(contract.objects)})
    places = places_of(contract, given, Config(), {})
    rules = ContractReader(contract, Config(), places, NOW).rules()
    running = {rule.rule_id for rule in rules if isinstance(rule, Rule)}
    rejected = [rule.is_skipped for rule in rules if isinstance(rule, RejectedRule)]
    return running, sorted(rejected)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.stem[-40:]}")
def test_every_contract_of_the_corpus_becomes_valid_and_keeps_its_rules(standard, path):
    contract, text, value = exported(path)
    assert [error.message for error in standard.iter_errors(value)] == []
    assert value["apiVersion"] == "v3.2.0"
    again = load_contract(text)
    assert export_contract(again) == text, "written once more it is the same"
    if path.parent.name != "negative":
        assert rule_ids(again) == rule_ids(contract)


def test_there_is_a_corpus():
    assert len(CORPUS) == 77


@pytest.mark.parametrize(
    ("rule", "becomes"),
    [
        ({"type": "text", "description": "fine"}, [{"type": "text", "description": "fine"}]),
        ({"rule": "nullValues", "mustBe": 0}, [{"metric": "nullValues", "mustBe": 0}]),
        ({"code": "required"}, [{"metric": "nullValues", "mustBe": 0}]),
        (
            {"code": "required", "parameters": [{"parameter": "tolerance", "value": "2%"}]},
            [{"metric": "nullValues", "unit": "percent", "mustBeLessThan": 2}],
        ),
        (
            {"code": "required", "parameters": {"tolerance": 0.02}},
            [{"metric": "nullValues", "unit": "percent", "mustBeLessThan": 2}],
        ),
        (
            {
                "code": "invalid_count",
                "engine": "soda",
                "parameters": [
                    {"parameter": "valid_values", "value": ["S", "M"]},
                    {"parameter": "must_be_greater_than_or_equal", "value": 10},
                ],
            },
            [
                {
                    "metric": "invalidValues",
                    "arguments": {"validValues": ["S", "M"]},
                    "mustBeGreaterOrEqualTo": 10,
                }
            ],
        ),
        (
            {"code": "sql", "query": "SELECT count(*) FROM ${table}"},
            [{"type": "sql", "query": "SELECT count(*) FROM ${table}", "mustBe": True}],
        ),
        ({"type": "no_duplicate_values"}, [{"metric": "duplicateValues", "mustBe": 0}]),
        (
            {"type": "duplicate_percent", "must_be_less_than": 1},
            [{"metric": "duplicateValues", "unit": "percent", "mustBeLessThan": 1}],
        ),
        (
            {"type": "no_invalid_values", "valid_values": ["pounds"], "filter_sql": "c = 'UK'"},
            [
                {
                    "type": "custom",
                    "engine": "soda",
                    "implementation": {
                        "type": "no_invalid_values",
                        "valid_values": ["pounds"],
                        "filter_sql": "c = 'UK'",
                    },
                }
            ],
        ),
        (
            {
                "type": "custom",
                "engine": "dbt",
                "expectation_type": "e",
                "kwargs": {},
            },
            [
                {
                    "type": "custom",
                    "engine": "dbt",
                    "implementation": {"expectation_type": "e", "kwargs": {}},
                }
            ],
        ),
        (
            {"metric": "rowCount", "id": "r", "mustBeGreaterThan": 1, "mustBeLessThan": 9},
            [
                {"metric": "rowCount", "mustBeGreaterThan": 1, "id": "r-1"},
                {"metric": "rowCount", "mustBeLessThan": 9, "id": "r-2"},
            ],
        ),
        (
            {"metric": "invalidValues", "arguments": None, "pattern": "^a$", "mustBe": 0},
            [{"metric": "invalidValues", "arguments": {"pattern": "^a$"}, "mustBe": 0}],
        ),
        (
            {"metric": "nullValues", "mustBe": 0, "dimension": "cp", "owner": {"team": "a"}},
            [
                {
                    "metric": "nullValues",
                    "mustBe": 0,
                    "dimension": "completeness",
                    "customProperties": [{"property": "owner", "value": {"team": "a"}}],
                }
            ],
        ),
        (
            {"rule": "price > 0"},
            [
                {
                    "type": "custom",
                    "engine": "lakeproof",
                    "implementation": {"check": "row_expression", "expression": "price > 0"},
                }
            ],
        ),
        (
            {"metric_expression": "avg(a)"},
            [
                {
                    "type": "custom",
                    "engine": "lakeproof",
                    "implementation": {"rule": {"metric_expression": "avg(a)"}},
                }
            ],
        ),
        (7, [{"type": "text", "customProperties": [{"property": "quality", "value": 7}]}]),
    ],
    ids=str,
)
def test_a_rule_is_written_as_the_standard_writes_it(standard, rule, becomes):
    assert one_rule(rule) == becomes
    value = exported({"schema": [{"name": "t", "quality": [rule]}]})[2]
    assert [error.message for error in standard.iter_errors(value)] == []


def test_rules_of_version_2_keep_what_that_version_means():
    (rule,) = one_rule(
        {
            "templateName": "NullCheck",
            "toolName": "Elevate",
            "toolRuleName": "DQ.x",
            "dimension": "validity",
        }
    )
    assert rule == {
        "metric": "nullValues",
        "mustBe": 0,
        "schedule": "0 10 * * *",
        "scheduler": "cron",
        "method": "dataQuality",
        "customProperties": [
            {"property": "templateName", "value": "NullCheck"},
            {"property": "toolName", "value": "Elevate"},
            {"property": "toolRuleName", "value": "DQ.x"},
        ],
        "dimension": "conformity",
    }
    (rule,) = one_rule({"code": "nullCheck", "scheduleCronExpression": "0 20 * * *"})
    assert (rule["schedule"], rule["scheduler"]) == ("0 20 * * *", "cron")


COMMENTED = """\
# the head
apiVersion: v3.0.2
kind: DataContract
id: shop # stable
version: 1.0.0
# where it is
servers:
  - server: prod
    type: databricks
    catalog: ${CATALOG:-main} # by stage
    schema: ${SCHEMA}
schema:
  # the orders
  - table: orders
    columns:
      - column: id # the key
        isPrimary: true
        isNullable: false
        odd: 1 # unknown
    quality:
      # never empty
      - rule: rowCount # old word
        mustBeGreaterThan: 0 # at least one
# the end
"""


def test_comments_and_variables_stay_with_what_they_stand_at(standard):
    _, text, value = exported(COMMENTED)
    assert list(standard.iter_errors(value)) == []
    for kept in (
        "# the head\napiVersion: v3.2.0\n",
        "id: shop # stable\n",
        "# where it is\nservers:\n",
        "catalog: ${CATALOG:-main} # by stage\n",
        "schema: ${SCHEMA}\n",
        "# the orders\n  - name: orders\n",
        "- name: id # the key\n",
        "value: 1 # unknown\n",
        "# never empty\n      - metric: rowCount # old word\n",
        "mustBeGreaterThan: 0 # at least one\n",
    ):
        assert kept in text
    assert text.endswith("# the end\n")
    assert value["schema"][0]["properties"][0] == {
        "name": "id",
        "primaryKey": True,
        "required": True,
        "customProperties": [{"property": "odd", "value": 1}],
    }


@pytest.mark.parametrize(
    "given",
    [
        "name: a\nproperties:\n- {name: b, quality: [{metric: nullValues, mustBe: 0}]}\n",
        "schema:\n- object: StockTable\n  attributes:\n  - field: Quantity\n",
        '{"schema": [{"name": "a", "quality": [{"metric": "rowCount", "mustBe": 1}]}]}',
        {"schema": [{"name": "a"}], "quality": [{"metric": "rowCount", "mustBe": 1}]},
        {"servers": [{"server": "s", "type": "hive", "database": "d"}, {"type": "nothing"}]},
    ],
    ids=str,
)
def test_fragments_json_and_stray_rules_become_whole_contracts(standard, given):
    _, _, value = exported(given)
    assert [error.message for error in standard.iter_errors(value)] == []
    written = json.dumps(value)
    for word in ("required", "rowCount", "Quantity", "hive"):
        assert (word in written) >= (word in str(given))


def test_rules_at_the_root_move_onto_the_only_object():
    rule = {"metric": "rowCount", "mustBe": 1}
    _, _, value = exported({"schema": [{"name": "a"}], "quality": [rule]})
    assert value["schema"] == [{"name": "a", "quality": [rule]}]


def test_exclusive_bounds_of_version_3_0_become_numbers():
    options = {"minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False}
    part = {"name": "n", "logicalType": "integer", "logicalTypeOptions": options}
    _, _, value = exported({"schema": [{"name": "a", "properties": [part]}]})
    found = value["schema"][0]["properties"][0]["logicalTypeOptions"]
    assert found == {"exclusiveMinimum": 0, "maximum": 9}
    assert isinstance(found, Mapping)


@pytest.mark.parametrize(
    "given",
    [
        "quality:\n- code: required\n",
        "- code: required\n",
        {"schema": [{"name": "a"}, {"name": "b"}], "quality": [{"metric": "rowCount"}]},
    ],
    ids=str,
)
def test_rules_of_no_object_are_refused_not_hidden(given):
    with pytest.raises(ContractError, match=r"belong to no object.*Put them under `quality`"):
        exported(given)


@pytest.mark.parametrize(
    "part",
    [
        {
            "logicalType": "object",
            "properties": {"b": {"quality": {"metric": "nullValues", "mustBe": 0}}},
        },
        {
            "logicalType": "array",
            "items": [{"quality": [{"metric": "nullValues", "mustBe": 0}]}],
        },
        {"relationships": {"to": "t.a"}},
    ],
    ids=str,
)
def test_what_is_read_as_a_list_is_written_as_one(part):
    contract, text, _ = exported({"schema": [{"name": "t", "properties": {"a": part}}]})
    assert rule_ids(load_contract(text)) == rule_ids(contract)


@pytest.mark.parametrize("custom", [3, "abc", {"min": 3}, [3]], ids=str)
def test_custom_properties_of_any_kind_are_kept(custom):
    rule = {"metric": "nullValues", "mustBe": 0, "extra": 1, "customProperties": custom}
    (found,) = one_rule(rule)
    assert {"property": "extra", "value": 1} in found["customProperties"]
    assert (3 if custom != "abc" else "abc") in [
        one["value"][0] if isinstance(one["value"], list) else one["value"]
        for one in found["customProperties"]
    ]


def test_a_logical_type_that_is_a_list_is_kept_beside():
    _, _, value = exported(
        {"schema": [{"name": "t", "properties": [{"name": "a", "logicalType": ["x"]}]}]}
    )
    (part,) = value["schema"][0]["properties"]
    assert part["customProperties"] == [{"property": "logicalType", "value": ["x"]}]


@pytest.mark.parametrize(
    "rule",
    [
        {"metric": "nullValues", "mustBe": 0, "filter_sql": "c = 'UK'"},
        {"code": "nullCheck", "parameters": [{"parameter": "tolerance", "value": "2%"}]},
        {"rule": "minCheck", "arguments": {"min": 5}},
        {"code": "expect_column_values_to_not_be_null", "toolName": "great-expectations"},
    ],
)
def test_what_the_standard_has_no_word_for_is_kept_as_it_stands(rule):
    part = {"name": "a", "logicalType": "integer", "quality": [rule]}
    loaded = load_contract({"id": "x", "schema": [{"name": "t", "properties": [part]}]})
    again = load_contract(export_contract(loaded))
    first, second = (
        [
            (one.rule_id, str(one.comparison), one.filter)
            for one in gather(contract, Config(), datetime.now(UTC)).rules
            if isinstance(one, Rule) and one.declared["origin"] == "quality"
        ]
        for contract in (loaded, again)
    )
    assert len(first) == 1
    assert first == second
