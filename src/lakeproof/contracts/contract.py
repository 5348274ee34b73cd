"""A contract as it was read: objects, properties, rules, servers and promises of service.

Every generation of the standard, and the forms of its RFC, have become one shape here. Values are
as the file has them; `pointer` says where, as a JSON pointer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lakeproof.contracts.finding import Finding
from lakeproof.contracts.yaml_document import Document

Entry = Mapping[str, object]
"""A mapping of the file, as it stands there."""


@dataclass(frozen=True, slots=True)
class DeclaredRule:
    """One entry of a `quality` list; `key` tells it from all others of the contract.

    `pointer` leads to it. `raw` may be no mapping at all: then the rule is an error.
    """

    raw: object
    pointer: str
    index: int


@dataclass(frozen=True, slots=True)
class Relationship:
    """A foreign key as it was declared, on a property (no `from`) or an object."""

    raw: object
    pointer: str


@dataclass(frozen=True, slots=True)
class Property:
    """A column, a field inside one, the items of an array, or the key or value of a map.

    `path` is the value's place in a row by its physical names, in the grammar of
    `planning.places`: `a.b`, `a[].b`, `m{}`, and `m{key}` for the keys of a map. `label` is the
    same by logical names.
    """

    name: str
    physical_name: str
    path: str
    label: str
    pointer: str
    raw: Entry
    id: str = ""
    logical_type: str = ""
    physical_type: str = ""
    options: Entry = field(default_factory=dict)
    required: bool = False
    unique: bool = False
    primary_key: bool = False
    primary_key_position: int = -1
    enum: tuple[object, ...] | None = None
    properties: tuple[Property, ...] = ()
    items: Property | None = None
    map_key: Property | None = None
    map_value: Property | None = None
    quality: tuple[DeclaredRule, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    is_measure: bool = False
    is_deprecated: bool = False
    classification: str = ""

    @property
    def parts(self) -> tuple[Property, ...]:
        """What stands directly inside it."""
        inner = (self.items, self.map_key, self.map_value)
        return (*self.properties, *(part for part in inner if part is not None))

    def walk(self) -> Iterator[Property]:
        """Itself and everything inside it, outermost first."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Object:
    """A table, by whatever word its generation calls it."""

    name: str
    physical_name: str
    pointer: str
    raw: Entry
    id: str = ""
    physical_type: str = ""
    properties: tuple[Property, ...] = ()
    quality: tuple[DeclaredRule, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    # What was looked up is kept: an object may have thousands of properties, and of names of them.
    _by_name: dict[str, Property] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def walk(self) -> Iterator[Property]:
        """Every property at any depth, in the file's order."""
        for found in self.properties:
            yield from found.walk()

    def property_named(self, name: str) -> Property | None:
        """The property that a rule means: by label, else by name, else by physical name."""
        if not self._by_name:
            every = list(self.walk())
            named = [(one.label, one) for one in every] + [(one.name, one) for one in every]
            named += [(each, one) for one in every for each in (one.physical_name, one.path)]
            for called, one in named:
                self._by_name.setdefault(called, one)
        return self._by_name.get(name)


@dataclass(frozen=True, slots=True)
class Server:
    """Where the data is: `raw` has the keys that its `type` knows."""

    name: str
    type: str
    raw: Entry
    pointer: str


@dataclass(frozen=True, slots=True)
class SlaEntry:
    """One promise of service."""

    raw: Entry
    pointer: str
    index: int


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract file, whole. `stray_rules` are those at its root, where no object owns them."""

    id: str
    name: str
    version: str
    api_version: str
    document: Document = field(repr=False)
    objects: tuple[Object, ...] = field(default=(), repr=False)
    servers: tuple[Server, ...] = ()
    sla: tuple[SlaEntry, ...] = ()
    sla_default_element: str = ""
    custom: Mapping[str, object] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    stray_rules: tuple[DeclaredRule, ...] = field(default=(), repr=False)
    findings: tuple[Finding, ...] = ()
    naming_engines: dict[str, Entry] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Rules that name an engine or a tool; kept by what chooses the engine of each rule."""
    _by_name: dict[str, Object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def object_named(self, name: str) -> Object | None:
        """The object of that name, else of that physical name or id; letter case matters."""
        if not self._by_name:
            every = self.objects
            named = [(one.name, one) for one in every] + [(one.physical_name, one) for one in every]
            named += [(one.id, one) for one in every if one.id]
            for called, one in named:
                self._by_name.setdefault(called, one)
        return self._by_name.get(name)

    @property
    def is_legacy(self) -> bool:
        """Whether it says to be of generation 2."""
        return self.api_version.lstrip("v").startswith("2.")

    def rules(self) -> Iterator[tuple[Object | None, Property | None, DeclaredRule]]:
        """Every rule with its object and property, in the file's order."""
        for rule in self.stray_rules:
            yield None, None, rule
        for owner in self.objects:
            yield from ((owner, None, rule) for rule in owner.quality)
            for part in owner.walk():
                yield from ((owner, part, rule) for rule in part.quality)


def custom_properties(raw: object) -> dict[str, object]:
    """`customProperties` as a mapping; a list of {property, value}, or a mapping already."""
    if isinstance(raw, Mapping):
        return {str(name): value for name, value in raw.items()}
    found: dict[str, object] = {}
    if isinstance(raw, Sequence) and not isinstance(raw, str):
        for entry in raw:
            if isinstance(entry, Mapping) and isinstance(entry.get("property"), str):
                found[entry["property"]] = entry.get("value")
    return found
