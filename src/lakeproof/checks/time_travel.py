"""Time travel in a user's query: its clauses set apart, so that the rest is read as any query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakeproof.checks.sql_lexer import Token, TokenKind, lex, place
from lakeproof.checks.user_sql import QueryText, parse_query
from lakeproof.errors import UnsafeSqlError

_OPENERS = frozenset({"version", "timestamp", "system_version", "system_time"})
_MOMENT_TYPES = frozenset({"date", "timestamp"})


@dataclass(frozen=True, slots=True)
class TravellingQuery:
    """A query, and the `AS OF` clause of each table that has one, by where its name ends."""

    query: QueryText
    clauses: Mapping[int, str]


def read_query(text: str) -> TravellingQuery:
    """Read exactly one query; `VERSION AS OF 3` or `TIMESTAMP AS OF '...'` may follow a table.

    In the text of `query` blanks stand for the clauses, so that every offset holds. A moment that
    must be computed is refused: the answer would depend on when it is asked.
    """
    tokens = lex(text)
    clauses: dict[int, str] = {}
    plain = text
    for at, token in enumerate(tokens):
        opener = at + 1 if token.word == "for" else at
        if at == 0 or not _opens(tokens[opener : opener + 3]):
            continue
        if tokens[at - 1].word == "for" and token.word != "for":  # met with its FOR already
            continue
        last = _value_end(tokens, opener + 3)
        if last is None:
            raise UnsafeSqlError(
                f"{place(text, token.start)}: AS OF takes a number or a text in quotes here."
            )
        end = tokens[last].end
        clauses[tokens[at - 1].end] = text[token.start : end]
        plain = plain[: token.start] + " " * (end - token.start) + plain[end:]
    query = parse_query(plain)
    if stray := set(clauses) - {table.end for table in query.tables}:
        raise UnsafeSqlError(f"{place(text, min(stray))}: AS OF stands behind no table here.")
    return TravellingQuery(query, clauses)


def _opens(tokens: Sequence[Token]) -> bool:
    words = [token.word for token in tokens]
    return len(words) == 3 and words[0] in _OPENERS and words[1:] == ["as", "of"]  # noqa: PLR2004


def _value_end(tokens: Sequence[Token], at: int) -> int | None:
    """Where a constant ends: `3`, `'2024-01-01'`, TIMESTAMP'...' or CAST('...' AS TIMESTAMP)."""
    value = tokens[at : at + 6]
    kinds = [token.kind for token in value]
    if kinds[:1] in ([TokenKind.NUMBER], [TokenKind.STRING]):
        return at
    if len(value) > 1 and value[0].word in _MOMENT_TYPES and kinds[1] is TokenKind.STRING:
        return at + 1
    shape = [token.word or token.value for token in value]
    if (
        shape[:2] == ["cast", "("]
        and kinds[2:3] == [TokenKind.STRING]
        and shape[3:4] == ["as"]
        and shape[4:] in [[name, ")"] for name in _MOMENT_TYPES]
    ):
        return at + 5
    return None
