"""Which nodes Spark's parser may make of user SQL: allow-lists by class name, as data.

Spark 3.5 to 4.1. Functions arrive as UnresolvedFunction and are judged by name elsewhere; these
are what the grammar itself builds. A node that is not here is refused.
"""

from __future__ import annotations

__all__ = ["AGGREGATE_NODES", "QUERY_NODES", "ROW_NODES"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Operators and clauses on one row's values.
ROW_NODES = _words(
    """
    Add And ArrayContains AtTimeZone Between BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CaseWhen
    Cast Coalesce Collate Concat CreateNamedStruct CurrentDate CurrentTime CurrentTimestamp
    DateAddInterval Divide EqualNullSafe EqualTo Extract GreaterThan GreaterThanOrEqual ILike If
    In IntegralDivide IsNaN IsNotNull IsNull LambdaFunction LessThan LessThanOrEqual Like LikeAll
    LikeAny Literal LocalTimestamp Multiply NamePlaceholder NamedArgumentExpression
    NonFoldableLiteral Not NotLikeAll NotLikeAny Or Overlay Pow RLike Remainder ResolvedCollation
    ShiftLeft ShiftRight ShiftRightUnsigned StringInstr StringLocate StringTrim StringTrimBoth
    StringTrimLeft StringTrimRight Substring Subtract TimestampAdd TimestampDiff TryCast
    UnaryMinus UnaryPositive UnresolvedAttribute UnresolvedCollation UnresolvedExtractValue
    UnresolvedFunction UnresolvedNamedLambdaVariable
    """
)

# Aggregates of rows that the grammar builds itself, and the order inside an ordered one.
AGGREGATE_NODES = ROW_NODES | _words("AggregateExpression AnyValue First Last SortOrder")

# Relations, and expressions that look at more than one row.
QUERY_NODES = ROW_NODES | _words(
    """
    Aggregate AggregateExpression Alias AnyValue Cube CurrentRow Distinct Except Exists Filter
    First Generate GlobalLimit GroupingAnalytics GroupingSets InSubquery Intersect Join Last
    LateralJoin LateralSubquery LimitAll ListQuery LocalLimit LocalRelation MultiAlias Offset
    OneRowRelation OuterReference Pivot Project RebalancePartitions Repartition
    RepartitionByExpression Rollup ScalarSubquery Sort SortOrder SpecifiedWindowFrame
    SubqueryAlias UnboundedFollowing UnboundedPreceding Union Unpivot UnresolvedAlias
    UnresolvedExtractValue UnresolvedGenerator UnresolvedHaving UnresolvedHint
    UnresolvedInlineTable UnresolvedOrdinal UnresolvedRegex UnresolvedRelation UnresolvedStar
    UnresolvedStarExceptOrReplace UnresolvedStarWithColumns UnresolvedSubqueryColumnAliases
    UnresolvedTVFAliases UnresolvedTableAlias UnresolvedTableValuedFunction
    UnresolvedWindowExpression UnresolvedWith UnspecifiedFrame WindowExpression
    WindowSpecDefinition WindowSpecReference WithWindowDefinition
    """
)
