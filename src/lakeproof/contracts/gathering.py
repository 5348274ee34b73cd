"""Contracts and checks together in, one list of rules out, with what they say of their tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lakeproof.config import Config, TableSettings
from lakeproof.contracts.contract import Contract, Object, Server
from lakeproof.contracts.files import FileSource, named_files
from lakeproof.contracts.suite import rules_of_entry, with_own_keys
from lakeproof.contracts.tables import (
    Given,
    TablePlace,
    chosen_server,
    other_places,
    places_of,
)
from lakeproof.errors import ContractError
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest
from lakeproof.model.places import place_named
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.suite import Comparing, QualityCheck

SENSITIVE = frozenset({"pii", "confidential", "restricted", "sensitive", "secret"})
"""Classifications whose columns are shown nowhere."""

Checks = Iterable[object] | QualityCheck | Comparing | Contract | Mapping[str, object] | Path | str
"""What can be run: checks, contracts, a contract's path or text, or a list of any of them.

A mapping is a contract's values.
"""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rules, one per result to come; files that stand for tables; keys and secrets declared.

    `frames` maps the objects that the caller gave as DataFrames to the names of their tables;
    `compared_frames` are those that a comparison of two tables brings with it.
    `entries` says for each rule which of the given entries it is of, counted from 0.
    """

    rules: Sequence[Rule | RejectedRule]
    entries: tuple[int, ...] = ()
    files: Mapping[TableName, FileSource] = field(default_factory=dict)
    frames: Mapping[TableName, str] = field(default_factory=dict)
    compared_frames: Mapping[TableName, Any] = field(default_factory=dict)
    declared: Mapping[TableName, TableSettings] = field(default_factory=dict)


def gather(
    checks: Checks,
    config: Config,
    now: datetime,
    given: Given | None = None,
    variables: Mapping[str, str] | None = None,
) -> Gathered:
    """The rules of all of them. `variables` stand before those of the environment."""
    given = given or Given()
    entries = [
        _standing(entry, given) if isinstance(entry, Contract) else entry
        for entry in loaded(checks)
    ]
    contracts = tuple(entry for entry in entries if isinstance(entry, Contract))
    _refuse_unknown(contracts, given)
    known = {**os.environ, **(variables or {})}
    rules: list[Rule | RejectedRule] = []
    places: list[TablePlace] = []
    frames: dict[TableName, str] = {}
    owners: list[int] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, Contract):
            found = places_of(entry, _known_to(entry, given), config, known)
            server, _ = chosen_server(entry, given.server)
            others = other_places(entry, _used_by(entry, given), config)
            made, mine = _contract_rules(entry, config, found, now, known, server, others)
            rules += made
            places += [*mine, *others.values()]
            frames |= {found[one.name].table: name for name, one in _given_objects(entry, given)}
            frames |= {others[name].table: name for name in given.frames if name in others}
        else:
            rules += rules_of_entry(entry, number + 1, config)
        owners += [number] * (len(rules) - len(owners))
    return Gathered(
        rules=with_own_keys(rules),
        entries=tuple(owners),
        files={
            **{place.table: place.source for place in places if place.source is not None},
            **_files_compared(rules),
        },
        frames=frames,
        compared_frames=_frames_compared(entries),
        declared=_declared_of(places),
    )


def _contract_rules(
    contract: Contract,
    config: Config,
    places: Mapping[str, TablePlace],
    now: datetime,
    variables: Mapping[str, str],
    server: Server | None,
    others: Mapping[str, TablePlace],
) -> tuple[list[Rule | RejectedRule], list[TablePlace]]:
    """The rules, and the places with what the objects declare by the values of variables."""
    from lakeproof.contracts.resolving import resolved  # a suite alone does not need them
    from lakeproof.contracts.rules import ContractReader

    ready = resolved(contract, variables)
    given = {name: place.table for name, place in others.items()}
    reader = ContractReader(
        ready.contract, config, places, now, variables, server, given, ready.problems, ready.written
    )
    objects = {one.pointer: one for one in reversed(ready.contract.objects)}
    mine = [replace(place, object=objects[place.object.pointer]) for place in places.values()]
    return reader.rules(), mine


