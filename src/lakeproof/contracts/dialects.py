"""SQL of a contract, written for its server, as Spark reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError, UnsupportedError
from sqlglot.optimizer.annotate_types import annotate_types

from lakeproof.checks.sql_lexer import place
from lakeproof.checks.sql_source import sqlglot_silent
from lakeproof.checks.time_travel import read_query
from lakeproof.checks.user_sql import TableReference
from lakeproof.contracts.contract import Server
from lakeproof.contracts.tables import server_kind
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName, quote
from lakeproof.model.nearest import nearest

SPARK = "spark"

# A server's type to the dialect of its SQL, where the names differ. Files have no SQL of their
# own: a query over them is read as Spark's.
_OF_SERVER = {
    "postgresql": "postgres",
    "alloydb": "postgres",
    "cockroachdb": "postgres",
    "denodo": "postgres",
    "vertica": "postgres",
    "aurora": "mysql",
    "mariadb": "mysql",
    "sqlserver": "tsql",
    "mssql": "tsql",
    "synapse": "tsql",
    "azuresql": "tsql",
    "impala": "hive",
    "dataframe": SPARK,
    "databricks": SPARK,
}
_SPARK_ALIKE = frozenset({"", SPARK, "spark2", "databricks"})

_HINT = "If it is in another dialect, name that by sql_dialect"

TableOf = Callable[[tuple[str, ...]], TableName | None]
"""The table that a name in a query means, None if the name is no object of the contract."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A query for Spark, the tables in it that no object is, and what is worth saying of it."""

    sql: str
    other_tables: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def dialect_of(server: Server | None, setting: str = "") -> str:
    """The dialect that queries are written in: the setting's, else that of the server."""
    if setting:
        return _known(setting)
    kind = server_kind(server) if server is not None else ""
    named = _OF_SERVER.get(kind, kind)
    return named if named in sqlglot.Dialect.classes and named else SPARK


def quoted(parts: tuple[str, ...], dialect: str) -> str:
    """A name in that dialect's own quotes."""
    if dialect in _SPARK_ALIKE:
        return ".".join(quote(part) for part in parts)
    return ".".join(exp.to_identifier(part, quoted=True).sql(dialect) for part in parts)


def spark_sql(text: str, dialect: str, table_of: TableOf = lambda _parts: None) -> Translation:
    """The query for Spark, each object's name replaced by that of its table.

    One in Spark's own SQL keeps every other character. What Spark has no word for is refused.
    """
    if dialect in _SPARK_ALIKE:
        return _with_tables(text, table_of)
    tree = _parsed(text, dialect)
    notes = _division_notes(tree, dialect)
    _keep_moments(tree)
    # The names of columns may repeat those of tables, which are about to change.
    for column in tree.find_all(exp.Column):
        if column.args.get("db"):
            column.set("db", None)
            column.set("catalog", None)
    return replace(_with_tables(_rendered(tree, dialect), table_of), notes=notes)


def spark_condition(text: str, dialect: str) -> str:
    """The condition on a row for Spark; one in Spark's own SQL stays as it is."""
    if dialect in _SPARK_ALIKE:
        return text
    tree = _parsed(text, dialect, exp.Condition)
    _keep_moments(tree)
    return _rendered(tree, dialect)


def _known(dialect: str) -> str:
    folded = dialect.lower()
    named = _OF_SERVER.get(folded, folded)
    if named not in sqlglot.Dialect.classes:
        near = nearest(folded, [name for name in (*sqlglot.Dialect.classes, *_OF_SERVER) if name])
        told = f" Nearest known: {', '.join(near)}." if near else ""
        raise CheckDefinitionError(f"sql_dialect {dialect!r} is not known.{told}")
    return named


