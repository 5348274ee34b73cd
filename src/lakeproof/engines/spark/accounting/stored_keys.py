"""The keys of one partition as storage holds them now, whatever form they are kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.file_inputs import partition_names
from lakeproof.engines.spark.accounting.literal_paths import literal_path
from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    SOURCE,
    WEIGHT,
    key_columns,
    key_sql,
    read_key_sql,
    text_sql,
)
from lakeproof.errors import LakeproofError, LedgerError, message_without_values
from lakeproof.model.accounting import (
    NO_KEY,
    AdjointType,
    DatasetPosition,
    FileDigest,
    KeyColumn,
    OutputPartition,
)
from lakeproof.model.column import folded
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest
from lakeproof.model.stored_format import stored_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SOURCE_KEY: Final = "source_key"
_HIDDEN_SCHEMA: Final = {KEY: "string", WEIGHT: "int", SOURCE: "string"}
_TABLE_SCHEMA: Final = {SOURCE_KEY: "string", WEIGHT: "int", SOURCE: "string"}
MORPHISM_PATH: Final = "morphism_path"
KINDS_OF_ERROR: Final = ("error_type", MORPHISM_PATH, "error_code")
_ERROR_SCHEMA: Final = _TABLE_SCHEMA | dict.fromkeys(KINDS_OF_ERROR, "string")


@dataclass(frozen=True, slots=True)
class Stored:
    """A partition's rows and what pins them. Without a frame there is nothing on storage."""

    position: DatasetPosition
    frame: DataFrame | None = None


def open_files(
    spark: SparkSession,
    partition: OutputPartition,
    path: str,
    files: Sequence[FileDigest],
    key: Sequence[KeyColumn],
) -> Stored:
    """The files of a partition; an absent or empty folder is a partition without records."""
    position = DatasetPosition(
        kind="files",
        location=partition.adjoint_location,
        format=stored_format(partition, files),
        options=_options_of(partition),
        files=tuple(files),
    )
    if not files:
        return Stored(position)
    try:
        frame = _read(spark, partition, literal_path(path), position, key)
        schema = frame.schema  # Connect asks the server only now
    except LakeproofError:
        raise
    except Exception as problem:
        raise unreadable(partition, problem) from problem
    if partition.adjoint_type is AdjointType.PassThrough:
        position = replace(position, schema_text=schema.json())
    return Stored(position, frame)


def unreadable(partition: OutputPartition, problem: Exception) -> LedgerError:
    """Storage that fails is no finding about records: nothing can be said of them."""
    return LedgerError(
        f"partition {partition.name} at {partition.adjoint_location} cannot be read: "
        f"{message_without_values(problem)}. Mend or restore the files, then verify again"
    )


def _options_of(partition: OutputPartition) -> Mapping[str, str]:
    return dict(partition.position.options) if partition.position else {}


def _read(
    spark: SparkSession,
    partition: OutputPartition,
    path: str,
    position: DatasetPosition,
    key: Sequence[KeyColumn],
) -> DataFrame:
    is_output = partition.adjoint_type is AdjointType.PassThrough
    if position.format == "json":
        # A schema of our own: nothing is inferred, and a line that cannot be parsed has no key.
        is_error = partition.adjoint_type is AdjointType.ErrorRecords
        ours = _ERROR_SCHEMA if is_error else _TABLE_SCHEMA
        types = _declared(key) | _HIDDEN_SCHEMA if is_output else ours
        reader = spark.read.schema(_ddl(types)).options(**position.options)
        return reader.json(path)
    if position.format == "csv":
        return _read_csv(spark, partition, path, position, key)
    frame = spark.read.format(position.format).options(**position.options).load(path)
    if partition.adjoint_type is AdjointType.GroupCommitments:
        return frame
    # Spark makes numbers of folders' names where it can: `key=001` would be the key 1.
    folders = {folded(name) for name in partition_names(position.files)}
    declared = {folded(name): text for name, text in _declared(key).items()}
    types = {name: text for name, text in declared.items() if name in folders}
    if not is_output or not types:
        return frame
    schema = _retyped(frame.schema, types)
    return spark.read.format(position.format).options(**position.options).schema(schema).load(path)


