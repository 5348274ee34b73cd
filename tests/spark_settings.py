"""Settings of a session for a while: tests of a few rows spend most of their time elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Compiling Java and planning again are most of the time of a job over a few records.
INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
FOR_FEW_RECORDS = {
    **INTERPRETED,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
# As users run it; `make test` starts Spark without.
WITH_GENERATED_CODE = {
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.codegen.wholeStage": "true",
}


@contextmanager
def under(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """The session with other settings, for a while."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def for_few_records(spark: SparkSession) -> AbstractContextManager[None]:
    """The session with settings under which small jobs take less time."""
    return under(spark, FOR_FEW_RECORDS)
