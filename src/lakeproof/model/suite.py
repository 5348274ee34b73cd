"""`QualityCheck`: a rule as people write it in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """One declared check. Nothing is validated here: a bad check becomes its own `error` result.

    `column_name` is one column, or a list of them for a composite key. `params` holds what the
    check type needs. `tolerance` is a share of rows, `absolute_tolerance` a number of rows;
    satisfying either is enough. `for_each_column` makes one rule of each listed column.
    `source` is where it was written, as `file:line`; whoever loads a file fills it in.
    """

    name: str
    check_type: str
    table_name: str
    column_name: str | Sequence[str] | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    filter: str | None = field(default=None, kw_only=True)
    severity: str | None = field(default=None, kw_only=True)
    tolerance: float | None = field(default=None, kw_only=True)
    absolute_tolerance: int | None = field(default=None, kw_only=True)
    tags: Sequence[str] = field(default=(), kw_only=True)
    dimension: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    for_each_column: Sequence[str] = field(default=(), kw_only=True)
    timeout_seconds: float | None = field(default=None, kw_only=True)
    criticality: str | None = field(default=None, kw_only=True)
    source: str = field(default="", kw_only=True, compare=False)


@runtime_checkable
class Comparing(Protocol):
    """A comparison of two tables, as the classes of `reconciliation` declare it."""

    def quality_check(self) -> QualityCheck:
        """The check that it stands for."""

    def frames(self) -> Mapping[str, Any]:
        """DataFrames, by the names that stand for them in the check."""
