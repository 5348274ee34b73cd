"""The type that values of two columns are compared under: it loses nothing of either."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lakeproof.model.column import Column, TypeFamily, column_named, folded
from lakeproof.model.names import quote
from lakeproof.planning.places import text_sql

DECIMAL_DIGITS_MAX = 38
_INTEGER_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_WHOLE = re.compile(r"interval (year|month|day|hour|minute|second)( to [a-z]+)?|time\(\d\)")
"""Other types whose values Spark can hash and compare; each is its own common type."""

_COMMON = {
    frozenset({TypeFamily.INTEGER}): "bigint",
    frozenset({TypeFamily.FLOAT}): "double",
    frozenset({TypeFamily.STRING}): "string",
}
_LOCAL = frozenset({TypeFamily.TIMESTAMP_NTZ, TypeFamily.DATE, TypeFamily.STRING})
_CAST_BACK = frozenset(
    {
        *(TypeFamily.INTEGER, TypeFamily.DECIMAL, TypeFamily.FLOAT, TypeFamily.BOOLEAN),
        *(TypeFamily.DATE, TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMP_NTZ),
    }
)
"""Whatever they are cast to, the way back shows whether something was lost."""

_LOST_IN_TEXT = {
    # So many digits are always kept.
    "float": "[1-9]([.]?[0-9]){6}",
    "double": "[1-9]([.]?[0-9]){15}",
    "date": "[0-9][T ].*[^ ]",
    # Digits below microseconds, and a zone.
    "timestamp_ntz": "[.].{6}.*[^0 ]|[A-SU-Za-z+]|:.*-",
}
_NTZ_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def common_type(source: Column, target: Column, assume_timezone: str = "") -> Column | None:
    """A type for both, under the target's names; None if there is none.

    Decimals that do not fit into one decimal meet as doubles, which `loses_digits` tells.
    `assume_timezone` is that of timestamps without one which meet timestamps.
    """
    if _is_void(source) or _is_void(target):
        known = source if _is_void(target) else target
        own = Column(target.name, "string") if _is_void(known) else common_type(known, known)
        return own and replace(own, name=target.name, nullable=True)
    common: Column | None
    if source.fields and target.fields:
        common = _common_struct(source, target, assume_timezone)
    elif source.map_key and target.map_key:
        common = _common_map(source, target, assume_timezone)
    elif source.element and target.element and not (source.map_key or target.map_key):
        element = common_type(source.element, target.element, assume_timezone)
        common = element and Column(target.name, f"array<{element.type_text}>", element=element)
    else:
        text = _common_flat(source, target, assume_timezone)
        common = Column(target.name, text) if text else None
    return common and replace(common, nullable=source.nullable or target.nullable)


def loses_digits(have: Column, common: Column) -> bool:
    """Whether a decimal had to become a double."""
    return any(
        one.family is TypeFamily.DECIMAL and other.family is TypeFamily.FLOAT
        for one, other in _leaf_pairs(have, common)
    )


def obstacle(column: Column) -> str:
    """Why values of this type cannot be compared; '' if they can."""
    for leaf in leaves(column):
        is_known = leaf.family is not TypeFamily.OTHER or _WHOLE.fullmatch(leaf.type_text)
        if not is_known and not _is_void(leaf):
            return f"Spark can neither hash nor compare {leaf.type_text.upper()}"
    return ""


def key_obstacle(column: Column) -> str:
    """Why a column of this type cannot be part of a key; '' if it can."""
    if holds_map(column):
        return "Spark cannot group by a MAP"
    return obstacle(column)


def holds_map(column: Column) -> bool:
    """Whether it is a map or has one inside; such values have no order."""
    return column.map_key is not None or any(map(holds_map, _parts(column)))


def decimal_size(column: Column) -> tuple[int, int]:
    """The digits before the point and behind it that an exact number may have."""
    found = _DECIMAL.fullmatch(column.type_text)
    if found is None:
        return _INTEGER_DIGITS[column.type_text], 0
    return int(found[1]) - int(found[2]), int(found[2])


def converted_sql(
    value: str, have: Column, want: Column, assume_timezone: str = "", depth: int = 0
) -> str:
    """The value under the type that `common_type` gave."""
    if _are_alike(have, want):
        return value
    parts = _paired_parts(have, want)
    if not parts:
        return _converted_flat(value, have, want, assume_timezone)
    item = f"`_e{depth}`"
    places = [f"{value}.{quote(own.name)}" for own, _ in parts]
    if not want.fields:
        places = [item] if want.map_key is None else [f"{item}.key", f"{item}.value"]
        depth += 1
    found = [
        converted_sql(place, *part, assume_timezone, depth)
        for place, part in zip(places, parts, strict=True)
    ]
    if want.fields:
        named = zip((text_sql(field.name) for field in want.fields), found, strict=True)
        members = ", ".join(f"{name}, {part}" for name, part in named)
        return f"if({value} IS NULL, NULL, named_struct({members}))"
    if want.map_key is None:
        return f"transform({value}, {item} -> {found[0]})"
    entry = f"struct({', '.join(found)})"
    return f"map_from_entries(transform(map_entries({value}), {item} -> {entry}))"


def needs_zone(own: Column, other: Column) -> bool:
    """Whether one is a moment and the other a local date or time, or a text of either."""
    families = {own.family, other.family}
    return TypeFamily.TIMESTAMP in families and bool(families & _LOCAL)


def key_in_zone_sql(own: Column, assume_timezone: str) -> str:
    """A local date or time as the moment that it is in that zone."""
    local = Column(own.name, "timestamp_ntz")
    value = converted_sql(quote(own.name), own, local)
    return converted_sql(value, local, Column(own.name, "timestamp"), assume_timezone)


def key_cast_sql(own: Column, cast: str) -> tuple[str, str]:
    """A key as it is to be read, and whether it can be: digits that get lost are a failure."""
    raw = quote(own.name)
    if own.is_collated:
        raw = f"({raw} COLLATE UTF8_BINARY)"
    read = f"try_cast({raw} AS {cast})"
    if own.family in _CAST_BACK:
        return read, f"({raw} <=> try_cast({read} AS {own.type_text}))"
    is_read = f"{read} IS NOT NULL"
    lost = _lost_in_text(cast) if own.family is TypeFamily.STRING else ""
    if lost:
        is_read += f" AND NOT {raw} RLIKE {text_sql(lost)}"
    return read, f"({raw} IS NULL OR {is_read})"


def ntz_micros_sql(value: str) -> str:
    """Microseconds since 1970 of a timestamp without zone; no session's zone has a say in it."""
    return f"CAST(CAST({value} - {_NTZ_EPOCH} AS DECIMAL(20, 6)) * 1000000 AS BIGINT)"


