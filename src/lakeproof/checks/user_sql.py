"""SQL that users write: a read-only query (`custom_sql`), a row predicate (`filter`), an aggregate.

`parse_query`, `parse_predicate` and `parse_aggregate` refuse all else before it runs. They judge
the tokens (`sql_lexer`) and sqlglot's tree of those very tokens, so comments, quotes and escapes
mean here what they mean to Spark. `engines.spark.safe_sql` adds the verdict of Spark's own parser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import sqlglot
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from lakeproof.checks.safe_functions import (
    AGGREGATE_FUNCTIONS,
    aggregate_function_problem,
    query_function_problem,
    row_function_problem,
    table_function_problem,
)
from lakeproof.checks.sql_lexer import Token, canonical_sql
from lakeproof.checks.sql_source import (
    SqlSource,
    ensure_plain_aggregate,
    ensure_plain_predicate,
    ensure_plain_query,
    parse_plain,
    sqlglot_silent,
)
from lakeproof.errors import CheckDefinitionError

__all__ = [
    "AggregateText",
    "PredicateText",
    "QueryText",
    "RollUp",
    "TableReference",
    "canonical_sql",
    "parse_aggregate",
    "parse_predicate",
    "parse_query",
    "table_problem",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Data sources that Spark opens as `format`.`path`, without any catalog.
_FILE_FORMATS = _words(
    "avro binaryfile csv delta deltasharing hudi image jdbc json kafka libsvm noop orc parquet "
    "rate socket text xml"
)
# Words that a bracket may follow without being a call. Most are no function in Spark either; one
# that somebody registers under such a name is refused by Spark's parser and as sqlglot's Anonymous.
_CLAUSE_WORDS = _words(
    """
    all and anti any array as asc between both by case character cluster cross cube dec desc
    distinct distribute div else end escape except exclude exists filter following for from full
    group having ilike in include inner intersect interval is join lateral leading left like limit
    minus natural not nulls numeric of offset on or order outer over partition percent pivot
    placing preceding recursive repeatable right rlike rollup rows select semi sets some sort then
    trailing union unpivot using values varchar when where with within
    """
)
# What sqlglot may build besides conditions and functions. Everything else is refused.
_QUERY_NODES = _words(
    """
    Alias Aliases CTE Cluster ColumnDef Cube DataType DataTypeParam Distinct Distribute Except
    Filter From Group GroupingSets Having Identifier IgnoreNulls Intersect Interval
    IntervalSpan JSONPath JSONPathFilter JSONPathKey JSONPathRecursive JSONPathRoot JSONPathScript
    JSONPathSelector JSONPathSlice JSONPathSubscript JSONPathUnion JSONPathWildcard Join
    Lambda Lateral Limit NamedWindow Offset Order Ordered Pivot PivotAlias PivotAny PropertyEQ
    RespectNulls Rollup Select Sort Star Subquery Table TableAlias Tuple Union UnpivotColumns
    Values Var Where WindowSpec With WithinGroup
    """
)
_REFUSED_CONDITIONS = (exp.Placeholder, exp.Parameter, exp.SessionParameter)


@dataclass(frozen=True, slots=True)
class TableReference:
    """A catalog table in a query; `start` and `end` enclose its name in the query's text."""

    parts: tuple[str, ...]
    start: int
    end: int
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class QueryText:
    """One read-only query. `tables` are catalog tables in order of appearance, not CTEs.

    `given_names` are all that the query itself gives to something, by alias or otherwise; where
    branches are united, columns meet by their place, and every name may be given to another.
    """

    text: str
    canonical: str
    tables: tuple[TableReference, ...]
    cte_names: frozenset[str] = frozenset()
    given_names: frozenset[str] = frozenset()
    _plain: str = field(default="", repr=False, compare=False)

    def with_tables(self, replace: Callable[[TableReference], str]) -> str:
        """The text with each table's name replaced, every other character as it was."""
        pieces: list[str] = []
        done = 0
        for table in self.tables:
            pieces += [self.text[done : table.start], replace(table)]
            done = table.end
        return "".join([*pieces, self.text[done:]])

    def to_dialect(self, dialect: str) -> str:
        return _transpile(self._plain, None, dialect)


@dataclass(frozen=True, slots=True)
class PredicateText:
    """One condition on a row. `columns` are the columns it mentions, by the name's first part."""

    text: str
    canonical: str
    columns: tuple[str, ...]
    _plain: str = field(default="", repr=False, compare=False)

    def to_dialect(self, dialect: str) -> str:
        return _transpile(self._plain, exp.Condition, dialect)


