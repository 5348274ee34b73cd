"""The arguments of a foreign engine's test, taken one by one and read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from lakeproof.checks.bounds import NUMBER
from lakeproof.contracts.contract import Property
from lakeproof.contracts.draft import Setting
from lakeproof.contracts.odcs.listed_values import as_texts
from lakeproof.contracts.odcs.property_names import path_or_name
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName

Number = int | float | Decimal

_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGITS_MAX = 40
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
_OPEN = re.compile(r"""['"`]|/\*|\*/""")


def snake(name: str) -> str:
    """`minValue`, `MinValue` and `min_value` are one name."""
    return _WORD_ENDS.sub("_", name).lower()


class Given:
    """What a test was given. Names may be written in either case; what is never taken is told.

    Columns come as the contract names them, or as the table does, and leave as paths.
    """

    def __init__(self, test: str, values: Mapping[str, object], setting: Setting) -> None:
        self.test = test
        self.setting = setting
        self._values = {snake(str(name)): value for name, value in values.items()}
        self._taken: set[str] = set()

    def take(self, name: str) -> object:
        """The value as it stands; None if it was left out."""
        self._taken.add(name)
        return self._values.get(name)

    def need(self, name: str) -> object:
        found = self.take(name)
        if found is None:
            raise CheckDefinitionError(f"{self.test} needs {name!r}")
        return found

    def unread(self) -> tuple[str, ...]:
        """A note for each argument that was not understood."""
        return tuple(f"{name} of {self.test} is unknown and not read" for name in self.untaken())

    def untaken(self) -> tuple[str, ...]:
        """The names that meant nothing to the test."""
        return tuple(
            name
            for name, value in self._values.items()
            if name not in self._taken and value is not None
        )

    def text(self, name: str, default: str = "", allowed: Sequence[str] = ()) -> str:
        found = self.take(name)
        word = default if found is None else found
        if not isinstance(word, str) or (allowed and word not in allowed):
            wanted = f"one of {', '.join(allowed)}" if allowed else "a text"
            raise self.refusal(name, wanted, word)
        return word

    def needed_text(self, name: str) -> str:
        self.need(name)
        return self.text(name)

    def flag(self, name: str, *, default: bool = False) -> bool:
        found = self.take(name)
        if found is None:
            return default
        if not isinstance(found, bool):
            raise self.refusal(name, "true or false", found)
        return found

    def number(self, name: str) -> Number | None:
        """A number, also one that is written as text."""
        found = self.bound(name)
        if found is not None and not isinstance(found, NUMBER):
            raise self.refusal(name, "a number", found)
        return found

    def whole(self, name: str) -> int | None:
        found = self.number(name)
        if found is not None and found != int(found):
            raise self.refusal(name, "a whole number", found)
        return None if found is None else int(found)

    def bound(self, name: str) -> Number | str | None:
        """A number, or the text of a date or timestamp."""
        found = self.take(name)
        if found is None or (isinstance(found, NUMBER) and not isinstance(found, bool)):
            return found
        if not isinstance(found, str):
            raise self.refusal(name, "a number, or a date or timestamp as text", found)
        return as_number(found)

    def values(self, name: str, path: str) -> list[object]:
        """A list to hold against the column at that path, as its declared type has values."""
        found = self.need(name)
        if not isinstance(found, Sequence) or isinstance(found, str):
            raise self.refusal(name, "a list", found)
        part = self._property_at(path)
        kind = part.logical_type if part is not None else ""
        if kind == "string":
            return list(as_texts(self.setting, found))
        return [_as_declared(value, kind) for value in found]

    def texts(self, name: str) -> list[str]:
        """One text, or a list of them."""
        found = self.need(name)
        if isinstance(found, str):
            return [found]
        if not isinstance(found, Sequence) or not found:
            raise self.refusal(name, "a list of texts", found)
        return [str(one) for one in found]

    def column(self, *names: str) -> str:
        """The column that one of the names gives; by default that of the rule's property."""
        given = [self.take(name) for name in names or ("column", "column_name")]
        named = [one for one in given if one is not None]
        if not named and self.setting.column:
            return self.setting.column
        if not named:
            told = " or ".join(map(repr, names or ("column",)))
            raise CheckDefinitionError(
                f"{self.test} needs {told}, for it stands on no property of the contract"
            )
        return path_or_name(self.setting, named[0])

    def columns(self, name: str) -> tuple[str, ...]:
        return tuple(self.path(one) for one in self.texts(name))

    def names(self, name: str) -> list[str]:
        """Columns of the table by their physical names, unquoted."""
        owner = self.setting.owner
        parts = owner.properties if owner is not None else ()
        physical = {one.name: one.physical_name for one in parts}
        return [physical.get(one, one) for one in self.texts(name)]

    def path(self, name: str) -> str:
        """The path of the property of that name, logical or physical."""
        return path_or_name(self.setting, name)

    def table(self, name: str) -> str:
        """The table of an object, or the one given to that name; else it is a table's own."""
        found = self.setting.contract.object_named(name)
        if found is not None:
            return str(self.setting.table_of(found.name))
        return str(self.setting.given.get(name) or TableName.parse(name))

    def column_of(self, table: str, name: str) -> str:
        """The physical name of another object's property."""
        owner = self.setting.contract.object_named(table)
        found = owner.property_named(name) if owner is not None else None
        return name if found is None else found.path

    def refusal(self, name: str, wanted: str, found: object) -> CheckDefinitionError:
        return CheckDefinitionError(f"{name!r} of {self.test} must be {wanted}, got {found!r}")

    def _property_at(self, path: str) -> Property | None:
        owner = self.setting.owner
        every = owner.walk() if owner is not None else ()
        return next((one for one in every if one.path == path), None)


def all_of(*conditions: str | None) -> str | None:
    """The conditions that are there, joined; each must be one by itself, brackets and all.

    They are not parsed: placeholders and the dialect of the server are still in them.
    """
    there = [one.strip() for one in conditions if one and one.strip()]
    if len(there) < 2:  # noqa: PLR2004 (nothing to join)
        return next(iter(there), None)
    for one in there:
        _require_closed(one)
    # On lines of their own, for one may end in a comment.
    return " AND ".join(f"(\n{one}\n)" for one in there)


def _require_closed(condition: str) -> None:
    """Refuse what would change the condition beside it: an open bracket, quote or comment."""
    bare = _QUOTED.sub("", condition)
    depth = 0
    for letter in bare:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            break
    if depth or _OPEN.search(bare):
        raise CheckDefinitionError(
            f"the condition {condition!r} leaves a bracket, quote or comment open or closes one "
            "that is not its own"
        )


def as_number(text: str) -> Number | str:
    """The number that a text is, else the text."""
    if not _NUMBER.fullmatch(text.strip()):
        return text
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return text
    is_short = abs(number.adjusted()) <= _DIGITS_MAX  # as an int, 1E999999 would fill the memory
    return int(number) if is_short and number == number.to_integral_value() else number


def _as_declared(value: object, logical_type: str) -> object:
    """A value as its column's declared type has it: lists are often quoted, or not, by habit."""
    if logical_type in {"integer", "number"} and isinstance(value, str):
        return as_number(value)
    return value