def _lost_in_text(cast: str) -> str:
    """What a text that can be read as that type holds beyond its values, as a pattern."""
    decimal = _DECIMAL.fullmatch(cast)
    if decimal:
        return f"[.].{{{decimal[2]}}}.*[^0 ]|[eE]"
    return _LOST_IN_TEXT.get(cast, "")


def _common_struct(source: Column, target: Column, assume_timezone: str) -> Column | None:
    """Fields are paired by name, in whatever order; both sides must have all of them."""
    if {folded(field.name) for field in source.fields} != {
        folded(field.name) for field in target.fields
    }:
        return None
    fields = []
    for own, field in _paired_parts(source, target):
        common = common_type(own, field, assume_timezone)
        if common is None:
            return None
        fields.append(common)
    text = ", ".join(f"{quote(field.name)}: {field.type_text}" for field in fields)
    return Column(target.name, f"struct<{text}>", fields=tuple(fields))


def _common_map(source: Column, target: Column, assume_timezone: str) -> Column | None:
    keys, values = _paired_parts(source, target)
    key, value = common_type(*keys), common_type(*values, assume_timezone)
    if key is None or value is None or any(loses_digits(own, key) for own in keys):
        return None  # what might make two keys one is no common type of keys
    return Column(
        target.name,
        f"map<{key.type_text}, {value.type_text}>",
        element=value,
        map_key=replace(key, nullable=False),
    )


def _common_flat(source: Column, target: Column, assume_timezone: str) -> str:
    """'' if there is no common type."""
    families = frozenset({source.family, target.family})
    if source.type_text == target.type_text and source.family is not TypeFamily.STRING:
        return source.type_text
    if TypeFamily.DECIMAL in families <= {TypeFamily.INTEGER, TypeFamily.DECIMAL}:
        return _common_decimal(source, target)
    if families == {TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMP_NTZ} and assume_timezone:
        return "timestamp"
    if families == {TypeFamily.INTEGER, TypeFamily.FLOAT}:
        return "" if "bigint" in {source.type_text, target.type_text} else "double"
    return _COMMON.get(families, "")


def _common_decimal(source: Column, target: Column) -> str:
    # Not always 38 digits: up to 18 of them are hashed as one number.
    sizes = [decimal_size(source), decimal_size(target)]
    digits, scale = (max(size) for size in zip(*sizes, strict=True))
    if digits + scale > DECIMAL_DIGITS_MAX:
        return "double"
    return f"decimal({digits + scale},{scale})"


def _converted_flat(value: str, have: Column, want: Column, assume_timezone: str) -> str:
    if have.is_collated:
        return f"({value} COLLATE UTF8_BINARY)"
    if have.family is TypeFamily.TIMESTAMP_NTZ:
        in_utc = f"convert_timezone({text_sql(assume_timezone)}, 'UTC', {value})"
        return f"timestamp_micros({ntz_micros_sql(in_utc)})"
    return f"CAST({value} AS {want.type_text})"


def _are_alike(have: Column, want: Column) -> bool:
    """Whether nothing needs to be converted; the names and the order of fields count."""
    if [part.name for part in _parts(have)] != [part.name for part in _parts(want)]:
        return False
    parts = _paired_parts(have, want)
    if parts:
        return all(_are_alike(*part) for part in parts)
    return have.type_text == want.type_text and not have.is_collated


def _parts(column: Column) -> list[Column]:
    return [*column.fields, *(part for part in (column.map_key, column.element) if part)]


def _paired_parts(have: Column, want: Column) -> list[tuple[Column, Column]]:
    """What is inside of both: fields by name, the key of a map before its value."""
    found: list[tuple[Column | None, Column | None]] = [
        (column_named(have.fields, field.name), field) for field in want.fields
    ]
    found += [(have.map_key, want.map_key), (have.element, want.element)]
    return [(own, other) for own, other in found if own and other]


def leaves(column: Column) -> Iterator[Column]:
    """What is innermost: the column itself, or what its fields and elements are."""
    parts = _parts(column)
    if not parts:
        yield column
    for part in parts:
        yield from leaves(part)


def _leaf_pairs(have: Column, want: Column) -> Iterator[tuple[Column, Column]]:
    parts = _paired_parts(have, want)
    if not parts:
        yield have, want
    for part in parts:
        yield from _leaf_pairs(*part)


def _is_void(column: Column) -> bool:
    return column.type_text == "void"