class RollUp(StrEnum):
    """How the aggregate of a whole comes out of those of its parts."""

    SUM = "sum"
    COUNT = "count"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class AggregateText:
    """One aggregate over rows. `columns` are those it mentions, by the name's first part.

    `roll_up` is SUM or COUNT where the whole expression is one such call: both add up. Those of
    distinct values do not.
    """

    text: str
    canonical: str
    columns: tuple[str, ...]
    roll_up: RollUp


def parse_query(text: str) -> QueryText:
    """Read a text that must be exactly one query; UnsafeSqlError says what is wrong and where."""
    source = ensure_plain_query(text)
    tree = source.tree(None)
    if not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery | exp.Values):
        raise source.refusal(0, "only a query is allowed (SELECT, WITH, VALUES).")
    for node in tree.walk():
        _refuse_node(source, node)
    _refuse_calls(source, _alias_starts(source, tree), query_function_problem)
    references = sorted(_tables(source, tree), key=lambda table: table.start)
    ctes = frozenset(cte.alias.lower() for cte in tree.find_all(exp.CTE))
    named = (exp.Table,) if tree.find(exp.SetOperation) else (exp.Column, exp.Table, exp.Dot)
    given = frozenset(
        node.name for node in tree.find_all(exp.Identifier) if not isinstance(node.parent, named)
    )
    return QueryText(
        source.trimmed, canonical_sql(text), tuple(references), ctes, given, source.plain
    )


def parse_predicate(text: str) -> PredicateText:
    """Read a text that must be one condition on a row: no subquery, aggregate, window, alias."""
    source = ensure_plain_predicate(text)
    tree = source.tree(exp.Condition)
    for node in tree.walk():
        if isinstance(node, exp.Query | exp.Window | exp.Star | exp.Alias | exp.Aliases):
            kind = type(node).__name__
            raise source.refusal(
                _offset(source, node),
                f"only one condition on a row is allowed, without {kind}. Use custom_sql for that.",
            )
        _refuse_node(source, node)
    _refuse_calls(source, frozenset(), row_function_problem)
    return PredicateText(
        source.trimmed, canonical_sql(text), _column_names(source, tree), source.plain
    )


def parse_aggregate(text: str) -> AggregateText:
    """Read a text that must be one aggregate over rows: no subquery, window, alias."""
    source = ensure_plain_aggregate(text)
    tree = source.tree(exp.Condition)
    for node in tree.walk():
        is_row = isinstance(node, exp.Star) and isinstance(node.parent, exp.Count)
        refused = exp.Query | exp.Window | exp.Star | exp.Alias | exp.Aliases
        if isinstance(node, refused) and not is_row:
            kind = type(node).__name__
            raise source.refusal(
                _offset(source, node), f"only one aggregate is allowed, without {kind}."
            )
        _refuse_node(source, node)
    _refuse_calls(source, frozenset(), aggregate_function_problem)
    called = {
        token.name
        for token, after in zip(source.tokens, source.tokens[1:], strict=False)
        if after.is_symbol("(")
    }
    if not called & AGGREGATE_FUNCTIONS:
        raise source.refusal(0, "this is no aggregate. Write one, such as SUM(amount).")
    return AggregateText(
        source.trimmed, canonical_sql(text), _column_names(source, tree), _roll_up(tree)
    )


def table_problem(parts: Sequence[str]) -> str | None:
    """Why a name is not a catalog table's but a path or a data source; None if it is fine."""
    shown = ".".join(parts)
    if any(set(part) & set("/\\:*?") for part in parts):
        return f"{shown!r} is a path, not a table of a catalog. Register the data as a table."
    head = parts[0].lower()
    if len(parts) > 1 and (head in _FILE_FORMATS or "." in head):
        return (
            f"{shown!r} reads files by their format. Register them as a table, and write the "
            "catalog in front if a namespace has that name."
        )
    return None


def _refuse_node(source: SqlSource, node: exp.Expr) -> None:
    known = isinstance(node, exp.Condition | exp.Func) or type(node).__name__ in _QUERY_NODES
    if not known or isinstance(node, _REFUSED_CONDITIONS):
        raise source.refusal(
            _offset(source, node),
            f"{type(node).__name__} is refused: user SQL is one plain query over catalog tables.",
        )
    hint = isinstance(node, exp.Anonymous) and node.find_ancestor(exp.Hint)
    if (
        isinstance(node, exp.Anonymous)
        and not hint
        and (problem := query_function_problem([node.name]))
    ):
        raise source.refusal(_offset(source, node), problem)
    if isinstance(node, exp.Table):
        _refuse_table(source, node)


