"""The last word on user SQL before Spark runs it.

On a classic session Spark's own parser reads the text and every node of the plan it makes must be
on a list: what is judged is what `spark.sql` would run. (`parseQuery` alone is not enough: under
Iceberg's extension it parses any command.) On Spark Connect there is no parser to ask, and the
verdict of `checks.user_sql`, which is asked on both, stands alone.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakeproof.checks.safe_functions import (
    aggregate_function_problem,
    query_function_problem,
    row_function_problem,
    table_function_problem,
)
from lakeproof.checks.sql_source import (
    ensure_plain_aggregate,
    ensure_plain_predicate,
    ensure_plain_query,
)
from lakeproof.checks.user_sql import (
    QueryText,
    parse_aggregate,
    parse_predicate,
    parse_query,
    table_problem,
)
from lakeproof.engines.spark.flavour import Java
from lakeproof.engines.spark.plan_nodes import AGGREGATE_NODES, QUERY_NODES, ROW_NODES
from lakeproof.errors import UnsafeSqlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

__all__ = ["ensure_aggregate", "ensure_read_only_query", "ensure_row_predicate"]


def ensure_read_only_query(spark: SparkSession, text: str) -> None:
    """Refuse (UnsafeSqlError) what is not one read-only query over catalog tables. Runs nothing."""
    query = parse_query(text)
    parser = _classic_parser(spark)
    if parser is not None:
        _ensure_same_tables(query, judge_query_plan(parser, text))


def ensure_row_predicate(spark: SparkSession, text: str) -> None:
    """Refuse (UnsafeSqlError) what is not one condition on a row. Runs nothing."""
    parse_predicate(text)
    parser = _classic_parser(spark)
    if parser is not None:
        judge_predicate_plan(parser, text)


def ensure_aggregate(spark: SparkSession, text: str) -> None:
    """Refuse (UnsafeSqlError) what is not one aggregate over rows. Runs nothing."""
    parse_aggregate(text)
    parser = _classic_parser(spark)
    if parser is not None:
        judge_aggregate_plan(parser, text)


def judge_query_plan(parser: Java, text: str) -> frozenset[tuple[str, ...]]:
    """Spark's verdict on a query; the names of all relations in it, CTEs among them."""
    plain = ensure_plain_query(text).trimmed
    relations: set[tuple[str, ...]] = set()
    for name, node in _nodes(_parsed(parser.parsePlan, plain)):
        if name not in QUERY_NODES:
            raise UnsafeSqlError(
                f"Spark reads {name} here, which is refused: user SQL is one plain query over "
                "catalog tables. Write a SELECT."
            )
        _refuse(_function_problem(name, node, query_function_problem))
        if name == "UnresolvedRelation":
            parts = tuple(_sequence(node.multipartIdentifier()))
            stream = "STREAM is refused. Read the table without it." if node.isStreaming() else None
            _refuse(stream or table_problem(parts))
            relations.add(tuple(part.lower() for part in parts))
    return frozenset(relations)


def judge_predicate_plan(parser: Java, text: str) -> None:
    """Spark's verdict on a row predicate."""
    plain = ensure_plain_predicate(text).trimmed
    for name, node in _nodes(_parsed(parser.parseExpression, plain)):
        if name not in ROW_NODES:
            raise UnsafeSqlError(
                f"Spark reads {name} here; only one condition on a row is allowed. "
                "Use custom_sql for anything else."
            )
        _refuse(_function_problem(name, node, row_function_problem))


def judge_aggregate_plan(parser: Java, text: str) -> None:
    """Spark's verdict on an aggregate over rows."""
    plain = ensure_plain_aggregate(text).trimmed
    for name, node in _nodes(_parsed(parser.parseExpression, plain)):
        if name not in AGGREGATE_NODES:
            raise UnsafeSqlError(f"Spark reads {name} here; only one aggregate is allowed.")
        _refuse(_function_problem(name, node, aggregate_function_problem))


def _classic_parser(spark: SparkSession) -> Java | None:
    """The parser that `spark.sql` uses; None on Spark Connect, where the JVM is out of reach."""
    session = getattr(spark, "_jsparkSession", None)
    return None if session is None else session.sessionState().sqlParser()


