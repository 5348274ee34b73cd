"""Plain values put together piece by piece, within limits, each with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import NoReturn

from lakeproof.contracts.finding import Location
from lakeproof.contracts.yaml_document import pointer_to, spelling
from lakeproof.errors import ContractError
from lakeproof.model.printable import printable

DEPTH_MAX = 64
VALUES_MAX = 100_000
# With the number of values it bounds the memory that the places of all values take.
POINTER_CHARACTERS_MAX = 2_000
_SHOWN_CHARACTERS_MAX = 60
_ATOMS = (str, bytes, bytearray, memoryview, range)


@dataclass(slots=True)
class _Collection:
    """A mapping or list that is not closed yet; `key_pointer` is set while a key has no value."""

    value: dict[str, object] | list[object]
    pointer: str
    key: str = ""
    key_pointer: str = ""


class Tree:
    """Grows by openings, keys, scalars and closings; nothing in it recurses."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: object = None
        self.places: dict[str, tuple[int, int]] = {}
        self.written: dict[str, str] = {}
        self._open: list[_Collection] = []
        self._values_count = 0

    @property
    def awaits_key(self) -> bool:
        """Whether what comes next stands where a mapping's key does."""
        return self.is_in_mapping and not self._open[-1].key_pointer

    @property
    def is_in_mapping(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict)

    @property
    def is_open(self) -> bool:
        return bool(self._open)

    def refuse(self, message: str, line: int, column: int) -> NoReturn:
        raise ContractError(f"{Location(self.source, '', line, column)}: {message}")

    def add_key(self, key: str, line: int, column: int) -> None:
        """The key of the value that comes next."""
        inner = self._open[-1]
        if key in inner.value:
            first = self.places[pointer_to(inner.pointer, key)][0]
            self.refuse(f"key {shown(key)} is given twice; first in line {first}", line, column)
        inner.key, inner.key_pointer = key, pointer_to(inner.pointer, key)
        self._note_place(inner.key_pointer, line, column)

    def add_scalar(self, value: object, written: str, line: int, column: int) -> None:
        """A value that holds no others; `written` is its text if it is no text itself."""
        pointer = self._put(value, line, column)
        if isinstance(value, (bool, int, float)) and written not in {"", spelling(value)}:
            self.written[pointer] = written

    def open(self, value: dict[str, object] | list[object], line: int, column: int) -> None:
        """A mapping or list begins."""
        if len(self._open) >= DEPTH_MAX:
            self.refuse(f"values are nested more than {DEPTH_MAX} deep", line, column)
        pointer = self._put(value, line, column)
        self._open.append(_Collection(value, pointer))

    def close(self) -> None:
        self._open.pop()

    def _put(self, value: object, line: int, column: int) -> str:
        self._values_count += 1
        if self._values_count > VALUES_MAX:
            self.refuse(f"the contract has more than {VALUES_MAX:,} values", line, column)
        if not self._open:
            self.root = value
            self.places[""] = (line, column)
            return ""
        inner = self._open[-1]
        if isinstance(inner.value, list):
            pointer = pointer_to(inner.pointer, len(inner.value))
            inner.value.append(value)
            self._note_place(pointer, line, column)
            return pointer
        pointer, inner.key_pointer = inner.key_pointer, ""
        inner.value[inner.key] = value
        return pointer

    def _note_place(self, pointer: str, line: int, column: int) -> None:
        if len(pointer) > POINTER_CHARACTERS_MAX:
            self.refuse("the keys that lead here are too long", line, column)
        self.places[pointer] = (line, column)


def shown(text: str) -> str:
    """A key or value in quotes, safe to print and cut short."""
    cut = text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "..."
    return f"'{printable(cut)}'"


def copy_values(given: object, source: str) -> object:
    """Plain values as they are, lists of tuples, texts of dates; anything else is refused."""
    return _Copy(source).copy(given, "", 0)


class _Copy:
    def __init__(self, source: str) -> None:
        self.source = source
        self.values_count = 0

    def refuse(self, message: str, pointer: str) -> NoReturn:
        raise ContractError(f"{Location(self.source, pointer)}: {message}")

    def copy(self, given: object, pointer: str, depth: int) -> object:
        self.values_count += 1
        if self.values_count > VALUES_MAX:
            self.refuse(f"the contract has more than {VALUES_MAX:,} values", pointer)
        if isinstance(given, _ATOMS) or not isinstance(given, (Mapping, Sequence)):
            return self.scalar(given, pointer)
        if depth >= DEPTH_MAX:
            self.refuse(f"values are nested more than {DEPTH_MAX} deep", pointer)
        if isinstance(given, Mapping):
            return self.mapping(given, pointer, depth)
        return [
            self.copy(item, pointer_to(pointer, index), depth + 1)
            for index, item in enumerate(given)
        ]

    def scalar(self, given: object, pointer: str) -> object:
        if given is None or isinstance(given, (bool, int, float)):
            return given
        if isinstance(given, str):
            return self.text(given, pointer)
        if isinstance(given, (date, time)):
            return given.isoformat()
        if isinstance(given, Decimal) and given.is_finite():
            return int(given) if given == given.to_integral_value() else float(given)
        return self.refuse(f"a {type(given).__name__} is no value of a contract", pointer)

    def mapping(
        self, given: Mapping[object, object], pointer: str, depth: int
    ) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in given.items():
            if not isinstance(key, (str, bool, int, float)):
                self.refuse(f"a key must be a text, not a {type(key).__name__}", pointer)
            name = str(key).lower() if isinstance(key, bool) else self.text(str(key), pointer)
            inner = pointer_to(pointer, name)
            if name in found:
                self.refuse(f"key {shown(name)} is given twice", inner)
            if len(inner) > POINTER_CHARACTERS_MAX:
                self.refuse("the keys that lead here are too long", pointer)
            found[name] = self.copy(value, inner, depth + 1)
        return found

    def text(self, given: str, pointer: str) -> str:
        if not given.isascii() and any("\ud800" <= character <= "\udfff" for character in given):
            self.refuse("a text holds half of a surrogate pair, which is no character", pointer)
        return str(given)
