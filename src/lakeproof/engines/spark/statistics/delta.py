"""What a Delta table's log says of its data files.

A file's statistics are JSON under the physical names of the columns. Partition columns have none:
their values stand beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.statistics.delta_log import DeltaLog, json_stats_sql, read_log
from lakeproof.engines.spark.statistics.stated import (
    UNKNOWN,
    NoStatisticsError,
    Stated,
    StatedFiles,
    WantedColumns,
    can_partition,
    has_bounds,
    names_of,
    path_sql,
)
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_TYPE_CHANGES = "delta.typeChanges"
_CHAR_TYPES = "__CHAR_VARCHAR_TYPE_STRING"
_CHAR = re.compile(r"(?<!var)char\(", re.IGNORECASE)
_CUT_BYTES = 32
"""A highest text of this length or more may be cut, and then it is no upper bound."""

_TIGHT = "coalesce(stats.tightBounds, true)"
_ROWS = "stats.numRecords"
_WITH_ZONE = "(Z|[+-][0-9]{2}:[0-9]{2}(:[0-9]{2})?)$"
_WALL_TIME = "^[0-9]{4,6}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+$"
_DAY = "^[0-9]{4,6}-[0-9]{2}-[0-9]{2}$"
_WHOLE_MINUTES_SINCE = "TIMESTAMP_LTZ '1973-01-01 00:00:00Z'"
"""Before, some zones were off by seconds, which the text of a moment leaves out."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A column as the log knows it: by its physical path."""

    column: Column
    physical: tuple[str, ...]
    is_partition: bool
    has_bounds: bool

    @property
    def json_type(self) -> str:
        """Moments are read as text: only then is it seen whether they have a zone."""
        return self.column.type_text if self.column.family.is_number else "STRING"


def stated_by_delta(spark: SparkSession, pinned: PinnedTable, wanted: WantedColumns) -> StatedFiles:
    if pinned.position is None:
        raise NoStatisticsError(f"{pinned.table} is not read at a version")
    location = pinned.location or _location(spark, pinned)
    log = read_log(spark, location, pinned.position.value)
    stored = {path: _stored(log, column) for path, column in wanted.items()}
    usable = {path: one for path, one in stored.items() if one is not None}
    measured = [one for one in usable.values() if not one.is_partition]
    files = log.files.selectExpr("*", f"{json_stats_sql('stats', _ddl(measured))} AS parsed")
    return StatedFiles(
        files=files.drop("stats").withColumnRenamed("parsed", "stats"),
        path="path",
        rows=_ROWS,
        live_rows=f"if(vector = '', {_ROWS}, {_ROWS} - deleted)",
        columns={path: _stated(one) for path, one in usable.items()},
        partitions={
            one.column.name: _partition_value(one) for one in usable.values() if one.is_partition
        },
    )


def _location(spark: SparkSession, pinned: PinnedTable) -> str:
    return str(spark.sql(f"DESCRIBE DETAIL {pinned.table.sql}").collect()[0]["location"])


def _stored(log: DeltaLog, column: Column) -> _Stored | None:
    """None for what the log has no statistics of, such as a partition by moments."""
    chain = _chain(log.fields, names_of(column))
    if chain is None:
        return None
    is_partition = column.name in log.partition_columns and not column.path
    is_char = any(_CHAR.search(_metadata(field).get(_CHAR_TYPES, "")) for field in chain)
    if is_partition and (is_char or not can_partition(column)):
        return None
    # A FLOAT that became DOUBLE has another value than the text of its bound.
    is_changed = any(_TYPE_CHANGES in _metadata(field) for field in chain)
    is_comparable = not is_changed or column.family is TypeFamily.INTEGER
    physical = tuple(str(_metadata(field).get(_PHYSICAL_NAME, field["name"])) for field in chain)
    return _Stored(
        column, physical, is_partition, has_bounds(column) and is_comparable and not is_char
    )


def _chain(
    fields: Sequence[Mapping[str, Any]], path: tuple[str, ...]
) -> list[Mapping[str, Any]] | None:
    """The fields of the schema that lead to a column, outermost first."""
    chain: list[Mapping[str, Any]] = []
    for name in path:
        found = [field for field in fields if field["name"] == name]
        if not found:
            return None
        chain.append(found[0])
        kind = found[0]["type"]
        fields = kind.get("fields", ()) if isinstance(kind, dict) else ()
    return chain


