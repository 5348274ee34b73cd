"""What an Iceberg table's manifests say of its data files.

`readable_metrics` has the statistics by the names of the table's columns now. A snapshot may have
had other columns under these names: only a name that means the same column then and now is used.
A classic session opens the table first, which refuses a snapshot of other columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.flavour import is_connect
from lakeproof.engines.spark.pinning import table_of
from lakeproof.engines.spark.statistics.iceberg_names import unchanged_names
from lakeproof.engines.spark.statistics.stated import (
    UNKNOWN,
    Stated,
    StatedFiles,
    WantedColumns,
    can_partition,
    has_bounds,
    names_of,
)
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CUT_CHARACTERS = 16
"""Bounds of texts are cut to this length."""

_IS_VECTOR = "content = 1 AND file_format = 'PUFFIN' AND referenced_data_file IS NOT NULL"
"""A deletion vector: it names its data file, and its record count is that of deleted rows."""

_PATH_ID = 2_147_483_546
"""The id that Iceberg's specification gives the column of paths in a file of position deletes."""

_DELETED_FROM = f"""CASE WHEN content <> 1 THEN NULL
    WHEN referenced_data_file IS NOT NULL THEN referenced_data_file
    WHEN lower_bounds[{_PATH_ID}] = upper_bounds[{_PATH_ID}]
    THEN CAST(lower_bounds[{_PATH_ID}] AS STRING) END"""
"""The one data file whose rows are deleted; NULL where a delete file may be about several."""


@dataclass(frozen=True, slots=True)
class _Manifests:
    """The metadata tables of a table at a snapshot."""

    spark: SparkSession
    table: str
    snapshot_id: int

    def read(self, name: str) -> DataFrame:
        return self.spark.sql(f"SELECT * FROM {self.table}.{name} VERSION AS OF {self.snapshot_id}")


def stated_by_iceberg(
    spark: SparkSession, pinned: PinnedTable, wanted: WantedColumns
) -> StatedFiles:
    assert pinned.position is not None  # noqa: S101 (`file_facts` has looked)
    manifests = _Manifests(spark, table_of(pinned), pinned.position.value)
    files, live_rows = _files(manifests)
    usable = _usable(manifests, files, wanted)
    columns = {path: _stated(column) for path, column in usable.items()}
    partitions = _certain(manifests, files, _partition_columns(files, usable.values()))
    return StatedFiles(files, "file_path", "record_count", live_rows, columns, partitions)


def _files(manifests: _Manifests) -> tuple[DataFrame, str]:
    """The data files, and SQL of how many rows are left in one of them.

    Deletes by position may name a row twice, or one that is gone: then it is not known. Of files
    that no delete file can be about it is.
    """
    from pyspark.sql.functions import expr

    files = manifests.read("data_files")
    deletes = manifests.read("delete_files").selectExpr(
        f"{_DELETED_FROM} AS file_path", f"if({_IS_VECTOR}, record_count, NULL) AS deleted"
    )
    found = deletes.selectExpr("count(*) AS files", "count(file_path) AS named").collect()[0]
    if not found["files"]:
        return files, "record_count"
    if found["named"] < found["files"]:
        return files, UNKNOWN
    named = deletes.groupBy("file_path").agg(
        expr("count(*) AS _lakeproof_deletes"),
        expr("if(count(*) = 1, max(deleted), NULL) AS _lakeproof_deleted"),
    )
    left = "if(_lakeproof_deletes IS NULL, record_count, record_count - _lakeproof_deleted)"
    return files.join(named, "file_path", "left"), left


def _usable(manifests: _Manifests, files: DataFrame, wanted: WantedColumns) -> WantedColumns:
    """The columns that have metrics of their own type, under a name that is still theirs."""
    metrics = {field.name: field.dataType for field in _struct(files, "readable_metrics")}
    typed = {
        path: column
        for path, column in wanted.items()
        if _name(column) in metrics and _is_of_type(metrics[_name(column)], column)
    }
    if not is_connect(manifests.spark):
        return typed  # to open the table there refuses a snapshot of other columns
    names = {_name(column) for column in typed.values()}
    same = unchanged_names(manifests.spark, manifests.table, manifests.snapshot_id, names)
    return {path: column for path, column in typed.items() if _name(column) in same}


