"""Inputs of JSON and CSV: a record is a line.

Spark's own readers are three to five times faster than parsing text, but they show the line only
of a malformed record. So lines are read as text in those files alone that hold well-formed records
without a key, and there only for the records that have none. Whether a record has a key does not
depend on which columns a query reads; whether it is malformed does, which is why `_lakeproof_raw`
refers to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final
from zlib import crc32

from lakeproof.engines.spark.accounting.file_inputs import FileInput, partition_names
from lakeproof.engines.spark.accounting.pinned_inputs import FirstReading, KeylessRecords
from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    RAW,
    key_sql,
    line_position_sql,
    null_key_sql,
    relative_path_sql,
    whole_characters_sql,
)
from lakeproof.model.accounting import FileDigest, KeyColumn
from lakeproof.model.column import folded
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

_LINE: Final = "_lakeproof_line"
_WHOLE: Final = "_lakeproof_whole"
_PARSED: Final = "_lakeproof_parsed"
_ARRAY: Final = "_lakeproof_array"
_CLASSES: Final = 64
_UNUSED_SEPARATOR: Final = "\x01"
_LINE_OPTIONS: Final = {"linesep", "header", "comment", "encoding", "charset"}
# No JSON text may hold this character as it is, so a parser stops there.
_NO_CHARACTER: Final = "\x01"
_OPENS_ARRAY: Final = r"^[ \t\r\n]*\["


def _class_of(file: FileDigest) -> int:
    """Files in a few classes: a set of them is one number, which Spark can aggregate."""
    return crc32(file.path.encode()) % _CLASSES


class LineInput(FileInput):
    """JSON or CSV files, by the list of them."""

    __slots__ = ()

    def first_reading(self, columns: Sequence[KeyColumn]) -> FirstReading:
        key = key_sql(columns)
        return FirstReading(
            frame=self._native(self.position.files, columns),
            key=key,
            identity=f"coalesce({key}, {self._malformed_place(columns)})",
            file_class=f"pmod(crc32({relative_path_sql(self.root)}), {_CLASSES})",
        )

    def frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        with_lines, others = self._split(keyless)
        key = key_sql(columns)
        frames = []
        if others or not with_lines:
            place = (
                f"coalesce({key}, {self._malformed_place(columns)})" if keyless.malformed else key
            )
            frames.append(self._told(self._guarded(others, columns, keyless), place))
        if with_lines:
            native = self._guarded(with_lines, columns, keyless)
            has_key = native.where(f"NOT ({null_key_sql(columns)})")
            frames += [self._told(has_key, key), self._keyless_lines(with_lines, columns)]
        return reduce(lambda one, two: one.union(two), frames)

    def keyless_frame(self, columns: Sequence[KeyColumn], keyless: KeylessRecords) -> DataFrame:
        with_lines, others = self._split(keyless)
        frame = self._keyless_lines(with_lines, columns).select(KEY)
        if not keyless.malformed:
            return frame
        malformed = self._guarded(others, columns, keyless).where(null_key_sql(columns))
        return frame.union(malformed.selectExpr(f"{self._malformed_place(columns)} AS {KEY}"))

    def _malformed_place(self, columns: Sequence[KeyColumn]) -> str:
        """SQL of the identity of a malformed line.

        To see that it is one Spark must read a column of it: one of the key, or, where folders
        alone tell the key, all.
        """
        of_folders = self._folder_columns
        in_line = any(folded(column.name) not in of_folders for column in columns)
        raw = quote(RAW) if in_line else _whole_raw(self.columns_or(columns).names)
        return line_position_sql(relative_path_sql(self.root), raw)

    @property
    def _folder_columns(self) -> set[str]:
        return set(map(folded, partition_names(self.position.files)))

    def _split(self, keyless: KeylessRecords) -> tuple[list[FileDigest], list[FileDigest]]:
        """The files of which lines are read, and the others."""
        with_lines: list[FileDigest] = []
        others: list[FileDigest] = []
        for file in self.position.files:
            is_among = keyless.file_classes >> _class_of(file) & 1
            (with_lines if is_among else others).append(file)
        return with_lines, others

    def _native(self, files: Sequence[FileDigest], columns: Sequence[KeyColumn]) -> DataFrame:
        """The files by Spark's own reader, with the raw line of what could not be parsed."""
        options = {**self.position.options, "columnNameOfCorruptRecord": RAW}
        return self.read(files, _with_raw(self.columns_or(columns)), options=options)

    def _guarded(
        self, files: Sequence[FileDigest], columns: Sequence[KeyColumn], keyless: KeylessRecords
    ) -> DataFrame:
        """The same, with no filter handed down to the reader if lines break off.

        Given `price IS NULL`, Spark's JSON reader stops at a price and never sees that the line
        breaks off behind it: that record, all NULL, would be in no answer. So columns are terms,
        which it takes for no columns of its own; no raw line is empty, so no value changes.
        """
        native = self._native(files, columns)
        if self.position.format != "json" or not keyless.malformed:
            return native
        as_they_are = {folded(RAW), *self._folder_columns}
        return native.selectExpr(
            *(
                quote(name)
                if folded(name) in as_they_are
                else f"if({RAW} = '', NULL, {quote(name)}) AS {quote(name)}"
                for name in native.columns
            )
        )

    def _told(self, native: DataFrame, key_text_sql: str) -> DataFrame:
        names = [name for name in native.columns if name != RAW]
        kept = [*map(quote, names), f"{key_text_sql} AS {KEY}", f"{_whole_raw(names)} AS {RAW}"]
        return native.selectExpr(*kept)

    def _keyless_lines(
        self, files: Sequence[FileDigest], columns: Sequence[KeyColumn]
    ) -> DataFrame:
        """The records of these files that have no key, parsed from their lines."""
        schema = self.columns_or(columns)
        of_folders = self._folder_columns
        in_lines = [field for field in schema.fields if folded(field.name) not in of_folders]
        lines = self._lines(files, [name for name in schema.names if folded(name) in of_folders])
        place = line_position_sql(relative_path_sql(self.root), quote(_LINE))
        rows = self._parsed(lines.selectExpr("*", f"{place} AS {KEY}"), in_lines or schema.fields)
        names = {field.name for field in in_lines}
        values = [
            f"{_PARSED}.{quote(name)} AS {quote(name)}" if name in names else quote(name)
            for name in schema.names
        ]
        # What parses to nothing at all is a blank line, and no record.
        found = rows.where(f"{_PARSED} IS NOT NULL").selectExpr(
            *values, KEY, f"if({_PARSED}.{RAW} IS NULL, NULL, {_LINE}) AS {RAW}"
        )
        return found.where(null_key_sql(columns))

    def _parsed(self, lines: DataFrame, fields: Sequence[StructField]) -> DataFrame:
        """Each line with its record; a JSON line that is an array, once for each of its records."""
        from pyspark.sql import functions as F  # noqa: N812 (as all of PySpark calls it)
        from pyspark.sql.types import ArrayType, StructType

        schema = _with_raw(StructType(list(fields)))
        options = {**self.position.options, "columnNameOfCorruptRecord": RAW}
        if self.position.format == "csv":
            options = {name: text for name, text in options.items() if name.lower() != "header"}
            types = ", ".join(
                f"{quote(field.name)} {field.dataType.simpleString()}" for field in schema.fields
            )
            return lines.select("*", F.from_csv(F.col(_LINE), types, options).alias(_PARSED))
        # Of text, from_json takes broken UTF-8 for U+FFFD; of a file, it is malformed.
        whole = whole_characters_sql(_LINE, self.spark.version)
        broken = f"replace({whole}, '\ufffd', '{_NO_CHARACTER}')"
        line = F.expr(f"if({_LINE} = {whole}, {_LINE}, {broken})")
        records = F.from_json(line, ArrayType(StructType(list(fields))), options)
        lines = lines.select("*", F.when(line.rlike(_OPENS_ARRAY), records).alias(_ARRAY))
        values = [f"one.{quote(field.name)} AS {quote(field.name)}" for field in fields]
        told = f"struct({', '.join([*values, f'CAST(NULL AS STRING) AS {RAW}'])})"
        # An element that is no record makes the whole line a malformed one.
        several = F.expr(f"transform({_ARRAY}, one -> {told})")
        are_records = F.expr(f"forall({_ARRAY}, one -> one IS NOT NULL)")
        single = F.array(F.from_json(line, schema, options))
        return lines.select(
            "*", F.explode(F.when(are_records, several).otherwise(single)).alias(_PARSED)
        )

    def _lines(self, files: Sequence[FileDigest], folder_columns: Sequence[str]) -> DataFrame:
        """The lines of these files, those that are records; and what their folders tell."""
        from pyspark.sql.types import StringType, StructField, StructType

        told = [self.schema[name] for name in folder_columns]
        line, whole = StructField(_LINE, StringType()), StructField(_WHOLE, StringType())
        given = {name.lower(): text for name, text in self.position.options.items()}
        options = {name: text for name, text in given.items() if name in _LINE_OPTIONS}
        if self.position.format == "json":
            options.pop("header", None)
            return self.read(files, StructType([line, *told]), "text", options)
        # Spark's CSV reader knows headers, comments and blank lines; the line itself is one field,
        # or, should the separator stand in it, a malformed record that is shown whole.
        options |= {"sep": _UNUSED_SEPARATOR, "quote": "", "columnNameOfCorruptRecord": _WHOLE}
        frame = self.read(files, StructType([line, *told, whole]), "csv", options)
        names = [quote(name) for name in folder_columns]
        return frame.selectExpr(f"coalesce({_WHOLE}, {_LINE}) AS {_LINE}", *names, "_metadata")


def _whole_raw(names: Sequence[str]) -> str:
    """SQL of a malformed line that makes Spark read all columns: each could be what is wrong."""
    every = ", ".join(f"{quote(name)} IS NULL" for name in names)
    return f"if({RAW} IS NULL, NULL, concat({RAW}, left(CAST(array({every}) AS STRING), 0)))"


def _with_raw(schema: StructType) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(RAW, StringType())])
