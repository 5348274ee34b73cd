"""A check's expression for Trino, where sqlglot alone does not know the way."""

from __future__ import annotations

from sqlglot import exp

from lakeproof.checks.user_sql import parse_predicate

IS_JSON = "lakeproof_is_json"
"""Marks an expression that Spark needs to say `x IS JSON`; holds the x."""
EPOCH_MICROS = "lakeproof_epoch_micros"
"""Marks an expression that Spark needs for microseconds since 1970; holds the instant."""
TRY_MOMENT = "lakeproof_try_moment"
"""Marks an expression that reads a text as a moment; holds the text and the pattern."""
TRY_SUM = "TRY_SUM"
"""Spark's sum that is NULL where the total has more digits than fit; in Trino that is an error."""


def trino_sql(tree: exp.Expr, *, pretty: bool = False) -> str:
    """The expression as Trino SQL, users' own texts in it translated too."""
    return tree.transform(_translate).sql("trino", pretty=pretty)


def _translate(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Quantile):  # Trino has no exact one
        return exp.ApproxQuantile(this=node.this, quantile=node.args["quantile"])
    if isinstance(node, exp.Var) and node.name.startswith("("):  # see kinds.user_sql
        return exp.Var(this=f"({parse_predicate(node.name[1:-1]).to_dialect('trino')})")
    if isinstance(node, exp.Anonymous) and node.name == TRY_SUM:
        return exp.Sum(this=node.expressions[0])
    return _marked(node)


def _marked(node: exp.Expr) -> exp.Expr:
    """What a mark of ours says, in Trino's words; the node itself if it has none."""
    if IS_JSON in node.meta:
        text = node.meta[IS_JSON].sql("trino")
        return exp.paren(exp.condition(f"{text} IS JSON WITH UNIQUE KEYS", dialect="trino"))
    instant = _instant(node)
    if instant is not None:
        seconds = exp.Anonymous(this="TO_UNIXTIME", expressions=[instant.copy()])
        micros = exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000))
        return exp.cast(micros, "BIGINT")
    if TRY_MOMENT in node.meta:
        parsed = exp.Anonymous(this="PARSE_DATETIME", expressions=[*node.meta[TRY_MOMENT]])
        return exp.Anonymous(this="TRY", expressions=[parsed])
    return node


def _instant(node: exp.Expr) -> exp.Expr | None:
    """What microseconds since 1970 are taken of, by a mark or in a text that was parsed."""
    if EPOCH_MICROS in node.meta:
        marked: exp.Expr = node.meta[EPOCH_MICROS]
        return marked
    # Older versions of sqlglot have no class for the function.
    found: exp.Expr | None = None
    if isinstance(node, exp.Anonymous) and node.name.upper() == "UNIX_MICROS":
        found = node.expressions[0]
    elif type(node).__name__ == "UnixMicros":
        found = node.this
    return found
