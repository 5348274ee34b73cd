"""Relationships as foreign keys: each notation, and what cannot be followed."""

from __future__ import annotations

import pytest
from schema_texts import HEAD, related, setting_of

from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.odcs.relationships import relationship_drafts

SCHEMA = """
schema:
  - name: customers
    id: cust
    physicalName: customers_v1
    properties:
      - {name: id, id: cust_id, physicalName: customer_id}
      - {name: street}
      - name: home
        id: home
        properties: [{name: zip, id: zip_id}]
      - name: tags
        items: {logicalType: string}
  - name: orders
    properties:
      - name: id
      - name: customer
        physicalName: customer_fk
        %s
      - {name: street}
      - name: parent
      - name: ship
        properties: [{name: customer, relationships: [{to: customers.id}]}]
      - name: lines
        items: {properties: [{name: sku, relationships: [{to: customers.id}]}]}
    %s
"""


def to(target):
    placed = related(SCHEMA % (f"relationships: [{{to: {target}}}]", ""), "orders")
    return placed[0].draft


def between(source, target):
    text = f"relationships: [{{type: foreignKey, from: {source}, to: {target}}}]"
    return related(SCHEMA % ("", text), "orders")[0].draft


@pytest.mark.parametrize(
    ("target", "table", "column"),
    [
        ("customers.id", "lake.ns.customers", "customer_id"),
        ("customers_v1.id", "lake.ns.customers", "customer_id"),
        ("customers.home.zip", "lake.ns.customers", "home.zip"),
        ("schema/cust/properties/cust_id", "lake.ns.customers", "customer_id"),
        ("'#/schema/cust/properties/cust_id'", "lake.ns.customers", "customer_id"),
        ("schema/cust/properties/home/properties/zip_id", "lake.ns.customers", "home.zip"),
        ("schema/customers/properties/cust_id", None, None),
        ("orders.id", "lake.ns.orders", "id"),
    ],
)
def test_a_target_is_found_by_names_or_by_ids(target, table, column):
    draft = to(target)
    if table is None:
        assert "no object of the id 'customers'" in draft.error
        return
    assert draft.check == "foreign_key"
    assert draft.columns == ("customer_fk",)
    assert dict(draft.params) == {"references": table, "referenced_columns": (column,)}


def test_a_composite_key_is_one_foreign_key():
    draft = between("[orders.customer, orders.street]", "[customers.id, customers.street]")
    assert draft.columns == ("customer_fk", "street")
    assert draft.params["referenced_columns"] == ("customer_id", "street")


def test_an_object_may_refer_to_itself():
    draft = between("orders.parent", "orders.id")
    assert draft.columns == ("parent",)
    assert dict(draft.params) == {"references": "lake.ns.orders", "referenced_columns": ("id",)}


def test_a_field_of_a_struct_may_refer_and_an_element_is_skipped():
    found = {one.part.label: one for one in related(SCHEMA % ("", ""), "orders") if one.part}
    assert found["ship.customer"].draft.columns == ("ship.customer",)
    assert "many values in one row" in found["lines[].sku"].draft.skipped
    assert found["ship.customer"].pointer == ("/schema/1/properties/4/properties/0/relationships/0")
    assert {one.what for one in found.values()} == {"foreignKey"}


def test_nothing_is_fetched_over_the_network():
    assert "nothing is fetched" in to("https://x.example/c.yaml#schema/a/properties/b").skipped


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("custommers.id", "Nearest: customers"),
        ("customers.idd", "Nearest: id"),
        ("schema/cust/properties/cust_idd", "Nearest: cust_id"),
        ("schema/cust", "no full reference"),
        ("schema/cust/fields/cust_id", "cannot be followed at 'fields'"),
        ("other.yaml#schema/a/properties/b", "'other.yaml' is not there"),
        ("3", "must be a reference"),
        ("[customers.id, customers.street]", "one for each"),
    ],
)
def test_a_target_that_is_not_there_is_an_error_with_the_nearest(target, named):
    assert named in to(target).error


@pytest.mark.parametrize(
    ("source", "target", "named"),
    [
        ("[orders.id, orders.street]", "customers.id", "one for each"),
        ("[orders.id, orders.street]", "[customers.id, orders.street]", "several tables"),
        ("customers.id", "customers.id", "not in the object 'orders'"),
        ("''", "customers.id", "must be a reference"),
    ],
)
def test_ends_that_do_not_fit_are_an_error(source, target, named):
    assert named in between(source, target).error


def test_values_inside_an_array_of_the_other_table_are_skipped():
    assert "inside an array" in to('"customers.tags[]"').skipped


def test_another_type_or_shape_is_an_error():
    text = SCHEMA % ("relationships: [{type: cousin, to: customers.id}, 7]", "")
    kinds = [one.draft.error for one in related(text, "orders")[:2]]
    assert "'cousin' is not foreignKey" in kinds[0]
    assert "a mapping with `to`" in kinds[1]


def test_a_target_in_another_contract_file_is_its_physical_table(tmp_path):
    (tmp_path / "other.yaml").write_text(HEAD + SCHEMA % ("", ""))
    mine = tmp_path / "mine.yaml"
    target = "other.yaml#schema/cust/properties/cust_id"
    column = f"{{name: c, relationships: [{{to: '{target}'}}]}}"
    mine.write_text(f"{HEAD}schema: [{{name: a, properties: [{column}]}}]")
    (placed,) = relationship_drafts(setting_of(load_contract(mine)))
    assert dict(placed.draft.params) == {
        "references": "iceberg.lakehouse.customers_v1",
        "referenced_columns": ("customer_id",),
    }
