"""How files of an input may be read: each option that could drop a record unseen is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from lakeproof.errors import LedgerError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_FORMATS: Final = ("json", "csv", "parquet")
LINE_FORMATS: Final = ("json", "csv")

_REFUSED: Final[Mapping[str, str]] = {
    "columnnameofcorruptrecord": "the raw line of a malformed record is in _lakeproof_raw",
    "pathglobfilter": "every file of the input is accounted for; name the folder or file you mean",
    "modifiedbefore": "every file of the input is accounted for; name the folder or file you mean",
    "modifiedafter": "every file of the input is accounted for; name the folder or file you mean",
    "basepath": "the input's own folder is the base of its partitions",
    "path": "the path is the input itself",
    "paths": "the path is the input itself",
    "singlevariantcolumn": "a key has to be a column of its own",
}
_OFF_ONLY: Final[Mapping[str, str]] = {
    "multiline": "a record is one line, which tells malformed records apart. Read such files "
    "yourself and give the ledger the DataFrame",
    "ignorecorruptfiles": "records of a broken file would be lost unseen",
    "ignoremissingfiles": "records of a file that is gone would be lost unseen",
}
_SESSION_SETTINGS: Final = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
)
_ENCODINGS: Final = frozenset({"encoding", "charset"})
_UTF8: Final = frozenset({"utf-8", "utf8"})


def checked_options(spark: SparkSession, options: Mapping[str, object]) -> dict[str, str]:
    """The options as text, none of which loses a record; the session's settings are held too."""
    for setting in _SESSION_SETTINGS:
        if str(spark.conf.get(setting, "false")).lower() == "true":
            raise LedgerError(
                f"{setting} is on: records would be lost unseen. Switch it off for this session"
            )
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }
    for name, value in texts.items():
        _refuse(name, value.lower())
    # UTF-8 anyway; if told so, Spark's JSON reader takes broken bytes for characters.
    return {name: text for name, text in texts.items() if name.lower() not in _ENCODINGS}


def _refuse(name: str, value: str) -> None:
    folded = name.lower()
    if folded in _REFUSED:
        raise LedgerError(f"option {name!r} cannot be used here: {_REFUSED[folded]}")
    if folded in _OFF_ONLY and value != "false":
        raise LedgerError(f"option {name}={value} cannot be used here: {_OFF_ONLY[folded]}")
    if folded == "mode" and value != "permissive":
        raise LedgerError(
            f"mode={value.upper()} cannot be used here: a malformed record is an error record and "
            "not a lost one. Leave the mode out"
        )
    if folded in _ENCODINGS and value not in _UTF8:
        raise LedgerError(
            f"{name}={value} cannot be used here: lines are told apart by their UTF-8 text. "
            "Convert the files, or read them yourself and give the ledger the DataFrame"
        )


def is_on(options: Mapping[str, str], name: str) -> bool:
    """Whether an option is given as true, in any letter case."""
    return any(
        key.lower() == name.lower() and value.lower() == "true" for key, value in options.items()
    )


def checked_format(format_name: str) -> str:
    if format_name.lower() in FILE_FORMATS:
        return format_name.lower()
    raise LedgerError(
        f"input format {format_name!r} is not known; known are {', '.join(FILE_FORMATS)}, delta "
        "and iceberg. Read the files yourself and give the ledger the DataFrame"
    )
