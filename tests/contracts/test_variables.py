"""Variables in every part of a contract, and their values in nothing that is told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof.config import Config
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.tables import Given
from lakeproof.model.rule import RejectedRule, Rule

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
SHOP = """\
id: shop
slaProperties:
- {property: retention, value: "${KEPT}", unit: y, element: orders.at}
schema:
- name: orders
  quality:
  - {id: rows, metric: rowCount, mustBeLessThan: "${ROWS}"}
  - {id: plain, metric: rowCount, mustBeGreaterThan: 0}
  properties:
  - {name: at, logicalType: timestamp}
  - {name: state, physicalName: "state_${STAGE}", enum: [{value: "${STATE}"}]}
  - {name: code, logicalType: string, logicalTypeOptions: {maxLength: "${LONG}"}}
  - {name: customer, relationships: [{to: "${OTHER}.id"}]}
- name: customers
  properties: [{name: id}]
"""
VALUES = {
    "KEPT": "2", "ROWS": "7", "STAGE": "test", "STATE": "open", "LONG": "5", "OTHER": "customers",
}  # fmt: skip


def rules_of(text, variables=None, given=None):
    found = gather(text, Config(), NOW, given, variables or {}).rules
    return {rule.key: rule for rule in found}


def test_variables_stand_in_rules_options_enums_names_targets_and_promises():
    rules = rules_of(SHOP, VALUES)
    refused = [rule for rule in rules.values() if isinstance(rule, RejectedRule)]
    assert refused == []
    assert rules["shop/rows"].comparison is not None
    told = repr(list(rules.values()))
    assert "${" not in told
    for value in ("state_test", "'open'", "iceberg.lakehouse.customers"):
        assert value in told


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("ROWS", {"shop/rows"}),
        ("KEPT", {"shop/orders:retention"}),
        ("OTHER", {"shop/orders.customer:foreignKey"}),
        ("STATE", {"shop/orders.state:presence", "shop/orders.state:enum"}),
        ("STAGE", {"shop/orders.state:presence", "shop/orders.state:enum"}),
        ("LONG", {"shop/orders.code:type", "shop/orders.code:maxLength"}),
    ],
)
def test_an_unset_variable_is_the_error_of_what_needs_it_alone(name, broken):
    rules = rules_of(SHOP, {key: value for key, value in VALUES.items() if key != name})
    refused = {key: rule for key, rule in rules.items() if isinstance(rule, RejectedRule)}
    assert set(refused) == broken
    for rule in refused.values():
        assert not rule.is_skipped
        assert f"${{{name}}} is not set" in rule.reason


def test_the_second_object_of_a_name_never_runs_on_the_first_ones_table():
    twice = """\
id: shop
schema:
- {name: t, physicalName: a, quality: [{id: one, metric: rowCount, mustBe: 1}]}
- {name: t, physicalName: b, quality: [{id: two, metric: rowCount, mustBe: 2}]}
"""
    rules = rules_of(twice)
    assert str(rules["shop/one"].table) == "iceberg.lakehouse.a"
    assert isinstance(rules["shop/two"], RejectedRule)
    assert "two objects named 't'" in rules["shop/two"].reason


@pytest.mark.parametrize("bad", ["{name: bad, physicalName: 'x_${table}'", "{name: 't${'"])
def test_a_name_that_cannot_be_a_table_is_the_problem_of_its_object(bad):
    quality = "quality: [{id: %s, metric: rowCount, mustBe: 1}]}"
    text = f"id: shop\nschema:\n- {bad}, {quality % 'one'}\n- {{name: good, {quality % 'two'}\n"
    rules = rules_of(text)
    assert isinstance(rules["shop/one"], RejectedRule)
    assert "still holds ${" in rules["shop/one"].reason
    assert isinstance(rules["shop/two"], Rule)


REFERENCE = """\
quality:
- type: custom
  engine: dbt
  implementation:
    relationships: {column: country, to: ref('countries'), field: code}
"""


def test_a_table_is_given_to_a_name_that_only_a_rule_uses():
    tables = {"orders": "lake.shop.orders", "countries": "lake.ref.countries_v2"}
    (rule,) = rules_of(REFERENCE, given=Given(tables=tables)).values()
    assert isinstance(rule, Rule), rule.reason
    assert str(rule.table) == "lake.shop.orders"
    assert "lake.ref.countries_v2" in repr(rule)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM ${SECRET}.other",
        "SELECT count(*) FORM '${SECRET}' (",
        "SELECT ${SECRET} FROM",
    ],
)
def test_values_of_variables_are_told_nowhere(query):
    text = f"""\
id: shop
servers:
- {{server: s, type: local, path: "/data/${{SECRET}}/{{model}}.csv", format: csv}}
schema:
- name: orders
  quality: [{{id: one, type: sql, query: "{query}", mustBe: 0}}]
"""
    (rule,) = rules_of(text, {"SECRET": "hunter2"}).values()
    assert "hunter2" not in str(rule.declared)
    assert "${SECRET}" in rule.declared["place"]
    assert "hunter2" not in getattr(rule, "reason", "")


def test_a_key_into_another_contract_asks_where_that_one_has_its_table(tmp_path):
    (tmp_path / "other.yaml").write_text(
        "id: crm\nservers: [{server: s, type: databricks, catalog: '${CAT}', schema: crm}]\n"
        "schema: [{name: customers, id: c, properties: [{name: id, id: i}]}]\n"
    )
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "id: shop\nschema:\n- name: orders\n  properties:\n"
        "  - {name: customer, relationships: [{to: 'other.yaml#schema/c/properties/i'}]}\n"
    )
    rule = rules_of(mine, {"CAT": "prod"})["shop/orders.customer:foreignKey"]
    assert "prod.crm.customers" in repr(rule)
    unset = rules_of(mine)["shop/orders.customer:foreignKey"]
    assert "${CAT} is not set" in unset.reason


@pytest.mark.parametrize("limit", ["3", "4"])
def test_a_key_does_not_change_with_the_values_of_its_variables(limit):
    text = """\
id: shop
schema:
- name: orders
  quality:
  - id: soda
    type: custom
    engine: soda
    implementation: {checks for orders: ["row_count > ${LIMIT}", "row_count < 9"]}
"""
    keys = list(rules_of(text, {"LIMIT": limit}))
    assert keys == ["shop/soda:row_count > ${LIMIT}", "shop/soda:row_count < 9"]
