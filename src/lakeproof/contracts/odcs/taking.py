"""Values taken out of a document as what they should be; what is nothing like it, is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakeproof.contracts.contract import DeclaredRule, Entry, Relationship, SlaEntry
from lakeproof.contracts.odcs.scalars import truth_of
from lakeproof.contracts.yaml_document import Document, pointer_to

_RULE_KEYS = ("quality", "checks")


_NAMED_BY = {
    **dict.fromkeys(("schema", "dataset", "properties", "attributes", "columns"), "name"),
    "slaProperties": "property",
    "servers": "server",
}
"""The lists of which each entry has a name, by the key that has it."""


def entries_of(key: str, value: object) -> list[tuple[str | int, object]] | None:
    """What a list holds, each with its step from there; None if there is no reading as a list.

    A mapping where the list should be is read if it is clear what it means: entries by their
    names, or one entry (whose step is '').
    """
    if isinstance(value, list):
        return list(enumerate(value))
    if not isinstance(value, Mapping) or not value:
        return None
    name = _NAMED_BY.get(key, "")
    if (key == "relationships" and "to" in value) or isinstance(value.get(name), str):
        return [("", value)]
    if name and all(one is None or isinstance(one, Mapping) for one in value.values()):
        return [(step, {name: step, **(one or {})}) for step, one in value.items()]
    return None


def part_of(value: object) -> tuple[str | int, Entry] | None:
    """The mapping of a key that has one, with its step from there; a list of one has it too."""
    if isinstance(value, Mapping):
        return "", value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        return 0, value[0]
    return None


def step_to(pointer: str, step: str | int) -> str:
    """The pointer of an entry; the step '' stays where it is."""
    return pointer if step == "" else pointer_to(pointer, step)


@dataclass(frozen=True, slots=True)
class Taker:
    """Takes from one mapping of the document, to which `pointer` leads."""

    document: Document
    entry: Entry
    pointer: str

    def at(self, *keys: str) -> str:
        """The pointer of a value inside."""
        pointer = self.pointer
        for key in keys:
            pointer = pointer_to(pointer, key)
        return pointer

    def text(self, *keys: str) -> str:
        """The first of the keys that has a text, as the file spells it; '' if none has."""
        for key in keys:
            found = self.entry.get(key)
            if isinstance(found, (str, bool, int, float)) and found != "":
                return self.document.spelled(self.at(key), found)
        return ""

    def truth(self, *keys: str) -> bool | None:
        """The first of the keys that is true or false; None if none is."""
        found = (truth_of(self.entry.get(key)) for key in keys)
        return next((value for value in found if value is not None), None)

    def mapping(self, key: str) -> Entry:
        found = self.entry.get(key)
        return found if isinstance(found, Mapping) else {}

    def items(self, *keys: str) -> Iterator[tuple[str, object]]:
        """Every item of the lists that the keys have, with its pointer."""
        for key in keys:
            for step, item in entries_of(key, self.entry.get(key)) or ():
                yield step_to(self.at(key), step), item

    def mappings(self, *keys: str) -> Iterator[Taker]:
        """Those of the items that are mappings."""
        for pointer, item in self.items(*keys):
            if isinstance(item, Mapping):
                yield Taker(self.document, item, pointer)

    def inside(self, key: str) -> Taker | None:
        """The mapping that a key has."""
        found = part_of(self.entry.get(key))
        if found is None:
            return None
        step, entry = found
        return Taker(self.document, entry, step_to(self.at(key), step))

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(
            self.document.spelled(pointer, item)
            for pointer, item in self.items(key)
            if isinstance(item, (str, bool, int, float))
        )

    def rules(self, *lists: str, parts: tuple[str, ...] = ()) -> tuple[DeclaredRule, ...]:
        """The rules that stand here. None is left out: what is no list, is one rule by itself.

        Nor may rules inside something else vanish if that cannot be read: what has no reading
        under the keys `lists` and `parts` is one rule, which is an error.
        """
        found: list[DeclaredRule] = []
        for key in _RULE_KEYS:
            given = self.entry.get(key)
            if isinstance(given, list):
                found += [
                    DeclaredRule(raw, pointer_to(self.at(key), index), index)
                    for index, raw in enumerate(given)
                ]
            elif given is not None:
                found.append(DeclaredRule(given, self.at(key), 0))
        for pointer, given in self._unreadable(lists, parts):
            # A mapping that happens to have a rule's keys stands where none can.
            raw = [given] if isinstance(given, Mapping) else given
            found.append(DeclaredRule(raw, pointer, len(found)))
        return tuple(found)

    def _unreadable(
        self, lists: tuple[str, ...], parts: tuple[str, ...]
    ) -> Iterator[tuple[str, object]]:
        for key in lists:
            given = self.entry.get(key)
            if given is not None and given != {} and entries_of(key, given) is None:
                yield self.at(key), given
            for pointer, item in self.items(key):
                if item is not None and not isinstance(item, Mapping):
                    yield pointer, item
        for key in parts:
            given = self.entry.get(key)
            if given and part_of(given) is None:
                yield self.at(key), given

    def relationships(self) -> tuple[Relationship, ...]:
        """All that are declared; what is nothing like one is an error where it is read."""
        given = self.entry.get("relationships")
        if given is not None and entries_of("relationships", given) is None:
            return (Relationship(given, self.at("relationships")),)
        return tuple(Relationship(raw, pointer) for pointer, raw in self.items("relationships"))

    def service_levels(self) -> tuple[SlaEntry, ...]:
        """All that are promised; what is no mapping has a value, and no property."""
        key = "slaProperties"
        given = self.entry.get(key)
        if given is not None and entries_of(key, given) is None:
            return (SlaEntry({"value": given}, self.at(key), 0),)
        return tuple(
            SlaEntry(raw if isinstance(raw, Mapping) else {"value": raw}, pointer, index)
            for index, (pointer, raw) in enumerate(self.items(key))
        )
