"""What a condition on a row can be, by what is known of a whole file: true, false, NULL.

A file's statistics bound what its rows hold. From them each part of a condition gets three
answers, as SQL over one row per file: whether some row may make it true, false or NULL. They are
never too narrow: what is not known may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import TokenType, exp

from lakeproof.model.column import Column, TypeFamily, folded

TRUE, FALSE = "true", "false"
_MOMENTS = {
    TypeFamily.DATE: {exp.DataType.Type.DATE},
    TypeFamily.TIMESTAMP: {exp.DataType.Type.TIMESTAMPLTZ, exp.DataType.Type.TIMESTAMPTZ},
    TypeFamily.TIMESTAMP_NTZ: {exp.DataType.Type.TIMESTAMPNTZ},
}
"""A moment is compared with one of its own kind only: casts between kinds are not monotone."""

_TEXT = "text"
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?", re.IGNORECASE)
_OPERAND_ENDS = frozenset(
    {
        TokenType.VAR,
        TokenType.IDENTIFIER,
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
    }
)
"""After one of these `+` adds; after anything else it stands before a value."""

_NAMED_LIKE_COLUMNS = re.compile(r"\b(current_\w+|session_user|local\w+)\b", re.IGNORECASE)
"""Words that mean a column where the table has one, and something else where it has none."""

_LISTED_MAX = 50
"""A longer list decides hardly ever: a file must hold one value, or none between the listed."""

_FLIPPED: Mapping[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """SQL of what one file's statistics say of a column; each is NULL where they say nothing.

    `nulls` and `nans` are numbers of rows. Every other value lies between `low` and `high`, of the
    column's type; where `is_exact` is true, both are values that rows hold.
    """

    column: Column
    nulls: str
    nans: str
    low: str
    high: str
    is_exact: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A relation with one row per file, and what its columns say.

    `rows` is how many rows the file has, with those that are deleted; `live_rows` without, NULL if
    that is not known. `partitions` are columns whose value is the same in all rows of a file: the
    relation has them under their own names.
    """

    relation: str
    columns: Mapping[tuple[str, ...], ColumnFacts]
    path: str = "`_lakeproof_path`"
    rows: str = "`_lakeproof_rows`"
    live_rows: str = "`_lakeproof_live_rows`"
    partitions: frozenset[str] = frozenset()

    def of(self, path: tuple[str, ...]) -> ColumnFacts | None:
        return self.columns.get(tuple(map(folded, path)))


@dataclass(frozen=True, slots=True)
class Possible:
    """SQL of whether some row of the file may make a condition true, false or NULL."""

    true: str = TRUE
    false: str = TRUE
    null: str = TRUE

    @property
    def not_true(self) -> str:
        return either(self.false, self.null)


ANYTHING = Possible()
ALWAYS = Possible(TRUE, FALSE, FALSE)
"""The condition that every row fulfils: no filter."""


def possible(condition: str, facts: FileFacts, *, is_clocked: bool = False) -> Possible:
    """What a condition over a row can be, rows of one file each.

    A condition over partition columns alone is evaluated as it stands, whatever it calls, unless
    it asks the clock or chance.
    """
    if not condition.strip():
        return ALWAYS
    parsed = parsed_sql(condition)
    if parsed is None:
        return ANYTHING
    names = {folded(column.parts[0].name) for column in parsed.find_all(exp.Column)}
    is_stable = not (is_clocked or parsed.find(exp.Query) or _NAMED_LIKE_COLUMNS.search(condition))
    if names and names <= facts.partitions and is_stable:
        inside = f"(\n{condition}\n)"
        return Possible(
            f"coalesce({inside}, false)", f"coalesce(NOT {inside}, false)", f"{inside} IS NULL"
        )
    return _Reader(facts).read(parsed)


def parsed_sql(text: str) -> exp.Expr | None:
    """The expression as sqlglot reads it; None where it reads another one than Spark.

    Spark makes a number of the text behind a `+`, which sqlglot drops.
    """
    try:
        tokens = sqlglot.tokenize(text, read="spark")
        kinds = [TokenType.L_PAREN, *(token.token_type for token in tokens)]
        is_signed = any(
            kind == TokenType.PLUS and before not in _OPERAND_ENDS
            for before, kind in pairwise(kinds)
        )
        return None if is_signed else sqlglot.parse_one(text, dialect="spark")
    except sqlglot.errors.SqlglotError:
        return None


