"""User SQL as sqlglot may read it: the tokens of Spark's lexer, put on one plain line.

Comments are gone and strings are spelled one way, so no text can mean one thing to sqlglot and
another to Spark. What needs no parser is refused here.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from sqlglot.errors import SqlglotError

from lakeproof.checks.safe_functions import query_function_problem
from lakeproof.checks.sql_lexer import (
    Token,
    TokenKind,
    lex,
    place,
    without_trailing_semicolons,
)
from lakeproof.errors import UnsafeSqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlglot import exp

__all__ = [
    "SqlSource",
    "ensure_plain_aggregate",
    "ensure_plain_predicate",
    "ensure_plain_query",
    "parse_plain",
    "sqlglot_silent",
]

BRACKET_DEPTH_MAX = 32

_FIRST_WORDS = frozenset({"select", "with", "values"})
_SESSION_WORDS = frozenset({"current_user", "session_user"})
_HINT_NAMES = """
broadcast broadcastjoin coalesce mapjoin merge mergejoin rebalance repartition repartition_by_range
shuffle_hash shuffle_merge shuffle_replicate_nl
"""
_HINTS = frozenset(_HINT_NAMES.split())


@dataclass(frozen=True, slots=True)
class SqlSource:
    """A lexed text and its plain form: one line, no comments, for sqlglot to read."""

    text: str
    tokens: tuple[Token, ...]
    without_hints: tuple[Token, ...]
    plain: str
    token_at: Mapping[int, Token]

    @property
    def trimmed(self) -> str:
        """The text without trailing `;`; blanks and comments stay, so offsets hold."""
        return self.text[: self.tokens[-1].end] if self.tokens else ""

    def refusal(self, offset: int, what: str) -> UnsafeSqlError:
        return UnsafeSqlError(f"{place(self.text, offset)}: {what}")

    def tree(self, into: type[exp.Expr] | None) -> exp.Expr:
        try:
            return parse_plain(self.plain, into)
        except RecursionError:
            raise self.refusal(0, "nested too deeply. Split it with WITH or a view.") from None
        except SqlglotError as error:
            details: list[dict[str, object]] = getattr(error, "errors", [])
            detail = details[0] if details else {}
            column = detail.get("col")
            offset = self._near(column if isinstance(column, int) else 1)
            why = str(detail.get("description") or "not understood").rstrip(".")
            raise self.refusal(offset, f"not one Spark SQL query or condition: {why}.") from None

    def _near(self, plain_offset: int) -> int:
        starts = [start for start in self.token_at if start < plain_offset]
        return self.token_at[max(starts)].start if starts else 0


def ensure_plain_query(text: str) -> SqlSource:
    """What needs no parser: size, depth, first word, markers, several statements."""
    source = _plain_source(text)
    words = [token for token in source.tokens if not token.is_symbol("(")]
    if words[:1] == [] or words[0].word not in _FIRST_WORDS:
        offset = words[0].start if words else 0
        raise source.refusal(offset, "a query begins with SELECT, WITH or VALUES.")
    return source


def ensure_plain_predicate(text: str) -> SqlSource:
    """What needs no parser: size, depth, markers, several statements, SELECT."""
    return _without_query(
        text, "only one condition on a row is allowed. Use custom_sql for a query."
    )


def ensure_plain_aggregate(text: str) -> SqlSource:
    """The same for an aggregate."""
    return _without_query(text, "only one aggregate over the rows is allowed, without a subquery.")


def _without_query(text: str, allowed: str) -> SqlSource:
    source = _plain_source(text)
    for token in source.tokens:
        if token.word == "select" or token.is_symbol("/*+"):
            raise source.refusal(token.start, allowed)
    return source


def _plain_source(text: str) -> SqlSource:
    tokens = without_trailing_semicolons(lex(text))
    if not tokens:
        raise UnsafeSqlError("the SQL text is empty. Write a query, or leave the key out.")
    code = tuple(_outside_hints(text, tokens))
    plain, token_at = _plain(text, code)
    source = SqlSource(text, tokens, code, plain, token_at)
    _refuse_tokens(source)
    return source


def _plain(text: str, tokens: tuple[Token, ...]) -> tuple[str, dict[int, Token]]:
    """The tokens on one line, and which of them begins where in it."""
    pieces: list[str] = []
    token_at: dict[int, Token] = {}
    length = 0
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        piece = text[token.start : token.end]
        if token.kind is TokenKind.STRING:
            piece = _plain_string(token.value)
        if token.word == "window" and after and after.is_symbol("("):
            piece = "`window`"  # sqlglot takes the bare word for the WINDOW clause
        gap = " " if before and token.start > before.end else ""
        token_at[length + len(gap)] = token
        pieces += [gap, piece]
        length += len(gap) + len(piece)
    return "".join(pieces), token_at


def _outside_hints(text: str, tokens: tuple[Token, ...]) -> Iterator[Token]:
    """The tokens without hints, which change no result; a hint holds names and numbers only."""
    in_hint = False
    before = tokens[0]
    for token in tokens:
        if token.is_symbol("/*+"):
            in_hint = True
        elif token.is_symbol("*/"):
            in_hint = False
        elif not in_hint:
            yield token
        elif not (token.name or token.kind is TokenKind.NUMBER or token.value in (",", "(", ")")):
            raise UnsafeSqlError(f"{place(text, token.start)}: hints take names and numbers only.")
        elif token.is_symbol("(") and before.name not in _HINTS:
            raise UnsafeSqlError(f"{place(text, before.start)}: unknown hint. Remove it.")
        before = token


def _plain_string(value: str) -> str:
    # Only escapes that every sqlglot version reads; `\n` and `\r` keep the text on one line.
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\n", "\\n").replace("\r", "\\r") + "'"


def _refuse_tokens(source: SqlSource) -> None:
    depth = 0
    before: Token | None = None
    for token in source.tokens:
        symbol = token.value if token.kind is TokenKind.SYMBOL else ""
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(symbol, 0)
        if depth > BRACKET_DEPTH_MAX:
            raise source.refusal(token.start, f"more than {BRACKET_DEPTH_MAX} brackets deep.")
        if depth < 0:
            raise source.refusal(token.start, f"{symbol!r} closes nothing. Remove it.")
        if symbol == ";":
            raise source.refusal(token.start, "several statements. Write one rule for each query.")
        if symbol in ("?", ":=", "{", "}"):
            raise source.refusal(
                token.start, f"{symbol!r}: parameters are not bound here. Write the value itself."
            )
        if symbol == "|>":
            raise source.refusal(token.start, "pipe syntax is refused. Write SELECT ... FROM ...")
        if token.name in _SESSION_WORDS and not (before and before.is_symbol(".")):
            problem = query_function_problem([token.name])
            raise source.refusal(token.start, f"{problem} A column needs its table in front.")
        if before and before.word == "tablesample" and symbol == "(":
            raise source.refusal(
                before.start, "TABLESAMPLE is refused: a sample cannot be repeated. Use WHERE."
            )
        if before and before.word == "using" and token.kind is TokenKind.STRING:
            raise source.refusal(token.start, "USING with a script is refused: it runs a program.")
        before = token


def parse_plain(plain: str, into: type[exp.Expr] | None) -> exp.Expr:
    with sqlglot_silent():
        if into is None:
            statements = sqlglot.parse(plain, read="spark")
        else:
            statements = [sqlglot.parse_one(plain, read="spark", into=into)]
    if len(statements) != 1 or statements[0] is None:
        raise SqlglotError("several statements")
    return statements[0]


@contextmanager
def sqlglot_silent() -> Iterator[None]:
    """Keep sqlglot quiet: it warns before it falls back to an opaque Command, which is refused."""
    logger = logging.getLogger("sqlglot")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
