"""The rows that a rule looks at: `filter_sql`, or `filter`, in whatever form the rule is."""

from __future__ import annotations

from collections.abc import Mapping

from lakeproof.contracts.engines.given import all_of
from lakeproof.errors import CheckDefinitionError

FILTER_KEYS = ("filter_sql", "filter")


def filter_in(*given: Mapping[str, object]) -> str | None:
    """What the mappings' filters ask together; None without one."""
    return all_of(*(_condition(key, one.get(key)) for one in given for key in FILTER_KEYS))


def _condition(key: str, found: object) -> str | None:
    if found is not None and not isinstance(found, str):
        raise CheckDefinitionError(f"{key} must be SQL over a row, got {found!r}")
    return found
