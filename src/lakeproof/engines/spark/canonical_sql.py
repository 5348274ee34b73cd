"""The canonical form of `model.canonical` as Spark SQL text, evaluated by the executors.

The text is built from the columns' types alone, so it serves `spark.sql`, `F.expr` and Connect. It
reads no session setting: not the time zone, the ANSI flag, the time parser policy, nor the rules
for escapes in literals. What Spark offers more simply was tried and is not used:

- CAST(decimal AS STRING) prints 1E-10 or 0.0000000001, depending on the ANSI flag.
- `timestampdiff` on TIMESTAMP_NTZ goes through the session zone: 02:30 in a DST gap moves an hour.
- CAST(date AS STRING) follows `spark.sql.legacy.timeParserPolicy` outside the years 1 to 9999.
- Double.toString changed in Java 19; `%a` is exact everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import quote_json

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField

__all__ = [
    "canonical_obstacle",
    "element_key_expression",
    "hit_id_expression",
    "key_expression",
    "row_key_expression",
    "value_expression",
]

Fields: TypeAlias = "Iterable[StructField | tuple[str, DataType]]"

# Literals made of these characters mean themselves under every parser setting: no quote, no
# backslash, and no dollar sign, because Spark replaces ${...} inside any SQL text.
_PLAIN_LITERAL: Final = re.compile(r'[\w .,:;{}\[\]"<>()/+*=@#!?-]*', re.ASCII)

_VARIABLE: Final = re.compile(r"\$\{\S+?\}")

_DAY_MICROS: Final = (
    "hour({0}) * 3600000000L + minute({0}) * 60000000L"
    " + CAST(extract(SECOND FROM {0}) * 1000000 AS BIGINT)"
)

_SPAN_SECONDS: Final = "CAST(CAST({0} AS INTERVAL DAY TO SECOND) AS DECIMAL(20, 6))"

# Spark type name -> tag and the text of a value that is not NULL.
_SCALARS: Final[dict[str, tuple[str, str]]] = {
    "boolean": ("b", "CAST({0} AS STRING)"),
    "byte": ("i", "CAST({0} AS STRING)"),
    "short": ("i", "CAST({0} AS STRING)"),
    "integer": ("i", "CAST({0} AS STRING)"),
    "long": ("i", "CAST({0} AS STRING)"),
    "float": ("f", "format_string('%a', if({0} = 0, 0D, CAST({0} AS DOUBLE)))"),
    "double": ("f", "format_string('%a', if({0} = 0, 0D, {0}))"),
    "binary": ("x", "hex({0})"),
    "date": ("D", "format_string('%04d-%02d-%02d', year({0}), month({0}), day({0}))"),
    "time": ("T", f"CAST({_DAY_MICROS} AS STRING)"),
    "timestamp": ("t", "CAST(unix_micros({0}) AS STRING)"),
    "timestamp_ntz": (
        "n",
        f"CAST(unix_date(CAST({{0}} AS DATE)) * 86400000000L + {_DAY_MICROS} AS STRING)",
    ),
    "daytimeinterval": (
        "p",
        f"CAST(CAST({_SPAN_SECONDS} * 1000000 AS BIGINT) AS STRING)",
    ),
    "yearmonthinterval": ("y", "CAST(CAST(CAST({0} AS INTERVAL YEAR TO MONTH) AS INT) AS STRING)"),
}
_STRINGS: Final = frozenset({"string", "char", "varchar"})
_NO_PATHS: Final[Mapping[str, Sequence[str]]] = {}


def key_expression(
    fields: Fields,
    *,
    relation: str | None = None,
    hidden: Container[str] = (),
    paths: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """SQL of the violation_key over these key columns, equal to `model.canonical.encode_key`.

    `relation` is the alias that qualifies the columns; needed in a join, and where a struct column
    bears the name of its table. Of `hidden` columns the key holds a hash, not the value. `paths`
    lead to those that are fields of structs.
    """
    columns = _by_name(fields)
    for name, data_type in columns.items():
        obstacle = canonical_obstacle(data_type) or _collation_obstacle(data_type)
        if obstacle:
            raise CheckDefinitionError(
                f"Column {name!r} cannot be part of a key: {obstacle}. "
                "Name other key columns, or give the table a view that casts this one."
            )
    return _object_expression(columns, relation, hidden, paths or {})


def row_key_expression(fields: Fields, *, relation: str | None = None) -> str:
    """SQL of the violation_key of rows without key columns, equal to `model.canonical.row_key`.

    Columns without a canonical form are left out: rows that differ only there share one hit.
    """
    columns = {
        name: data_type
        for name, data_type in _by_name(fields).items()
        if canonical_obstacle(data_type) is None
    }
    if not columns:
        raise CheckDefinitionError(
            "No column of this table has a canonical form, so its rows cannot be told apart. "
            "Name key columns."
        )
    return (
        f"""concat('{{"_row":["h","', sha2({_object_expression(columns, relation)}, 256), '"]}}')"""
    )


def element_key_expression(key_sql: str, position_sql: str) -> str:
    """SQL of an element's key out of its row's, equal to `model.canonical.element_key`."""
    return f"""concat('{{"@":', {_string(position_sql)}, ',', substr({key_sql}, 2))"""


def hit_id_expression(rule_id_sql: str, violation_key_sql: str) -> str:
    """SQL of the hit_id, equal to `model.canonical.hit_id`; both arguments are SQL expressions."""
    return f"sha2(concat({rule_id_sql}, '|', {violation_key_sql}), 256)"


def value_expression(value_sql: str, data_type: DataType) -> str:
    """SQL of one value's canonical text, never NULL, equal to `model.canonical.encode_value`."""
    obstacle = canonical_obstacle(data_type)
    if obstacle:
        raise CheckDefinitionError(f"{value_sql} cannot be encoded: {obstacle}.")
    return _value(f"({value_sql})", data_type, 0)


