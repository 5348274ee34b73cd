"""A small contract for the tests of rules: orders and customers, as the forms see them."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property
from lakeproof.contracts.draft import Placed, Setting
from lakeproof.contracts.yaml_document import Document
from lakeproof.model.names import TableName

NOW = datetime(2024, 3, 10, tzinfo=UTC)


def column(name: str, physical_name: str = "", logical_type: str = "string") -> Property:
    physical = physical_name or name
    return Property(name, physical, physical, name, "", {}, logical_type=logical_type)


ADDRESS = Property(
    "address",
    "addr",
    "addr",
    "address",
    "",
    {},
    logical_type="object",
    properties=(Property("zip", "zip_code", "addr.zip_code", "address.zip", "", {}),),
)
ORDERS = Object(
    "orders",
    "orders_v1",
    "/schema/0",
    {},
    properties=(
        column("id", "order_id", "integer"),
        column("size", "size_code"),
        column("price", "price_eur", "number"),
        column("at", "ordered_at", "timestamp"),
        column("customer"),
        ADDRESS,
    ),
)
CUSTOMERS = Object(
    "customers", "crm.customers_v2", "/schema/1", {}, properties=(column("id", "cid"),)
)
CONTRACT = Contract("shop", "shop", "1", "v3.2.0", Document({}), objects=(ORDERS, CUSTOMERS))


def placed(name: str = "", settings: ContractSettings | None = None) -> Placed:
    """A rule on the property of that name, or on the object `orders` itself."""
    setting = Setting(
        contract=CONTRACT,
        owner=ORDERS,
        part=ORDERS.property_named(name) if name else None,
        settings=settings or ContractSettings(),
        table_of=lambda owner: TableName(("lake", "sales", f"t_{owner}")),
        variables={},
        now=NOW,
    )
    return Placed(DeclaredRule({}, "/schema/0/quality/0", 0), setting)
