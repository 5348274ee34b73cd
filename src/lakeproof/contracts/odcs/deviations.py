"""Where a contract leaves the standard: told with its place, and never a reason to stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lakeproof.contracts.finding import Finding, Level
from lakeproof.contracts.odcs.hints import Hints
from lakeproof.contracts.odcs.known_keys import (
    OPTIONS,
    RENAMED,
    SERVERS,
    SHAPES,
    Each,
    Either,
    Kind,
    One,
    Plain,
    Shape,
    Word,
)
from lakeproof.contracts.odcs.rule_deviations import rule_deviations
from lakeproof.contracts.odcs.scalars import truth_of, whole_number_of
from lakeproof.contracts.odcs.taking import entries_of, part_of, step_to
from lakeproof.contracts.tree import shown
from lakeproof.contracts.yaml_document import Document, pointer_to, spelling

_NOUNS = {str: "a text", bool: "a truth value", list: "a list", dict: "a mapping"}


def deviations_in(document: Document, root: Mapping[str, object]) -> list[Finding]:
    """Everything about the contract, the document's root, that the standard does not know."""
    walk = _Walk(document, is_version_3=spelling(root.get("apiVersion")).startswith("v3"))
    walk.mapping(root, "contract", "")
    return walk.findings


class _Walk:
    """Goes through a contract by the shapes of `known_keys`."""

    def __init__(self, document: Document, *, is_version_3: bool) -> None:
        self.document = document
        self.is_version_3 = is_version_3
        self.hints = Hints()
        self.findings: list[Finding] = []

    def add(self, level: Level, pointer: str, message: str) -> None:
        self.findings.append(Finding(level, message, self.document.at(pointer)))

    def mapping(self, entry: Mapping[str, object], name: str, pointer: str) -> None:
        """A mapping by its shape, then by what only this kind of mapping must fulfil."""
        shape = SHAPES[name]
        self.missing(entry, shape, name, pointer)
        self.unknown(entry, shape.keys, name, pointer)
        for key, value in entry.items():
            if key in shape.keys and value is not None:
                self.value(value, shape.keys[key], pointer_to(pointer, key), key)
        if name in {"property", "part"}:
            self.property(entry, pointer)
        elif name.endswith("relationship"):
            self.relationship(entry, name, pointer)

    def missing(self, entry: Mapping[str, object], shape: Shape, name: str, pointer: str) -> None:
        for group in shape.required:
            if not any(_is_there(entry, key, shape.keys[key]) for key in group):
                self.add(shape.missing, pointer, f"this {name} has no `{group[0]}`")

    def unknown(
        self, entry: Mapping[str, object], known: Iterable[str], name: str, pointer: str
    ) -> None:
        names = set(known)
        for key in entry:
            if key not in names:
                hint = self.hints.did_you_mean(key, names)
                message = f"unknown key {shown(key)} in this {name}; it is kept.{hint}"
                self.add(Level.WARNING, pointer_to(pointer, key), message)
            elif self.is_version_3 and key in RENAMED.get(name, ()):
                message = f"{key} is read as {RENAMED[name][key]}, its name in version 3"
                self.add(Level.NOTE, pointer_to(pointer, key), message)

    def value(self, value: object, kind: Kind, pointer: str, key: str) -> None:
        """A value that is there, by what the standard says it is."""
        if isinstance(kind, Plain):
            self.plain(value, kind, pointer, key)
        elif isinstance(kind, Word):
            self.word(value, kind.known, pointer, key)
        elif isinstance(kind, One):
            self.one(value, kind.shape, pointer, key)
        elif isinstance(kind, Each):
            self.each(value, kind.shape, pointer, key)
        else:
            self.either(value, kind, pointer, key)

    def plain(self, value: object, kind: Plain, pointer: str, key: str) -> None:
        """A wrong type is an error, but for a value that can be read as the right one."""
        if kind is Plain.ANY or _is_of(value, kind):
            return
        if kind is Plain.TEXTS and isinstance(value, list):
            for index, item in enumerate(value):
                self.plain(item, Plain.TEXT, pointer_to(pointer, index), key)
        elif _readable_as(value, kind):
            spelled = self.document.spelled(pointer, value)
            message = f"{key} must be {kind}; {shown(spelled)} is {_noun(value)}, read as such"
            if kind is Plain.TEXT:
                message = f"{key} must be {kind}; put {spelled} in quotes"
            self.add(Level.WARNING, pointer, message)
        else:
            self.add(Level.ERROR, pointer, f"{key} must be {kind}; {_noun(value)} is left out")

    def word(self, value: object, known: Sequence[str], pointer: str, key: str) -> None:
        if not isinstance(value, str):
            self.plain(value, Plain.TEXT, pointer, key)
        elif value not in known:
            near = self.hints.near(value, known)
            hint = f"Nearest: {', '.join(near)}." if near else f"It has {', '.join(known)}."
            message = f"{key} {shown(value)} is not in the standard. {hint}"
            self.add(Level.WARNING, pointer, message)

    def one(self, value: object, shape: str, pointer: str, key: str) -> None:
        found = part_of(value)
        if found is None or (isinstance(value, list) and shape != "part"):
            self.add(Level.ERROR, pointer, f"{key} must be a mapping; {_noun(value)} is left out")
            return
        step, entry = found
        if isinstance(value, list):
            message = f"{key} must be a mapping; the only one in this list is read"
            self.add(Level.WARNING, pointer, message)
        if shape in SHAPES:
            self.mapping(entry, shape, step_to(pointer, step))

    def each(self, value: object, shape: str, pointer: str, key: str) -> None:
        if key == "checks":
            self.add(Level.NOTE, pointer, "checks is read as quality")
        if shape == "rule" and isinstance(value, Mapping):
            self.add(Level.WARNING, pointer, f"{key} must be a list; this is read as its one rule")
            self.rule(value, pointer)
            return
        found = entries_of(key, value)
        if found is None:
            fate = "cannot run" if shape == "rule" else "is left out"
            self.add(Level.ERROR, pointer, f"{key} must be a list; {_noun(value)} {fate}")
        elif not isinstance(value, list):
            meant = "its one entry" if found[0][0] == "" else "its entries, by their names"
            self.add(Level.WARNING, pointer, f"{key} must be a list; this is read as {meant}")
        for step, item in found or ():
            self.item(item, shape, step_to(pointer, step))

    def item(self, item: object, shape: str, pointer: str) -> None:
        if not isinstance(item, Mapping):
            fate = "cannot run" if shape == "rule" else "is left out"
            article = "an" if shape[0] in "aeiou" else "a"
            message = f"{article} {shape} must be a mapping; {_noun(item)} {fate}"
            self.add(Level.ERROR, pointer, message)
        elif shape == "rule":
            self.rule(item, pointer)
        elif shape == "server":
            self.server(item, pointer)
        else:
            self.mapping(item, shape, pointer)

    def either(self, value: object, kind: Either, pointer: str, key: str) -> None:
        if isinstance(value, list) and kind.each:
            self.each(value, kind.each, pointer, key)
        elif isinstance(value, Mapping):
            self.one(value, kind.one, pointer, key)
        elif kind.each:
            wanted = "a mapping or a list"
            self.add(Level.ERROR, pointer, f"{key} must be {wanted}; {_noun(value)} is left out")
        else:
            self.plain(value, Plain.TEXT, pointer, key)

    def rule(self, entry: Mapping[str, object], pointer: str) -> None:
        for level, key, message in rule_deviations(entry, self.hints):
            self.add(level, pointer_to(pointer, key) if key else pointer, message)

    def server(self, entry: Mapping[str, object], pointer: str) -> None:
        kind = spelling(entry.get("type"))
        required, more = SERVERS.get(kind, ((), tuple(_keys_of_any_server())))
        base = SHAPES["server"]
        shape = Shape(
            {**base.keys, **dict.fromkeys((*required, *more), Plain.TEXT), "port": Plain.ANY},
            (*base.required, *((key,) for key in required)),
        )
        name = f"{kind} server" if kind in SERVERS else "server"
        self.missing(entry, shape, name, pointer)
        self.unknown(entry, shape.keys, name, pointer)
        for key, value in entry.items():
            if key in shape.keys and value is not None:
                self.value(value, shape.keys[key], pointer_to(pointer, key), key)

    def property(self, entry: Mapping[str, object], pointer: str) -> None:
        logical, options = entry.get("logicalType"), entry.get("logicalTypeOptions")
        if isinstance(options, Mapping):
            known = OPTIONS.get(logical) if isinstance(logical, str) else None
            name = "list of options" if known is None else f"list of options of a {logical}"
            inside = pointer_to(pointer, "logicalTypeOptions")
            every = _options_of_any_type() if known is None else known
            self.unknown(options, every, name, inside)
        block = entry.get("map")
        if block is not None:
            self.one(block, "map", pointer_to(pointer, "map"), "map")
        elif logical == "map":
            self.add(Level.WARNING, pointer, "this map has no block `map` with its key and value")
        if entry.get("enum") is not None:
            self.enum(entry["enum"], pointer_to(pointer, "enum"))

    def enum(self, values: object, pointer: str) -> None:
        if not isinstance(values, list):
            message = f"enum must be a list; {_noun(values)} is left out"
            self.add(Level.ERROR, pointer, message)
            return
        if not values:
            self.add(Level.ERROR, pointer, "this enum has no value; there is nothing to check")
        seen: set[str] = set()
        for index, item in enumerate(values):
            at = pointer_to(pointer, index)
            if isinstance(item, Mapping):
                self.mapping(item, "enum value", at)
            elif isinstance(item, list):
                self.add(Level.ERROR, at, "a value of an enum is not a list; it is left out")
                continue
            else:
                message = "a value of an enum is a mapping with `value`; this is read as one"
                self.add(Level.WARNING, at, message)
            value = repr(item.get("value", index) if isinstance(item, Mapping) else item)
            if value in seen:
                self.add(Level.WARNING, at, f"value {shown(value)} is in this enum twice")
            seen.add(value)

    def relationship(self, entry: Mapping[str, object], name: str, pointer: str) -> None:
        source, target = entry.get("from"), entry.get("to")
        if name == "property relationship" and source is not None:
            message = "from is not for a property's relationship: it starts at the property"
            self.add(Level.WARNING, pointer_to(pointer, "from"), message)
        for key, value in (("from", source), ("to", target)):
            is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
            if value is not None and not isinstance(value, str) and not is_list:
                message = f"{key} must be a text or a list of texts"
                self.add(Level.ERROR, pointer_to(pointer, key), message)
        is_whole = name == "object relationship" and None not in {_length(source), _length(target)}
        if is_whole and _length(source) != _length(target):
            message = "from and to must name equally many properties"
            self.add(Level.ERROR, pointer_to(pointer, "to"), message)


def _is_there(entry: Mapping[str, object], key: str, kind: Kind) -> bool:
    return key in entry if kind is Plain.ANY else entry.get(key) is not None


def _is_of(value: object, kind: Plain) -> bool:
    if kind is Plain.TEXT:
        return isinstance(value, str)
    if kind is Plain.TRUTH:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    return isinstance(value, int if kind is Plain.WHOLE else (int, float))


def _readable_as(value: object, kind: Plain) -> bool:
    if kind is Plain.TEXT:
        return isinstance(value, (bool, int, float))
    if kind is Plain.TRUTH:
        return truth_of(value) is not None
    return kind is Plain.WHOLE and whole_number_of(value) is not None


def _noun(value: object) -> str:
    return _NOUNS.get(type(value), "a number" if isinstance(value, (int, float)) else "nothing")


def _length(value: object) -> int | None:
    """How many properties a reference names; None if there is no reference."""
    if value is None:
        return None
    return len(value) if isinstance(value, list) else 1


def _keys_of_any_server() -> set[str]:
    return {key for required, more in SERVERS.values() for key in (*required, *more)}


def _options_of_any_type() -> tuple[str, ...]:
    return tuple({key for keys in OPTIONS.values() for key in keys})