def _with_tables(text: str, table_of: TableOf) -> Translation:
    """The text with objects' names replaced; a table keeps the name that the query calls it by."""
    travelling = read_query(text)
    others: list[str] = []

    def replacement(found: TableReference) -> str:
        as_of = travelling.clauses.get(found.end, "")
        behind = f" {as_of}" if as_of else ""
        table = table_of(found.parts)
        if table is None:
            others.append(str(TableName(found.parts)))
            return text[found.start : found.end] + behind
        is_called_so = found.alias or table.short.lower() == found.parts[-1].lower()
        called = "" if is_called_so else f" AS {quote(found.parts[-1])}"
        return f"{table.sql}{behind}{called}"

    sql = travelling.query.with_tables(replacement)
    return Translation(sql, tuple(dict.fromkeys(others)))


def _parsed(text: str, dialect: str, into: type[exp.Expr] | None = None) -> exp.Expr:
    with sqlglot_silent():
        try:
            if into is not None:
                return sqlglot.parse_one(text, read=dialect, into=into)
            found = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
        except ParseError as problem:
            detail = problem.errors[0] if problem.errors else {}
            why = str(detail.get("description") or "not understood").rstrip(".")
            at = f"line {detail.get('line', 1)}:{detail.get('col', 1)}: "
            raise CheckDefinitionError(f"{at}this is no {dialect} SQL: {why}. {_HINT}") from None
        except (SqlglotError, RecursionError) as problem:
            raise CheckDefinitionError(
                f"{place(text, 0)}: this is no {dialect} SQL: {type(problem).__name__}. {_HINT}"
            ) from None
    if len(found) != 1 or not isinstance(found[0], exp.Query):
        raise CheckDefinitionError("one query is needed (SELECT or WITH). Write a rule for each")
    return found[0]


def _rendered(tree: exp.Expr, dialect: str) -> str:
    with sqlglot_silent():
        try:
            return tree.sql(SPARK, unsupported_level=sqlglot.ErrorLevel.RAISE, comments=False)
        except UnsupportedError as problem:
            why = str(problem).rstrip(".")
        except Exception:  # noqa: BLE001 (a construct that sqlglot cannot even refuse)
            why = _unwritable(tree)
    raise CheckDefinitionError(
        f"Spark has no equivalent of a part of this {dialect} SQL: {why}. Use what both have"
    )


def _unwritable(tree: exp.Expr) -> str:
    """The kind of the innermost node that Spark's SQL has no words for."""
    for node in reversed(list(tree.walk())):
        try:
            node.sql(SPARK)
        except Exception:  # noqa: BLE001 (as above)
            return type(node).__name__
    return "not known which"


def _keep_moments(tree: exp.Expr) -> None:
    """Spark's date_add() makes a date of a moment; an interval added to it does not."""
    for node in list(tree.find_all(exp.DateAdd, exp.DateSub)):
        amount, unit = node.expression, node.args.get("unit")
        if isinstance(amount, exp.Interval) or unit is None or amount.find(exp.Column):
            continue
        text = amount.name if isinstance(amount, exp.Literal) else amount.sql().replace(" ", "")
        interval = exp.Interval(this=exp.Literal.string(text), unit=exp.var(unit.name))
        kind = exp.Add if isinstance(node, exp.DateAdd) else exp.Sub
        node.replace(exp.paren(kind(this=node.this.copy(), expression=interval)))


def _division_notes(tree: exp.Expr, dialect: str) -> tuple[str, ...]:
    """Let sqlglot see which divisions are of integers; tell of those where it cannot."""
    if not any(node.args.get("typed") for node in tree.find_all(exp.Div)):
        return ()
    annotate_types(tree, dialect=dialect)
    unsure = [
        node
        for node in tree.find_all(exp.Div)
        if node.args.get("typed") and not all(map(_is_typed, (node.this, node.expression)))
    ]
    if not unsure:
        return ()
    told = "/ of two integers drops the remainder there, and keeps it in Spark"
    return (f"{dialect}: {told}",)


def _is_typed(node: exp.Expr) -> bool:
    return node.type is not None and not node.is_type("unknown")
