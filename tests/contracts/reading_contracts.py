"""Short contracts to read, and what was told of them."""

from __future__ import annotations

from lakeproof.contracts.loading import load_contract

HEAD = "apiVersion: v3.2.0\nkind: DataContract\nid: c1\nversion: 1.0.0\n"


def contract_of(body, head=HEAD):
    return load_contract(head + body)


def only_property(body):
    text = "schema:\n- name: t\n  properties:\n  - name: c\n"
    contract = contract_of(text + "".join(f"    {line}\n" for line in body.splitlines()))
    return contract, contract.objects[0].properties[0]


def told(contract):
    """(level, line, message) of every finding."""
    return [(one.level, one.location.line, one.message) for one in contract.findings]
