"""Cuts user SQL into tokens exactly where Spark's own lexer does.

Identity (`canonical_sql`) and safety both rest on these tokens and not on a parser's idea of the
text: a token list does not change with the parser's version, and whatever Spark would read as
code cannot hide in something that another parser takes for a comment or a string.

Stricter than Spark on purpose: only plain blanks, no bare non-ASCII names, no `${...}`
(Spark replaces it by configuration and environment values before it parses, even in strings).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from lakeproof.errors import UnsafeSqlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "Token",
    "TokenKind",
    "canonical_sql",
    "lex",
    "place",
    "without_trailing_semicolons",
]

TEXT_CHARACTERS_MAX = 100_000


class TokenKind(Enum):
    WORD = "word"
    QUOTED = "name in backticks"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is a name without its backticks, a string's value, else the text as written."""

    kind: TokenKind
    value: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The folded bare word; empty for everything that is not one."""
        return self.value.lower() if self.kind is TokenKind.WORD else ""

    @property
    def name(self) -> str:
        """The folded name, bare or in backticks; empty for everything else."""
        named = self.kind in (TokenKind.WORD, TokenKind.QUOTED)
        return self.value.lower() if named else ""

    def is_symbol(self, text: str) -> bool:
        return self.kind is TokenKind.SYMBOL and self.value == text


_BLANKS = re.compile(r"[ \t\r\n]+")
_WORD = re.compile(r"[A-Za-z0-9_]+")
# The look-ahead is Spark's isValidDecimal: `1.a` is 1, dot, a and `5a` is a name.
_NUMBER = re.compile(
    r"(?:(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:e[+-]?[0-9]+)?(?:bd|[fd])?|[0-9]+[lsy])(?![a-z0-9_])",
    re.IGNORECASE,
)
# `>>` is not here: it also closes two brackets of array<array<int>>, where blanks are free.
_SYMBOL = re.compile(
    r"<=>|<<|<=|>=|<>|!=|!<|!>|==|\|\||\|>|->|=>|::|:=|[-=<>+*/%~&|^!.,()\[\]:;?{}]"
)
_SAME_SYMBOL = {"!=": "<>", "==": "=", "!>": "<=", "!<": ">="}
_STRING_END = {
    quote: re.compile(rf"(?:[^{quote}\\]|\\.|{quote}{quote})*{quote}", re.DOTALL) for quote in "'\""
}
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))|(''|\"\")", re.DOTALL
)
_SIMPLE_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

# A backticked name equals the bare one unless the bare word means something else than a name.
_NOT_NAMES_TEXT = """
all and anti any array as asc between both by case cast collate cross cube current current_date
current_time current_timestamp current_user date desc distinct distribute div else end escape
except exists extract false filter first following for from full group grouping having identifier
ilike in inner intersect interval into is join last lateral leading left like limit map minus
natural not null nulls offset on or order outer over overlay partition pivot placing position
preceding range recursive reduce regexp right rlike rollup row rows select semi session_user sets
some sort stream struct substr substring table tablesample then time timestamp timestamp_ltz
timestamp_ntz to trailing transform trim true try_cast unbounded union unknown unpivot user using
values version when where window with within x
"""
_NOT_NAMES = frozenset(_NOT_NAMES_TEXT.split())


def place(text: str, offset: int) -> str:
    """`line:column`, both from 1, of a character in a text."""
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1}:{offset - before.rfind(chr(10))}"


def lex(text: str) -> tuple[Token, ...]:
    """The tokens of a text; comments and blanks are gone, hints stay."""
    _refuse_unreadable(text)
    tokens: list[Token] = []
    offset = 0
    hint_start: int | None = None
    while offset < len(text):
        if blank := _BLANKS.match(text, offset):
            offset = blank.end()
        elif text.startswith("--", offset):
            offset = _line_comment_end(text, offset)
        elif text.startswith("/*", offset) and not text.startswith("/*+", offset):
            offset = _block_comment_end(text, offset)
        elif text.startswith("/*+", offset):
            if hint_start is not None:
                raise UnsafeSqlError(f"{place(text, offset)}: a hint in a hint. Remove one.")
            tokens.append(Token(TokenKind.SYMBOL, "/*+", offset, offset + 3))
            hint_start, offset = offset, offset + 3
        elif text.startswith("*/", offset):
            if hint_start is None:
                raise UnsafeSqlError(
                    f"{place(text, offset)}: '*/' closes no comment. Remove it, or put a blank "
                    "between '*' and '/'."
                )
            tokens.append(Token(TokenKind.SYMBOL, "*/", offset, offset + 2))
            hint_start, offset = None, offset + 2
        else:
            tokens.append(_token_at(text, offset))
            offset = tokens[-1].end
    if hint_start is not None:
        raise _unterminated(text, hint_start, "hint", "*/")
    return tuple(tokens)


def canonical_sql(text: str) -> str:
    """The normal form of SQL inside rule identities: equal for cosmetic edits, else different.

    Case, blanks, comments, kind of quotes, needless backticks, `!=` for `<>` and a trailing `;`
    are cosmetic; every character of a string literal counts. It depends on no parser, so that an
    upgrade of one never changes a rule's identity.
    """
    return " ".join(_canonical(token) for token in without_trailing_semicolons(lex(text)))


def without_trailing_semicolons(tokens: Iterable[Token]) -> tuple[Token, ...]:
    kept = list(tokens)
    while kept and kept[-1].is_symbol(";"):
        kept.pop()
    return tuple(kept)


def _canonical(token: Token) -> str:
    value = unicodedata.normalize("NFC", token.value)
    if token.kind is TokenKind.STRING:
        return "'" + "".join(_canonical_characters(value)) + "'"
    if token.kind is TokenKind.SYMBOL:
        return _SAME_SYMBOL.get(value, value)
    folded = value.lower()
    if token.kind is TokenKind.QUOTED and not _means_itself_bare(folded):
        return "`" + folded.replace("`", "``") + "`"
    return folded


def _canonical_characters(value: str) -> Iterator[str]:
    for character in value:
        if character in "\\'":
            yield "\\" + character
        elif _CONTROL.match(character):
            yield f"\\u{ord(character):04x}"
        else:
            yield character


def _means_itself_bare(name: str) -> bool:
    return bool(_WORD.fullmatch(name)) and not _NUMBER.match(name) and name not in _NOT_NAMES


def _refuse_unreadable(text: str) -> None:
    if len(text) > TEXT_CHARACTERS_MAX:
        raise UnsafeSqlError(
            f"SQL text has {len(text)} characters; at most {TEXT_CHARACTERS_MAX} are read. "
            "Move the logic into a view and query that."
        )
    if (found := text.find("${")) >= 0:
        raise UnsafeSqlError(
            f"{place(text, found)}: '${{' would be replaced by configuration or environment "
            "values before Spark parses the text. Write the value itself."
        )
    if surrogate := re.search(r"[\ud800-\udfff]", text):
        raise UnsafeSqlError(
            f"{place(text, surrogate.start())}: not valid Unicode (half of a surrogate pair). "
            "Save the text as UTF-8."
        )


def _line_comment_end(text: str, start: int) -> int:
    stop = re.compile(r"[\r\n]|\Z").search(text, start)
    end = stop.start() if stop else len(text)
    if text[end - 1] == "\\":
        # Spark goes on with the comment on the next line, so it would swallow what follows.
        raise UnsafeSqlError(
            f"{place(text, end - 1)}: a comment ends in a backslash, which makes Spark read the "
            "next line as comment too. Remove the backslash."
        )
    return end


def _block_comment_end(text: str, start: int) -> int:
    depth = 0
    # `/*+` opens a hint, never a nested comment, also inside a comment.
    for mark in re.compile(r"/\*(?!\+)|\*/").finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    raise _unterminated(text, start, "comment", "*/")


def _token_at(text: str, start: int) -> Token:
    first = text[start]
    if first in "'\"":
        return _string(text, start, start + 1)
    if first in "rR" and text[start + 1 : start + 2] in ("'", '"'):
        return _raw_string(text, start)
    if first == "`":
        return _quoted_name(text, start)
    if number := _NUMBER.match(text, start):
        return Token(TokenKind.NUMBER, number.group(), start, number.end())
    if word := _WORD.match(text, start):
        return Token(TokenKind.WORD, word.group(), start, word.end())
    if symbol := _SYMBOL.match(text, start):
        return Token(TokenKind.SYMBOL, symbol.group(), start, symbol.end())
    shown = f"{first!r} (U+{ord(first):04X})" if ord(first) > ord("~") else repr(first)
    remedy = (
        "Put names with such characters in backticks."
        if first.isalpha()
        else "Use plain blanks and Spark SQL's own signs outside of quotes."
    )
    raise UnsafeSqlError(f"{place(text, start)}: {shown} is not part of Spark SQL. {remedy}")


def _string(text: str, start: int, inside: int) -> Token:
    end = _STRING_END[text[start]].match(text, inside)
    if end is None:
        raise _unterminated(text, start, "string", text[start])
    value = _ESCAPE.sub(lambda found: _unescaped(found, text[start]), text[inside : end.end() - 1])
    # Two \u escapes may spell one character beyond U+FFFF, as they do in Java.
    value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return Token(TokenKind.STRING, value, start, end.end())


def _raw_string(text: str, start: int) -> Token:
    quote = text[start + 1]
    end = text.find(quote, start + 2)
    if end < 0:
        raise _unterminated(text, start, "raw string", quote)
    return Token(TokenKind.STRING, text[start + 2 : end], start, end + 1)


def _unescaped(found: re.Match[str], quote: str) -> str:
    short, long, octal, simple, doubled = found.groups()
    if doubled:
        return quote if doubled[0] == quote else doubled
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code <= sys.maxunicode else found.group()
    if octal:
        return chr(int(octal, 8))
    if simple in "%_":
        return found.group()
    return _SIMPLE_ESCAPES.get(simple, simple)


def _quoted_name(text: str, start: int) -> Token:
    end = re.compile(r"`((?:[^`]|``)*)`").match(text, start)
    if end is None:
        raise _unterminated(text, start, "name", "`")
    name = end.group(1).replace("``", "`")
    if not name or _CONTROL.search(name):
        raise UnsafeSqlError(
            f"{place(text, start)}: a name in backticks is empty or has control characters. "
            "Use the name that the table has."
        )
    return Token(TokenKind.QUOTED, name, start, end.end())


def _unterminated(text: str, start: int, what: str, closing: str) -> UnsafeSqlError:
    return UnsafeSqlError(
        f"{place(text, start)}: this {what} has no end. Close it with {closing} ."
    )
