"""A dataset on storage as rows, whatever its format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from lakeproof.accounting.without_spark.key_text import key_text, positional_text, row_text
from lakeproof.accounting.without_spark.records.arrow import parquet_rows, table_rows, whole_rows
from lakeproof.accounting.without_spark.records.reading import NotCheckableError, Row, TextReading
from lakeproof.accounting.without_spark.records.text_files import check_options, csv_rows, json_rows
from lakeproof.model.accounting import NO_KEY, DatasetPosition, KeyColumn
from lakeproof.model.column import base_type

_FORMATS: Final = ("parquet", "json", "csv")
_TABLES: Final = ("delta", "iceberg")
_TYPES: Final = {"integer": "int", "long": "bigint", "byte": "tinyint", "short": "smallint"}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Files or a table at a position, and where they are now.

    `location` is a folder or a file of this machine, or for Iceberg its metadata file; `paths` are
    the files to read, relative to it.
    """

    position: DatasetPosition
    location: str
    paths: tuple[str, ...] = ()

    @property
    def obstacle(self) -> str:
        """Why its records cannot be read without Spark; empty if they can."""
        if self.position.kind == "frame":
            return "it was a DataFrame, which no ledger can pin"
        if self.position.kind in _TABLES or self.position.format in _FORMATS:
            return ""
        return f"format {self.position.format or self.position.kind} is read by Spark alone"

    def rows(self, columns: Sequence[KeyColumn]) -> Iterator[tuple[object, ...]]:
        """The values of these columns, row by row."""
        if self.position.kind in _TABLES:
            yield from table_rows(self.position, self.location, columns)
            return
        for path in self.paths:
            for values, _ in self._file_rows(path, columns):
                yield values

    def identified(
        self, key: Sequence[KeyColumn], others: Sequence[KeyColumn], *, has_null_keys: bool = True
    ) -> Iterator[tuple[str, tuple[object, ...]]]:
        """Each record of an input by its identity, with the values of these other columns.

        Without NULL keys a table is read by these columns alone.
        """
        columns, width = (*key, *others), len(key)
        if self.position.kind in _TABLES:
            yield from self._table_identities(columns, width, has_null_keys=has_null_keys)
            return
        declared = _declared(columns)
        for path in self.paths:
            for stored, mark in self._file_rows(path, columns):
                values = declared(stored)
                text = key_text(values[:width], key)
                yield positional_text(path, mark) if text is None else text, values[width:]

    def _table_identities(
        self, columns: Sequence[KeyColumn], width: int, *, has_null_keys: bool
    ) -> Iterator[tuple[str, tuple[object, ...]]]:
        key = columns[:width]
        if not has_null_keys:
            for values in table_rows(self.position, self.location, columns):
                text = key_text(values[:width], key)
                yield NO_KEY if text is None else text, values[width:]
            return
        for row in whole_rows(self.position, self.location):
            values = tuple(row.get(column.name) for column in columns)
            text = key_text(values[:width], key)
            yield row_text(row) if text is None else text, values[width:]

    def _file_rows(self, path: str, columns: Sequence[KeyColumn]) -> Iterator[Row]:
        root = Path(self.location)
        file = root if root.is_file() else root / path
        if self.position.format == "parquet":
            options = {name.lower(): text.lower() for name, text in self.position.options.items()}
            is_flat = options.get("recursivefilelookup") == "true"
            return parquet_rows(file, file.name if is_flat else path, columns)
        if self.position.format not in _FORMATS:
            raise NotCheckableError(self.obstacle)
        is_csv = self.position.format == "csv"
        reading = TextReading(
            {name.lower(): value for name, value in self.position.options.items()},
            schema_columns(self.position.schema_text),
        )
        check_options(reading, columns, is_csv=is_csv)
        if is_csv and not reading.schema:
            raise NotCheckableError("the ledger does not say which column of the CSV is which")
        read: Callable[..., Iterator[Row]] = csv_rows if is_csv else json_rows
        return read(file, path, columns, reading)


def _instant(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _wall_time(value: datetime) -> datetime:
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


_AS: Final[Mapping[str, Mapping[type, Callable[[Any], object]]]] = {
    "string": {bytes: lambda value: value.decode("utf-8", "surrogateescape")},
    "binary": {str: lambda value: value.encode("utf-8", "surrogateescape")},
    "decimal": {int: Decimal},
    "date": {int: lambda value: date(1970, 1, 1) + timedelta(days=value)},
    "timestamp": {datetime: _instant},
    "timestamp_ntz": {
        datetime: _wall_time,
        date: lambda value: datetime(value.year, value.month, value.day),  # noqa: DTZ001 (no zone)
    },
}
"""What Spark makes of values that Parquet stores as another type than the declared one."""


def _declared(
    columns: Sequence[KeyColumn],
) -> Callable[[tuple[object, ...]], tuple[object, ...]]:
    """How a row as it is stored becomes one of the declared types."""
    casts = [_AS.get(base_type(column.type_text), {}) for column in columns]
    if not any(casts):
        return lambda values: values

    def cast(values: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(
            [
                known[type(value)](value) if type(value) in known else value
                for value, known in zip(values, casts, strict=True)
            ]
        )

    return cast


def schema_columns(schema_text: str) -> tuple[KeyColumn, ...]:
    """The columns of a schema in Spark's JSON form; empty if it is in no such form."""
    try:
        fields = json.loads(schema_text)["fields"]
        return tuple(KeyColumn(field["name"], _type_text(field["type"])) for field in fields)
    except (ValueError, TypeError, KeyError):
        return ()


def _type_text(form: Any) -> str:  # noqa: ANN401 - decoded JSON
    return _TYPES.get(form, form) if isinstance(form, str) else str(form["type"])
