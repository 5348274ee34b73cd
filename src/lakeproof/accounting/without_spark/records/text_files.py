"""JSON lines and CSV read record by record."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, cast

from lakeproof.accounting.without_spark.records.csv_text import CsvForm
from lakeproof.accounting.without_spark.records.json_text import Json, json_records
from lakeproof.accounting.without_spark.records.reading import (
    NotCheckableError,
    Row,
    TextReading,
    UnreadableError,
)
from lakeproof.accounting.without_spark.records.values import value_of_json, value_of_text
from lakeproof.errors import short_message
from lakeproof.model.accounting import KeyColumn
from lakeproof.model.column import base_type, folded
from lakeproof.model.partition_folders import partition_values

_CHUNK_BYTES: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_JAVA_BLANKS: Final = bytes(range(33))
_OTHER_CODECS: Final = frozenset({".deflate", ".lz4", ".snappy", ".xz", ".zst", ".zstd"})

_NO_MATTER: Final = frozenset(
    {
        "basepath",
        "columnnameofcorruptrecord",
        "ignorecorruptfiles",
        "ignoremissingfiles",
        "inferschema",
        "linesep",
        "maxcharspercolumn",
        "maxcolumns",
        "mergeschema",
        "mode",
        "modifiedafter",
        "modifiedbefore",
        "pathglobfilter",
        "preferdate",
        "prefersdecimal",
        "primitivesasstring",
        "recursivefilelookup",
        "samplingratio",
        "timezone",
    }
)
"""Options that change no key, or that are heeded for both formats."""
_MUST_BE: Final = {
    "charset": "utf-8",
    "encoding": "utf-8",
    "enforceschema": "true",
    "locale": "en-us",
    "multiline": "false",
}
_CSV: Final = frozenset(
    {
        "comment",
        "delimiter",
        "emptyvalue",
        "escape",
        "header",
        "ignoreleadingwhitespace",
        "ignoretrailingwhitespace",
        "nullvalue",
        "quote",
        "sep",
    }
)
_TIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_HEEDED_FOR: Final = {
    **dict.fromkeys(("dateformat", "timestampformat", "timestampntzformat"), _TIMES),
    "locale": frozenset({"decimal"}),
}
"""Options that change nothing but columns of these types."""


def check_options(reading: TextReading, columns: Sequence[KeyColumn], *, is_csv: bool) -> None:
    """Refuse what this reader would read in another way than Spark did."""
    types = {base_type(column.type_text) for column in columns}
    for name, value in reading.options.items():
        known = name in _NO_MATTER or (is_csv and name in _CSV)
        known = known or (name in _HEEDED_FOR and not types & _HEEDED_FOR[name])
        if not known and _MUST_BE.get(name) != value.lower():
            raise NotCheckableError(f"the option {name}={value!r} is heeded by Spark alone")


def json_rows(
    file: Path, path: str, columns: Sequence[KeyColumn], reading: TextReading
) -> Iterator[Row]:
    """The records of a file of JSON lines, each with its raw line.

    `path` is relative to the dataset: folders such as `day=2024-01-31` are columns too.
    """
    folders = _folder_values(path, columns, reading)
    wanted = [column.name for column in columns]
    nothing: dict[str, Json] = {}
    zone = reading.zone
    for line in lines_of(file, reading.line_end):
        records = json_records(line, wanted)
        for record in [nothing] if records is None else records:
            values = tuple(
                folders[column.name]
                if column.name in folders
                else value_of_json(record.get(column.name), column.type_text, zone)
                for column in columns
            )
            yield values, line


def csv_rows(
    file: Path, path: str, columns: Sequence[KeyColumn], reading: TextReading
) -> Iterator[Row]:
    """The records of a CSV file, each with its raw line; columns go by their place."""
    folders = _folder_values(path, columns, reading)
    elsewhere = {folded(name) for name in _folders(path, reading)}
    order = [folded(one.name) for one in reading.schema if folded(one.name) not in elsewhere]
    places = {
        one.name: order.index(folded(one.name)) for one in columns if folded(one.name) in order
    }
    form, zone = _csv_form(reading), reading.zone
    for line in _csv_lines(file, reading):
        text = line.decode("utf-8", "replace")
        fields = form.fields(text)
        values = tuple(
            folders[column.name]
            if column.name in folders
            else value_of_text(
                _at(fields, places.get(column.name, len(fields))), column.type_text, zone
            )
            for column in columns
        )
        # Spark's CSV reader makes text of a line before anything else.
        yield values, line if line.isascii() else text.encode("utf-8")


def _at(fields: list[str | None], place: int) -> str | None:
    return fields[place] if place < len(fields) else None


def _csv_lines(file: Path, reading: TextReading) -> Iterator[bytes]:
    comment = reading.option("comment").encode("utf-8")
    lines = (
        line
        for line in lines_of(file, reading.line_end)
        if line.strip(_JAVA_BLANKS) and not (comment and line.startswith(comment))
    )
    if reading.is_on("header"):
        next(lines, None)
    yield from lines


def _csv_form(reading: TextReading) -> CsvForm:
    return CsvForm(
        separator=_unescaped(reading.option("sep", "delimiter", default=",")),
        quote=reading.option("quote", default='"').strip("\x00"),
        escape=reading.option("escape", default="\\"),
        null_text=reading.option("nullvalue"),
        empty_text=reading.option("emptyvalue"),
        trims_left=reading.is_on("ignoreleadingwhitespace"),
        trims_right=reading.is_on("ignoretrailingwhitespace"),
    )


def _unescaped(separator: str) -> str:
    return {"\\t": "\t", "\\\\": "\\", "\\u0001": "\x01"}.get(separator, separator)


def _folder_values(
    path: str, columns: Sequence[KeyColumn], reading: TextReading
) -> dict[str, object]:
    """The values of those columns that are folders of the path."""
    by_name = {folded(name): value for name, value in _folders(path, reading).items()}
    return {
        column.name: value_of_text(by_name[folded(column.name)], column.type_text, reading.zone)
        for column in columns
        if folded(column.name) in by_name
    }


def _folders(path: str, reading: TextReading) -> dict[str, str | None]:
    """All columns that are folders of the path, asked for or not."""
    return {} if reading.is_on("recursivefilelookup") else partition_values(path)


def lines_of(file: Path, line_end: bytes | None = None) -> Iterator[bytes]:
    r"""The lines of a file without their ends, which are \n, \r\n or \r unless one is given."""
    try:
        with _opened(file) as stream:
            yield from _cut(stream, line_end)
    except (OSError, EOFError, zlib.error) as problem:
        raise UnreadableError(f"{file.name} cannot be read: {short_message(problem)}") from problem


def _opened(file: Path) -> BinaryIO:
    if file.suffix in _OTHER_CODECS:
        raise NotCheckableError(f"files that end in {file.suffix} are unpacked by Spark alone")
    if file.suffix == ".gz":
        return cast("BinaryIO", gzip.open(file, "rb"))
    return cast("BinaryIO", bz2.open(file, "rb")) if file.suffix == ".bz2" else file.open("rb")


def _cut(stream: BinaryIO, line_end: bytes | None) -> Iterator[bytes]:
    rest = stream.read(len(_BOM)).removeprefix(_BOM)
    while chunk := stream.read(_CHUNK_BYTES):
        data = rest + chunk
        if line_end is not None:
            *lines, rest = data.split(line_end)
            yield from lines
            continue
        # A \r at the very end may be half of \r\n.
        end = 1 + max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1))
        yield from data[:end].splitlines()
        rest = data[end:]
    if line_end is None:
        yield from rest.splitlines()
    elif rest:
        yield from rest.removesuffix(line_end).split(line_end)