def _is_of_type(metric: Any, column: Column) -> bool:  # noqa: ANN401 (a type of pyspark)
    return bool(metric["lower_bound"].dataType.simpleString() == column.type_text)


def _struct(files: DataFrame, name: str) -> Iterable[Any]:
    """The fields of a struct; none if the table has no such column."""
    return files.schema[name].dataType if name in files.columns else ()  # type: ignore[return-value]


def _name(column: Column) -> str:
    return ".".join(names_of(column))


def _metric(column: Column, name: str) -> str:
    return f"readable_metrics.{quote(_name(column))}.{name}"


def _stated(column: Column) -> Stated:
    nulls = _count(column, "null_value_count")
    is_float = column.family is TypeFamily.FLOAT
    nans = _count(column, "nan_value_count") if is_float else "0L"
    if not has_bounds(column):
        return Stated(nulls, nans)
    low, high = _metric(column, "lower_bound"), _metric(column, "upper_bound")
    if is_float:
        low, high = (f"if(isnan({bound}), NULL, {bound})" for bound in (low, high))
    # ORC rounds moments.
    is_exact = "false" if column.family is TypeFamily.STRING else "file_format = 'PARQUET'"
    return Stated(nulls, nans, low, high, is_exact)


def _count(column: Column, name: str) -> str:
    """A count is one of rows only if every row was counted."""
    is_whole = f"{_metric(column, 'value_count')} = record_count"
    return f"if({is_whole}, {_metric(column, name)}, {UNKNOWN})"


def _partition_columns(files: DataFrame, columns: Iterable[Column]) -> list[Column]:
    """Those that a partition field has the name and type of: it is the column's value then."""
    fields = {field.name: field.dataType.simpleString() for field in _struct(files, "partition")}
    return [
        column
        for column in columns
        if can_partition(column) and fields.get(column.name) == column.type_text
    ]


def _certain(manifests: _Manifests, files: DataFrame, columns: list[Column]) -> Mapping[str, str]:
    """The values of the columns that have one value in each file, by their names.

    A file may be older than the partitioning. Its spec says whether it has the value as a
    partition, where specs can be had; else its metrics do.
    """
    if not columns:
        return {}
    specs = _identity_specs(manifests)
    found = {column: _one_value(column, specs.get(column.name, ())) for column in columns}
    tests = [f"bool_and({is_one})" for is_one, _ in found.values()]
    certain = files.selectExpr(*tests).collect()[0]
    return {
        column.name: f"CAST({value} AS {column.type_text})"
        for (column, (_, value)), is_certain in zip(found.items(), certain, strict=True)
        if is_certain is not False
    }


def _identity_specs(manifests: _Manifests) -> Mapping[str, Sequence[int]]:
    """By column the specs that have it as a partition field of its own name; none on Connect."""
    spark: Any = manifests.spark
    if is_connect(spark):
        return {}
    tables = spark._jvm.org.apache.iceberg.spark.Spark3Util  # noqa: SLF001
    table = tables.loadIcebergTable(spark._jsparkSession, manifests.table)  # noqa: SLF001
    found: dict[str, list[int]] = {}
    for spec_id, spec in table.specs().items():
        for field in spec.fields():
            name = table.schema().findColumnName(field.sourceId())
            if field.transform().isIdentity() and field.name() == name:
                found.setdefault(name, []).append(int(spec_id))
    return found


def _one_value(column: Column, specs: Sequence[int]) -> tuple[str, str]:
    """SQL of whether a file has one value of the column, and of that value."""
    nulls = _count(column, "null_value_count")
    low, high = _metric(column, "lower_bound"), _metric(column, "upper_bound")
    is_same = f"{nulls} = 0 AND {low} = {high}"
    if column.family is TypeFamily.STRING:
        is_same += f" AND length({low}) < {_CUT_CHARACTERS}"
    is_null = f"{nulls} = record_count AND {low} IS NULL"
    is_one = f"coalesce({is_null}, false) OR coalesce({is_same}, false)"
    if not specs:
        return is_one, low
    has_field = f"spec_id IN ({', '.join(map(str, specs))})"
    return f"{has_field} OR {is_one}", f"if({has_field}, partition.{quote(column.name)}, {low})"
