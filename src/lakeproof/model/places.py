"""Where rows are: a table by its name, or files by their path."""

from __future__ import annotations

from lakeproof.model.names import TableName

FILES = "path"
"""The first part in the name of files: `path.<format>.<path>`."""

FILE_FORMATS = ("parquet", "delta", "iceberg", "csv", "json", "orc", "avro")
_SUFFIXES = {"jsonl": "json", "ndjson": "json", "tsv": "csv"}
_PACKED = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")
UNKNOWN_FORMAT = "files"
"""What stands for a format that only the files can tell."""


def place_named(text: str) -> TableName:
    """The table of that name; a path, or Spark's delta.`path`, is a name of three parts."""
    if "/" not in text:
        return TableName.parse(text)
    for known in FILE_FORMATS:
        if text.startswith(f"{known}.`") and text.endswith("`"):
            return TableName((FILES, known, text[len(known) + 2 : -1].replace("``", "`")))
    if "`" in text:  # a table whose name has a slash in it
        return TableName.parse(text)
    return TableName((FILES, format_by_suffix(text) or UNKNOWN_FORMAT, text))


def format_by_suffix(path: str) -> str:
    """The format that a file's ending names; '' if it names none."""
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    return _SUFFIXES.get(suffix, suffix if suffix in FILE_FORMATS else "")


def format_of_packed(path: str) -> str:
    """The same for a file that may be compressed: json of `a.json.gz`."""
    for ending in _PACKED:
        path = path.removesuffix(ending)
    return format_by_suffix(path)
