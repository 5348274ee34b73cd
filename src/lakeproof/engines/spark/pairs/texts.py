"""Differing keys in words and texts, as people and tables get them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.canonical_sql import key_expression, value_expression
from lakeproof.engines.spark.pairs.copies import equal_columns, has_copies
from lakeproof.engines.spark.pairs.rows import casts_keys
from lakeproof.model.column import folded
from lakeproof.model.names import quote
from lakeproof.model.pairing import DifferenceKind
from lakeproof.planning.pairs.steps import CompareStep

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

HIDDEN: Final = "***"
LISTED: Final = (
    "difference",
    "source_rows",
    "target_rows",
    "differing_columns",
    "source_values",
    "target_values",
)
"""What the list of differing keys says of each, behind the key's own columns."""

_OBSERVED_CHARACTERS_MAX: Final = 200
_JSON: Final = (
    "map('timeZone', 'UTC', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'ignoreNullFields', 'false')"
)


def literal(text: str) -> str:
    return text_literal(text).sql("spark")


def text_of(sql: str, data_type: DataType) -> str:
    """SQL of a value as exact text, whatever the session's settings; NULL for NULL."""
    part: Any = data_type
    match part.typeName():
        case "decimal":
            places = f".{'0' * part.scale}" if part.scale else ""
            return f"format_number({sql}, '0{places}')"
        case "timestamp":
            # Through a wall time in UTC: CAST(timestamp AS STRING) is in the session's zone.
            # Days apart: an interval's seconds have 12 digits, which end in the year 33658.
            day, micros = 86_400_000_000, f"unix_micros({sql})"
            seconds = f"CAST(CAST({micros} % {day} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
            since = f"make_dt_interval(CAST({micros} div {day} AS INT), 0, 0, {seconds})"
            wall = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + {since}"
            return f"concat(CAST({wall} AS STRING), 'Z')"
        case "binary":
            return f"hex({sql})"
        case "array" | "map" | "struct" | "variant":
            return f"to_json({sql}, {_JSON})"
        case _:
            return f"CAST({sql} AS STRING)"


def violations_sql(step: CompareStep, judged: str, types: StructType) -> str:
    """The differing keys as violations of the step's rule."""
    names = [column.target.name for column in step.keys]
    key = key_expression(
        [(name, types[f"key_{number}"].dataType) for number, name in enumerate(names)],
        hidden={column.target.name for column in step.keys if column.is_hidden},
        paths={name: (f"key_{number}",) for number, name in enumerate(names)},
    )
    longest = _OBSERVED_CHARACTERS_MAX
    found = (
        "SELECT violation_key, occurrences, excess, if(length(observed) > "
        f"{longest}, concat(left(observed, {longest - 3}), '...'), observed) AS observed\n"
        f"FROM (SELECT {key} AS violation_key, greatest(source_rows, target_rows) AS occurrences, "
        f"excess, {_observed_sql(step, types)} AS observed\n"
        f"FROM {quote(judged)} WHERE difference IS NOT NULL)"
    )
    if not casts_keys(step):
        return found
    # A key that could not be cast is shown as NULL, like that of the other side and like NULL.
    return (
        "SELECT violation_key, sum(occurrences) AS occurrences, sum(excess) AS excess, "
        f"min(observed) AS observed\nFROM (\n{found}\n) GROUP BY violation_key"
    )


def listed_sql(step: CompareStep, judged: str, types: StructType) -> str:
    """The differing keys under the target's names, with what differs; hidden keys as hashes."""
    keys = []
    for number, column in enumerate(step.keys):
        value = f"key_{number}"
        if column.is_hidden:
            value = f"sha2({value_expression(value, types[value].dataType)}, 256)"
        keys.append(f"{value} AS {quote(column.target.name)}")
    taken = [column.target.name for column in step.keys]
    values = {
        "differing_columns": differing_sql(step),
        "source_values": values_sql(step, types, "source_row"),
        "target_values": values_sql(step, types, "target_row"),
    }
    told = [
        f"{values.get(name, name)} AS {quote(free)}"
        for name, free in zip(LISTED, listed_names(taken), strict=True)
    ]
    return f"SELECT {', '.join([*keys, *told])}\nFROM {quote(judged)} WHERE difference IS NOT NULL"


