"""A schema as planning sees it, and the key of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakeproof.config import TableSettings
from lakeproof.engines.spark.canonical_sql import key_expression, row_key_expression
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def columns_of(schema: StructType) -> tuple[Column, ...]:
    """The columns with everything inside them."""
    return tuple(
        _column(field.name, field.dataType, nullable=field.nullable) for field in schema.fields
    )


def _column(name: str, data_type: DataType, *, nullable: bool = True) -> Column:
    part: Any = data_type
    column = Column(name, data_type.simpleString(), nullable)
    match data_type.typeName():
        case "struct":
            return replace(column, fields=columns_of(part))
        case "array":
            element = _column("element", part.elementType, nullable=part.containsNull)
            return replace(column, element=element)
        case "map":
            value = _column("value", part.valueType, nullable=part.valueContainsNull)
            key = _column("key", part.keyType, nullable=False)
            return replace(column, element=value, map_key=key)
        case _:
            return column


def as_declared(
    pinned: PinnedTable, sensitive: Sequence[str], declared: TableSettings
) -> PinnedTable:
    """The table with what a contract declares of it, as far as the columns are there."""
    hidden = [name for name in declared.sensitive if pinned.column(name) is not None]
    is_known = all(pinned.column(name) is not None for name in declared.key)
    key = pinned.key_columns or (declared.key if is_known else ())
    return with_sensitive(replace(pinned, key_columns=key), (*sensitive, *hidden))


def part_type(schema: StructType, path: Sequence[str]) -> DataType:
    """The type of a column, or of the field of a struct that the path leads to."""
    part: Any = schema
    for name in path:
        part = part[name].dataType
    found: DataType = part
    return found


def exact_type(data_type: DataType) -> str:
    """The type as the table has it, as SQL."""
    part: Any = data_type
    match part.typeName():
        case "struct":
            fields = ", ".join(
                f"{quote(field.name)}: {exact_type(field.dataType)}" for field in part.fields
            )
            return f"STRUCT<{fields}>"
        case "array":
            return f"ARRAY<{exact_type(part.elementType)}>"
        case "map":
            return f"MAP<{exact_type(part.keyType)}, {exact_type(part.valueType)}>"
        case _:
            return str(part.simpleString())


def with_key(pinned: PinnedTable, schema: StructType) -> PinnedTable:
    """The table with the SQL of its rows' key: by its key columns, or a hash of the row."""
    if not pinned.key_columns:
        return replace(pinned, key_sql=row_key_expression(schema.fields))
    names = _known(pinned, pinned.key_columns, "key")
    key = key_expression([schema[name] for name in names], hidden=pinned.sensitive)
    return replace(pinned, key_columns=names, key_sql=key)


def with_sensitive(pinned: PinnedTable, names: Sequence[str]) -> PinnedTable:
    """The table with its sensitive columns; one that is not there would go unmasked elsewhere."""
    return replace(pinned, sensitive=frozenset(_known(pinned, names, "sensitive columns")))


def _known(pinned: PinnedTable, names: Sequence[str], what: str) -> tuple[str, ...]:
    found = [pinned.column(name) for name in names]
    missing = [name for name, column in zip(names, found, strict=True) if column is None]
    if missing:
        hint = ". Name the whole column, not a part of it" if set(".[{") & set(missing[0]) else ""
        raise CheckDefinitionError(
            f"{what} of {pinned.table}: no column {', '.join(missing)} in the table{hint}"
        )
    return tuple(column.name for column in found if column is not None)