def _metadata(field: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = field.get("metadata") or {}
    return found


def _ddl(stored: Sequence[_Stored]) -> str:
    """The type of the statistics: only what is asked for is read of the text."""
    bounds = _struct({one.physical: one.json_type for one in stored if one.has_bounds})
    nulls = _struct({one.physical: "BIGINT" for one in stored})
    return (
        "STRUCT<numRecords: BIGINT, tightBounds: BOOLEAN, "
        f"nullCount: {nulls}, minValues: {bounds}, maxValues: {bounds}>"
    )


def _struct(leaves: Mapping[tuple[str, ...], str]) -> str:
    """The type of a struct with these leaves by their paths."""
    inner: dict[str, dict[tuple[str, ...], str]] = {}
    for (head, *rest), kind in leaves.items():
        inner.setdefault(head, {})[tuple(rest)] = kind
    parts = [f"{quote(head)}: {found.get(()) or _struct(found)}" for head, found in inner.items()]
    return f"STRUCT<{', '.join(parts)}>"


def _stated(one: _Stored) -> Stated:
    if one.is_partition:
        value = _partition_value(one)
        nulls = f"if({value} IS NULL, {_ROWS}, 0L)"
        return Stated(nulls, low=value, high=value, is_exact="true")
    count = f"stats.nullCount.{path_sql(one.physical)}"
    # Without tight bounds a count is sure only if none or all are NULL.
    nulls = f"if({_TIGHT} OR {count} = 0 OR {count} = {_ROWS}, {count}, {UNKNOWN})"
    is_float = one.column.family is TypeFamily.FLOAT
    if not one.has_bounds:
        return Stated(nulls, nans=UNKNOWN if is_float else "0L")
    low, high = (f"stats.{side}.{path_sql(one.physical)}" for side in ("minValues", "maxValues"))
    # That the maximum is no NaN proves nothing: a writer who copies Parquet's leaves NaN out.
    nans = f"CASE WHEN {nulls} = {_ROWS} THEN 0L WHEN isnan({high}) THEN 1L END"
    low, high = _bounds(one.column.family, low, high)
    is_rounded = one.column.family in {
        TypeFamily.STRING,
        TypeFamily.TIMESTAMP,
        TypeFamily.TIMESTAMP_NTZ,
    }
    return Stated(nulls, nans if is_float else "0L", low, high, "false" if is_rounded else _TIGHT)


def _bounds(family: TypeFamily, low: str, high: str) -> tuple[str, str]:
    match family:
        case TypeFamily.FLOAT:  # NaN is above every number
            return f"if(isnan({low}), NULL, {low})", f"if(isnan({high}), NULL, {high})"
        case TypeFamily.STRING:
            return low, f"if(octet_length({high}) < {_CUT_BYTES}, {high}, NULL)"
        case TypeFamily.DATE:
            return _moment(low, "DATE", _DAY), _moment(high, "DATE", _DAY)
        case TypeFamily.TIMESTAMP:
            low, high = (_moment(text, "TIMESTAMP_LTZ", _WITH_ZONE) for text in (low, high))
            return _moved(low, "-"), _moved(high, "+")
        case TypeFamily.TIMESTAMP_NTZ:
            low, high = (_moment(text, "TIMESTAMP_NTZ", _WALL_TIME) for text in (low, high))
            return f"timestampadd(MILLISECOND, -1, {low})", f"timestampadd(MILLISECOND, 1, {high})"
        case _:
            return low, high


def _moment(text: str, kind: str, pattern: str) -> str:
    return f"if({text} RLIKE '{pattern}', try_cast({text} AS {kind}), NULL)"


def _moved(moment: str, sign: str) -> str:
    """Moments are rounded to milliseconds, old ones to minutes."""
    by = f"if({moment} < {_WHOLE_MINUTES_SINCE}, {sign}60000, {sign}1)"
    return f"timestampadd(MILLISECOND, {by}, {moment})"


def _partition_value(one: _Stored) -> str:
    """An empty text stands for NULL."""
    text = f"partition_values[{text_literal(one.physical[0]).sql('spark')}]"
    return f"try_cast(nullif({text}, '') AS {one.column.type_text})"
