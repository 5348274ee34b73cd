"""Whether a table is read as it is stored, by Spark's own words for its plan.

Spark Connect gives no plan to look into. A catalog that filters rows or masks columns does it
while Spark resolves the table, so that EXPLAIN has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from lakeproof.engines.spark.chosen_files import NotPossibleError
from lakeproof.model.column import column_named
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS_MAX = 20
"""Spark cuts longer lists of columns in its words; what is cut could be anything."""

_RESOLVED = re.compile(r"== Analyzed Logical Plan ==\n[^\n]*\n(?P<nodes>.*?)\n\n==", re.DOTALL)
_RENAMED = re.compile(r" *\+- SubqueryAlias [^\n]*")
_STORED = re.compile(r" *\+- (RelationV2|Relation)\b[^\n]*")


def require_stored(spark: SparkSession, pinned: PinnedTable, names: Collection[str]) -> None:
    """Refuse a table of which Spark would not read these columns as the files have them."""
    known = {column.name for name in names if (column := column_named(pinned.columns, name))}
    asked = sorted(known) or [pinned.columns[0].name]
    for first in range(0, len(asked), _COLUMNS_MAX):
        some = asked[first : first + _COLUMNS_MAX]
        listed = ", ".join(map(quote, some))
        plan = spark.sql(f"EXPLAIN EXTENDED SELECT {listed} FROM {pinned.relation}").collect()
        if not is_bare(str(plan[0][0]), some):
            raise NotPossibleError(f"{pinned.table} is not read as it is stored")


def is_bare(plan: str, names: Sequence[str]) -> bool:
    """Whether the plan is one of these columns as they stand, and of a table right below."""
    found = _RESOLVED.search(plan)
    nodes = found["nodes"].split("\n") if found else []
    if len(nodes) < 2:  # noqa: PLR2004
        return False
    taken, *between, stored = nodes
    columns = ", ".join(rf"{re.escape(name)}#\d+L?" for name in names)
    return (
        re.fullmatch(rf"Project \[{columns}\]", taken) is not None
        and all(map(_RENAMED.fullmatch, between))
        and _STORED.fullmatch(stored) is not None
    )
