"""Strict YAML and JSON, with the place of everything in the text.

YAML 1.2 in its core schema: `yes`, dates and times stay text. What could mean two things, or grow
while it is read, is refused with its place: aliases, tags, a key given twice, several documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from lakeproof.contracts.finding import Finding, Level, Location
from lakeproof.errors import ContractError

SIZE_BYTES_MAX = 2_000_000
_BYTE_ORDER_MARK = "\ufeff"
# The last three end a line for YAML 1.1 and for our parser, and do not for YAML 1.2.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029]"
)


@dataclass(frozen=True, slots=True)
class Document:
    """A file as plain values: mappings, lists, texts, numbers, truth values and None.

    `places` gives line and column (from 1) by JSON pointer: of a mapping's entry where its key
    stands, of a list's item where the item does. A document made of a dict has none. `written`
    has the text of a number or truth value that Python would spell otherwise: `007`, `1.10`.
    """

    value: object
    source: str = ""
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    text: str = ""
    findings: tuple[Finding, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)

    def at(self, pointer: str) -> Location:
        """The place of a pointer, or of the nearest thing around it."""
        nearest = pointer
        while nearest and nearest not in self.places:
            nearest = nearest.rpartition("/")[0]
        line, column = self.places.get(nearest, (None, None))
        return Location(self.source, pointer, line, column)

    def spelled(self, pointer: str, value: object) -> str:
        """A text, number or truth value as the file writes it; '' for None."""
        return self.written.get(pointer, spelling(value))


def spelling(value: object) -> str:
    """A text, number or truth value as YAML spells it; '' for None."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def pointer_to(parent: str, step: str | int) -> str:
    """The pointer of an entry or item inside what `parent` points to."""
    return f"{parent}/{str(step).replace('~', '~0').replace('/', '~1')}"


def load_document(text: str | bytes, source: str = "") -> Document:
    """The one document in a text; ContractError with file:line:column where it cannot be read."""
    from lakeproof.contracts.json_text import looks_like_json, read_json
    from lakeproof.contracts.tree import Tree
    from lakeproof.contracts.yaml_text import read_yaml

    plain = _plain_text(text, source)
    findings: tuple[Finding, ...] = ()
    if plain.startswith(_BYTE_ORDER_MARK):
        plain = plain.removeprefix(_BYTE_ORDER_MARK)
        note = "the file begins with a byte order mark; it is read without it"
        findings = (Finding(Level.NOTE, note, Location(source, "", 1, 1)),)
    _refuse_unprintable(plain, source)
    is_json_file = PurePath(source).suffix.lower() == ".json"
    tree = None
    if is_json_file or looks_like_json(plain):
        tree = read_json(plain, source, must_be_json=is_json_file)
    if tree is None:
        tree = Tree(source)
        findings += read_yaml(plain, tree)
    return Document(tree.root, source, tree.places, plain, findings, tree.written)


def document_of(mapping: object, source: str = "") -> Document:
    """A document of values that are there already; its places are JSON pointers alone."""
    from lakeproof.contracts.tree import copy_values

    return Document(copy_values(mapping, source), source)


def _plain_text(given: str | bytes, source: str) -> str:
    if len(given) > SIZE_BYTES_MAX:
        raise ContractError(
            f"{Location(source, '', 1, 1)}: the contract has more than {SIZE_BYTES_MAX:,} bytes. "
            "Split it."
        )
    if isinstance(given, str):
        return given
    try:
        return given.decode("utf-8")
    except UnicodeDecodeError as problem:
        before = given[: problem.start].decode("utf-8")
        where = Location(source, "", *_line_and_column(before, len(before)))
        byte = given[problem.start]
        message = f"{where}: byte 0x{byte:02X} is not UTF-8. Save the file as UTF-8."
        raise ContractError(message) from problem


def _refuse_unprintable(text: str, source: str) -> None:
    found = _UNPRINTABLE.search(text)
    if found is None:
        return
    where = Location(source, "", *_line_and_column(text, found.start()))
    raise ContractError(
        f"{where}: character U+{ord(found[0]):04X} does not print and may not stand in a "
        "contract. Take it out, or write its escape in double quotes."
    )


def _line_and_column(text: str, index: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, index) + 1
    return text.count("\n", 0, index) + 1, index - start + 1
