"""Settings under which a session would give other answers than the rules ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.errors import EngineUnavailableError, short_message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MUST_BE_OFF = {
    "spark.sql.files.ignoreCorruptFiles": "unreadable files would be skipped without a word",
    "spark.sql.files.ignoreMissingFiles": "missing files would be skipped without a word",
    "spark.sql.parser.escapedStringLiterals": "texts in rules would be read with other escapes",
    "spark.sql.caseSensitive": "columns that differ only in case would be taken for one",
    "spark.sql.ansi.doubleQuotedIdentifiers": "texts in rules would be read as columns",
}
_MOMENTS, _INSTANTS = "spark.sql.timestampType", "TIMESTAMP_LTZ"


def require_settings(spark: SparkSession) -> None:
    """Refuse a session whose settings would give other answers; reads nothing."""
    try:
        settings = {name: spark.conf.get(name, "false") for name in _MUST_BE_OFF}
        moments = str(spark.conf.get(_MOMENTS, _INSTANTS))
    except Exception as problem:
        raise EngineUnavailableError(
            f"the Spark session cannot be used: {short_message(problem)}"
        ) from problem
    for name, value in settings.items():
        if str(value).lower() == "true":
            raise EngineUnavailableError(
                f"{name} is on, so that {_MUST_BE_OFF[name]}. "
                f"Turn it off: spark.conf.set({name!r}, 'false')"
            )
    if moments.upper() != _INSTANTS:
        raise EngineUnavailableError(
            f"{_MOMENTS} is {moments}, so that moments in rules would lose their zone. "
            f"Set it back: spark.conf.set({_MOMENTS!r}, {_INSTANTS!r})"
        )
