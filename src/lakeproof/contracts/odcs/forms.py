"""Which form a rule is written in: told by its own keys, whatever version the contract claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from lakeproof.checks.catalogue import check_names

Entry = Mapping[str, object]

METRICS = ("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount")
"""The library of the standard."""

PREDEFINED_TYPES = frozenset(
    """
    rows_present row_count no_missing_values missing_count missing_percent no_invalid_values
    invalid_count invalid_percent no_duplicate_values duplicate_count duplicate_percent unique
    freshness freshness_in_days freshness_in_hours freshness_in_minutes min max avg sum min_length
    max_length avg_length stddev stddev_pop stddev_samp variance var_pop var_samp percentile
    """.split()  # noqa: SIM905 (thirty names read better as a text)
)
"""The types that the RFC's second option takes over from Soda."""

LEGACY_NAMES = (
    "nullCheck",
    "countCheck",
    "rangeCheck",
    "between",
    "minCheck",
    "maxCheck",
    "duplicateCount",
    "validValues",
)
"""Names of rules in versions 2 and 3.0; letter case does not tell them apart."""

LEGACY_METHODS = ("dataQuality", "reconciliation")
"""What `type` says in version 2, where it is the method of a rule."""

METADATA_KEYS = frozenset(
    """
    id name description dimension severity businessImpact method schedule scheduler tags
    customProperties authoritativeDefinitions
    """.split()  # noqa: SIM905
)
"""Keys that say something about a rule, not what it asks."""

_V2_KEYS = ("templateName", "toolRuleName", "scheduleCronExpression")
_LEGACY_BY_FOLDED = {name.casefold(): name for name in LEGACY_NAMES}
_NAME = re.compile(r"[A-Za-z][\w.-]*")


class Form(StrEnum):
    """How a rule is written; `NONE` if nothing in it says what it asks."""

    TEXT = "text"
    LIBRARY = "library"
    SQL = "sql"
    PREDICATE = "predicate"
    PREDEFINED = "predefined"
    CODE = "code"
    LEGACY = "legacy"
    CUSTOM = "custom"
    METRIC_EXPRESSION = "metric_expression"
    NONE = "none"


_BY_TYPE = {
    "text": Form.TEXT,
    "sql": Form.SQL,
    "metric_query": Form.SQL,
    "custom": Form.CUSTOM,
    "metric_expression": Form.METRIC_EXPRESSION,
}
TYPES = ("library", *_BY_TYPE, *sorted(PREDEFINED_TYPES))
"""Every `type` that is known."""

_ENGINE_KEYS = ("engine", "implementation", "expectation_type", "check", "toolName")


def form_of(entry: Entry) -> Form:
    """The form of a rule: by `type` where that decides, else by the first key that does."""
    kind = text_at(entry, "type")
    if kind in PREDEFINED_TYPES:
        return Form.PREDEFINED
    return _BY_TYPE.get(kind) or _form_by_keys(entry)


def _form_by_keys(entry: Entry) -> Form:
    legacy = Form.LEGACY if legacy_name(entry) else None
    is_text = has(entry, "description") and set(entry) <= METADATA_KEYS
    found = (
        (has(entry, "metric"), Form.LIBRARY),
        (has(entry, "metric_expression"), Form.METRIC_EXPRESSION),
        (has(entry, "query") or text_at(entry, "code") == "sql", Form.SQL),
        (has(entry, "code") or has(entry, "templateName"), legacy or Form.CODE),
        (has(entry, "rule"), legacy or _form_of_rule(text_at(entry, "rule"))),
        (any(has(entry, key) for key in _ENGINE_KEYS), Form.CUSTOM),
        (is_text, Form.TEXT),
    )
    return next((form for is_so, form in found if is_so), Form.NONE)


def legacy_name(entry: Entry) -> str:
    """The rule's name in versions 2 and 3.0, by `code`, else `templateName`, else `rule`."""
    for key in ("code", "templateName", "rule"):
        found = _LEGACY_BY_FOLDED.get(text_at(entry, key).casefold())
        if found:
            return found
    return ""


def is_version_two(entry: Entry) -> bool:
    """Whether the rule has keys or values that only version 2 had."""
    by_code = text_at(entry, "code").casefold() in _LEGACY_BY_FOLDED
    by_method = text_at(entry, "type") in LEGACY_METHODS
    return by_code or by_method or any(key in entry for key in _V2_KEYS)


@cache
def codes() -> frozenset[str]:
    """Every name that `code` may have."""
    every = {"required", "sql", *METRICS, *PREDEFINED_TYPES, *LEGACY_NAMES, *check_names()}
    return frozenset(every)


def has(entry: Entry, key: str) -> bool:
    """Whether the key is there with a value."""
    return entry.get(key) not in (None, "")


def text_at(entry: Entry, key: str) -> str:
    """The text that the key has; '' if none."""
    found = entry.get(key)
    return found.strip() if isinstance(found, str) else ""


def _form_of_rule(given: str) -> Form:
    """`rule` held a metric's name or, in the wild, SQL over a row."""
    if given and not _NAME.fullmatch(given):
        return Form.PREDICATE
    return Form.CODE if given not in METRICS and given in codes() else Form.LIBRARY