def listed_names(taken: Sequence[str]) -> list[str]:
    """The names of `LISTED`, each behind underscores if a column of the key is called so."""
    used = {folded(name) for name in taken}
    names = []
    for name in LISTED:
        free = name
        while free in used:
            free = f"_{free}"
        used.add(free)
        names.append(free)
    return names


def differing_sql(step: CompareStep) -> str:
    """The names of the columns in which rows of the key differ."""
    names = ", ".join(
        f"if(misses_{number} > 0, {literal(column.name)}, NULL)"
        for number, column in enumerate(step.columns)
    )
    return f"array_compact(array({names}))" if names else "CAST(array() AS ARRAY<STRING>)"


def values_sql(
    step: CompareStep, types: StructType, row: str, characters_max: int | None = None
) -> str:
    """A map of values as text: those that differ, or all where there is no row beside this one.

    `characters_max` cuts every text.
    """
    there = f"{row} IS NOT NULL AND (source_row IS NULL OR target_row IS NULL OR misses_{{0}} > 0)"
    entries = ", ".join(
        f"if({there.format(number)}, struct({literal(column.name)} AS name, "
        f"{_cut(text, characters_max)} AS value), NULL)"
        for number, (column, text) in enumerate(
            zip(step.columns, _value_texts(step, types, row), strict=True)
        )
    )
    if not entries:
        return "CAST(map() AS MAP<STRING, STRING>)"
    return f"map_from_entries(array_compact(array({entries})))"


def key_texts(step: CompareStep, types: StructType, characters_max: int) -> dict[str, str]:
    """SQL of the key's columns as text, by the target's names."""
    return {
        column.target.name: f"'{HIDDEN}'"
        if column.is_hidden
        else _cut(text_of(f"key_{number}", types[f"key_{number}"].dataType), characters_max)
        for number, column in enumerate(step.keys)
    }


def _value_texts(step: CompareStep, types: StructType, row: str) -> list[str]:
    struct: Any = types[row].dataType
    return [
        f"'{HIDDEN}'"
        if column.is_hidden
        else text_of(f"{row}.value_{number}", struct[f"value_{number}"].dataType)
        for number, column in enumerate(step.columns)
    ]


def _cut(text: str, characters_max: int | None) -> str:
    return text if characters_max is None else f"left({text}, {characters_max})"


def _observed_sql(step: CompareStep, types: StructType) -> str:
    copies = (
        "concat(source_rows, if(source_rows = 1, ' copy', ' copies'), ' in source, ', "
        "target_rows, ' in target')"
    )
    told = {
        DifferenceKind.MISSING_IN_TARGET: _with_copies("'missing in target'", "source_rows"),
        DifferenceKind.MISSING_IN_SOURCE: _with_copies("'missing in source'", "target_rows"),
        DifferenceKind.CHANGED: _changes_sql(step, types, f"if({has_copies()}, {copies}, NULL)"),
        DifferenceKind.SURPLUS: copies,
        DifferenceKind.NULL_KEY: "'NULL in the key'",
    }
    cases = " ".join(f"WHEN '{kind}' THEN {text}" for kind, text in told.items())
    return f"CASE difference {cases} END"


def _with_copies(text: str, count: str) -> str:
    return f"if({count} > 1, concat({text}, ', ', {count}, ' copies'), {text})"


def _changes_sql(step: CompareStep, types: StructType, copies: str) -> str:
    """What differs between the two rows that are shown: `amount: 10.00 -> 12.50; ..`."""
    sides = (_value_texts(step, types, row) for row in ("source_row", "target_row"))
    parts = [
        f"if({equal}, NULL, concat({literal(column.name)}, ': ', coalesce({source}, 'NULL'), "
        f"' -> ', coalesce({target}, 'NULL')))"
        for column, equal, source, target in zip(
            step.columns, equal_columns(step), *sides, strict=True
        )
    ]
    # array_join leaves NULLs out.
    return f"array_join(array({', '.join([copies, *parts])}), '; ')"
