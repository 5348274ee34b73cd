"""A small contract to stand rules on: an object `orders`, physically `orders_v1`."""

from datetime import UTC, datetime

from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property
from lakeproof.contracts.draft import Draft, Placed, Setting
from lakeproof.contracts.odcs.quality import drafts_of_rule
from lakeproof.contracts.yaml_document import Document
from lakeproof.model.comparison import Comparison, Operator, Term, Unit
from lakeproof.model.names import TableName


def column(name, physical="", *, inside="", label="", **more):
    physical = physical or name
    path = f"{inside}.{physical}" if inside else physical
    return Property(name, physical, path, label or name, f"/properties/{name}", {}, **more)


CITY = column("city", inside="addr", label="address.city", required=True)
ORDERS = Object(
    name="orders",
    physical_name="orders_v1",
    pointer="/schema/0",
    raw={},
    properties=(
        column("id", "order_id", required=True),
        column("price"),
        column("quantity", "qty"),
        column("address", "addr", properties=(CITY,)),
    ),
)
EMPTY = Object("events", "events", "/schema/1", {}, properties=(column("at"),))


def contract_of(*rules, custom=None, api_version="v3.2.0"):
    declared = tuple(DeclaredRule(raw, f"/q/{at}", at) for at, raw in enumerate(rules))
    return Contract(
        id="shop",
        name="",
        version="",
        api_version=api_version,
        document=Document({}),
        objects=(ORDERS, EMPTY),
        custom=custom or {},
        stray_rules=declared,
    )


def setting_of(on="", *, owner=ORDERS, settings=None, contract=None):
    return Setting(
        contract=contract or contract_of(),
        owner=owner,
        part=owner.property_named(on) if owner and on else None,
        settings=settings or ContractSettings(),
        table_of=lambda name: TableName(("iceberg", "lake", name)),
        variables={},
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )


def drafts(raw, on="", **more) -> list[Draft]:
    return drafts_of_rule(Placed(DeclaredRule(raw, "/q/0", 0), setting_of(on, **more)))


def draft(raw, on="", **more) -> Draft:
    (only,) = drafts(raw, on, **more)
    return only


def must(operator, value, high=None, *, unit=Unit.ROWS) -> Comparison:
    return Comparison((Term(Operator(operator), value, high),), unit)
