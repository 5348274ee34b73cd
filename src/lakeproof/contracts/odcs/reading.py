"""A document as a contract, whatever generation of the standard its words are of.

Nothing here raises: what cannot be read is left out and told, and its neighbours stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from lakeproof.contracts.contract import (
    Contract,
    DeclaredRule,
    Object,
    Property,
    Server,
    custom_properties,
)
from lakeproof.contracts.finding import Finding, Level
from lakeproof.contracts.odcs.deviations import deviations_in
from lakeproof.contracts.odcs.known_keys import SHAPES
from lakeproof.contracts.odcs.properties import PROPERTY_LISTS, properties_in
from lakeproof.contracts.odcs.taking import Taker, entries_of
from lakeproof.contracts.tree import shown
from lakeproof.contracts.yaml_document import Document, pointer_to

_OBJECT_LISTS = ("schema", "dataset")
_HEAD = ("apiVersion", "kind")
_OBJECT_KEYS = frozenset({"object", "table", "properties", "attributes", "quality", "checks"})
# What version 2 says of the one place where its tables are, in the words of version 3.
_VERSION_2_SERVER = {
    "server": "server",
    "database": "database",
    "driver": "driver",
    "datasetProject": "project",
    "datasetName": "dataset",
}


def read_contract(given: Document) -> Contract:
    """The contract with everything that was noticed about it, in the file's order."""
    document = _with_keys(given)
    root = document.value if isinstance(document.value, Mapping) else {}
    taker = Taker(document, root, "")
    objects = tuple(_objects(taker))
    stray = taker.rules(*_OBJECT_LISTS)
    findings = [
        *document.findings,
        *_not_a_contract(document),
        *deviations_in(document, root),
        *_strays(document, stray),
        *_twins(document, objects, "object"),
    ]
    for owner in objects:
        findings += _twins(document, owner.properties, "property")
    return Contract(
        id=taker.text("id", "uuid") or _file_stem(document.source) or "contract",
        name=taker.text("name", "quantumName", "dataProduct"),
        version=taker.text("version"),
        api_version=taker.text("apiVersion"),
        document=document,
        objects=objects,
        servers=tuple(_servers(taker)),
        sla=taker.service_levels(),
        sla_default_element=taker.text("slaDefaultElement", "slaDefaultColumn"),
        custom=custom_properties(root.get("customProperties")),
        tags=taker.texts("tags"),
        stray_rules=stray,
        findings=tuple(sorted(findings, key=_place_in_file)),
    )


def _with_keys(document: Document) -> Document:
    """A list or an object alone, put under the key that it stands under in a contract."""
    root = root_of(document.value)
    if root is None:
        return document
    inside = f"/{next(iter(root))}" if isinstance(document.value, list) else "/schema/0"

    def moved(pointer: str) -> str:
        _, _, path = pointer.partition("/")
        return pointer if path.partition("/")[0] in root else inside + pointer

    around = {"": document.places[""]} if "" in document.places else {}
    return replace(
        document,
        value=root,
        places={**around, **{moved(one): place for one, place in document.places.items()}},
        written={moved(one): text for one, text in document.written.items()},
    )


def root_of(value: object) -> dict[str, object] | None:
    """The contract around a file that is a list or one object; None if it is one already."""
    if isinstance(value, list):
        return {"schema" if any(_is_object(entry) for entry in value) else "quality": value}
    if not isinstance(value, Mapping) or not _is_lone_object(value):
        return None
    own = SHAPES["contract"].keys.keys() - SHAPES["object"].keys.keys()
    if any(key in value for key in _HEAD):
        own |= {"id"}
    head = {key: one for key, one in value.items() if key in own}
    return {**head, "schema": [{key: one for key, one in value.items() if key not in head}]}


def _is_lone_object(value: Mapping[str, object]) -> bool:
    """Whether a mapping has properties, and neither objects that have them nor a rule's keys."""
    if {*_OBJECT_LISTS, "type", "metric", "rule", "query"} & value.keys():
        return False
    given = (entries_of(key, value.get(key)) for key in PROPERTY_LISTS)
    return any(isinstance(one, Mapping) for each in given for _, one in each or ())


def _is_object(entry: object) -> bool:
    """Whether a list's entry is a table rather than a rule; a rule may have `properties` too."""
    if not isinstance(entry, Mapping) or "type" in entry or "metric" in entry:
        return False
    return bool(_OBJECT_KEYS & entry.keys()) or isinstance(entry.get("columns"), list)


def _not_a_contract(document: Document) -> Iterator[Finding]:
    if not isinstance(document.value, Mapping):
        message = "a contract is a mapping, or a list of rules; nothing here can be read"
        yield Finding(Level.ERROR, message, document.at(""))


def _objects(root: Taker) -> Iterator[Object]:
    for number, taker in enumerate(root.mappings(*_OBJECT_LISTS), start=1):
        # A name is made up for one that has none: the rules on it must fail, not vanish.
        name = taker.text("name", "object", "table", "physicalName") or f"object_{number}"
        yield Object(
            name=name,
            physical_name=taker.text("physicalName") or name,
            pointer=taker.pointer,
            raw=taker.entry,
            id=taker.text("id"),
            physical_type=taker.text("physicalType"),
            properties=properties_in(taker),
            quality=taker.rules(*PROPERTY_LISTS),
            relationships=taker.relationships(),
        )


def _servers(root: Taker) -> Iterator[Server]:
    if "servers" not in root.entry:
        yield from _version_2_server(root)
    for taker in root.mappings("servers"):
        yield Server(taker.text("server"), taker.text("type"), taker.entry, taker.pointer)


def _version_2_server(root: Taker) -> Iterator[Server]:
    """The one server of version 2, whose keys stand at the root; without its password."""
    raw = {key: root.entry[old] for old, key in _VERSION_2_SERVER.items() if root.entry.get(old)}
    kind = root.text("sourceSystem").lower()
    if raw or kind:
        yield Server(root.text("server"), kind, {**raw, "type": kind}, root.pointer)


def _strays(document: Document, rules: Sequence[DeclaredRule]) -> Iterator[Finding]:
    if rules:
        where = document.at(rules[0].pointer.rpartition("/")[0])
        message = "rules at the root of a contract belong to no object; put them under one"
        yield Finding(Level.WARNING, message, where)


def _twins(
    document: Document, parts: Sequence[Object] | Sequence[Property], what: str
) -> Iterator[Finding]:
    counts = Counter(part.name for part in parts)
    seen: set[str] = set()
    for part in parts:
        if counts[part.name] > 1 and part.name in seen:
            message = f"{what} {shown(part.name)} is declared twice"
            yield Finding(Level.WARNING, message, document.at(pointer_to(part.pointer, "name")))
        seen.add(part.name)


def _file_stem(source: str) -> str:
    """`orders` of `folder/orders.odcs.yaml`."""
    name = PurePath(source)
    if name.suffix.lower() not in {".yaml", ".yml", ".json"}:
        return ""
    return name.stem.removesuffix(".odcs")


def _place_in_file(finding: Finding) -> tuple[int, int]:
    return finding.location.line or 0, finding.location.column or 0
