"""Every generation of the standard becomes one contract; what deviates is told, never dropped."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from reading_contracts import contract_of, only_property, told

from lakeproof.config import Config
from lakeproof.contracts.finding import Level
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.loading import load_contract
from lakeproof.errors import ContractError
from lakeproof.model.rule import RejectedRule

GENERATIONS = {
    "version 3": """
schema:
- name: Stock
  physicalName: stock_v1
  properties:
  - name: Quantity
    physicalName: qty
    required: true
    unique: true
    primaryKey: true
    primaryKeyPosition: 1
    quality: [{metric: nullValues, mustBe: 0}]
  quality: [{metric: rowCount, mustBeGreaterThan: 0}]
""",
    "the RFC": """
schema:
- object: Stock
  physicalName: stock_v1
  attributes:
  - field: Quantity
    physicalName: qty
    required: true
    isUnique: true
    isPrimaryKey: true
    primaryKeyPosition: 1
    quality: [{metric: nullValues, mustBe: 0}]
  quality: [{metric: rowCount, mustBeGreaterThan: 0}]
""",
    "version 2": """
dataset:
- table: Stock
  physicalName: stock_v1
  columns:
  - column: Quantity
    physicalName: qty
    isNullable: false
    isUnique: true
    isPrimary: true
    primaryKeyPosition: 1
    checks: [{metric: nullValues, mustBe: 0}]
  checks: [{metric: rowCount, mustBeGreaterThan: 0}]
""",
}


@pytest.mark.parametrize("name", GENERATIONS)
def test_every_generation_reads_as_the_same_table(name):
    contract = load_contract(GENERATIONS[name])
    (stock,) = contract.objects
    (quantity,) = stock.properties
    assert (stock.name, stock.physical_name) == ("Stock", "stock_v1")
    assert (quantity.name, quantity.physical_name, quantity.path) == ("Quantity", "qty", "qty")
    assert (quantity.required, quantity.unique, quantity.primary_key) == (True, True, True)
    assert quantity.primary_key_position == 1
    assert [part and part.name for _, part, _ in contract.rules()] == [None, "Quantity"]
    assert not [one for one in contract.findings if one.level is Level.ERROR]


def test_nullable_is_required_the_other_way_round_and_only_if_it_is_said():
    nullable = {"isNullable: false": True, "isNullable: true": False, "name: c2": False}
    found = {}
    for line in nullable:
        text = f"dataset:\n- table: t\n  columns:\n  - column: c\n    {line}\n"
        found[line] = load_contract(text).objects[0].properties[0].required
    assert found == nullable
    assert only_property("required: false\nisNullable: false")[1].required is False


def test_paths_are_made_of_physical_names_and_labels_of_names():
    contract, column = only_property("""
physicalName: c_1
logicalType: object
properties:
- {name: plain, physicalName: p}
- {name: with.dot}
- {name: "tick`ed name"}
- name: lines
  logicalType: array
  items:
    logicalType: array
    items:
      logicalType: object
      properties: [{name: price, physicalName: prc}]
- name: attrs
  logicalType: map
  map:
    key: {logicalType: string}
    value: {logicalType: object, properties: [{name: v}]}
""")
    assert {part.path: part.label for part in column.walk()} == {
        "c_1": "c",
        "c_1.p": "c.plain",
        "c_1.`with.dot`": "c.`with.dot`",
        "c_1.`tick``ed name`": "c.`tick``ed name`",
        "c_1.lines": "c.lines",
        "c_1.lines[]": "c.lines[]",
        "c_1.lines[][]": "c.lines[][]",
        "c_1.lines[][].prc": "c.lines[][].price",
        "c_1.attrs": "c.attrs",
        "c_1.attrs{key}": "c.attrs{key}",
        "c_1.attrs{}": "c.attrs{}",
        "c_1.attrs{}.v": "c.attrs{}.v",
    }
    assert told(contract) == []


def test_rules_are_found_at_any_depth_in_the_order_of_the_file():
    contract, _ = only_property("""
logicalType: array
quality: [{metric: nullValues, mustBe: 0}]
items:
  logicalType: map
  quality: [{metric: nullValues, mustBe: 1}]
  map:
    key: {logicalType: string, quality: [{metric: nullValues, mustBe: 2}]}
    value:
      logicalType: object
      quality: [{metric: nullValues, mustBe: 3}]
      properties:
      - {name: deep, quality: [{metric: nullValues, mustBe: 4}, {type: text, description: x}]}
""")
    found = [(part.path, rule.index, rule.raw.get("mustBe")) for _, part, rule in contract.rules()]
    assert found == [
        ("c", 0, 0),
        ("c[]", 0, 1),
        ("c[]{key}", 0, 2),
        ("c[]{}", 0, 3),
        ("c[]{}.deep", 0, 4),
        ("c[]{}.deep", 1, None),
    ]


def test_what_the_schema_says_of_a_property_is_read():
    _, column = only_property("""