def both(*conditions: str) -> str:
    """All of them hold."""
    return _joined("AND", conditions, neutral=TRUE, deciding=FALSE)


def either(*conditions: str) -> str:
    """One of them holds."""
    return _joined("OR", conditions, neutral=FALSE, deciding=TRUE)


def _joined(word: str, conditions: Iterable[str], *, neutral: str, deciding: str) -> str:
    """Flat: brackets inside brackets are soon more than Spark's parser takes."""
    kept = [one for one in dict.fromkeys(conditions) if one != neutral]
    if deciding in kept:
        return deciding
    if len(kept) < 2:  # noqa: PLR2004
        return kept[0] if kept else neutral
    return f"({f' {word} '.join(kept)})"


def _conjunction(left: Possible, right: Possible) -> Possible:
    return Possible(
        both(left.true, right.true),
        either(left.false, right.false),
        either(left.null, right.null),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    facts: FileFacts

    def read(self, node: exp.Expr) -> Possible:
        reader = _READERS.get(type(node))
        return reader(self, node) if reader else ANYTHING

    def constant(self, node: exp.Expr) -> Possible:
        if isinstance(node, exp.Null):
            return Possible(FALSE, FALSE, TRUE)
        return ALWAYS if node.this else Possible(FALSE, TRUE, FALSE)

    def paren(self, node: exp.Expr) -> Possible:
        return self.read(node.this)

    def negation(self, node: exp.Expr) -> Possible:
        found = self.read(node.this)
        return Possible(found.false, found.true, found.null)

    def conjunction(self, node: exp.Expr) -> Possible:
        return _conjunction(self.read(node.this), self.read(node.expression))

    def disjunction(self, node: exp.Expr) -> Possible:
        left, right = self.read(node.this), self.read(node.expression)
        return Possible(
            either(left.true, right.true),
            both(left.false, right.false),
            either(left.null, right.null),
        )

    def presence(self, node: exp.Expr) -> Possible:
        """`column IS NULL`; IS TRUE and the like are not read."""
        found = self._column(node.this)
        if found is None or not isinstance(node.expression, exp.Null):
            return ANYTHING
        return Possible(_may_be_null(found), self._may_have_value(found), FALSE)

    def is_nan(self, node: exp.Expr) -> Possible:
        """False for NULL, in Spark."""
        found = self._column(node.this)
        if found is None or found.column.family is not TypeFamily.FLOAT:
            return ANYTHING
        return Possible(_may_be_nan(found), TRUE, FALSE)

    def comparison(self, node: exp.Expr) -> Possible:
        column, kind, value = node.this, type(node), node.expression
        if _kind(value) is None:
            column, kind, value = value, _FLIPPED[kind], column
        return self._compared(column, kind, value)

    def between(self, node: exp.Expr) -> Possible:
        if node.args.get("symmetric"):
            return ANYTHING
        return _conjunction(
            self._compared(node.this, exp.GTE, node.args["low"]),
            self._compared(node.this, exp.LTE, node.args["high"]),
        )

    def wrapped(self, node: exp.Expr) -> Possible:
        """`array_contains(array(condition), true)` is the condition, kept from being pushed down.

        Of a NULL alone it is not known whether it is true: NULL.
        """
        held, value = node.this, node.expression
        values = held.expressions if isinstance(held, exp.Array) else []
        is_true = isinstance(value, exp.Boolean) and value.this
        return self.read(values[0]) if len(values) == 1 and is_true else ANYTHING

    def membership(self, node: exp.Expr) -> Possible:
        """`column IN (values)`: equal to one of them."""
        values = node.args.get("expressions") or []
        if not 0 < len(values) <= _LISTED_MAX or node.args.get("query") or node.args.get("unnest"):
            return ANYTHING
        if len({_kind(value) for value in values}) > 1:  # Spark casts all to one type
            return ANYTHING
        every = [self._compared(node.this, exp.EQ, value) for value in values]
        return Possible(
            either(*(one.true for one in every)),
            both(*(one.false for one in every)),
            every[0].null,
        )

    def _compared(self, column: exp.Expr, kind: type[exp.Expr], value: exp.Expr) -> Possible:
        found = self._column(column)
        if found is None or not _fits(found.column, value):
            return ANYTHING
        sql = value.sql("spark")
        low, high = found.low, found.high
        is_nan = _may_be_nan(found)  # NaN is above every number
        below, above = f"coalesce({low} < {sql}, true)", f"coalesce({high} > {sql}, true)"
        up_to, down_to = f"coalesce({low} <= {sql}, true)", f"coalesce({high} >= {sql}, true)"
        same = f"coalesce({low} = {sql} AND {high} = {sql}, false)"
        answers: Mapping[type[exp.Expr], tuple[str, str]] = {
            exp.LT: (below, either(down_to, is_nan)),
            exp.LTE: (up_to, either(above, is_nan)),
            exp.GT: (either(above, is_nan), up_to),
            exp.GTE: (either(down_to, is_nan), below),
            exp.EQ: (both(up_to, down_to), either(f"NOT {same}", is_nan)),
            exp.NEQ: (either(f"NOT {same}", is_nan), both(up_to, down_to)),
        }
        true, false = answers[kind]
        there = self._may_have_value(found)
        return Possible(both(there, true), both(there, false), _may_be_null(found))

    def _column(self, node: exp.Expr) -> ColumnFacts | None:
        if isinstance(node, exp.Paren):
            return self._column(node.this)
        path = path_of(node)
        return self.facts.of(path) if path else None

    def _may_have_value(self, found: ColumnFacts) -> str:
        return f"coalesce({found.nulls} < {self.facts.rows}, true)"


def _may_be_null(found: ColumnFacts) -> str:
    return f"coalesce({found.nulls} > 0, true)"


def _may_be_nan(found: ColumnFacts) -> str:
    is_float = found.column.family is TypeFamily.FLOAT
    return f"coalesce({found.nans} > 0, true)" if is_float else FALSE


def path_of(node: exp.Expr) -> tuple[str, ...]:
    """The column that is named, and the fields inside it; () for anything else."""
    if isinstance(node, exp.Dot):
        parts = [part for part in node.flatten() if not isinstance(part, exp.Dot)]
        names = [path_of(part) if isinstance(part, exp.Column) else (part.name,) for part in parts]
        return tuple(name for path in names for name in path) if all(names) else ()
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return tuple(part.name for part in node.parts)
    return ()


def _kind(value: exp.Expr) -> object:
    """What a constant is: the type it is cast to, or how it is written; None for anything else."""
    if isinstance(value, exp.Paren):
        return _kind(value.this)
    if isinstance(value, exp.Neg):
        return _kind(value.this) if _is_number(value) else None
    if isinstance(value, exp.Cast):
        is_plain = not value.to.expressions or value.to.is_type(exp.DataType.Type.DECIMAL)
        return value.to.this if is_plain and isinstance(value.this, exp.Literal) else None
    if not isinstance(value, exp.Literal):
        return None
    if value.is_string:
        return _TEXT
    return "double" if "e" in value.name.lower() else "decimal" if "." in value.name else "whole"


def _is_number(value: exp.Expr) -> bool:
    """Whether it is written as a number."""
    literal = value.find(exp.Literal)
    return literal is not None and not literal.is_string


def _is_of_number(value: exp.Expr) -> bool:
    """Whether it is made of a number: 'NaN' as a DOUBLE is none that bounds tell of."""
    literal = value.find(exp.Literal)
    return literal is not None and _NUMBER.fullmatch(literal.name) is not None


def _fits(column: Column, value: exp.Expr) -> bool:
    """Whether the comparison is one by value, without a cast that could change the order."""
    kind, family = _kind(value), column.family
    if kind is None:
        return False
    if kind == _TEXT:
        return column.is_plain_text
    if family in _MOMENTS:
        literal = value.find(exp.Literal)  # DATE 'today' is no constant
        return kind in _MOMENTS[family] and literal is not None and literal.name[:1].isdigit()
    is_numeric = isinstance(kind, str) or kind in exp.DataType.NUMERIC_TYPES
    return family.is_number and is_numeric and _is_of_number(value)


_READERS: Mapping[type[exp.Expr], Callable[[_Reader, exp.Expr], Possible]] = {
    exp.Boolean: _Reader.constant,
    exp.Null: _Reader.constant,
    exp.Paren: _Reader.paren,
    exp.Not: _Reader.negation,
    exp.And: _Reader.conjunction,
    exp.Or: _Reader.disjunction,
    exp.Is: _Reader.presence,
    exp.IsNan: _Reader.is_nan,
    exp.ArrayContains: _Reader.wrapped,
    exp.Between: _Reader.between,
    exp.In: _Reader.membership,
    **dict.fromkeys(_FLIPPED, _Reader.comparison),
}