def _refuse_table(source: SqlSource, table: exp.Table) -> None:
    offset = _offset(source, table)
    if table.args.get("version") or table.args.get("when") or table.args.get("changes"):
        raise source.refusal(
            offset, "VERSION or TIMESTAMP AS OF is refused: the run pins every table itself."
        )
    if isinstance(table.this, exp.Func):
        names = [table.this.name, *(name.lower() for name in table.this.sql_names())]
        problems = [table_function_problem([name]) for name in names if name]
        if all(problems):
            raise source.refusal(offset, problems[-1] or "")
        return
    parts = [part.name for part in table.parts]
    problem = table_problem(parts)
    if [part.lower() for part in parts] == ["stream"] and not table.this.args.get("quoted"):
        problem = "STREAM is refused. Put a table of that name in backticks."
    if problem:
        raise source.refusal(offset, problem)


def _refuse_calls(
    source: SqlSource,
    aliases: frozenset[int],
    problem_of: Callable[[Sequence[str]], str | None],
) -> None:
    """Judge names as written before a bracket: no parser's renaming can hide a function."""
    tokens = source.without_hints
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        if not (token.name and after.is_symbol("(")) or token.start in aliases:
            continue
        qualified = before is not None and before.is_symbol(".")
        if not qualified and _opens_clause(before, token):
            continue
        # What stands before the dot does not matter: no prefix is allowed.
        if problem := problem_of(["...", token.value] if qualified else [token.value]):
            raise source.refusal(token.start, problem)


def _opens_clause(before: Token | None, token: Token) -> bool:
    if token.word in ("any", "some"):
        return before is not None and before.word in ("like", "ilike")
    return token.word in _CLAUSE_WORDS


def _alias_starts(source: SqlSource, tree: exp.Expr) -> frozenset[int]:
    """Where names of tables and CTEs stand that a list of columns may follow."""
    names = (alias.this for alias in tree.find_all(exp.TableAlias) if alias.args.get("columns"))
    return frozenset(_offset(source, name) for name in names if name is not None)


def _tables(source: SqlSource, tree: exp.Expr) -> Iterator[TableReference]:
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            continue
        parts = tuple(part.name for part in table.parts)
        if len(parts) == 1 and _names_cte(table, parts[0].lower()):
            continue
        tokens = [source.token_at.get(part.meta.get("start", -1)) for part in table.parts]
        found = [token for token in tokens if token is not None]
        # A wrong span would pin the wrong characters, so the text itself must bear it out.
        if tuple(token.value for token in found) != parts:
            raise source.refusal(0, f"cannot locate table {'.'.join(parts)!r} in the text.")
        yield TableReference(parts, found[0].start, found[-1].end, table.alias or None)


def _names_cte(table: exp.Table, name: str) -> bool:
    """Whether a name means a CTE: one of an enclosing WITH that is defined before this place."""
    inside: exp.Expr = table
    path = {id(inside)}
    while (parent := inside.parent) is not None:
        ctes = parent.ctes if isinstance(parent, exp.Query) else []
        recursive = any(cte.parent and cte.parent.args.get("recursive") for cte in ctes)
        for cte in ctes:
            within = id(cte) in path
            if cte.alias.lower() == name and (recursive or not within):
                return True
            if within:
                break
        path.add(id(parent))
        inside = parent
    return False


def _roll_up(tree: exp.Expr) -> RollUp:
    call = tree.unnest()
    if isinstance(call, exp.Filter):
        call = call.this
    if isinstance(call.this, exp.Distinct):
        return RollUp.IMPOSSIBLE
    if isinstance(call, exp.Sum):
        return RollUp.SUM
    return RollUp.COUNT if isinstance(call, exp.Count | exp.CountIf) else RollUp.IMPOSSIBLE


def _column_names(source: SqlSource, tree: exp.Expr) -> tuple[str, ...]:
    names = (column.parts[0].name for column in _in_order(source, tree.find_all(exp.Column)))
    return tuple(dict.fromkeys(names))


def _in_order(source: SqlSource, nodes: Iterator[exp.Column]) -> list[exp.Column]:
    return sorted(nodes, key=lambda node: _offset(source, node))


def _offset(source: SqlSource, node: exp.Expr) -> int:
    """Where a node begins in the text, by the first of its names that has a position."""
    starts = [found.meta["start"] for found in node.walk() if "start" in found.meta]
    tokens = [source.token_at[start] for start in starts if start in source.token_at]
    return min((token.start for token in tokens), default=0)


def _transpile(plain: str, into: type[exp.Expr] | None, dialect: str) -> str:
    with sqlglot_silent():
        try:
            return parse_plain(plain, into).sql(
                dialect=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE
            )
        except UnsupportedError as error:
            raise CheckDefinitionError(
                f"this SQL cannot be written for {dialect}: {str(error).rstrip('.')}. "
                "Use what both engines have."
            ) from None
