"""A line of JSON as Spark's reader takes it, which is Jackson with single quotes allowed.

Python's own parser does most lines. It refuses what Jackson takes: single quotes, an escaped
apostrophe, +INF. What follows the first value is looked at by neither.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Final, TypeAlias


class Number(str):
    """A number as it is written: `1.50` stays `1.50` where the column is text."""

    __slots__ = ()


class Raw(str):
    """An object or array as it is written."""

    __slots__ = ()


Json: TypeAlias = str | Number | Raw | bool | None
"""A member of a record: text, number, nested value, truth or null."""

_BLANKS: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number)

# Bytes that are no UTF-8 arrive as lone surrogates: Jackson refuses the line.
_BROKEN: Final = "\udc80-\udcff"
_ESCAPE: Final = r"""\\(?:["\\/bfnrt']|u[0-9a-fA-F]{4})"""
_TEXT: Final = re.compile(
    "|".join(
        rf"{quote}(?:[^{quote}\\\x00-\x1f{_BROKEN}]|{_ESCAPE})*{quote}" for quote in ('"', "'")
    )
)
_NUMBER: Final = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|NaN|[+-]?Infinity|[+-]INF)"
    r"(?=[\s,\]}]|$)"
)
_WORD: Final = re.compile(r"(?:true|false|null)(?=[\s,\]}]|$)")
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def json_records(line: bytes, wanted: Collection[str]) -> list[Mapping[str, Json]] | None:
    """The records of a line: one object, or several in an array. None if it is malformed.

    A blank line holds no records. Of two members of one name the last counts. Only `wanted`
    members are sure to have the form of `Json`.
    """
    text = line.decode("utf-8", "surrogateescape")
    start = len(text) - len(text.lstrip(_BLANKS))
    if start == len(text):
        return []
    try:
        found, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _leniently(text)
    records = found if isinstance(found, list) else [found]
    if not all(isinstance(record, dict) for record in records):
        return None
    if not text.isascii() and _SURROGATES.search(text, start, end):
        return None
    if any(isinstance(record.get(name), dict | list) for record in records for name in wanted):
        return _leniently(text)
    return [_with_whole_characters(record, wanted) for record in records]


def _with_whole_characters(record: dict[str, Json], wanted: Collection[str]) -> Mapping[str, Json]:
    r"""Java writes half of a surrogate pair, given as `\ud800`, as a question mark."""
    for name in wanted:
        value = record.get(name)
        if isinstance(value, str) and not value.isascii():
            record[name] = type(value)(_SURROGATES.sub("?", value))
    return record


def _leniently(text: str) -> list[Mapping[str, Json]] | None:
    try:
        return _Parser(text).records()
    except (ValueError, RecursionError):
        return None


class _Parser:
    """Reads members one level deep; what lies deeper is checked, and kept as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def records(self) -> list[Mapping[str, Json]]:
        if self._next() == "{":
            return [self._object()]
        self._expect("[")
        found: list[Mapping[str, Json]] = []
        while self._more("]", first=not found):
            found.append(self._object())
        return found

    def _object(self) -> dict[str, Json]:
        self._expect("{")
        members: dict[str, Json] = {}
        first = True
        while self._more("}", first=first):
            first = False
            name = _unescaped(self._match(_TEXT))
            self._expect(":")
            members[name] = self._value()
        return members

    def _array(self) -> None:
        self._expect("[")
        first = True
        while self._more("]", first=first):
            first = False
            self._value()

    def _value(self) -> Json:
        char = self._next()
        if char and char in "{[":
            start = self._at
            if char == "{":
                self._object()
            else:
                self._array()
            return Raw(self._text[start : self._at])
        if char and char in "\"'":
            return _unescaped(self._match(_TEXT))
        if char and char in "tfn":
            return _WORDS[self._match(_WORD)]
        return Number(self._match(_NUMBER))

    def _more(self, closing: str, *, first: bool) -> bool:
        """Whether another member follows; the end of the list is passed over."""
        if self._next() == closing:
            self._at += 1
            return False
        if not first:
            self._expect(",")
        return True

    def _next(self) -> str:
        while self._text[self._at : self._at + 1] in set(_BLANKS):
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _expect(self, char: str) -> None:
        if self._next() != char:
            raise ValueError(f"{char} expected at {self._at}")
        self._at += 1

    def _match(self, pattern: re.Pattern[str]) -> str:
        self._next()
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError(f"no value at {self._at}")
        self._at = found.end()
        return found[0]


def _unescaped(quoted: str) -> str:
    text = re.sub(_ESCAPE, _character, quoted[1:-1])
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATES.sub("?", whole)


def _character(escape: re.Match[str]) -> str:
    code = escape[0][1:]
    return chr(int(code[1:], 16)) if code[0] == "u" else _SHORT.get(code, code)
