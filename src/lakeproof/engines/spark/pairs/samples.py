"""A few differences of each kind to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.pairs.texts import differing_sql, key_texts, values_sql
from lakeproof.model.names import quote
from lakeproof.model.pairing import Sample
from lakeproof.planning.pairs.steps import CompareStep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

SAMPLES_MAX: Final = 10
"""Of each kind."""
_CHARACTERS_MAX: Final = 1_000
"""Of each value: samples are kept with the result, and a row may hold a book."""


def read_samples(
    spark: SparkSession, step: CompareStep, judged: str, types: StructType
) -> tuple[Sample, ...]:
    """The first differing keys of each kind, in the order of the key; one action."""
    order = ", ".join(f"key_{number}" for number in range(len(step.keys)))
    texts = key_texts(step, types, _CHARACTERS_MAX + 1)
    shown = [f"{text} AS text_{number}" for number, text in enumerate(texts.values())]
    found = spark.sql(
        f"SELECT difference, {', '.join(shown)}, {differing_sql(step)} AS differing, "
        f"{values_sql(step, types, 'source_row', _CHARACTERS_MAX + 1)} AS source_values, "
        f"{values_sql(step, types, 'target_row', _CHARACTERS_MAX + 1)} AS target_values\n"
        f"FROM (SELECT *, row_number() OVER (PARTITION BY difference ORDER BY {order}) AS place\n"
        f"FROM {quote(judged)} WHERE difference IS NOT NULL)\n"
        f"WHERE place <= {SAMPLES_MAX} ORDER BY difference, place"
    ).collect()
    return tuple(
        Sample(
            kind=row["difference"],
            key={name: _cut(row[f"text_{number}"]) for number, name in enumerate(texts)},
            differing=tuple(row["differing"]),
            source=_in_order(step, row["source_values"]),
            target=_in_order(step, row["target_values"]),
        )
        for row in found
    )


def _in_order(step: CompareStep, values: Mapping[str, str | None]) -> dict[str, str | None]:
    """The values in the order of the columns, which a map does not keep."""
    names = [column.name for column in step.columns if column.name in values]
    return {name: _cut(values[name]) for name in names}


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= _CHARACTERS_MAX:
        return text
    return f"{text[:_CHARACTERS_MAX]}..."
