"""Name to check. The built-in ones are imported on demand; plug-ins come by entry point.

A package adds checks by an entry point in the group `lakeproof.checks` whose name is the check's
name and whose object is a `Check` class. A built-in name cannot be taken over.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from lakeproof.checks.kinds import Check
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.nearest import nearest

_BUILT_IN = {
    "accepted_values": "AcceptedValues",
    "aggregate": "Aggregate",
    "aggregate_consistency": "AggregateConsistency",
    "available_by": "AvailableBy",
    "checksum_reconciliation": "ChecksumReconciliation",
    "column_count_range": "ColumnCountRange",
    "column_pair": "ColumnPair",
    "column_type": "ColumnType",
    "custom_sql": "CustomSql",
    "date_format": "DateFormat",
    "field_count": "FieldCount",
    "delay": "Delay",
    "foreign_key": "ForeignKey",
    "format": "Format",
    "freshness": "Freshness",
    "invalid_values": "InvalidValues",
    "is_increasing": "IsIncreasing",
    "is_normalized": "IsNormalized",
    "key_parity": "KeyParity",
    "length_range": "LengthRange",
    "matches_pattern": "MatchesPattern",
    "multiple_of": "MultipleOf",
    "missing_values": "MissingValues",
    "max_gap": "MaxGap",
    "multi_aggregate_consistency": "MultiAggregateConsistency",
    "no_future_dates": "NoFutureDates",
    "not_empty": "NotEmpty",
    "not_matches_pattern": "NotMatchesPattern",
    "not_null": "NotNull",
    "positive": "Positive",
    "range": "Range",
    "ratio": "Ratio",
    "reconciliation": "Reconciliation",
    "retention": "Retention",
    "row_count_change": "RowCountChange",
    "row_count_range": "RowCountRange",
    "row_expression": "RowExpression",
    "schema": "Schema",
    "sql_value": "SqlValue",
    "unique_items": "UniqueItems",
    "service_period": "ServicePeriod",
    "unique_key": "UniqueKey",
    "uniqueness": "Uniqueness",
    "value_set": "ValueSet",
}
_OF_CONTRACTS = {"plug_in": "PlugInCheck"}
"""Checks that only a contract asks for: a suite's own check comes by entry point."""

_ALIASES = {"is_unique": "uniqueness", "sql_expression": "custom_sql", "sql_query": "custom_sql"}
_GROUP = "lakeproof.checks"


def check_names() -> tuple[str, ...]:
    """Every check that can be named, built-in and plugged in, without aliases."""
    return tuple(sorted({*_BUILT_IN, *_plugged_in()}))


def aliases_of(name: str) -> tuple[str, ...]:
    """Other words for a check, resolved before a rule is hashed."""
    return tuple(alias for alias, known in _ALIASES.items() if known == name)


@cache
def find_check(name: str) -> Check:
    """The check of that name or alias; an unknown one is refused with the nearest names."""
    known = _ALIASES.get(name, name)
    own = _BUILT_IN | _OF_CONTRACTS
    if known in own:
        found = getattr(import_module(f"lakeproof.checks.{known}"), own[known])
    elif known in _plugged_in():
        found = _load(_plugged_in()[known])
    else:
        raise CheckDefinitionError(f"Unknown check type: {name}{_nearest(name)}")
    check: Check = found()
    return check


@cache
def _plugged_in() -> dict[str, EntryPoint]:
    """Looked up once, for that reads many files."""
    return {point.name: point for point in entry_points(group=_GROUP)}


def _load(point: EntryPoint) -> type[Check]:
    try:
        found = point.load()
    except Exception as problem:
        raise CheckDefinitionError(
            f"check {point.name!r} of plug-in {point.value!r} cannot be loaded: {problem}"
        ) from problem
    if not (isinstance(found, type) and issubclass(found, Check)):
        raise CheckDefinitionError(f"plug-in {point.value!r} is not a lakeproof Check class")
    return found


def _nearest(name: str) -> str:
    candidates = (*check_names(), *_ALIASES)
    near = nearest(name, candidates) or list(check_names())
    return f". Nearest known: {', '.join(near)}."