def loaded(checks: Checks) -> list[object]:
    """What was given as a list, contracts that were given by their paths or texts loaded."""
    if isinstance(checks, Mapping):
        return [_opened(checks)]
    one = (QualityCheck, Comparing, Contract, Path, str)
    entries = [checks] if isinstance(checks, one) else list(checks)
    return [_opened(entry) if isinstance(entry, (Path, str)) else entry for entry in entries]


def _opened(given: Path | str | Mapping[str, object]) -> Contract:
    from lakeproof.contracts.loading import load_contract  # a suite alone needs no YAML

    return load_contract(given)


def _standing(contract: Contract, given: Given) -> Contract:
    """A fragment, rules that no object has, stands on the one table that was given.

    Of several it is the one that no rule names as another table.
    """
    names = [*given.tables, *given.frames]
    if len(names) > 1:
        names = [name for name in names if not _is_used(contract, name)]
    if contract.objects or len(names) != 1:
        return contract
    owner = Object(names[0], names[0], "", {}, quality=contract.stray_rules)
    return replace(contract, objects=(owner,), stray_rules=())


def _refuse_unknown(contracts: Sequence[Contract], given: Given) -> None:
    names = sorted({one.name for contract in contracts for one in contract.objects})
    for name in (*given.tables, *given.frames):
        if not any(one.object_named(name) or _is_used(one, name) for one in contracts):
            near = nearest(name, names) or names
            told = f"Its objects: {', '.join(near)}" if near else "No contract here has objects"
            raise ContractError(f"no object {name!r} to give a table to. {told}")


def _is_used(contract: Contract, name: str) -> bool:
    """Whether a rule names it, in whatever form: as reference data, or in a query."""
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")
    for _, _, rule in contract.rules():
        raw = rule.raw if isinstance(rule.raw, Mapping) else {}
        asked = {key: value for key, value in raw.items() if key not in {"name", "description"}}
        if word.search(str(asked)):
            return True
    return False


def _used_by(contract: Contract, given: Given) -> Given:
    return replace(
        given,
        tables={name: text for name, text in given.tables.items() if _is_used(contract, name)},
        frames=[name for name in given.frames if _is_used(contract, name)],
    )


def _known_to(contract: Contract, given: Given) -> Given:
    return replace(
        given,
        tables={name: table for name, table in given.tables.items() if contract.object_named(name)},
        frames=[name for name in given.frames if contract.object_named(name)],
    )


def _given_objects(contract: Contract, given: Given) -> Iterator[tuple[str, Object]]:
    """The objects that the caller gave as DataFrames, by the names that were used."""
    for name in given.frames:
        owner = contract.object_named(name)
        if owner is not None:
            yield name, owner


def _frames_compared(entries: Iterable[object]) -> dict[TableName, Any]:
    """The DataFrames that comparisons bring; a name that is used again is refused elsewhere."""
    found: dict[TableName, Any] = {}
    for entry in entries:
        if isinstance(entry, Comparing):
            for name, frame in entry.frames().items():
                found.setdefault(TableName.parse(name), frame)
    return found


def _files_compared(rules: Sequence[Rule | RejectedRule]) -> dict[TableName, FileSource]:
    """The files that comparisons name by their paths."""
    places: list[TableName] = []
    for rule in rules:
        if isinstance(rule, Rule) and "source_table" in rule.arguments:
            places += [rule.table, place_named(str(rule.arguments["source_table"]))]
    found = {place: named_files(place) for place in places}
    return {place: source for place, source in found.items() if source is not None}


def _declared_of(places: Sequence[TablePlace]) -> dict[TableName, TableSettings]:
    """What is declared of each table; what one of several contracts hides, all of them hide."""
    found: dict[TableName, TableSettings] = {}
    for place in places:
        mine, before = _declared(place.object), found.get(place.table, TableSettings())
        hidden = tuple(dict.fromkeys((*before.sensitive, *mine.sensitive)))
        found[place.table] = TableSettings(before.key or mine.key, hidden)
    return found


def _declared(owner: Object) -> TableSettings:
    """The object's primary key, and the columns that its classifications hide."""
    keys = sorted(
        (one for one in owner.properties if one.primary_key and "${" not in one.physical_name),
        key=lambda one: one.primary_key_position,
    )
    hidden = [
        column.physical_name
        for column in owner.properties
        if any(part.classification.lower() in SENSITIVE for part in column.walk())
    ]
    return TableSettings(tuple(one.physical_name for one in keys), tuple(hidden))
