"""Values taken out of a document as what they should be; what is nothing like it, is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakeproof.contracts.contract import DeclaredRule, Entry, Relationship
from lakeproof.contracts.odcs.scalars import truth_of
from lakeproof.contracts.yaml_document import Document, pointer_to

_RULE_KEYS = ("quality", "checks")


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
            found = self.entry.get(key)
            if isinstance(found, list):
                for index, item in enumerate(found):
                    yield pointer_to(self.at(key), index), item

    def mappings(self, *keys: str) -> Iterator[Taker]:
        """Those of the items that are mappings."""
        for pointer, item in self.items(*keys):
            if isinstance(item, Mapping):
                yield Taker(self.document, item, pointer)

    def inside(self, key: str) -> Taker | None:
        """The mapping that a key has."""
        found = self.entry.get(key)
        return Taker(self.document, found, self.at(key)) if isinstance(found, Mapping) else None

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(
            self.document.spelled(pointer, item)
            for pointer, item in self.items(key)
            if isinstance(item, (str, bool, int, float))
        )

    def rules(self) -> tuple[DeclaredRule, ...]:
        """The rules that stand here. None is left out: what is no list, is one rule by itself."""
        found = []
        for key in _RULE_KEYS:
            given = self.entry.get(key)
            if isinstance(given, list):
                found += [
                    DeclaredRule(raw, pointer_to(self.at(key), index), index)
                    for index, raw in enumerate(given)
                ]
            elif given is not None:
                found.append(DeclaredRule(given, self.at(key), 0))
        return tuple(found)

    def relationships(self) -> tuple[Relationship, ...]:
        return tuple(Relationship(raw, pointer) for pointer, raw in self.items("relationships"))