def _parsed(parse: Callable[[str], Java], text: str) -> Java:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    with _without_query_context_log():
        try:
            return parse(text)
        except PySparkException as error:
            first = next((line for line in str(error).splitlines() if line.strip()), "not parsed")
            raise UnsafeSqlError(f"Spark does not read this as one query: {first}") from None
        except Py4JJavaError as error:
            # A StackOverflowError of the parser, for one, is no exception that Spark translates.
            raise UnsafeSqlError(
                f"Spark's parser gave up ({error.java_exception.getClass().getSimpleName()}). "
                "Make the text simpler."
            ) from None


def _ensure_same_tables(query: QueryText, relations: frozenset[tuple[str, ...]]) -> None:
    # A table that only one parser sees would be read unpinned.
    tables = {tuple(part.lower() for part in table.parts) for table in query.tables}
    ctes = {(name,) for name in query.cte_names}
    if differing := (relations - ctes) ^ (tables - ctes) | (tables - relations):
        names = ", ".join(sorted(".".join(parts) for parts in differing))
        raise UnsafeSqlError(
            f"it is not certain which tables the query reads ({names}). Write each table once "
            "as catalog.namespace.table, and CTE names that no table has."
        )


def _function_problem(
    name: str, node: Java, problem_of: Callable[[Sequence[str]], str | None]
) -> str | None:
    if name == "UnresolvedFunction":
        return problem_of(_sequence(node.nameParts()))
    if name == "UnresolvedGenerator":
        function = node.name()
        prefix = ["" for part in (function.database(),) if part.isDefined()]
        return problem_of([*prefix, function.funcName()])
    if name == "UnresolvedTableValuedFunction":
        return table_function_problem(_sequence(node.name()))
    return None


def _refuse(problem: str | None) -> None:
    if problem:
        raise UnsafeSqlError(problem)


def _nodes(root: Java) -> Iterator[tuple[str, Java]]:
    """Every tree node below a plan or expression, by its class, through whatever holds it.

    Children alone would miss what CTEs, subqueries, lambdas, hints and sort orders carry, so all
    fields of every node are followed.
    """
    waiting = [root]
    while waiting:
        held = waiting.pop()
        if not hasattr(held, "getClass"):  # a number, a text or None: py4j made it Python's
            continue
        java_class = held.getClass().getName()
        kind = _kind(held, java_class)
        if kind == "node":
            name = _node_name(held, java_class)
            yield name, held
            # Its rows are constants that Spark has computed already, not expressions.
            if name == "LocalRelation":
                continue
        if kind in ("node", "product"):
            waiting.extend(held.productElement(at) for at in range(held.productArity()))
        elif kind == "collection":
            waiting.extend(_elements(held.iterator()))


def _node_name(node: Java, java_class: str) -> str:
    # `IS UNKNOWN` for one is a nameless subclass of IsNull.
    named = node.getClass().getSuperclass().getName() if "$anon$" in java_class else java_class
    return str(named).rpartition(".")[2].rstrip("$").rpartition("$")[2]


_KINDS: dict[str, str] = {}
_LEAF_PACKAGES = ("org.apache.spark.sql.types.", "org.apache.spark.unsafe.", "java.")


def _kind(held: Java, java_class: str) -> str:
    """What a Java object is to the walk; asked once per class, since each question is a call."""
    if java_class not in _KINDS:
        _KINDS[java_class] = "leaf" if java_class.startswith(_LEAF_PACKAGES) else _ask_kind(held)
    return _KINDS[java_class]


def _ask_kind(held: Java) -> str:
    from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped]
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001 - the only handle to the JVM there is
    if is_instance_of(gateway, held, "org.apache.spark.sql.catalyst.trees.TreeNode"):
        return "node"
    if is_instance_of(gateway, held, "scala.collection.Iterable"):
        return "collection"
    return "product" if is_instance_of(gateway, held, "scala.Product") else "leaf"


def _sequence(names: Java) -> list[str]:
    return [str(name) for name in _elements(names.iterator())]


def _elements(iterator: Java) -> Iterator[Java]:
    while iterator.hasNext():
        yield iterator.next()


@contextmanager
def _without_query_context_log() -> Iterator[None]:
    """Keep PySpark from logging the whole text and a stack trace for each text it cannot parse."""
    logger = logging.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
