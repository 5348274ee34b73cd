"""Relationships between objects as foreign keys.

A target is written short, `table.column.nested` by names, or in full, `schema/ID/properties/ID` by
ids; in full it may stand in another contract file: `file.yaml#schema/...`. A row with a NULL in the
key refers to nothing. Nothing is fetched over the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from lakeproof.contracts.contract import Contract, Object, Property, Relationship
from lakeproof.contracts.draft import Draft, PlacedDraft, Setting, error, skipped
from lakeproof.contracts.loading import load_contract
from lakeproof.contracts.resolving import resolved
from lakeproof.contracts.tables import Given, places_of
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.nearest import nearest
from lakeproof.model.value_path import has_elements

_TYPES = frozenset({"foreignKey", "foreignkey", "foreign_key"})
_URL = ("http://", "https://")


class _NotFollowedError(LakeproofError):
    """A relationship that is right, and still cannot be checked here."""


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a relationship: a column of a table."""

    owner: Object
    table: str
    column: str


def relationship_drafts(setting: Setting) -> list[PlacedDraft]:
    """One foreign key for each relationship of `setting.owner` and of its properties."""
    owner = setting.owner
    if owner is None:
        return []
    declared: list[tuple[Property | None, Relationship]] = [
        (None, one) for one in owner.relationships
    ]
    for holder in owner.walk():
        declared += [(holder, one) for one in holder.relationships]
    found = []
    for part, one in declared:
        try:
            draft = _draft(replace(setting, part=part), owner, one.raw)
        except _NotFollowedError as problem:
            draft = skipped(str(problem))
        except LakeproofError as problem:
            draft = error(str(problem))
        found.append(PlacedDraft(draft, "foreignKey", one.pointer, owner, part))
    return found


def _draft(setting: Setting, owner: Object, raw: object) -> Draft:
    if not isinstance(raw, Mapping):
        raise CheckDefinitionError(f"a relationship is a mapping with `to`, got {raw!r}")
    kind = raw.get("type", "foreignKey")
    if kind not in _TYPES:
        raise CheckDefinitionError(f"the relationship's type {kind!r} is not foreignKey")
    targets = _references(raw, "to")
    sources = _sources(setting, owner, raw)
    if len(sources) != len(targets):
        raise CheckDefinitionError(
            f"from names {len(sources)} columns and to {len(targets)}; there must be one for each"
        )
    ends = [_end(setting, owner, text) for text in targets]
    if len({end.table for end in ends}) > 1:
        raise CheckDefinitionError(f"to names several tables: {', '.join(targets)}")
    inside = [path for path in sources if has_elements(path)]
    if inside:
        raise _NotFollowedError(
            f"{inside[0]} has many values in one row: a foreign key is checked for values that "
            "stand in a column or a struct"
        )
    referenced = tuple(end.column for end in ends)
    if any(map(has_elements, referenced)):
        raise _NotFollowedError("it refers to values inside an array or a map of the other table")
    return Draft(
        check="foreign_key",
        columns=tuple(sources),
        params={"references": ends[0].table, "referenced_columns": referenced},
    )


