"""A contract of any accepted form as a file of version 3.2 of the standard.

It fits the standard's JSON Schema, which is closed: what that has no place for becomes a custom
property of the nearest thing around it, so that nothing is lost. Variables stay as they are
written, comments where they stood.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from lakeproof.contracts.commented import read, write
from lakeproof.contracts.contract import Contract
from lakeproof.contracts.export_shapes import conformed
from lakeproof.contracts.odcs.reading import root_of
from lakeproof.errors import ContractError

API_VERSION = "v3.2.0"
_VERSION_OF_NONE = "0.0.0"
_RULES = ("quality", "checks")
_OBJECTS = ("schema", "dataset")


def export_contract(contract: Contract) -> str:
    """The contract as YAML of version 3.2, with its comments if it was YAML."""
    text = contract.document.text.lstrip("\ufeff")
    is_json = text.lstrip().startswith(("{", "["))
    given = read(text) if text.strip() and not is_json else deepcopy(contract.document.value)
    root = root_of(given) or (given if isinstance(given, dict) else {"quality": [given]})
    _place_rules(root)
    _refuse_rules_of_none(root, contract)
    _place_servers(root, contract)
    return write(_with_head(conformed(root), contract))


def _place_rules(root: dict[str, Any]) -> None:
    """Rules at the root move onto the only object; of several, none is meant."""
    lists = {key: value for key, value in root.items() if isinstance(value, list)}
    objects = next((lists[key] for key in _OBJECTS if key in lists), [])
    if len(objects) != 1 or not isinstance(objects[0], dict):
        return
    only = objects[0]
    own = next((key for key in _RULES if isinstance(only.get(key), list)), _RULES[0])
    for key in (key for key in _RULES if key in lists):
        only[own] = CommentedSeq([*only.get(own, ()), *root.pop(key)])


def _refuse_rules_of_none(root: dict[str, Any], contract: Contract) -> None:
    """Version 3.2 has no rules at the root, and as custom properties they would not be run."""
    key = next((key for key in _RULES if root.get(key)), None)
    if key is not None:
        where = contract.document.at(f"/{key}")
        raise ContractError(
            f"{where}: these rules belong to no object, and version 3.2 has no place for such. "
            "Put them under `quality` of an object: `schema: [{name: <table>, quality: [...]}]`"
        )


def _place_servers(root: dict[str, Any], contract: Contract) -> None:
    """Version 2 has one server, whose keys stand at the root; what it meant becomes a server."""
    if "servers" not in root and contract.servers:
        root["servers"] = [{**one.raw, "server": one.name or "server"} for one in contract.servers]


def _with_head(new: CommentedMap, contract: Contract) -> CommentedMap:
    """What every contract must have; first, where it was missing."""
    needed = (
        ("id", contract.id),
        ("version", contract.version or _VERSION_OF_NONE),
        ("kind", "DataContract"),
        ("apiVersion", API_VERSION),
    )
    for key, value in needed:
        if key not in new:
            new.insert(0, key, value)
    new["apiVersion"] = API_VERSION
    return new
