"""Differing aggregates in words and texts, as people get them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.canonical_sql import key_expression
from lakeproof.engines.spark.pairs.texts import HIDDEN, literal, text_of
from lakeproof.model.names import quote
from lakeproof.model.pairing import DifferenceKind, Sample
from lakeproof.planning.pairs.steps import AggregateStep

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.types import StructType

_SAMPLES_MAX: Final = 10
_VALUE_CHARACTERS_MAX: Final = 1_000
_OBSERVED_CHARACTERS_MAX: Final = 200
_CHANGED: Final = "group"
"""The kind of a sample whose group is on both sides."""


def numbered(name: str, items: Iterable[object]) -> list[str]:
    """`name_0`, `name_1`, .. for as many items as there are."""
    return [f"{name}_{number}" for number, _ in enumerate(items)]


def violations_sql(step: AggregateStep, held: str, types: StructType) -> str:
    """The differing groups as violations; without groups, the differing aggregates."""
    rows = _rows_sql(held)
    if not step.groups:
        return "\nUNION ALL ".join(
            f"SELECT {_aggregate_key()} AS violation_key, 1L AS occurrences, 1L AS excess, "
            f"observed FROM (SELECT {literal(aggregate.name)} AS aggregate, {change} AS observed\n"
            f"FROM ({rows}) WHERE differs_{number})"
            for number, (aggregate, change) in enumerate(
                zip(step.aggregates, _changes(step, types), strict=True)
            )
        )
    key = key_expression(
        [(name, types[f"group_{number}"].dataType) for number, name in enumerate(step.groups)],
        hidden=step.hidden_groups,
        paths={name: (f"group_{number}",) for number, name in enumerate(step.groups)},
    )
    differing = " + ".join(f"CAST({name} AS INT)" for name in numbered("differs", step.aggregates))
    return (
        "SELECT violation_key, sum(copies) AS occurrences, sum(copies * differing) AS excess, "
        f"min(observed) AS observed\nFROM (SELECT {key} AS violation_key, copies, "
        f"{differing} AS differing, {_observed_sql(step, types)} AS observed\nFROM ({rows}))\n"
        "GROUP BY violation_key"
    )


def read_samples(
    spark: SparkSession, step: AggregateStep, held: str, types: StructType
) -> tuple[Sample, ...]:
    """The first rows that differ: groups on both sides, then those that a side lacks.

    Each in the order of the groups, and of the target's values within one. One action.
    """
    texts = {
        **{
            f"group_text_{number}": _text(
                f"group_{number}", types, is_hidden=name in step.hidden_groups
            )
            for number, name in enumerate(step.groups)
        },
        **{
            f"{side}_text_{number}": text
            for side in ("source", "target")
            for number, text in enumerate(_value_texts(step, types, side))
        },
    }
    shown = ", ".join(f"{text} AS {name}" for name, text in texts.items())
    flags = ", ".join([*numbered("differs", step.aggregates), "in_source", "in_target", "copies"])
    order = [
        "CASE WHEN NOT in_source THEN 1 WHEN NOT in_target THEN 2 ELSE 0 END",
        *numbered("group", step.groups),
        *numbered("target", step.aggregates),
    ]
    found = spark.sql(
        f"SELECT {shown}, {flags}\nFROM ({_rows_sql(held)})\n"
        f"ORDER BY {', '.join(order)} LIMIT {_SAMPLES_MAX}"
    ).collect()
    samples = [
        sample
        for row in found
        for sample in [_sample(step, row)] * min(row["copies"], _SAMPLES_MAX)
    ]
    return tuple(samples[:_SAMPLES_MAX])


def sample_notes(samples: Sequence[Sample]) -> list[dict[str, object]]:
    """Each aggregate of the samples on its own; one whose group a side lacks has no values."""
    notes: list[dict[str, object]] = []
    for sample in samples:
        for name in sample.differing:
            note: dict[str, object] = {"group_key": dict(sample.key), "aggregate": name}
            if sample.kind == _CHANGED:
                note |= {"target": sample.target[name], "source": sample.source[name]}
            else:
                note["reason"] = sample.kind
            notes.append(note)
    return notes[:_SAMPLES_MAX]


def _rows_sql(held: str) -> str:
    return f"SELECT difference.*, copies FROM {quote(held)} WHERE difference IS NOT NULL"


def _aggregate_key() -> str:
    from pyspark.sql.types import StringType

    return key_expression([("aggregate", StringType())])


def _observed_sql(step: AggregateStep, types: StructType) -> str:
    changes = ", ".join(
        f"if(differs_{number}, {change}, NULL)"
        for number, change in enumerate(_changes(step, types))
    )
    return (
        "CASE WHEN NOT in_source THEN 'missing in source' WHEN NOT in_target THEN "
        f"'missing in target' ELSE left(array_join(array({changes}), '; '), "
        f"{_OBSERVED_CHARACTERS_MAX}) END"
    )


def _changes(step: AggregateStep, types: StructType) -> list[str]:
    """What the source has, and what the target has instead: `total: 50 -> 60`."""
    sides = (_value_texts(step, types, side) for side in ("source", "target"))
    return [
        f"concat({literal(aggregate.name)}, ': ', coalesce({source}, 'NULL'), ' -> ', "
        f"coalesce({target}, 'NULL'))"
        for aggregate, source, target in zip(step.aggregates, *sides, strict=True)
    ]


def _value_texts(step: AggregateStep, types: StructType, side: str) -> list[str]:
    return [
        _text(f"{side}_{number}", types, is_hidden=aggregate.is_hidden)
        for number, aggregate in enumerate(step.aggregates)
    ]


def _text(name: str, types: StructType, *, is_hidden: bool) -> str:
    if is_hidden:
        return literal(HIDDEN)
    return f"left({text_of(name, types[name].dataType)}, {_VALUE_CHARACTERS_MAX})"


def _sample(step: AggregateStep, row: Row) -> Sample:
    kind: str = _CHANGED
    if not row["in_source"]:
        kind = DifferenceKind.MISSING_IN_SOURCE
    elif not row["in_target"]:
        kind = DifferenceKind.MISSING_IN_TARGET
    differing = [
        (number, aggregate.name)
        for number, aggregate in enumerate(step.aggregates)
        if row[f"differs_{number}"]
    ]
    source, target = (
        {name: row[f"{side}_text_{number}"] for number, name in differing}
        if row[f"in_{side}"]
        else {}
        for side in ("source", "target")
    )
    return Sample(
        kind=str(kind),
        key={name: row[f"group_text_{number}"] for number, name in enumerate(step.groups)},
        differing=tuple(name for _, name in differing),
        source=source,
        target=target,
    )
