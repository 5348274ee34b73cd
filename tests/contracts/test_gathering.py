"""Contracts and checks together: whose rule is whose, where tables are, what they declare."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof.config import Config, ContractSettings, TableSettings
from lakeproof.contracts.gathering import gather, loaded
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.tables import Given
from lakeproof.errors import ContractError
from lakeproof.model.names import TableName
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.suite import QualityCheck

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
CHECK = QualityCheck("amount_positive", "positive", "orders", "amount")
ORDERS = """\
id: shop
schema:
- name: orders
  physicalName: orders_${STAGE:-test}
  properties:
  - {name: line, primaryKey: true, primaryKeyPosition: 2}
  - {name: order, physicalName: order_id, primaryKey: true, primaryKeyPosition: 1}
  - {name: email, classification: PII}
  - name: person
    properties:
    - {name: iban, classification: confidential}
  - {name: country, classification: public}
  quality:
  - {id: rows, metric: rowCount, mustBeGreaterThan: 0}
"""
CUSTOMERS = """\
id: crm
schema:
- name: customers
  properties:
  - name: id
    required: true
"""


def rules_of(checks, *, given=None, variables=None, config=None):
    return gather(checks, config or Config(), NOW, given, variables).rules


def tables_of(*checks, **more):
    return {str(rule.table) for rule in rules_of(list(checks), **more)}


def test_rules_of_suites_and_contracts_know_the_entry_that_they_are_of():
    gathered = gather([CHECK, CUSTOMERS, load_contract(ORDERS)], Config(), NOW)
    keys = {
        entry: [rule.key for rule, of in zip(gathered.rules, gathered.entries, strict=True)
                if of == entry]
        for entry in range(3)
    }  # fmt: skip
    assert keys[0] == ["amount_positive"]
    assert keys[1] == ["crm/customers.id:presence", "crm/customers.id:required"]
    assert keys[2][0] == "shop/rows"
    named = [rule.declared["contract"] for rule in gathered.rules if rule.declared]
    assert list(dict.fromkeys(named)) == ["crm", "shop"]


def test_a_contract_is_given_by_path_text_or_values(tmp_path):
    path = tmp_path / "crm.yaml"
    path.write_text(CUSTOMERS, encoding="utf-8")
    as_values = {"id": "crm", "schema": [{"name": "customers", "properties": []}]}
    for given in (path, str(path), CUSTOMERS, as_values, [path], [CUSTOMERS]):
        (contract,) = loaded(given)
        assert contract.id == "crm"


def test_a_rule_id_that_comes_twice_in_a_contract_runs_twice_under_two_names():
    twice = CUSTOMERS + "  quality:\n" + "  - {id: same, metric: rowCount, mustBe: 1}\n" * 2
    found = [rule for rule in rules_of(twice) if rule.declared.get("id") == "same"]
    assert [rule.key for rule in found] == ["crm/same", "crm/same#2"]
    assert all(isinstance(rule, Rule) for rule in found)


def test_a_name_that_two_contracts_use_is_an_error_of_the_second():
    first, *others = rules_of([CUSTOMERS, CUSTOMERS])
    assert isinstance(first, Rule)
    refused = [rule for rule in others if isinstance(rule, RejectedRule)]
    assert len(refused) == 2
    assert all("is used again" in rule.reason for rule in refused)


def test_a_table_is_given_to_the_contract_that_has_the_object():
    given = Given(tables={"customers": "lake.crm.customers_v2"})
    assert tables_of(ORDERS, CUSTOMERS, given=given) == {
        "iceberg.lakehouse.orders_test",
        "lake.crm.customers_v2",
    }


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ([ORDERS, CUSTOMERS], "no object 'customer' to give a table to. Its objects: customers"),
        ([CHECK], "No contract here has objects"),
    ],
)
def test_a_table_for_an_object_that_is_not_there_is_refused(checks, told):
    with pytest.raises(ContractError) as refused:
        rules_of(checks, given=Given(tables={"customer": "a.b.c"}))
    assert told in str(refused.value)


def test_frames_stand_under_a_name_of_their_own():
    gathered = gather(CUSTOMERS, Config(), NOW, Given(frames=["customers"]))
    assert gathered.frames == {TableName(("contract", "crm", "customers")): "customers"}


def test_a_fragment_stands_on_the_one_table_that_is_given():
    fragment = "quality:\n- {metric: rowCount, mustBe: 3}\n"
    (rule,) = rules_of(fragment, given=Given(tables={"orders": "lake.shop.orders"}))
    assert isinstance(rule, Rule)
    assert str(rule.table) == "lake.shop.orders"
    (alone,) = rules_of(fragment)
    assert isinstance(alone, RejectedRule)
    assert "stands on no object" in alone.reason


def test_variables_stand_before_those_of_the_environment(monkeypatch):
    assert tables_of(ORDERS) == {"iceberg.lakehouse.orders_test"}
    monkeypatch.setenv("STAGE", "env")
    assert tables_of(ORDERS) == {"iceberg.lakehouse.orders_env"}
    assert tables_of(ORDERS, variables={"STAGE": "prod"}) == {"iceberg.lakehouse.orders_prod"}


def test_the_primary_key_and_classified_columns_are_declared_of_the_table():
    declared = gather(ORDERS, Config(), NOW).declared
    table = TableName(("iceberg", "lakehouse", "orders_test"))
    assert declared == {table: TableSettings(("order_id", "line"), ("email", "person"))}


def test_what_one_contract_hides_no_other_one_shows():
    plain = ORDERS.replace("id: shop", "id: other").replace("classification: PII", "unique: true")
    for checks in ([ORDERS, plain], [plain, ORDERS]):
        (declared,) = gather(checks, Config(), NOW).declared.values()
        assert set(declared.sensitive) == {"email", "person"}


def test_readings_of_the_standard_come_from_the_configuration():
    contract = (
        CUSTOMERS + "    quality:\n    - {metric: duplicateValues, mustBeBetween: [0, 5]}\n"
        "    - {metric: nullValues, mustBe: 0, severity: fatal}\n"
    )
    settings = ContractSettings(duplicates="rows", between="open", severities={"fatal": "warning"})
    first, second, *_ = rules_of(contract, config=Config(contracts=settings))
    assert first.comparison.duplicates == "rows"
    assert first.comparison.open_ranges
    assert first.declared["duplicates"] == "rows"
    assert second.severity == "warning"


def test_a_rule_on_a_measure_or_on_repeated_elements_is_skipped_with_the_reason():
    duplicates = {"metric": "duplicateValues", "mustBe": 0}
    contract = {
        "id": "shop",
        "schema": [
            {
                "name": "orders",
                "properties": [
                    {"name": "tags", "logicalType": "array", "items": {"quality": [duplicates]}},
                    {
                        "name": "turnover",
                        "semanticType": "measure",
                        "quality": [{"metric": "nullValues", "mustBe": 0}],
                    },
                ],
            }
        ],
    }
    rules = gather(contract, Config(), NOW).rules
    reasons = {
        rule.declared["pointer"].split("/properties/")[1]: rule.reason
        for rule in rules
        if isinstance(rule, RejectedRule) and rule.is_skipped
    }
    assert "not compared between rows" in reasons["0/items/quality/0"]
    assert "no column to check" in reasons["1/quality/0"]


def test_what_breaks_while_a_schema_is_read_is_one_error_and_its_neighbours_run(monkeypatch):
    def broken(setting):
        raise KeyError(setting.owner.name)

    monkeypatch.setattr("lakeproof.contracts.rules.implied_drafts", broken)
    rule = {"metric": "rowCount", "mustBeGreaterThan": 0}
    contract = {"id": "shop", "schema": [{"name": "orders", "quality": [rule]}]}
    counted, implied = gather(contract, Config(), NOW).rules
    assert isinstance(counted, Rule)
    assert isinstance(implied, RejectedRule)
    assert (implied.is_skipped, implied.declared["pointer"]) == (False, "/schema/0")
    assert "KeyError" in implied.reason