id: c_id
logicalType: integer
physicalType: INT
logicalTypeOptions: {minimum: 1}
enum: [{value: 1}, {value: null}, {value: x, label: X}]
semanticType: measure
deprecated: true
classification: restricted
relationships: [{to: other.id}]
""")
    assert (column.id, column.logical_type, column.physical_type) == ("c_id", "integer", "INT")
    assert column.options == {"minimum": 1}
    assert column.enum == (1, None, "x")
    assert (column.is_measure, column.is_deprecated) == (True, True)
    assert column.classification == "restricted"
    assert [one.raw for one in column.relationships] == [{"to": "other.id"}]


def test_an_enum_that_is_not_there_is_none_and_an_empty_one_is_empty():
    assert only_property("logicalType: string")[1].enum is None
    assert only_property("enum: []")[1].enum == ()


def test_the_head_of_a_contract_is_read():
    contract = contract_of(
        """
name: Orders
tags: [finance, 2024]
slaDefaultElement: t.updated
slaProperties: [{property: latency, value: 4, unit: d}, {property: retention, value: 3}]
customProperties: [{property: defaultEngine, value: soda}]
servers: [{server: prod, type: local, path: ./x, format: csv}]
"""
    )
    assert (contract.id, contract.name, contract.version) == ("c1", "Orders", "1.0.0")
    assert (contract.api_version, contract.is_legacy) == ("v3.2.0", False)
    assert contract.tags == ("finance", "2024")
    assert contract.sla_default_element == "t.updated"
    assert [(one.index, one.raw["property"]) for one in contract.sla] == [
        (0, "latency"),
        (1, "retention"),
    ]
    assert contract.custom == {"defaultEngine": "soda"}
    (server,) = contract.servers
    assert (server.name, server.type, server.raw["path"]) == ("prod", "local", "./x")


def test_version_two_keeps_its_id_server_and_default_column():
    contract = load_contract(
        "uuid: u1\napiVersion: v2.2.2\nslaDefaultColumn: t.c\nsourceSystem: bigQuery\n"
        "datasetProject: edw\ndatasetName: views\npassword: secret\n"
    )
    (server,) = contract.servers
    assert (contract.id, contract.is_legacy, contract.sla_default_element) == ("u1", True, "t.c")
    assert server.type == "bigquery"
    assert server.raw == {"type": "bigquery", "project": "edw", "dataset": "views"}


def test_a_version_is_told_as_it_was_written():
    contract = load_contract("version: 1.10\nschema: [{name: 007}]\n")
    assert contract.version == "1.10"
    assert contract.objects[0].name == "007"
    assert [one for one in told(contract) if "quotes" in one[2]] == [
        (Level.WARNING, 1, "version must be a text; put 1.10 in quotes"),
        (Level.WARNING, 2, "name must be a text; put 007 in quotes"),
    ]


FRAGMENTS = {
    "a quality list": "quality:\n- code: required\n- type: text\n",
    "a list of rules": "- code: required\n- type: text\n",
    "one rule without its list": "quality:\n  code: required\nchecks: [{type: text}]\n",
    "rules that name columns": "- {type: duplicate_count, columns: [a]}\n- {metric: rowCount}\n",
}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_fragment_of_rules_loads_alone(name):
    contract = load_contract(FRAGMENTS[name])
    assert contract.id == "contract"
    assert len(contract.stray_rules) == 2
    assert [owner for owner, _, _ in contract.rules()] == [None, None]
    assert any("belong to no object" in message for _, _, message in told(contract))
    assert all(one.location.line for one in contract.findings)


def test_a_list_of_objects_loads_alone_with_its_places():
    contract = load_contract(
        "- object: t\n  attributes:\n  - field: c\n    quality:\n    - code: required\n"
    )
    ((owner, part, rule),) = contract.rules()
    assert (owner.name, part.name) == ("t", "c")
    assert str(contract.document.at(rule.pointer)) == "<text>:5:7"


def test_missing_head_keys_are_warnings():
    assert [message for _, _, message in told(load_contract("schema: []\n"))] == [
        "this contract has no `apiVersion`",
        "this contract has no `kind`",
        "this contract has no `id`",
        "this contract has no `version`",
    ]


def test_a_wrong_part_is_left_out_and_its_neighbours_stay():
    contract = contract_of(
        """
servers: none
slaProperties: [soon, {property: latency, value: 1}]
schema:
- just a text
- name: t
  properties: [5, {name: c}, null]