def canonical_obstacle(data_type: DataType) -> str | None:
    """Why values of this type have no canonical form, or None if they have one."""
    for part in _leaves(data_type):
        kind = part.typeName()
        if kind == "variant":
            return "a VARIANT prints its timestamps in the session's time zone"
        if kind not in _SCALARS and kind not in _STRINGS and kind not in {"decimal", "void"}:
            return f"type {part.simpleString()} has no canonical form"
    return None


def _collation_obstacle(data_type: DataType) -> str | None:
    """Equal under the collation is not equal in bytes, and Spark 4.1 has no SQL collation key."""
    for part in _leaves(data_type):
        if _is_collated(part):
            return f"under {part.simpleString()} one key has several spellings"
    return None


def _is_collated(data_type: DataType) -> bool:
    return getattr(data_type, "collation", "UTF8_BINARY") != "UTF8_BINARY"


def _leaves(data_type: DataType) -> Iterable[DataType]:
    # The subclass is known by its type name: importing pyspark.sql.types here would load pyspark.
    part: Any = data_type
    match part.typeName():
        case "array":
            yield from _leaves(part.elementType)
        case "map":
            yield from _leaves(part.keyType)
            yield from _leaves(part.valueType)
        case "struct":
            for field in part.fields:
                yield from _leaves(field.dataType)
        case "udt":
            yield from _leaves(part.sqlType())
        case _:
            yield part


def _by_name(fields: Fields) -> dict[str, DataType]:
    columns: dict[str, DataType] = {}
    for field in fields:
        name, data_type = field if isinstance(field, tuple) else (field.name, field.dataType)
        if name in columns:
            raise CheckDefinitionError(f"Column {name!r} is named twice. Name each column once.")
        columns[name] = data_type
    if not columns:
        raise CheckDefinitionError("A key needs at least one column. Name key columns.")
    return columns


