"""Frozen dataclasses as JSON and back: the fields of a class are the schema of its object.

What a class does not know is handed to the reader by JSON pointer, and can be put back. A word
that an enumeration does not know stays text: a later version may know more of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from hashlib import sha256
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import LIMBS, Commitment
from lakeproof.model.printable import counted, printable

_SHOWN_CHARACTERS_MAX = 60
_HEX = re.compile("[0-9a-f]+")
_NAMES_OF_KINDS = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "dict": "an object",
    "list": "a list",
}

Tree = dict[str, Any]
Kind = TypeVar("Kind")


# ------------------------------------------------------------------------------------------ text


def parse_object(text: str | bytes, where: str) -> Tree:
    """The JSON object that a file holds; every number is exact, and no name stands twice."""
    try:
        tree = json.loads(text, object_pairs_hook=_members, parse_float=_finite)
    except (ValueError, RecursionError) as problem:
        told = str(problem) or "nested too deeply"
        raise LedgerError(f"{where}: not valid JSON: {told}. Restore the file as written") from None
    if not isinstance(tree, dict):
        raise LedgerError(f"{where}: expected an object, found {_shown(tree)}")
    return tree


def print_object(tree: Mapping[str, object]) -> str:
    """The object for a file: readable, in the order of its fields, ending in a newline."""
    return _as_text(json.dumps(tree, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def canonical_sha256(tree: Mapping[str, object]) -> str:
    """SHA-256 of the object as UTF-8 JSON with names sorted and no blanks."""
    text = json.dumps(
        tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return sha256(_as_text(text).encode("utf-8")).hexdigest()


def _as_text(text: str) -> str:
    # Half of a surrogate pair (a file name of a foreign encoding) is no UTF-8. Python's way to
    # write it, `\udc80`, is also JSON's, and it can stand only inside a string.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _members(pairs: list[tuple[str, object]]) -> Tree:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {printable(twice)!r} stands twice in one object")
    return tree


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:_SHOWN_CHARACTERS_MAX]} is not a number that can be kept")
    return number


# --------------------------------------------------------------------------------------- writing


def to_tree(value: object) -> Any:  # noqa: ANN401 - JSON
    """A value of our classes as JSON has it; fields that do not make it equal are left out."""
    if isinstance(value, Commitment):
        # As text: numbers above 2^53 are not safe with everybody who reads JSON.
        return {"records": value.records, "limbs": [f"{limb:x}" for limb in value.limbs]}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_tree(getattr(value, one.name)) for one in _stored(type(value))}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): to_tree(member) for name, member in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_tree(member) for member in value]
    return value


def put_back(tree: Tree, unknown: Mapping[str, object]) -> None:
    """Members that an older reader did not know, where they stood; ours win over them."""
    for pointer, value in unknown.items():
        *steps, name = map(_unescaped, pointer.split("/")[1:])
        place: Any = tree
        for step in steps:
            place = _below(place, step)
        if isinstance(place, dict):
            place.setdefault(name, value)


def _below(place: object, step: str) -> object:
    if isinstance(place, list):
        return place[int(step)] if step.isdecimal() and int(step) < len(place) else None
    return place.get(step) if isinstance(place, dict) else None


# --------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class TreeReader:
    """Reads objects of one file; what it did not know is in `unknown`, by JSON pointer."""

    where: str
    unknown: dict[str, object] = field(default_factory=dict)

    def read(self, kind: type[Kind], tree: object, path: tuple[str, ...] = ()) -> Kind:
        """An object as this class; a missing field or a wrong type says where it stands."""
        members = self._checked(dict, tree, path)
        stored = _stored(cast("Hashable", kind))
        given = {
            one.name: self._value(hint, members[one.name], (*path, one.name))
            for one, hint in stored.items()
            if one.name in members
        }
        for one in stored:
            if one.name not in members and one.default is one.default_factory is MISSING:
                raise self._refusal((*path, one.name), "is missing")
        for name in members.keys() - {one.name for one in stored}:
            self.unknown[_pointer((*path, name))] = members[name]
        return kind(**given)

    def _value(self, hint: Any, value: object, path: tuple[str, ...]) -> Any:  # noqa: ANN401
        origin, inside = get_origin(hint), get_args(hint)
        if origin is UnionType:
            (known,) = (one for one in inside if one is not NoneType)
            return None if value is None else self._value(known, value, path)
        if origin is tuple:
            listed = enumerate(self._checked(list, value, path))
            return tuple(self._value(inside[0], one, (*path, str(at))) for at, one in listed)
        if origin is Mapping:
            members = self._checked(dict, value, path).items()
            return {name: self._value(inside[1], one, (*path, name)) for name, one in members}
        return self._plain_value(hint, value, path)

    def _plain_value(self, kind: type[Any], value: object, path: tuple[str, ...]) -> Any:  # noqa: ANN401
        if kind is object:
            return value
        if kind is Commitment:
            return self._commitment(value, path)
        if is_dataclass(kind):
            return self.read(kind, value, path)
        if issubclass(kind, StrEnum):
            return _word(kind, self._checked(str, value, path))
        return self._checked(kind, value, path)

    def _commitment(self, value: object, path: tuple[str, ...]) -> Commitment:
        members = self._checked(dict, value, path)
        records = self._checked(int, members.get("records"), (*path, "records"))
        limbs = self._checked(list, members.get("limbs"), (*path, "limbs"))
        for name in members.keys() - {"records", "limbs"}:
            self.unknown[_pointer((*path, name))] = members[name]
        if len(limbs) not in {0, LIMBS}:
            named = ".".join(map(printable, (*path, "limbs")))
            raise LedgerError(
                f"{self.where}: {named} holds {counted(len(limbs), 'number')}, and this version of "
                f"Lakeproof adds keys up in {LIMBS}. Read it with the version that wrote it, which "
                "manifest.json names"
            )
        return Commitment(records, tuple(self._limb(one, (*path, "limbs")) for one in limbs))

    def _limb(self, value: object, path: tuple[str, ...]) -> int:
        text = self._checked(str, value, path)
        if not _HEX.fullmatch(text):
            raise self._refusal(path, f"must hold hexadecimal numbers, found {_shown(text)}")
        return int(text, 16)

    def _checked(self, kind: type[Kind], value: object, path: tuple[str, ...]) -> Kind:
        if type(value) is not kind:  # true is not 1
            expected = _NAMES_OF_KINDS[kind.__name__]
            raise self._refusal(path, f"must be {expected}, found {_shown(value)}")
        return value

    def _refusal(self, path: Iterable[str], told: str) -> LedgerError:
        named = ".".join(map(printable, path)) or "the document"
        return LedgerError(f"{self.where}: {named} {told}. Restore the file as it was written")


@cache
def _stored(kind: Hashable) -> Mapping[Field[Any], Any]:
    """The fields that stand in JSON, with their types; `unknown` ones are the reader's matter."""
    # The only name that is imported for type checkers alone, of a field that is not stored.
    hints = get_type_hints(cast("Any", kind), localns={"DataFrame": object})
    named = (one for one in fields(cast("Any", kind)) if one.compare and one.name != "unknown")
    return {one: hints[one.name] for one in named}


def _word(kind: type[StrEnum], text: str) -> str:
    try:
        return kind(text)
    except ValueError:
        return text


def _shown(value: object) -> str:
    """A value of a file, cut short, as JSON has it."""
    text = printable(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}..."


def _pointer(path: Iterable[str]) -> str:
    """RFC 6901."""
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in path)


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
