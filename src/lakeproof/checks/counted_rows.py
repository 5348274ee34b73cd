"""Queries that count rows, turned into queries that return these rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from lakeproof.checks.sql_lexer import Token
from lakeproof.checks.sql_source import ensure_plain_query
from lakeproof.checks.time_travel import read_query
from lakeproof.checks.user_sql import TableReference
from lakeproof.errors import UnsafeSqlError
from lakeproof.model.names import quote

_CLAUSES = frozenset({"expressions", "from_", "from", "joins", "where"})
"""What a counting query may consist of; "from" is how older sqlglot calls it."""
_ONE = ("1", "1L")


@dataclass(frozen=True, slots=True)
class CountingQuery:
    """`SELECT count(*) FROM ... [WHERE ...]` in pieces of its text.

    `counted` is the condition that the count itself puts on a row, '' if it counts them all;
    `tables` are those of FROM and JOIN, without the ones inside subqueries.
    """

    source: str
    where: str
    counted: str
    tables: tuple[TableReference, ...]

    def rows_of(self, is_wanted: Callable[[TableReference], bool]) -> str:
        """The query of the counted rows, with the columns of the one table that is wanted.

        '' if that table is not there exactly once: whose rows are counted would not be clear.
        """
        wanted = [table for table in self.tables if is_wanted(table)]
        if len(wanted) != 1:
            return ""
        conditions = [f"(\n{text}\n)" for text in (self.where, self.counted) if text]
        where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        named = quote(wanted[0].alias or wanted[0].parts[-1])
        return f"SELECT {named}.*\n{self.source}{where}"


def counting_query(text: str) -> CountingQuery | None:
    """The query in pieces, if all that it does is to count rows: no groups, no DISTINCT, no LIMIT.

    Known are count(*), count(1), count(x), count_if(x), sum(CASE WHEN x THEN 1 ELSE 0 END), and
    each with FILTER (WHERE ...).
    """
    reading = read_query(text).query
    source = ensure_plain_query(reading.text)
    tree = source.tree(None)
    tokens = source.tokens
    is_plain = source.without_hints == tokens and tokens[0].word == "select"
    if not (is_plain and isinstance(tree, exp.Select) and len(tree.expressions) == 1):
        return None
    if any(value and name not in _CLAUSES for name, value in tree.args.items()):
        return None
    depths = _depths(tokens)
    begins = [token.word if depth == 0 else "" for token, depth in zip(tokens, depths, strict=True)]
    if "from" not in begins:
        return None
    start = begins.index("from")
    stop = begins.index("where") if "where" in begins else len(tokens)
    counted = _counted(text, tokens[1:start])
    if counted is None:
        return None
    outer = {token.start for token, depth in zip(tokens, depths, strict=True) if depth == 0}
    end = tokens[stop].start if stop < len(tokens) else len(reading.text)
    return CountingQuery(
        source=text[tokens[start].start : end].rstrip(" \t\r\n"),
        where=text[tokens[stop].end : len(reading.text)].strip() if stop < len(tokens) else "",
        counted=counted,
        tables=tuple(table for table in reading.tables if table.start in outer),
    )


def _depths(tokens: Sequence[Token]) -> list[int]:
    """How many brackets are open at each token; a bracket itself stands inside its own."""
    depths, depth = [], 0
    for token in tokens:
        depth += token.is_symbol("(") or token.is_symbol("[")
        depths.append(depth)
        depth -= token.is_symbol(")") or token.is_symbol("]")
    return depths


def _counted(text: str, column: Sequence[Token]) -> str | None:
    """The condition of the rows that the one column counts; None if it does something else."""
    if len(column) < 3 or not column[1].is_symbol("("):  # noqa: PLR2004 (name, bracket, bracket)
        return None
    depths = _depths(column)
    close = next(at for at in range(2, len(column)) if depths[at] == 1 and _closes(column[at]))
    inner = column[2:close]
    condition = _called(text, column[0].word, inner)
    rest = column[close + 1 :]
    if condition is None or not rest or rest[0].word != "filter":
        return condition if _is_alias(rest) else None
    last = next(at for at in range(2, len(rest)) if _depths(rest)[at] == 1 and _closes(rest[at]))
    if not _is_alias(rest[last + 1 :]):
        return None
    only = _text(text, rest[3:last])
    return f"(\n{condition}\n) AND (\n{only}\n)" if condition else only


def _called(text: str, name: str, inner: Sequence[Token]) -> str | None:
    words = [token.word or token.value for token in inner]
    if name == "count" and (words == ["*"] or (len(words) == 1 and words[0] in _ONE)):
        return ""
    if not inner or "distinct" in words[:1] or _has_comma(inner):
        return None
    if name == "count":
        return f"(\n{_text(text, inner)}\n) IS NOT NULL"
    if name == "count_if":
        return _text(text, inner)
    if name == "sum" and words[:2] == ["case", "when"] and words.count("when") == 1:
        for tail in (["then", "1", "else", "0", "end"], ["then", "1", "end"]):
            if words[-len(tail) :] == tail:
                return _text(text, inner[2 : -len(tail)])
    return None


def _closes(token: Token) -> bool:
    return token.is_symbol(")")


def _has_comma(tokens: Sequence[Token]) -> bool:
    pairs = zip(tokens, _depths(tokens), strict=True)
    return any(depth == 0 and token.is_symbol(",") for token, depth in pairs)


def _is_alias(tokens: Sequence[Token]) -> bool:
    names = tokens[1:] if tokens and tokens[0].word == "as" else tokens
    return not tokens or (len(names) == 1 and bool(names[0].name))


def _text(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end]


def is_counting(text: str) -> bool:
    """Whether the query does nothing but count rows."""
    try:
        return counting_query(text) is not None
    except UnsafeSqlError:
        return False