def _read_csv(
    spark: SparkSession,
    partition: OutputPartition,
    path: str,
    position: DatasetPosition,
    key: Sequence[KeyColumn],
) -> DataFrame:
    """Texts by the header's names, or by the schema that was given, then cast as the source's."""
    from pyspark.sql.types import StructType

    options = {"header": "true"} | {name.lower(): text for name, text in position.options.items()}
    options["inferschema"] = "false"
    reader = spark.read.options(**options)
    given = partition.position.schema_text if partition.position else ""
    if given:
        fields = StructType.fromJson(json.loads(given)).fields
        reader = reader.schema(_ddl(dict.fromkeys((field.name for field in fields), "string")))
    elif options["header"].lower() != "true":
        raise LedgerError(
            f"partition {partition.name}: {partition.adjoint_location} is CSV without a header. "
            "Give its columns as `schema_text` of the partition's position"
        )
    frame = reader.csv(path)
    if not given and partition_names(position.files):
        frame = reader.schema(_ddl(dict.fromkeys(frame.columns, "string"))).csv(path)
    types = {folded(name): text for name, text in _declared(key).items()}
    return frame.selectExpr(
        *(
            f"try_cast({quote(name)} AS {types.get(folded(name), 'string')}) AS {quote(name)}"
            for name in frame.columns
        )
    )


def _declared(key: Sequence[KeyColumn]) -> dict[str, str]:
    return {column.name: column.type_text for column in key}


def _ddl(types: Mapping[str, str]) -> str:
    return ", ".join(f"{quote(name)} {text}" for name, text in types.items())


def _retyped(schema: StructType, types: Mapping[str, str]) -> str:
    return _ddl(
        {
            field.name: types.get(folded(field.name), field.dataType.simpleString())
            for field in schema.fields
        }
    )


def keys_in(frame: DataFrame, partition: OutputPartition, key: Sequence[KeyColumn]) -> DataFrame:
    """`source_key`, never NULL, and `weight` of each row that belongs to the partition's source."""
    is_output = partition.adjoint_type is AdjointType.PassThrough
    text = _output_key(frame, partition, key) if is_output else _table_key(frame, partition)
    weight, source = (_hidden(frame, name) or "NULL" for name in (WEIGHT, SOURCE))
    if partition.source and source != "NULL":
        # A row that names no source is of the partition's own.
        own = text_sql(partition.source)
        frame = frame.where(f"coalesce({source}, {own}) = {own}")
    if partition.morphism_path:
        (path,) = _columns_of(frame, partition, [MORPHISM_PATH])
        frame = frame.where(f"startswith({quote(path.name)}, {text_sql(partition.morphism_path)})")
    return frame.selectExpr(
        f"coalesce({text}, '{NO_KEY}') AS {SOURCE_KEY}",
        f"{counted_sql(weight)} AS weight",
    )


def counted_sql(weight: str) -> str:
    """1 for a row that accounts for its record, 0 for another of the same record."""
    return f"if(try_cast({weight} AS DOUBLE) = 0, 0, 1)"


def _hidden(frame: DataFrame, name: str) -> str | None:
    """SQL of a hidden column in the frame's own letter case; None if it is not there."""
    alike = [known for known in frame.columns if folded(known) == name]
    return quote(name if name in alike else alike[0]) if alike else None


def _output_key(frame: DataFrame, partition: OutputPartition, key: Sequence[KeyColumn]) -> str:
    """What was carried from the source wins over key columns, which a pipeline may have changed."""
    named = [column.name for column in key]
    there = {folded(name) for name in frame.columns}
    carried = _hidden(frame, KEY)
    if carried and not all(folded(name) in there for name in named):
        return carried
    text = key_sql(_columns_of(frame, partition, named))
    return f"coalesce({carried}, {text})" if carried else text


def _table_key(frame: DataFrame, partition: OutputPartition) -> str:
    (column,) = _columns_of(frame, partition, [SOURCE_KEY])
    # Our own tables hold the text already; one made by hand may hold the bare value.
    if column.type_text != "string":
        return key_sql([column])
    is_error = partition.adjoint_type is AdjointType.ErrorRecords
    return read_key_sql(quote(column.name)) if is_error else quote(column.name)


def _columns_of(
    frame: DataFrame, partition: OutputPartition, names: Sequence[str]
) -> tuple[KeyColumn, ...]:
    there = {folded(name) for name in frame.columns}
    for name in names:
        if folded(name) not in there:
            near = nearest(name, frame.columns)
            told = f"Nearest: {', '.join(near)}" if near else f"It has: {', '.join(frame.columns)}"
            raise LedgerError(
                f"partition {partition.name}: {partition.adjoint_location} has no column "
                f"{name!r}. {told}. Keep the key in the output, or {KEY}"
            )
    return key_columns(frame.schema, names)


def retyped_columns(
    frame: DataFrame, partition: OutputPartition, key: Sequence[KeyColumn]
) -> tuple[str, ...]:
    """Key columns of an output that have another type than at the source, told in words.

    Their texts may be equal all the same; where keys come out unknown, this may be why.
    """
    found = {folded(field.name): field.dataType.simpleString() for field in frame.schema.fields}
    return tuple(
        f"partition {partition.name}: key column {column.name} is {found[folded(column.name)]} "
        f"there and {column.type_text} in the input"
        for column in key
        if found.get(folded(column.name), column.type_text) != column.type_text
    )
