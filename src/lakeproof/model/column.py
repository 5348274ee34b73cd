"""A table's column as checks see it: its name and the family of its type."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class TypeFamily(StrEnum):
    """Types that checks treat alike; `type_text` keeps the exact one for messages."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    STRING = "string"
    BOOLEAN = "boolean"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        return self in {TypeFamily.INTEGER, TypeFamily.DECIMAL, TypeFamily.FLOAT}

    @property
    def is_moment(self) -> bool:
        return self in {TypeFamily.DATE, TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMP_NTZ}


_FAMILIES = {
    "tinyint": TypeFamily.INTEGER,
    "smallint": TypeFamily.INTEGER,
    "int": TypeFamily.INTEGER,
    "bigint": TypeFamily.INTEGER,
    "float": TypeFamily.FLOAT,
    "double": TypeFamily.FLOAT,
    "decimal": TypeFamily.DECIMAL,
    "string": TypeFamily.STRING,
    "char": TypeFamily.STRING,
    "varchar": TypeFamily.STRING,
    "boolean": TypeFamily.BOOLEAN,
    "binary": TypeFamily.BINARY,
    "date": TypeFamily.DATE,
    "timestamp": TypeFamily.TIMESTAMP,
    "timestamp_ntz": TypeFamily.TIMESTAMP_NTZ,
}


@cache
def base_type(type_text: str) -> str:
    """`decimal` of `decimal(12,2)`."""
    return re.split(r"[(< ]", type_text, maxsplit=1)[0].lower()


def folded(name: str) -> str:
    """A name as Spark compares it: letter case and Unicode form do not matter."""
    return unicodedata.normalize("NFC", name).casefold()


@dataclass(frozen=True, slots=True)
class Column:
    """One column, a part of one, or an expression over the row.

    `type_text` is Spark's own short form, such as `decimal(10,2)`. `fields` are those of a
    struct, `element` that of an array or the value of a map, `map_key` the key of a map.
    `path` leads to a part (empty: the column itself); `sql` is a user's expression instead.
    """

    name: str
    type_text: str
    nullable: bool = True
    fields: tuple[Column, ...] = ()
    element: Column | None = None
    map_key: Column | None = None
    path: tuple[str, ...] = ()
    sql: str = ""

    @property
    def family(self) -> TypeFamily:
        return _FAMILIES.get(base_type(self.type_text), TypeFamily.OTHER)

    @property
    def is_collection(self) -> bool:
        """An array or a map: it has elements, and so a size."""
        return self.element is not None

    @property
    def is_collated(self) -> bool:
        """A string whose equality is not byte equality: hashing its bytes would be wrong."""
        return " collate " in self.type_text.lower()

    @property
    def is_plain_text(self) -> bool:
        """Text that is compared byte by byte; CHAR is compared with blanks behind it."""
        return base_type(self.type_text) in {"string", "varchar"} and not self.is_collated


def column_named(columns: Iterable[Column], name: str) -> Column | None:
    """The column of that name; one that is there exactly wins."""
    alike = [column for column in columns if folded(column.name) == folded(name)]
    exact = [column for column in alike if column.name == name]
    return next(iter([*exact, *alike]), None)
