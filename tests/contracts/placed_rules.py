"""A small contract whose names differ from those of its tables, and rules placed in it."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property
from lakeproof.contracts.draft import Placed, Setting
from lakeproof.contracts.yaml_document import Document
from lakeproof.model.names import TableName


def prop(name: str, path: str, logical_type: str = "", label: str = "") -> Property:
    return Property(
        name=name,
        physical_name=path.rpartition(".")[2],
        path=path,
        label=label or name,
        pointer=f"/schema/0/properties/{name}",
        raw={},
        logical_type=logical_type,
    )


ORDERS = Object(
    name="orders",
    physical_name="orders_v1",
    pointer="/schema/0",
    raw={},
    properties=(
        prop("id", "order_id", "integer"),
        prop("amount", "amt", "number"),
        prop("status", "status_cd", "string"),
        prop("placed", "placed_at", "timestamp"),
        prop("shipped", "shipped_at", "timestamp"),
        prop("city", "address.city", "string", "address.city"),
        prop("price", "items[].price", "number", "items[].price"),
    ),
)
CUSTOMERS = Object(
    name="customers",
    physical_name="customers_v1",
    pointer="/schema/1",
    raw={},
    properties=(prop("id", "customer_id", "integer"),),
)
SHOP = Contract("shop", "Shop", "1.0.0", "v3.1.0", Document({}), (ORDERS, CUSTOMERS))


def placed(column: str = "") -> Placed:
    """A rule on that property of the orders, or on the object itself."""
    setting = Setting(
        contract=SHOP,
        owner=ORDERS,
        part=ORDERS.property_named(column) if column else None,
        settings=ContractSettings(),
        table_of=lambda name: TableName(("iceberg", "shop", f"{name}_v1")),
        variables={},
        now=datetime(2024, 3, 10, 12, tzinfo=UTC),
    )
    return Placed(DeclaredRule({}, "/schema/0/quality/0", 0), setting)
