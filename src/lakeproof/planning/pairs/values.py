"""When two values are equal: what of them is hashed, and what the drilled rows are judged by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.pairing import ColumnTolerance
from lakeproof.planning.pairs.tolerances import equal_numbers_sql
from lakeproof.planning.pairs.types import holds_map, ntz_micros_sql

_SCALED_BITS = 51
"""Doubles below 2 ** 51 units keep more digits than one unit, so that rounding loses no more."""

_BITS_OF_A_WORD = 62
_TEXT_FUNCTIONS = {
    "trim": "trim({0})",
    "ltrim": "ltrim({0})",
    "rtrim": "rtrim({0})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    # Spark has no function for it, but brings the ICU library. Plain ASCII is composed already.
    "nfc": (
        "CASE WHEN {0} IS NULL OR octet_length({0}) = char_length({0}) THEN {0} ELSE "
        "java_method('com.ibm.icu.text.Normalizer', 'compose', {0}, false) END"
    ),
}
_TRUNCATED = {
    TypeFamily.TIMESTAMP: {
        "s": "date_trunc('SECOND', {0})",
        "ms": "date_trunc('MILLISECOND', {0})",
    },
    # date_trunc would read it in the session's zone.
    TypeFamily.TIMESTAMP_NTZ: {
        "s": "({0} - make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) % 1))",
        "ms": "({0} - make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) % 0.001))",
    },
}
"""Floored, before 1970 too; Spark keeps no more than microseconds, so `us` leaves all as it is."""

_DAY_SECONDS = 86_400
_SECOND_MICROS = 1_000_000
_LONG_MAX = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Rounding:
    """What of a column's values does not count.

    `float_precision` None is exact. Keys of maps are never rounded: two might become one.
    """

    float_precision: int | None = None
    timestamp_precision: str = ""
    is_unordered: bool = False


EXACT = Rounding()


def normalized_text_sql(value: str, functions: Sequence[str]) -> str:
    """A text after these functions, one after the other."""
    for name in functions:
        value = _TEXT_FUNCTIONS[name].format(value)
    return value


def rounded_sql(value: str, column: Column, rounding: Rounding, depth: int = 0) -> str:
    """The value without what does not count, under the same type."""
    if not _is_rounded(column, rounding):
        return value
    if column.fields:
        members = ", ".join(
            f"{rounded_sql(f'{value}.{quote(field.name)}', field, rounding, depth)} "
            f"AS {quote(field.name)}"
            for field in column.fields
        )
        return f"if({value} IS NULL, NULL, struct({members}))"
    if column.element:
        item = f"`_e{depth}`"
        inside = replace(rounding, is_unordered=False)
        found = rounded_sql(item, column.element, inside, depth + 1)
        if column.map_key:
            return f"transform_values({value}, (`_k{depth}`, {item}) -> {found})"
        changed = value if found == item else f"transform({value}, {item} -> {found})"
        return f"sort_array({changed})" if rounding.is_unordered else changed
    if column.family is TypeFamily.FLOAT and rounding.float_precision is not None:
        return _rounded_float(value, column, rounding.float_precision)
    return _TRUNCATED[column.family][rounding.timestamp_precision].format(value)


def hashable_sql(value: str, column: Column, depth: int = 0) -> str:
    """The value in a form in which equal hashes mean equal values, collisions apart.

    xxhash64 leaves NULLs out, knows no bounds between nested values and no maps: a struct tells
    its NULLs, an array its size, a map is its entries in the order of their keys.
    """
    if column.fields:
        parts = [f"{value}.{quote(field.name)}" for field in column.fields]
        hashed = [
            hashable_sql(part, field, depth)
            for part, field in zip(parts, column.fields, strict=True)
        ]
        return f"struct({', '.join([*null_bits(parts), *hashed])})"
    if column.element is None:
        return value
    item = f"`_e{depth}`"
    if column.map_key is None:
        element = f"{item} IS NULL, {hashable_sql(item, column.element, depth + 1)}"
        return f"struct(size({value}), transform({value}, {item} -> struct({element})))"
    key = hashable_sql(f"{item}.key", column.map_key, depth + 1)
    element = hashable_sql(f"{item}.value", column.element, depth + 1)
    entry = f"struct({key}, {item}.value IS NULL, {element})"
    entries = f"transform(map_entries({value}), {item} -> {entry})"
    return f"struct(size({value}), sort_array({entries}))"


def null_bits(values: Sequence[str]) -> list[str]:
    """Which of the values are NULL, as BIGINTs of 62 bits each."""
    words = [values[at : at + _BITS_OF_A_WORD] for at in range(0, len(values), _BITS_OF_A_WORD)]
    return [
        " | ".join(
            f"(CASE WHEN {value} IS NULL THEN {1 << place}L ELSE 0L END)"
            for place, value in enumerate(word)
        )
        for word in words
    ]


def equal_sql(column: Column, rounding: Rounding, tolerance: ColumnTolerance | None) -> str:
    """A template over {source} and {target}, never NULL: whether the two values are equal.

    It is for `str.format`. Of nested values the rounded forms decide, with no tolerance.
    """
    if tolerance and column.family.is_number:
        return equal_numbers_sql(column, column, tolerance)

    def same(value: str) -> str:
        rounded = rounded_sql(value, column, rounding)
        return hashable_sql(rounded, column) if holds_map(column) else rounded

    equal = _template(lambda source, target: f"{same(source)} <=> {same(target)}")
    near = ""
    if tolerance:
        near = _within_seconds(column, Decimal(tolerance.absolute))
    elif column.family is TypeFamily.FLOAT and rounding.float_precision is not None:
        # The two sides of a rounding edge are near each other all the same.
        near = f"abs({{source}} - {{target}}) <= 5E-{rounding.float_precision + 1}D"
    return f"({equal} OR coalesce({near}, false))" if near else f"({equal})"


def tolerance_obstacle(column: Column, tolerance: ColumnTolerance) -> str:
    """Why the tolerance says nothing about values of this type; '' if it does."""
    if not column.family.is_number and not column.family.is_moment:
        return f"{column.type_text.upper()} is neither a number nor a moment"
    if column.family.is_moment and tolerance.relative:
        return f"{column.type_text.upper()} has no zero to be relative to; give `absolute` seconds"
    return ""


def require_sortable(column: Column) -> None:
    """Refuse what cannot be compared without regard to its order."""
    if column.element is None or column.map_key is not None:
        raise CheckDefinitionError(
            f"unordered_arrays: {column.name!r} is {column.type_text.upper()}, not an array"
        )
    if holds_map(column):
        raise CheckDefinitionError(
            f"unordered_arrays: {column.name!r} has maps inside, which have no order to sort by"
        )


def _is_rounded(column: Column, rounding: Rounding) -> bool:
    if column.fields:
        return any(_is_rounded(field, rounding) for field in column.fields)
    if column.element:
        return rounding.is_unordered or _is_rounded(column.element, rounding)
    if column.family is TypeFamily.FLOAT:
        return rounding.float_precision is not None
    return rounding.timestamp_precision in _TRUNCATED.get(column.family, {})


def _rounded_float(value: str, column: Column, precision: int) -> str:
    """To the nearest unit of 10^-p; what is too large to have such digits stays as it is.

    Arithmetic on doubles only: `round` goes through BigDecimal and takes twice the time of the
    whole hash. NaN is above all bounds, so it stays too.
    """
    limit = f"{(1 << _SCALED_BITS) / 10**precision!r}D"
    nearest = f"rint({value} * 1E{precision}D) * 1E-{precision}D"
    rounded = f"if(abs({value}) < {limit}, {nearest}, {value})"
    return f"CAST({rounded} AS FLOAT)" if column.type_text == "float" else rounded


def _template(build: Callable[[str, str], str]) -> str:
    """The SQL over two values with places for them; braces in a field's name are doubled."""
    source, target = "\x00source\x00", "\x00target\x00"
    text = build(source, target).replace("{", "{{").replace("}", "}}")
    return text.replace(source, "{source}").replace(target, "{target}")


def _within_seconds(column: Column, seconds: Decimal) -> str:
    if column.family is TypeFamily.DATE:
        days = min(int(seconds // _DAY_SECONDS), _LONG_MAX)
        return f"abs(CAST(unix_date({{source}}) AS BIGINT) - unix_date({{target}})) <= {days}L"
    source, target = "unix_micros({source})", "unix_micros({target})"
    if column.family is TypeFamily.TIMESTAMP_NTZ:
        source, target = ntz_micros_sql("{source}"), ntz_micros_sql("{target}")
    most = min(int(seconds * _SECOND_MICROS), _LONG_MAX)
    return f"abs(try_subtract({source}, {target})) <= {most}L"
