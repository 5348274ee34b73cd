"""A check's expression for Trino, where sqlglot alone does not know the way."""

from __future__ import annotations

from sqlglot import exp

from lakeproof.checks.user_sql import parse_predicate

IS_JSON = "lakeproof_is_json"
"""Marks an expression that Spark needs to say `x IS JSON`; holds the x."""
EPOCH_MICROS = "lakeproof_epoch_micros"
"""Marks an expression that Spark needs for microseconds since 1970; holds the instant."""
TRY_SUM = "TRY_SUM"
"""Spark's sum that is NULL where the total has more digits than fit; in Trino that is an error."""


def trino_sql(tree: exp.Expr) -> str:
    """The expression as Trino SQL, users' own texts in it translated too."""
    return tree.transform(_translate).sql("trino")


def _translate(node: exp.Expr) -> exp.Expr:
    if IS_JSON in node.meta:
        text = node.meta[IS_JSON].sql("trino")
        return exp.paren(exp.condition(f"{text} IS JSON WITH UNIQUE KEYS", dialect="trino"))
    if EPOCH_MICROS in node.meta:
        seconds = exp.Anonymous(this="TO_UNIXTIME", expressions=[node.meta[EPOCH_MICROS].copy()])
        micros = exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000))
        return exp.cast(micros, "BIGINT")
    if isinstance(node, exp.Anonymous) and node.name == TRY_SUM:
        return exp.Sum(this=node.expressions[0])
    if isinstance(node, exp.Quantile):  # Trino has no exact one
        return exp.ApproxQuantile(this=node.this, quantile=node.args["quantile"])
    if isinstance(node, exp.Var) and node.name.startswith("("):  # see kinds.user_sql
        return exp.Var(this=f"({parse_predicate(node.name[1:-1]).to_dialect('trino')})")
    return node
