"""JSON with the place of everything; the standard library's own reader keeps no places."""

from __future__ import annotations

import json
import math
import re

from lakeproof.contracts.tree import Tree, shown
from lakeproof.errors import ContractError

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS = {"true": True, "false": False, "null": None}
_NUMBER_CHARACTERS_MAX = 400


class NotJsonError(Exception):
    """The text is no JSON; it may still be YAML."""


def looks_like_json(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["}


def read_json(text: str, source: str, *, must_be_json: bool) -> Tree | None:
    """The text as JSON; None if it is none and need not be. What is refused, is refused anyway."""
    tree = Tree(source)
    reader = _Reader(text, tree)
    try:
        reader.read()
    except NotJsonError as problem:
        if must_be_json:
            line, column = reader.place
            where = f"{source}:{line}:{column}"
            raise ContractError(f"{where}: not valid JSON: {problem}") from problem
        return None
    return tree


class _Reader:
    """Walks through the text once; `at` is where it stands."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.text = text
        self.tree = tree
        self.at = 0
        self._line = 1
        self._line_start = 0
        self._counted_to = 0

    @property
    def place(self) -> tuple[int, int]:
        """Line and column of `at`; lines are counted on from the last time."""
        breaks = self.text.count("\n", self._counted_to, self.at)
        if breaks:
            self._line += breaks
            self._line_start = self.text.rfind("\n", 0, self.at) + 1
        self._counted_to = self.at
        return self._line, self.at - self._line_start + 1

    def read(self) -> None:
        is_opened = self._value()
        while self.tree.is_open:
            is_opened = self._end_or_entry(is_first=is_opened)
        self._skip_blanks()
        if self.at < len(self.text):
            raise NotJsonError("something follows the value")

    def _end_or_entry(self, *, is_first: bool) -> bool:
        """The end of the innermost collection, or its next entry; whether that opened another."""
        closing = "}" if self.tree.is_in_mapping else "]"
        sign = self._sign()
        if sign == closing:
            self.at += 1
            self.tree.close()
            return False
        if not is_first:
            if sign != ",":
                raise NotJsonError(f"expected , or {closing}")
            self.at += 1
        if self.tree.is_in_mapping:
            self._key()
        return self._value()

    def _key(self) -> None:
        if self._sign() != '"':
            raise NotJsonError("expected a key in double quotes")
        line, column = self.place
        self.tree.add_key(self._string(line, column), line, column)
        if self._sign() != ":":
            raise NotJsonError("expected a colon behind the key")
        self.at += 1

    def _value(self) -> bool:
        """The next value; whether it is a collection, whose entries are still to come."""
        sign = self._sign()
        line, column = self.place
        if sign in {"{", "["}:
            self.at += 1
            self.tree.open({} if sign == "{" else [], line, column)
            return True
        if sign == '"':
            self.tree.add_scalar(self._string(line, column), "", line, column)
        elif found := _NUMBER.match(self.text, self.at):
            self.at = found.end()
            self.tree.add_scalar(self._number(found, line, column), found[0], line, column)
        else:
            self._word(line, column)
        return False

    def _word(self, line: int, column: int) -> None:
        found = _WORD.match(self.text, self.at)
        if found is None or found[0] not in _WORDS:
            raise NotJsonError("expected a value")
        self.at = found.end()
        self.tree.add_scalar(_WORDS[found[0]], "", line, column)

    def _number(self, found: re.Match[str], line: int, column: int) -> int | float:
        if len(found[0]) > _NUMBER_CHARACTERS_MAX:
            self.tree.refuse(f"a number of {len(found[0])} characters", line, column)
        if found[1] is None and found[2] is None:
            return int(found[0])
        number = float(found[0])
        if math.isinf(number):
            self.tree.refuse(f"number {shown(found[0])} is too large", line, column)
        return number

    def _string(self, line: int, column: int) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise NotJsonError("the quotes are not closed")
        try:
            text = str(json.loads(found[0]))
        except json.JSONDecodeError as problem:
            raise NotJsonError(problem.msg) from problem
        self.at = found.end()
        if any("\ud800" <= character <= "\udfff" for character in text):
            self.tree.refuse("a text holds half of a surrogate pair, no character", line, column)
        return text

    def _sign(self) -> str:
        self._skip_blanks()
        return self.text[self.at : self.at + 1]

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at
