"""What all comparisons of two tables have in common, as people declare them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from lakeproof.checks.catalogue import find_check
from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of_entry
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName
from lakeproof.model.pairing import PairFound
from lakeproof.model.places import FILES, place_named
from lakeproof.model.rule import RejectedRule
from lakeproof.model.suite import QualityCheck
from lakeproof.reconciliation.result import QualityCheckResult, result_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeproof.planning.partitions import Partition
    from lakeproof.running.progress import Listener

Table: TypeAlias = "str | os.PathLike[str] | DataFrame"
"""A table's name, the path of files, or a DataFrame."""

_FRAMES = "frame"
"""The first part in the name of a DataFrame: `frame.<check>.source`."""


@dataclass(frozen=True, slots=True)
class PairOfTables:
    """A source and a target that should agree; what is wrong with the arguments is raised here.

    `where_clause` filters the source, `target_where_clause` the target. `tolerance` is a share,
    `absolute_tolerance` a number; satisfying either is enough. `on_empty` says what is made of
    nothing to compare. Its `name` is made of what is compared unless one is given: in one suite,
    names must differ.
    """

    source_table: Table
    target_table: Table
    _: KW_ONLY
    name: str = ""
    where_clause: str | None = None
    target_where_clause: str | None = None
    partition_column: str | None = None
    tolerance: float = 0.0
    absolute_tolerance: float | None = None
    on_empty: str = "warn"
    severity: str = "error"
    tags: Sequence[str] = ()
    description: str | None = None
    timeout_seconds: float | None = None

    kind: ClassVar[str]
    title: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if self.name == "":
            object.__setattr__(self, "name", self.default_name())
        for rule in rules_of_entry(self.quality_check(), 1, Config()):
            if isinstance(rule, RejectedRule):
                raise CheckDefinitionError(rule.reason)

    @property
    def metric_name(self) -> str:
        return f"{self.kind}_check"

    def default_name(self) -> str:
        """What the check is called unless a name is given."""
        return f"{self.kind}_{_label(_require_table('source_table', self.source_table))}"

    def quality_check(self) -> QualityCheck:
        """The same as a check of a suite, on the target."""
        check = find_check(self.kind)
        params: dict[str, object] = {"source_table": self._table("source", self.source_table)}
        for parameter in check.parameters:
            name = parameter.name
            if name not in {"source_table", "partition"}:
                value = self.argument(name)
                params |= {} if _is_same(value, parameter.default) else {name: value}
        return QualityCheck(
            self.name,
            self.kind,
            self._table("target", self.target_table),
            column_name=self.compared_columns(),
            params=params,
            filter=self.target_where_clause,
            severity=self.severity,
            tags=self.tags,
            description=self.description,
            timeout_seconds=self.timeout_seconds,
            **({} if check.holds_tolerance else self._tolerances()),
        )

    def frames(self) -> Mapping[str, DataFrame]:
        """The DataFrames by the names that stand for them in `quality_check()`."""
        sides: dict[str, Any] = {"source": self.source_table, "target": self.target_table}
        return {
            self._table(side, table): table for side, table in sides.items() if _is_frame(table)
        }

    def run(
        self,
        spark: SparkSession,
        partition: Partition | None = None,
        *,
        config: Config | None = None,
        listener: Listener | None = None,
    ) -> QualityCheckResult:
        """Compare now. Nothing is kept; bad data and an unreadable side are results.

        `partition` is the value of `partition_column`; without it the full tables are compared.
        """
        from lakeproof.preparing import (
            compare_one,
        )  # it loads pyspark, which a declaration needs not
        from lakeproof.running.progress import ignore

        result, found = compare_one(
            spark, self, partition=partition, config=config, listener=listener or ignore
        )
        numbers = {} if found is None else self.numbers(found)
        return result_of(self.metric_name, self.title, numbers, result, found)

    def argument(self, name: str) -> object:
        """The value of the check's parameter of that name."""
        return getattr(self, name)

    def compared_columns(self) -> str | Sequence[str] | None:
        """The columns that are compared; None if that is not for this check to say."""
        return None

    def numbers(self, found: PairFound) -> Mapping[str, int | float | None]:
        """What the result's metric_value holds."""
        return {name: found.numbers.get(name) for name in self.metrics}

    def _tolerances(self) -> dict[str, Any]:
        """As a suite has them: there, no tolerance is none at all."""
        return {
            "tolerance": None if _is_same(self.tolerance, 0.0) else self.tolerance,
            "absolute_tolerance": self.absolute_tolerance,
        }

    def _table(self, side: str, table: object) -> str:
        """The text that names a side in a suite."""
        given = _require_table(f"{side}_table", table)
        if isinstance(given, str):
            return given
        return str(TableName((_FRAMES, self.name, side)))


def _require_table(field: str, given: object) -> str | None:
    """The name or path as text; None for a DataFrame."""
    if _is_frame(given):
        return None
    if isinstance(given, os.PathLike):
        path = os.fspath(given)
        # Without a slash it would be taken for the name of a table.
        return path if "/" in path else f"./{path}"
    if isinstance(given, str) and given.strip():
        return given
    raise CheckDefinitionError(
        f"{field} must be the name of a table, the path of files or a DataFrame, got {given!r}"
    )


def _is_frame(given: object) -> bool:
    """Known by what it can do: a session of Connect has DataFrames of another class."""
    return hasattr(given, "createOrReplaceTempView")


def _is_same(value: object, default: object) -> bool:
    """Also by type: to Python False equals 0."""
    return value == default and type(value) is type(default)


def _label(table: str | None) -> str:
    """What a table is called within a name: `bronze.orders` is `bronze_orders`."""
    if table is None:
        return "dataframe"
    place = place_named(table)
    if place.catalog == FILES:
        return re.sub(r"\W+", "_", place.short).strip("_")
    return "_".join(place.parts).replace(".", "_")
