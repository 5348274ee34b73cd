"""Inputs of files: listed and digested once, and read by that list from then on.

A folder is read with everything below it. Folders called `name=value` are columns; their values
are text unless the schema says otherwise, for Spark would turn '001' into the number 1.
"""

from __future__ import annotations

import os.path
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakeproof.checks.value_lists import values_text
from lakeproof.engines.spark.accounting.input_options import (
    LINE_FORMATS,
    checked_format,
    checked_options,
    is_on,
)
from lakeproof.engines.spark.accounting.literal_paths import literal_path
from lakeproof.engines.spark.accounting.pinned_inputs import (
    FirstReading,
    KeylessRecords,
    keyed,
    refuse_hidden_names,
    telling,
)
from lakeproof.engines.spark.accounting.source_keys import (
    FILE_SYSTEM,
    KEY,
    RAW,
    key_sql,
    null_key_sql,
    parquet_position_sql,
    relative_path_sql,
)
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import DatasetPosition, FileDigest, KeyColumn
from lakeproof.model.column import folded
from lakeproof.model.names import quote
from lakeproof.model.partition_folders import partition_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeproof.accounting.storage import Storage


@dataclass(frozen=True, slots=True)
class FileInput:
    """Parquet files, by the list of them. `root` is the folder that their paths begin from."""

    spark: SparkSession
    position: DatasetPosition
    schema: StructType
    root: str
    storage: Storage

    def plain_frame(self) -> DataFrame:
        return self.read(self.position.files, self.schema)

    def moved(self) -> str:
        """Files that changed or are gone. New ones are no part of the input."""
        now = {file.path: file for file in self.storage.files(self.position.location)}
        gone = [file.path for file in self.position.files if file.path not in now]
        changed = [
            file.path
            for file in self.position.files
            if file.path in now and replace(now[file.path], sha256=file.sha256) != file
        ]
        told = ((changed, "changed"), (gone, "gone"))
        return "; ".join(f"{what}: {values_text(paths)}" for paths, what in told if paths)

    def first_reading(self, columns: Sequence[KeyColumn]) -> FirstReading:
        key = key_sql(columns)
        return FirstReading(self.keyable_frame(columns), key, key)

    def frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        key = key_sql(columns)
        if keyless.others:
            key = f"coalesce({key}, {self._place})"
        return keyed(self.keyable_frame(columns), key)

    def keyless_frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        return (
            self.keyable_frame(columns)
            .where(null_key_sql(columns))
            .selectExpr(f"{self._place} AS {KEY}")
        )

    @property
    def _place(self) -> str:
        return parquet_position_sql(relative_path_sql(self.root), "_metadata.row_index")

    def keyable_frame(self, columns: Sequence[KeyColumn]) -> DataFrame:
        """The input with its key, which it has even where nothing tells its columns."""
        return self.read(self.position.files, self.columns_or(columns))

    def columns_or(self, columns: Sequence[KeyColumn]) -> StructType:
        """The schema, or where nothing tells it the key alone, as text."""
        from pyspark.sql.types import StringType, StructType

        schema = StructType()
        for column in columns:
            schema = schema.add(column.name, StringType())
        return self.schema if self.schema.fields else schema

    def read(
        self,
        files: Sequence[FileDigest],
        schema: StructType,
        format_name: str = "",
        options: Mapping[str, str] | None = None,
    ) -> DataFrame:
        """These files under this schema, its columns in that order."""
        options = self.position.options if options is None else options
        reader = self.spark.read.format(format_name or self.position.format).schema(schema)
        reader = reader.options(**options).option("basePath", self.root)
        if files:
            frame = reader.load(_paths(self.root, files))
        else:
            # Not the folder as it is: a file may appear there.
            frame = reader.load(literal_path(self.position.location)).where("false")
        return frame.select(*map(quote, schema.names))


def _paths(root: str, files: Sequence[FileDigest]) -> list[str]:
    return [literal_path(f"{root}/{file.path}") for file in files]


def pin_files(
    spark: SparkSession,
    location: str,
    *,
    format: str,  # noqa: A002 (as Spark's readers call it)
    schema: StructType | str | None,
    options: Mapping[str, object],
    storage: Storage,
) -> FileInput:
    """The files that are there now, with their digests."""
    from lakeproof.engines.spark.accounting.line_inputs import LineInput

    place = _normal(location)
    format_name = checked_format(format)
    texts = checked_options(spark, options)
    if not storage.exists(place):
        raise LedgerError(f"there is no input at {place}: mend the path, or name a table")
    files = storage.digest(place, storage.files(place))
    root = place if storage.is_folder(place) else place.rpartition("/")[0]
    with telling(place):
        found = _schema(spark, root, files, schema, (format_name, texts))
    if format_name in LINE_FORMATS and "timestamp" in found.simpleString():
        zone = {"timeZone": str(spark.conf.get("spark.sql.session.timeZone"))}
        texts = texts if any(name.lower() == "timezone" for name in texts) else {**texts, **zone}
    position = DatasetPosition(
        kind="files",
        location=place,
        format=format_name,
        schema_text=found.json(),
        options=texts,
        files=files,
    )
    kind = LineInput if format_name in LINE_FORMATS else FileInput
    return kind(spark, position, found, root, storage)


def _normal(location: str) -> str:
    """An absolute path without a slash at its end: what Spark says of a file is held against it."""
    system = re.match(FILE_SYSTEM, location)
    if system is None:
        return os.path.abspath(location)  # noqa: PTH100 (a path of Spark's, not of this system)
    return system[0] + posixpath.normpath(location[system.end() :] or "/")


def _schema(
    spark: SparkSession,
    root: str,
    files: Sequence[FileDigest],
    declared: StructType | str | None,
    reading: tuple[str, Mapping[str, str]],
) -> StructType:
    """The declared schema, or the one that Spark infers; then the columns that folders tell."""
    from pyspark.sql.types import StringType, StructField, StructType

    format_name, options = reading
    names = [] if is_on(options, "recursiveFileLookup") else partition_names(files)
    if isinstance(declared, str):
        parsed: Any = StructType.fromDDL(declared)
        fields = parsed.fields
    elif declared is not None:
        fields = declared.fields
    else:
        fields = _inferred(spark, root, files, format_name, options).fields if files else []
        told = {RAW, *map(folded, names)}
        fields = [field for field in fields if folded(field.name) not in told]
    known = {folded(field.name) for field in fields}
    fields += [StructField(name, StringType()) for name in names if folded(name) not in known]
    schema = StructType(fields)
    corrupt = str(spark.conf.get("spark.sql.columnNameOfCorruptRecord", "_corrupt_record"))
    if corrupt in schema.names and format_name in LINE_FORMATS:
        raise LedgerError(
            f"the schema has the column {corrupt!r} for malformed records: leave it out, for the "
            f"ledger keeps their lines in {RAW}"
        )
    refuse_hidden_names(schema, ["_metadata"])
    return schema


def _inferred(
    spark: SparkSession,
    root: str,
    files: Sequence[FileDigest],
    format_name: str,
    options: Mapping[str, str],
) -> StructType:
    reader = spark.read.format(format_name).options(**options).option("basePath", root)
    if format_name in LINE_FORMATS:
        reader = reader.option("columnNameOfCorruptRecord", RAW)
    return reader.load(_paths(root, files)).schema


def partition_names(files: Iterable[FileDigest]) -> list[str]:
    """The columns that folders called `name=value` stand for, outermost first."""
    return list(dict.fromkeys(name for file in files for name in partition_values(file.path)))
