"""Files as a contract's server names them, in the words of Spark's readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName
from lakeproof.model.places import FILES, UNKNOWN_FORMAT, format_by_suffix

FILE_SERVERS = frozenset({"local", "s3", "azure", "gcs"})

FORMATS = ("parquet", "delta", "csv", "json", "orc", "avro")
_DELIMITER_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
_ONE_DOCUMENT = "array"
_LINES = "new_line"
_AZURE_HOST = ".core.windows.net"


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files to read: Spark's format, path and options. A relative path starts where we stand."""

    format: str
    path: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        kind = "" if self.format == UNKNOWN_FORMAT else f"{self.format} "
        return f"{kind}files at {self.path}"


def file_source(kind: str, of_server: Callable[[str], str]) -> FileSource:
    """The files on a server of that type; `of_server` gives what the server says under a key."""
    written = of_server("path") or of_server("location")
    if not written:
        raise CheckDefinitionError(f"the {kind} server has neither `path` nor `location`")
    path = spark_path(written)
    given = of_server("format").lower() or ("delta" if kind == "delta" else "")
    format_name = given or format_by_suffix(path)
    if format_name not in FORMATS:
        told = f"format {format_name!r} is not" if format_name else "no `format`; it must be"
        raise CheckDefinitionError(f"the {kind} server has {told} one of {', '.join(FORMATS)}")
    options = _options(format_name, of_server("delimiter"), of_server("encoding"), path)
    endpoint = of_server("endpointUrl")
    if endpoint:
        options |= {"fs.s3a.endpoint": endpoint, "fs.s3a.path.style.access": "true"}
    return FileSource(format_name, path, options)


def named_files(table: TableName) -> FileSource | None:
    """The files that the name stands for; None if it is a table's."""
    if table.catalog != FILES or len(table.parts) != 3:  # noqa: PLR2004 (path, format, path)
        return None
    _, format_name, written = table.parts
    path = spark_path(written)
    return FileSource(format_name, path, _options(format_name, "", "", path))


def spark_path(written: str) -> str:
    """The address as Hadoop's file systems know it: `s3a:`, and `abfss:` with the container first.

    Contracts write `s3://bucket/...` and `https://account.blob.core.windows.net/container/...`.
    """
    scheme, sign, rest = written.partition("://")
    if sign and scheme in {"s3", "s3n"}:
        return f"s3a://{rest}"
    host = urlsplit(written).netloc
    if sign and scheme in {"https", "az", "abfs", "abfss"} and host.endswith(_AZURE_HOST):
        if "@" in host:
            return written
        account = host.split(".", 1)[0]
        container, _, inside = rest.partition("/")[2].partition("/")
        return f"abfss://{container}@{account}.dfs{_AZURE_HOST}/{inside}"
    return written


def _options(format_name: str, delimiter: str, encoding: str, path: str) -> dict[str, str]:
    options: dict[str, str] = {}
    if format_name == "csv":
        # Types are found by Spark: a file of texts could not fail or pass a check of types.
        options |= {"header": "true", "inferSchema": "true", "escape": '"'}
        default = "\t" if path.lower().endswith(".tsv") else ","
        options["sep"] = _DELIMITER_WORDS.get(delimiter.lower(), delimiter) or default
    if format_name == "json" and delimiter == _ONE_DOCUMENT:
        options["multiLine"] = "true"
    elif format_name == "json" and delimiter not in {"", _LINES}:
        raise CheckDefinitionError(
            f"delimiter {delimiter!r} of JSON files is neither {_LINES!r} nor {_ONE_DOCUMENT!r}"
        )
    if encoding and format_name in {"csv", "json"}:
        options["encoding"] = encoding
    return options