- {}
"""
    )
    assert [one.name for one in contract.objects] == ["t", "object_2"]
    assert [one.name for one in contract.objects[0].properties] == ["c"]
    assert contract.servers == ()
    assert [one.raw.get("property") for one in contract.sla] == [None, "latency"]
    errors = [(line, message) for level, line, message in told(contract) if level is Level.ERROR]
    assert [line for line, _ in errors] == [6, 7, 9, 11, 11, 12]


def test_rules_on_a_property_without_a_name_stay_with_a_name_that_no_column_has():
    text = "schema:\n- properties:\n  - quality: [{metric: nullValues, mustBe: 0}]\n"
    ((owner, part, _),) = contract_of(text).rules()
    assert (owner.name, part.path) == ("object_1", "property_1")


def test_a_contract_without_an_id_is_called_by_its_file(tmp_path):
    file = tmp_path / "orders.odcs.yaml"
    file.write_text("schema: []\n", encoding="utf-8")
    assert load_contract(file).id == "orders"
    assert load_contract(str(file)).id == "orders"


def test_a_file_that_is_not_there_is_told_with_its_neighbours(tmp_path):
    (tmp_path / "orders.yaml").write_text("schema: []\n", encoding="utf-8")
    with pytest.raises(ContractError, match=r"order\.yaml: no such file\. Nearest: orders\.yaml"):
        load_contract(tmp_path / "order.yaml")
    with pytest.raises(ContractError, match="no folder"):
        load_contract(str(tmp_path / "missing" / "orders.yaml"))
    with pytest.raises(ContractError, match="cannot be read"):
        load_contract(tmp_path)


def test_a_file_of_any_name_is_a_path_and_a_line_without_one_is_a_text(tmp_path):
    file = tmp_path / "contract"
    file.write_text("id: from file\n", encoding="utf-8")
    assert load_contract(str(file)).id == "from file"
    assert load_contract("id: from text").id == "from text"


@pytest.mark.parametrize("text", ["just words", "5", "null"])
def test_a_text_that_is_no_contract_is_refused(text):
    with pytest.raises(ContractError, match="neither"):
        load_contract(text)


def test_a_file_that_is_too_long_is_refused_before_it_is_read_whole(tmp_path):
    file = tmp_path / "long.yaml"
    file.write_bytes(b"a: " + b"x" * 3_000_000)
    with pytest.raises(ContractError, match=r"long\.yaml:1:1: .*more than 2,000,000"):
        load_contract(file)


QUALITY = "quality: [{metric: nullValues, mustBe: 0}]"
SCHEMAS = {
    "objects by name": "schema: {t: {properties: [{name: c, %s}]}}",
    "one object": "schema: {name: t, properties: [{name: c, %s}]}",
    "properties by name": "schema: [{name: t, properties: {c: {%s}}}]",
    "one property": "schema: [{name: t, properties: {name: c, %s}}]",
    "an object alone": "name: t\nproperties: [{name: c, %s}]",
}


@pytest.mark.parametrize("head", ["", "apiVersion: v3.2.0\nid: c1\n"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_of_another_form_is_read_where_it_is_clear(name, head):
    contract = load_contract(head + SCHEMAS[name] % QUALITY)
    ((owner, part, rule),) = contract.rules()
    assert (owner.name, part.name, part.path) == ("t", "c", "c")
    assert contract.document.at(rule.pointer).line == head.count("\n") + 1 + ("alone" in name)
    assert not [one for one in contract.findings if one.level is Level.ERROR]
    assert contract.id == ("c1" if head else "contract")


UNREADABLE = {
    "schema of a text": "schema: orders",
    "schema of lists": f"schema: {{t: [{{name: c, {QUALITY}}}]}}",
    "properties of texts": "schema: [{name: t, properties: {c: string}}]",
    "rule as properties": "schema: [{name: t, properties: {metric: rowCount, mustBe: 0}}]",
    "items of two": f"schema: [{{name: t, properties: [{{name: c, items: [{{{QUALITY}}}, 1]}}]}}]",
    "relationships of a text": "schema: [{name: t, relationships: orders.id}]",
    "relationships of no target": "schema: [{name: t, relationships: {from: t.c}}]",
    "service levels of a text": "schema: [{name: t}]\nslaProperties: soon",
    "service levels of values": "schema: [{name: t}]\nslaProperties: {latency: 4}",
    "service level of a text": "schema: [{name: t}]\nslaProperties: [soon]",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_an_error_of_the_run(name):
    contract = contract_of(UNREADABLE[name])
    assert [one for one in contract.findings if one.level is Level.ERROR]
    rules = gather(contract, Config(), datetime(2025, 1, 2, tzinfo=UTC)).rules
    wrong = [one for one in rules if isinstance(one, RejectedRule) and not one.is_skipped]
    assert len(wrong) == 1


@pytest.mark.parametrize(
    "text",
    [
        "slaProperties: {latency: {value: 4, unit: d}}",
        "slaProperties: {property: latency, value: 4, unit: d}",
    ],
)
def test_service_levels_by_name_or_one_alone_are_read(text):
    (entry,) = contract_of(text).sla
    assert entry.raw == {"property": "latency", "value": 4, "unit": "d"}


def test_thousands_of_properties_are_looked_up_at_once():
    parts = [{"name": f"p{at}", "relationships": [{"to": f"t.p{at}"}]} for at in range(4000)]
    (owner,) = load_contract({"schema": [{"name": "t", "properties": parts}]}).objects
    started = time.process_time()
    assert all(owner.property_named(part["name"]) for part in parts)
    assert time.process_time() - started < 1
