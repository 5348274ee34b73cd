"""The rows of an aggregate as they were stored: their key, and the commitment of their members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from lakeproof.accounting.without_spark.key_text import needed
from lakeproof.accounting.without_spark.records.json_text import Number
from lakeproof.accounting.without_spark.records.values import value_of_json, value_of_text
from lakeproof.accounting.without_spark.stored_partitions import StoredPartition
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import Commitment, KeyColumn, Level
from lakeproof.model.canonical import encode_key

_KEY: Final = KeyColumn("group_key", "struct")
_FLOATS: Final = frozenset({"float", "double"})


@dataclass(frozen=True, slots=True)
class Group:
    """One aggregated row; `text` is its key, the same for equal keys."""

    text: str
    commitment: Commitment


def group_text(values: Mapping[str, object]) -> str:
    """A group's key as one text; that of a global aggregate is empty."""
    return encode_key(values) if values else ""


def stored_groups(groups: StoredPartition, level: Level) -> Iterator[Group]:
    """The groups of a step, in no order."""
    for made_of, (key,) in groups.groups(level, [_KEY]):
        yield Group(group_text(key if isinstance(key, Mapping) else {}), made_of)


def group_columns(stored: StoredPartition) -> tuple[KeyColumn, ...]:
    """The columns that rows were grouped by, with their types; none for a global aggregate."""
    root = Path(stored.dataset.location)
    for path in stored.dataset.paths[:1]:
        file = root if root.is_file() else root / path
        schema = needed("pyarrow.parquet").read_schema(file)
        if _KEY.name not in schema.names:
            return ()
        kind = schema.field(_KEY.name).type
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return tuple(KeyColumn(field.name, _type_text(field.type)) for field in fields)
    return ()


def typed_group(given: Mapping[str, object], columns: Sequence[KeyColumn]) -> str:
    """The text of a group as a caller names it, with JSON's few types or Python's own."""
    asked, known = set(given), {column.name for column in columns}
    if asked != known:
        told = ", ".join(sorted(known)) or "nothing: it is one group, {}"
        raise LedgerError(
            f"the group names {', '.join(sorted(asked)) or 'nothing'}, and the step grouped by "
            f"{told}. Give each of its columns a value"
        )
    return group_text(
        {column.name: as_type(given[column.name], column.type_text) for column in columns}
    )


def as_type(value: object, type_text: str) -> object:
    """A value as the group column holds it; a text is read as that type, None if it is none."""
    if isinstance(value, bool) or value is None:
        return value
    if type_text in _FLOATS:
        return float(str(value))
    if isinstance(value, int | float | Decimal):
        return value_of_json(Number(value), type_text)
    if isinstance(value, str):
        return value_of_text(value, type_text, "UTC")
    if isinstance(value, datetime) and type_text == "date":
        return value.date()
    return value if isinstance(value, date | bytes) else str(value)


def _type_text(kind: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    """Spark's name of a type as Parquet holds it."""
    types = needed("pyarrow").types
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    plain = {
        "string": "string",
        "large_string": "string",
        "bool": "boolean",
        "int8": "tinyint",
        "int16": "smallint",
        "int32": "int",
        "int64": "bigint",
        "float": "float",
        "double": "double",
        "date32[day]": "date",
        "binary": "binary",
    }
    return plain.get(str(kind), str(kind))