def _references(raw: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = raw.get(key)
    listed = [value] if isinstance(value, str) else value
    if (
        not isinstance(listed, Sequence)
        or not listed
        or not all(isinstance(text, str) and text.strip() for text in listed)
    ):
        raise CheckDefinitionError(f"{key} must be a reference or a list of them, got {value!r}")
    return tuple(str(text).strip() for text in listed)


def _sources(setting: Setting, owner: Object, raw: Mapping[str, object]) -> tuple[str, ...]:
    """The columns that refer: the property itself, or those that `from` names."""
    if raw.get("from") is None:
        if setting.part is None:
            raise CheckDefinitionError("a relationship of an object needs `from`")
        return (setting.part.path,)
    paths: list[str] = []
    for text in _references(raw, "from"):
        end = _end(setting, owner, text)
        if end.owner is not owner:
            raise CheckDefinitionError(
                f"from names {text!r}, which is not in the object {owner.name!r} that the "
                "relationship stands on"
            )
        paths.append(end.column)
    return tuple(paths)


def _end(setting: Setting, own: Object, text: str) -> _End:
    """What a reference means; unknown names are refused with the nearest."""
    if text.startswith(_URL):
        raise _NotFollowedError(f"{text!r} is on the network, and nothing is fetched from there")
    file, _, rest = text.rpartition("#")
    target = rest.lstrip("/")
    if not file:
        owner, column = _resolved(setting.contract, own, target)
        return _End(owner, str(setting.table_of(owner.name)), column)
    other = _other_contract(setting, file)
    owner, column = _resolved(other, None, target)
    return _End(owner, _table_in(setting, other, owner), column)


def _table_in(setting: Setting, other: Contract, owner: Object) -> str:
    """Where another contract has its object: on its server of the same name, else its first."""
    mine = setting.server.name if setting.server is not None else ""
    shared = mine if any(one.name == mine for one in other.servers) else ""
    places = places_of(other, Given(server=shared), setting.config, setting.variables)
    place = places[owner.name]
    if place.problem:
        raise CheckDefinitionError(f"{other.id}, {owner.name}: {place.problem}")
    if place.source is not None:
        raise _NotFollowedError(f"{owner.name} of {other.id} is in files, and has no table")
    return str(place.table)


def _other_contract(setting: Setting, file: str) -> Contract:
    source = setting.contract.document.source
    folder = Path(source).parent if source else Path()
    path = folder / file
    if not path.is_file():
        raise CheckDefinitionError(f"the contract file {file!r} is not there, beside this one")
    state = path.stat()
    return resolved(_loaded(path, state.st_mtime_ns, state.st_size), setting.variables).contract


@lru_cache(maxsize=16)
def _loaded(path: Path, _changed: int, _size: int) -> Contract:
    """The file, once for all the keys that refer to it, and again when it has changed."""
    return load_contract(path)


def _resolved(contract: Contract, own: Object | None, text: str) -> tuple[Object, str]:
    """The object and the path of the column; `own` is meant where the text names no object."""
    if "/" in text:
        return _by_ids(contract, text.split("/"), text)
    return _by_names(contract, own, text)


def _by_ids(contract: Contract, steps: Sequence[str], text: str) -> tuple[Object, str]:
    """`schema/ID/properties/ID`, with more `properties` or `items` for what stands inside."""
    if len(steps) < 4 or steps[0] != "schema":  # noqa: PLR2004 (as the docstring has it)
        raise CheckDefinitionError(
            f"{text!r} is no full reference. Write schema/ID/properties/ID, by ids"
        )
    owner = _known(contract.objects, steps[1], f"no object of the id {steps[1]!r} for {text!r}")
    within: Object | Property = owner
    rest = list(steps[2:])
    while rest:
        word = rest.pop(0)
        if word == "items" and isinstance(within, Property) and within.items is not None:
            within = within.items
        elif word == "properties" and rest:
            name = rest.pop(0)
            within = _known(within.properties, name, f"no property of the id {name!r} for {text!r}")
        else:
            raise CheckDefinitionError(f"{text!r} cannot be followed at {word!r}")
    if not isinstance(within, Property):
        raise CheckDefinitionError(f"{text!r} names no property")
    return owner, within.path


Named = TypeVar("Named", Object, Property)


def _known(among: Sequence[Named], name: str, problem: str) -> Named:
    """The one of that id; one that has none is known by its name."""
    for one in among:
        if name == (one.id or one.name):
            return one
    labels = [one.id or one.name for one in among]
    near = ", ".join(nearest(name, labels) or labels) or "none"
    raise CheckDefinitionError(f"{problem}. Nearest: {near}")


def _by_names(contract: Contract, own: Object | None, text: str) -> tuple[Object, str]:
    """`table.column.nested`; names may hold dots, so the longest object's name is tried first."""
    for dot in (at for at in range(len(text) - 1, 0, -1) if text[at] == "."):
        owner = contract.object_named(text[:dot])
        if owner is not None:
            return owner, column_named(owner, text[dot + 1 :])
    if own is not None and own.property_named(text) is not None:
        return own, column_named(own, text)
    names = [one.name for one in contract.objects]
    name = text.partition(".")[0]
    near = ", ".join(nearest(name, names) or names) or "none"
    raise CheckDefinitionError(f"no object {name!r} in the contract for {text!r}. Nearest: {near}")


def column_named(owner: Object, name: str) -> str:
    """The path of a property by its name; where none is listed, the name is the table's own."""
    found = owner.property_named(name)
    if found is not None or not owner.properties:
        return name if found is None else found.path
    labels = [one.label for one in owner.walk()]
    near = ", ".join(nearest(name, labels) or labels)
    raise CheckDefinitionError(f"object {owner.name!r} has no property {name!r}. Nearest: {near}")
