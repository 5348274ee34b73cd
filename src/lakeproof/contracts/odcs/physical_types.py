"""The type that a column must have in Spark, by what a contract says of it.

`physicalType` is a word of the server's: it is read in its dialect and becomes the type that Spark
stores it as. Lengths of texts are no matter of type. Where several types of Spark hold such a
column, each of them will do. `logicalType` is a family of types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod

from sqlglot import exp
from sqlglot.errors import SqlglotError

from lakeproof.checks.sql_source import sqlglot_silent
from lakeproof.checks.type_text import canonical_type

SPARK_DIALECTS = frozenset({"spark", "spark2", "databricks"})

_FAMILIES_OF_LOGICAL: Mapping[str, tuple[str, ...]] = {
    "string": ("string",),
    "date": ("date",),
    "timestamp": ("timestamp",),
    "time": ("time", "string"),
    "number": ("number",),
    "integer": ("integer",),
    "object": ("struct",),
    "array": ("array",),
    "boolean": ("boolean",),
    "map": ("map",),
    "vector": ("vector",),
}

_TYPES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("TINYINT",): ("tinyint",),
    ("SMALLINT", "SMALLSERIAL", "UTINYINT", "YEAR"): ("smallint",),
    ("INT", "SERIAL", "MEDIUMINT", "USMALLINT"): ("int",),
    ("BIGINT", "BIGSERIAL", "UINT", "UMEDIUMINT"): ("bigint",),
    ("UBIGINT",): ("decimal(20,0)",),
    ("DOUBLE",): ("double",),
    ("BOOLEAN", "BIT"): ("boolean",),
    ("DATE", "DATE32"): ("date",),
    ("TIMESTAMPTZ", "TIMESTAMPLTZ"): ("timestamp",),
    ("TIMESTAMPNTZ",): ("timestamp_ntz",),
    (
        *("TIMESTAMP", "DATETIME", "DATETIME2", "DATETIME64", "SMALLDATETIME"),
        *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    ): ("timestamp", "timestamp_ntz"),
    ("TIME", "TIMETZ"): ("string", "time(0)", "time(3)", "time(6)"),
    ("MONEY", "SMALLMONEY"): ("decimal(19,4)", "decimal(10,4)"),
    ("VARIANT",): ("variant",),
    (
        *("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "BPCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT"),
        *("LONGTEXT", "NAME", "UUID", "ENUM", "ENUM8", "ENUM16", "FIXEDSTRING"),
    ): ("string",),
    (
        *("BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "IMAGE"),
        "ROWVERSION",
    ): ("binary",),
}
_TYPE_OF = {name: types for names, types in _TYPES.items() for name in names}
_FAMILY_OF = {"STRUCT": "struct", "ARRAY": "array", "LIST": "array", "MAP": "map"}
_DECIMALS = frozenset({"DECIMAL", "BIGDECIMAL", "DECIMAL32", "DECIMAL64", "DECIMAL128"})
_WORDS = {
    "raw": "binary",
    "long raw": "binary",
    "nclob": "text",
    **dict.fromkeys(("rowid", "urowid"), "text"),
}
"""Words that sqlglot does not know, by one that it does."""

_OF_ONE_WIDTH: Mapping[str, frozenset[str]] = {
    "bigquery": frozenset({"TINYINT", "SMALLINT", "INT"}),
    "oracle": frozenset({"SMALLINT", "INT"}),
    "snowflake": frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"}),
}
"""Words for whole numbers that are synonyms there, of INT64 or of a decimal: no width is meant."""

_INT8_IS_KNOWN = frozenset({"postgres", "redshift", "duckdb", "clickhouse"})
_OTHER_DIALECTS = (
    "spark",
    "postgres",
    "snowflake",
    "oracle",
    "tsql",
    "bigquery",
    "mysql",
    "clickhouse",
)
_SIZE_IN_SQUARE_BRACKETS = re.compile(r"(\w+)\[(\d+)\]")
_WHOLE_DECIMAL = re.compile(r"decimal\(\d+,0\)")
_ALTERNATIVES_MAX = 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """Types, and families of types, of which one must fit; `obstacle` says why there is none.

    `is_unknown`: the word is no type of any dialect, so that it says nothing at all.
    """

    types: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    obstacle: str = ""
    is_unknown: bool = False


def logical_types(logical_type: str) -> Wanted:
    """What a column of that logical type may be."""
    families = _FAMILIES_OF_LOGICAL.get(logical_type)
    if families is None:
        known = ", ".join(_FAMILIES_OF_LOGICAL)
        return Wanted(
            obstacle=f"{logical_type!r} is no logicalType of the standard. It has: {known}",
            is_unknown=True,
        )
    return Wanted(families=families)


def physical_types(physical_type: str, dialect: str, logical_type: str = "") -> Wanted:
    """What Spark stores a column of that physical type as.

    `varchar[50]` means a length, unless the column is an array. Without a dialect a word means
    whatever it may mean.
    """
    text = physical_type.strip()
    if logical_type != "array":
        text = _SIZE_IN_SQUARE_BRACKETS.sub(r"\1(\2)", text)
    word = text.lower()
    if word == "int8" and dialect not in _INT8_IS_KNOWN:
        return Wanted(types=("bigint", "tinyint"))  # of bytes or of bits
    if word == "number" and dialect in SPARK_DIALECTS:
        dialect = "oracle"  # not a word of Spark's, and no decimal(10,0)
    parsed = _parsed(_WORDS.get(word, text), dialect)
    if parsed is None or _name(parsed) == "OBJECT":
        return Wanted(
            obstacle=f"physicalType {physical_type!r} is not known as a type"
            + (f" of {dialect}" if dialect else ""),
            is_unknown=True,
        )
    found = _types_of(parsed, dialect)
    if found is None:
        return Wanted(
            obstacle=f"physicalType {physical_type!r} has no type in Spark that it is stored as"
        )
    is_whole = logical_type == "integer" and dialect not in SPARK_DIALECTS
    if is_whole and ("decimal" in found.families or any(map(_WHOLE_DECIMAL.match, found.types))):
        return replace(found, families=(*found.families, "integer"))
    return found


@cache
def _parsed(text: str, dialect: str) -> exp.DataType | None:
    """The type in that dialect, else in the first other one that knows the word."""
    for name in dict.fromkeys((dialect, *_OTHER_DIALECTS)):
        try:
            with sqlglot_silent():
                found = exp.DataType.build(text, dialect=name or None)
        except (SqlglotError, ValueError, RecursionError):
            continue
        if isinstance(found, exp.DataType) and _name(found) not in {"USERDEFINED", "UNKNOWN"}:
            return found
    return None


def _name(kind: exp.DataType) -> str:
    return str(getattr(kind.this, "value", kind.this)).upper()


def _types_of(kind: exp.DataType, dialect: str) -> Wanted | None:
    name = _name(kind)
    if name in _FAMILY_OF:
        return _nested(_FAMILY_OF[name], kind, dialect)
    if name in _DECIMALS:
        return _decimal(kind, dialect)
    if name == "FLOAT":  # of four bytes in Spark, of eight in most databases
        return Wanted(types=("float",) if dialect in SPARK_DIALECTS else ("float", "double"))
    if name == "DATE" and dialect == "oracle":  # it has a time of day
        return Wanted(types=("date", "timestamp", "timestamp_ntz"))
    if name in _OF_ONE_WIDTH.get(dialect, ()):
        return Wanted(families=("integer",))
    types = _TYPE_OF.get(name)
    return None if types is None else Wanted(types=types)


def _decimal(kind: exp.DataType, dialect: str) -> Wanted:
    sizes = [str(size.this.name) for size in kind.expressions if hasattr(size.this, "name")]
    if not sizes and dialect not in SPARK_DIALECTS:
        return Wanted(families=("decimal",))
    return Wanted(types=(canonical_type(f"decimal({','.join(sizes)})" if sizes else "decimal"),))


def _nested(family: str, kind: exp.DataType, dialect: str) -> Wanted | None:
    """An array, map or struct in full; one that does not say what is inside by its family."""
    inner: list[tuple[str, ...]] = []
    for part in kind.expressions:
        of_part = part.args.get("kind") if isinstance(part, exp.ColumnDef) else part
        if not isinstance(of_part, exp.DataType):
            return Wanted(families=(family,))
        found = _types_of(of_part, dialect)
        if found is None:
            return None
        if not found.types:
            return Wanted(families=(family,))
        label = f"{part.name}:" if isinstance(part, exp.ColumnDef) else ""
        inner.append(tuple(f"{label}{one}" for one in found.types))
    # Counted before they are made: each part of several types doubles them.
    if not inner or prod(map(len, inner)) > _ALTERNATIVES_MAX:
        return Wanted(families=(family,))
    every = [",".join(parts) for parts in product(*inner)]
    return Wanted(types=tuple(canonical_type(f"{family}<{parts}>") for parts in every))
