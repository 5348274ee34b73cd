"""What leaves the standard is told in its line; a rule that is told as an error is one."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from reading_contracts import HEAD, contract_of, only_property, told

from lakeproof.config import Config
from lakeproof.contracts.finding import Level
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.loading import load_contract
from lakeproof.model.rule import RejectedRule

# A property, and what is said of it: level, line within it, and words of the message.
DEVIATIONS = {
    "typo": ("requird: true", Level.WARNING, 1, ("requird", "required")),
    "truth as a word": ("required: yes", Level.WARNING, 1, ("required", "yes")),
    "truth is a list": ("required: [1]", Level.ERROR, 1, ("true or false", "list")),
    "truth is a number": ("unique: 1", Level.ERROR, 1, ("true or false",)),
    "position as text": ("primaryKeyPosition: '1'", Level.WARNING, 1, ("whole number",)),
    "properties is a text": ("properties: x", Level.ERROR, 1, ("list", "text")),
    "property is a text": ("properties:\n- x", Level.ERROR, 2, ("property", "mapping")),
    "items is a list": ("items: []", Level.ERROR, 1, ("mapping", "list")),
    "map is a text": ("map: x", Level.ERROR, 1, ("mapping",)),
    "enum is a text": ("enum: x", Level.ERROR, 1, ("list",)),
    "enum of values": ("enum: [a]", Level.WARNING, 1, ("value",)),
    "enum of lists": ("enum: [[a]]", Level.ERROR, 1, ("list",)),
    "logical type": ("logicalType: strng", Level.WARNING, 1, ("strng", "string")),
    "logical type is a list": ("logicalType: [a]", Level.ERROR, 1, ("text",)),
    "option of another type": (
        "logicalType: string\nlogicalTypeOptions:\n  minimum: 1",
        Level.WARNING,
        3,
        ("minimum",),
    ),
    "option of a type that has none": (
        "logicalType: boolean\nlogicalTypeOptions:\n  minimum: 1",
        Level.WARNING,
        3,
        ("minimum",),
    ),
    "options of no known type": (
        "logicalType: {}\nlogicalTypeOptions: {minimum: 1}",
        Level.ERROR,
        1,
        ("text",),
    ),
    "options are a text": ("logicalTypeOptions: x", Level.ERROR, 1, ("mapping",)),
    "tags are a text": ("tags: x", Level.ERROR, 1, ("list of texts",)),
    "relationship without to": ("relationships:\n- {}", Level.ERROR, 2, ("to",)),
    "relationship to a number": ("relationships:\n- to: 5", Level.ERROR, 2, ("text",)),
    "relationship of another type": (
        "relationships:\n- {to: a.b, type: friend}",
        Level.WARNING,
        2,
        ("foreignKey",),
    ),
    "custom property without a name": ("customProperties:\n- {value: 1}", Level.WARNING, 2, ()),
    "checks": ("checks: [{metric: nullValues, mustBe: 0}]", Level.NOTE, 1, ("quality",)),
    "old name": ("isUnique: true", Level.NOTE, 1, ("unique",)),
    "properties by name": ("properties: {a: {required: true}}", Level.WARNING, 1, ("by their",)),
    "properties of types": ("properties: {a: string}", Level.ERROR, 1, ("list", "mapping")),
    "items in a list": ("items: [{logicalType: string}]", Level.WARNING, 1, ("mapping",)),
    "relationship alone": ("relationships: {to: t.c}", Level.WARNING, 1, ("one entry",)),
    "quality is a text": ("quality: x", Level.ERROR, 1, ("cannot run",)),
    "quality is one rule": ("quality: {metric: nullValues, mustBe: 0}", Level.WARNING, 1, ()),
    "rule is a text": ("quality:\n- x", Level.ERROR, 2, ("mapping",)),
    "rule is nothing": ("quality:\n-", Level.ERROR, 2, ("mapping",)),
}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_deviation_is_told_in_its_line_and_the_property_stays(name):
    body, level, line, words = DEVIATIONS[name]
    contract, column = only_property(body)
    before = HEAD.count("\n") + 4
    (found,) = [one for one in told(contract) if one[0] is level]
    assert found[1] == before + line
    assert all(word in found[2] for word in words), found
    assert column.name == "c"


# A rule, and the word of what is said of it at which key.
RULES = {
    "unknown key": ("{metric: rowCount, mustBe: 0, descripton: x}", Level.WARNING, "description"),
    "metric typo": ("{metric: nullvalue, mustBe: 0}", Level.ERROR, "nullValues"),
    "no operator": ("{metric: nullValues}", Level.ERROR, "operator"),
    "operator alone": ("{mustBe: 0}", Level.ERROR, "says what it asks"),
    "operator is a text": ("{metric: nullValues, mustBeLessThan: many}", Level.ERROR, "number"),
    "range upside down": ("{metric: rowCount, mustBeBetween: [9, 1]}", Level.ERROR, "smaller"),
    "range of texts": ("{metric: rowCount, mustBeBetween: [a, b]}", Level.ERROR, "number"),
    "range of one": ("{metric: rowCount, mustNotBeBetween: [1, 1]}", Level.ERROR, "mustBe"),
    "query missing": ("{type: sql, mustBe: 0}", Level.ERROR, "query"),
    "unknown dimension": (
        "{metric: rowCount, mustBe: 0, dimension: complete}",
        Level.WARNING,
        "completeness",
    ),
    "dimension by its synonym": (
        "{metric: rowCount, mustBe: 0, dimension: cp}",
        Level.NOTE,
        "completeness",
    ),
    "unknown type with a metric": (
        "{type: libary, metric: rowCount, mustBe: 0}",
        Level.WARNING,
        "library",
    ),
    "rule as metric": ("{rule: rowCount, mustBe: 0}", Level.NOTE, "old name"),
    "rule as SQL": ("{rule: price > 0}", Level.NOTE, "each row"),
    "unknown severity": (
        "{metric: rowCount, mustBe: 0, severity: medium}",
        Level.WARNING,
        "'medium' is unknown and counts as error",
    ),
    "custom with nothing": ("{type: custom, engine: soda}", Level.WARNING, "implementation"),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_deviates_is_told_and_stays(name):
    text, level, word = RULES[name]
    contract = contract_of(f"schema:\n- name: t\n  quality:\n  - {text}\n")
    assert [(one[0], one[1]) for one in told(contract)] == [(level, 8)]
    assert word in told(contract)[0][2]
    assert len(list(contract.rules())) == 1


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule[1] is Level.ERROR])
def test_a_rule_that_is_told_as_an_error_is_an_error_when_it_is_run(name):
    contract = contract_of(f"schema:\n- name: t\n  quality:\n  - {RULES[name][0]}\n")
    rules = gather(contract, Config(), datetime(2025, 1, 2, tzinfo=UTC)).rules
    (rule,) = [one for one in rules if one.declared["origin"] == "quality"]
    assert isinstance(rule, RejectedRule)
    assert not rule.is_skipped


FINE_RULES = (
    "{code: required, parameters: [{parameter: tolerance, value: 2%}]}",
    "{code: invalid_count, engine: soda, parameters: [{parameter: valid_values, value: [S]}]}",
    "{code: sql, query: 'SELECT 1;'}",
    "{type: no_duplicate_values}",
    "{type: duplicate_percent, must_be_less_than: 1}",
    "{type: no_invalid_values, valid_values: [pounds], filter_sql: country = 'UK'}",
    "{type: row_count, must_be_between: [100, 120], name: range}",
    "{type: sql, query: SELECT 1, must_be_less_than: 3600}",
    "{type: custom, engine: great-expectations, expectation_type: e, kwargs: {min_value: 1}}",
    "{code: countCheck, templateName: CountCheck, toolName: Elevate, type: reconciliation}",
    "{type: text, description: verified}",
    "{metric: nullValues, mustBe: 0, unit: percent, severity: warning}",
)


@pytest.mark.parametrize("text", FINE_RULES)
def test_a_rule_of_any_known_form_has_nothing_to_tell(text):
    contract = contract_of(f"schema:\n- name: t\n  quality:\n  - {text}\n")
    assert told(contract) == []


def test_a_name_that_is_declared_twice_is_told():
    contract = contract_of(
        "schema:\n- name: t\n- name: t\n  properties:\n  - name: c\n  - name: c\n"
    )
    assert told(contract) == [
        (Level.WARNING, 7, "object 't' is declared twice"),
        (Level.WARNING, 10, "property 'c' is declared twice"),
    ]


def test_a_server_must_have_what_its_type_needs():
    contract = contract_of("servers:\n- {server: s, type: databricks, catalog: c, hostt: h}\n")
    assert told(contract) == [
        (Level.WARNING, 6, "this databricks server has no `schema`"),
        (
            Level.WARNING,
            6,
            "unknown key 'hostt' in this databricks server; it is kept. Did you mean 'host'?",
        ),
    ]


def test_values_in_memory_are_told_by_pointer():
    contract = load_contract({"schema": [{"name": "t", "propertys": []}]}, source="orders")
    assert [str(one.location) for one in contract.findings if "propertys" in one.message] == [
        "orders#/schema/0/propertys"
    ]


def test_twenty_thousand_mistakes_are_told_without_hints_for_each():
    text = "".join(f"key{number}: 1\n" for number in range(20_000))
    started = time.process_time()
    contract = load_contract(text)
    assert len(contract.findings) == 20_004
    assert sum("Did you mean" in one.message for one in contract.findings) <= 100
    assert time.process_time() - started < 3