def _object_expression(
    columns: dict[str, DataType],
    relation: str | None,
    hidden: Container[str] = (),
    paths: Mapping[str, Sequence[str]] = _NO_PATHS,
) -> str:
    prefix = f"{_identifier(relation)}." if relation is not None else ""
    values = {
        name: prefix + ".".join(map(_identifier, paths.get(name, (name,)))) for name in columns
    }
    return _members("{", columns, values, "}", 0, hidden)


def _members(
    opening: str,
    members: dict[str, DataType],
    values: Mapping[str, str],
    closing: str,
    depth: int,
    hidden: Container[str] = (),
) -> str:
    parts: list[str] = []
    for name in sorted(members):
        value = _value(values[name], members[name], depth)
        if name in hidden:
            value = f"""concat('["h","', sha2({value}, 256), '"]')"""
        parts += [_literal(f"{opening}{quote_json(name)}:"), value]
        opening = ","
    parts.append(_literal(closing if members else opening + closing))
    return f"concat({', '.join(parts)})"


def _value(sql: str, data_type: DataType, depth: int) -> str:
    if data_type.typeName() == "void":
        return "'null'"
    # Not nvl(): format_string prints NULL as the word null, and to_json as a JSON null.
    return f"if({sql} IS NULL, 'null', {_present_value(sql, data_type, depth)})"


def _present_value(sql: str, data_type: DataType, depth: int) -> str:
    part: Any = data_type
    kind = part.typeName()
    if kind == "udt":
        return _present_value(sql, part.sqlType(), depth)
    if kind in _STRINGS:
        return _string(f"({sql} COLLATE UTF8_BINARY)" if _is_collated(part) else sql)
    if kind == "struct":
        members = {field.name: field.dataType for field in part.fields}
        values = {name: f"{sql}.{_identifier(name)}" for name in members}
        return _members('["o",{', members, values, "}]", depth)
    if kind in {"array", "map"}:
        return _elements(sql, part, depth)
    tag, text = ("d", _decimal_text(part.scale)) if kind == "decimal" else _SCALARS[kind]
    return f"""concat('["{tag}","', {text.format(sql)}, '"]')"""


def _decimal_text(scale: int) -> str:
    # DecimalFormat is exact on decimals, always plain, and `#` leaves trailing zeros out.
    return f"format_number({{0}}, '0{'.' if scale else ''}{'#' * scale}')"


def _string(sql: str) -> str:
    # RLIKE sees what Java makes of the bytes: broken UTF-8 turns into U+FFFD there, as in to_json.
    replaced = _literal("\ufffd")
    return (
        f"""if({sql} RLIKE {replaced}, concat('["u","', hex({sql}), '"]'), """
        f"to_json(array('s', {sql})))"
    )


def _elements(sql: str, part: Any, depth: int) -> str:  # noqa: ANN401 - an ArrayType or MapType
    item = f"`e{depth}`"
    if part.typeName() == "array":
        texts = f"transform({sql}, {item} -> {_value(item, part.elementType, depth + 1)})"
        return f"""concat('["a",[', array_join({texts}, ','), ']]')"""
    key = _value(f"{item}.`key`", part.keyType, depth + 1)
    value = _value(f"{item}.`value`", part.valueType, depth + 1)
    entry = f"concat('[', {key}, ',', {value}, ']')"
    texts = f"sort_array(transform(map_entries({sql}), {item} -> {entry}))"
    return f"""concat('["m",[', array_join({texts}, ','), ']]')"""


def _identifier(name: str) -> str:
    if _VARIABLE.search(name):
        raise CheckDefinitionError(
            f"Column {name!r} cannot be named in SQL: Spark replaces ${{...}} inside any SQL text, "
            "quoted or not. Give the table a view that renames the column."
        )
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    if _PLAIN_LITERAL.fullmatch(text):
        return f"'{text}'"
    return f"CAST(X'{text.encode('utf-8').hex().upper()}' AS STRING)"
