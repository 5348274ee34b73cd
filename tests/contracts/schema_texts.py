"""A contract's text in, what its schema implies out: for tests of implied checks."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract
from lakeproof.contracts.draft import PlacedDraft, Setting
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.odcs.implied import implied_drafts
from lakeproof.contracts.odcs.relationships import relationship_drafts
from lakeproof.model.names import TableName

NOW = datetime(2024, 3, 10, tzinfo=UTC)
HEAD = "apiVersion: v3.2.0\nkind: DataContract\nid: c\nversion: 1.0.0\n"


def contract_of(text: str) -> Contract:
    return load_contract(HEAD + text)


def setting_of(
    contract: Contract, name: str = "", settings: ContractSettings | None = None
) -> Setting:
    owner = contract.object_named(name) if name else contract.objects[0]
    assert owner is not None
    return Setting(
        contract=contract,
        owner=owner,
        part=None,
        settings=settings or ContractSettings(),
        table_of=lambda named: TableName(("lake", "ns", named)),
        variables={},
        now=NOW,
    )


def implied(text: str, **more: ContractSettings) -> list[PlacedDraft]:
    return implied_drafts(setting_of(contract_of(text), **more))


def related(text: str, name: str = "") -> list[PlacedDraft]:
    return relationship_drafts(setting_of(contract_of(text), name))


def of_properties(properties: str, **more: ContractSettings) -> dict[str, PlacedDraft]:
    """The drafts of one object by `label:what`; each property is a line of a flow mapping."""
    lines = "".join(f"      - {line}\n" for line in properties.strip().splitlines())
    found = implied(f"schema:\n  - name: t\n    properties:\n{lines}", **more)
    named = {f"{one.part.label if one.part else ''}:{one.what}": one for one in found}
    assert len(named) == len(found)
    return named
