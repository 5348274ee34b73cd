"""A line of CSV cut into fields as Spark's reader, which is Univocity, cuts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_SPACE: Final = " "
"""Whatever sorts not after it counts as blank, as in Java's trim."""


@dataclass(frozen=True, slots=True)
class CsvForm:
    """The signs of a file. `null_text` reads as NULL, and `empty_text` stands for `""`."""

    separator: str = ","
    quote: str = '"'
    escape: str = "\\"
    null_text: str = ""
    empty_text: str = ""
    trims_left: bool = False
    trims_right: bool = False

    def fields(self, line: str) -> list[str | None]:
        """The fields of a line, NULL where they are empty and not quoted."""
        plain = not self.quote or self.quote not in line
        if plain and not (self.trims_left or self.trims_right):
            return [self._field(text, is_quoted=False) for text in line.split(self.separator)]
        found: list[str | None] = []
        at = 0
        while True:
            start = self._past_blanks(line, at) if self.trims_left else at
            if self.quote and line.startswith(self.quote, start):
                text, at = self._quoted(line, start)
                found.append(self._field(text, is_quoted=True))
            else:
                at = self._end(line, at)
                found.append(self._field(self._trimmed(line[start:at]), is_quoted=False))
            if at >= len(line):
                return found
            at += len(self.separator)

    def _field(self, text: str, *, is_quoted: bool) -> str | None:
        if text == "":
            text = self.empty_text if is_quoted else self.null_text
        return None if text == self.null_text else text

    def _trimmed(self, text: str) -> str:
        if not self.trims_right:
            return text
        end = len(text)
        while end and text[end - 1] <= _SPACE:
            end -= 1
        return text[:end]

    def _end(self, line: str, start: int) -> int:
        found = line.find(self.separator, start)
        return len(line) if found < 0 else found

    def _past_blanks(self, line: str, at: int) -> int:
        while at < len(line) and line[at] <= _SPACE and not line.startswith(self.separator, at):
            at += 1
        return at

    def _quoted(self, line: str, start: int) -> tuple[str, int]:
        """The value of a field that begins with a quote, and where it ends."""
        value: list[str] = []
        at = start + 1
        while at < len(line):
            char, after = line[at], line[at + 1 : at + 2]
            if char == self.escape and after and after in {self.quote, self.escape}:
                value.append(after)
                at += 2
            elif char == self.quote:
                return self._closed(line, at + 1, "".join(value))
            else:
                value.append(char)
                at += 1
        return "".join(value), len(line)

    def _closed(self, line: str, at: int, value: str) -> tuple[str, int]:
        """What a quote ends, unless text follows it: then it was none, nor was the first one."""
        while line.startswith(self.quote, at):
            value += self.quote
            at += 1
        end = self._past_blanks(line, at)
        if end >= len(line) or line.startswith(self.separator, end):
            return value, end
        end = self._end(line, at)
        return f"{self.quote}{value}{self.quote}{line[at:end]}", end
