"""Engines by name, each in one spelling."""

from __future__ import annotations

from collections.abc import Mapping

OURS = "lakeproof"
_NAMES: Mapping[str, str] = {
    "greatexpectations": "greatExpectations",
    "gx": "greatExpectations",
    "sodacl": "soda",
    "sodacore": "soda",
    "soda": "soda",
    "dbt": "dbt",
    "dbtcore": "dbt",
    "lakeproof": OURS,
    "montecarlo": "montecarlo",
    "dqx": "dqx",
}
KNOWN = frozenset(_NAMES.values())
"""Engines that are known by name, whether we run their rules or not."""
NATIVE = ("dbt", "greatExpectations", OURS, "soda")
"""Engines whose rules run as checks of ours."""


def engine_named(given: str) -> str:
    """The engine in our spelling: great-expectations and Great Expectations are one."""
    folded = "".join(letter for letter in given.lower() if letter.isalnum())
    return _NAMES.get(folded, given.strip())
