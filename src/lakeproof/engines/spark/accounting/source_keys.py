"""The identity of a source record as Spark SQL: its key as one text, and the hashes of that text.

A key of one column is that value as people write it; a key of several is canonical JSON, as
`model.canonical.encode_key` gives it. No key begins with a single `@`, the sign of a record that
has no readable key and is known by where it stands. `accounting.without_spark.key_text` gives the
same texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lakeproof.checks.literals import text_literal
from lakeproof.engines.spark.canonical_sql import key_expression, row_key_expression
from lakeproof.engines.spark.pairs.texts import text_of
from lakeproof.errors import CheckDefinitionError, LedgerError
from lakeproof.model.accounting import LIMB_BITS, KeyColumn, hash_seeds
from lakeproof.model.column import base_type, folded
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField, StructType

KEY: Final = "_lakeproof_key"
"""The identity text, computed at the source and carried to where the record ends."""
WEIGHT: Final = "_lakeproof_weight"
"""1 for the row that accounts for its record, 0 for its other rows; absent means 1."""
RAW: Final = "_lakeproof_raw"
"""The line of a record that could not be parsed; NULL for others."""
SOURCE: Final = "_lakeproof_source"
"""Which input a record is from, where there are several."""
HIDDEN_PREFIX: Final = "_lakeproof_"

_LIMB_MASK: Final = (1 << LIMB_BITS) - 1
LIMB_MIDDLE: Final = 1 << (LIMB_BITS - 1)
"""Half of the values that a limb may have are below this one."""
FILE_SYSTEM: Final = "^[A-Za-z][A-Za-z0-9+.-]+:(//[^/]*)?"
"""What stands before a path: `file:`, `s3a://bucket`; a pattern for Java and Python."""
_ROW_HASH_START: Final = len('{"_row":["h","') + 1
_SHA256_DIGITS: Final = 64
_KNOWS_UTF8: Final = 4

_KEY_TYPES: Final[Mapping[str, str]] = {
    "string": "StringType",
    "char": "StringType",
    "varchar": "StringType",
    "tinyint": "ByteType",
    "smallint": "ShortType",
    "int": "IntegerType",
    "bigint": "LongType",
    "decimal": "DecimalType",
    "boolean": "BooleanType",
    "date": "DateType",
    "timestamp": "TimestampType",
    "timestamp_ntz": "TimestampNTZType",
    "binary": "BinaryType",
}
"""The types a key may have, and what PySpark calls them."""
_KEY_TYPES_TEXT: Final = "strings, integers, decimals, booleans, dates, timestamps and binaries"


def key_columns(schema: StructType, names: Sequence[str]) -> tuple[KeyColumn, ...]:
    """The columns of the source key under the schema's own spelling, in the caller's order.

    Files without a record tell no columns; their key is text.
    """
    if not names:
        raise LedgerError("the source key has no column: name the column, or columns, of the key")
    if not schema.fields:
        return tuple(KeyColumn(name, "string") for name in dict.fromkeys(names))
    columns = tuple(_key_column(schema, name) for name in names)
    twice = [column.name for at, column in enumerate(columns) if column in columns[:at]]
    if twice:
        raise LedgerError(f"column {twice[0]!r} stands twice in the source key: name it once")
    return columns


def _key_column(schema: StructType, name: str) -> KeyColumn:
    field = _field_named(schema, name)
    if field is None:
        near = nearest(name, schema.names)
        hint = f"Nearest: {', '.join(near)}" if near else f"It has: {', '.join(schema.names)}"
        raise LedgerError(f"the source key {name!r} is no column of the input. {hint}")
    column = KeyColumn(field.name, field.dataType.simpleString())
    obstacle = _obstacle(field.dataType)
    if obstacle:
        raise LedgerError(
            f"column {field.name!r} cannot be part of the source key: {obstacle}. Keys may be "
            f"{_KEY_TYPES_TEXT}; name another column, or cast this one before the input"
        )
    try:
        quote(field.name)
    except CheckDefinitionError as problem:
        raise LedgerError(f"the source key cannot be read: {problem}") from problem
    return column


def _field_named(schema: StructType, name: str) -> StructField | None:
    """One that is there exactly wins over one in another letter case."""
    alike = [field for field in schema.fields if folded(field.name) == folded(name)]
    exact = [field for field in alike if field.name == name]
    return next(iter([*exact, *alike]), None)


def _obstacle(data_type: DataType) -> str:
    text = data_type.simpleString()
    if text in {"float", "double"}:
        return f"no float keys: a {text} has no text that every engine writes alike"
    if " collate " in text.lower():
        return f"under {text} one key has several spellings"
    if base_type(text) not in _KEY_TYPES:
        return f"its type is {text if len(text) <= _SHA256_DIGITS else base_type(text)}"
    return ""


def key_sql(columns: Sequence[KeyColumn]) -> str:
    """SQL of a record's key as one text; NULL where every column of the key is NULL."""
    if len(columns) == 1:
        return _single(columns[0])
    key = key_expression([(column.name, _type_of(column)) for column in columns])
    return f"if({null_key_sql(columns)}, NULL, {key})"


def null_key_sql(columns: Sequence[KeyColumn]) -> str:
    """SQL of whether a record has no readable key."""
    return " AND ".join(f"{quote(column.name)} IS NULL" for column in columns)


def _single(column: KeyColumn) -> str:
    value, base = quote(column.name), base_type(column.type_text)
    if base in {"string", "char", "varchar"}:
        return f"if(startswith({value}, '@'), concat('@', {value}), {value})"
    data_type: Any = _type_of(column)
    if base == "decimal":
        # Exact, plain, and `#` leaves trailing zeros out; CAST would print 1E-10.
        places = f".{'#' * data_type.scale}" if data_type.scale else ""
        return f"format_number({value}, '0{places}')"
    return text_of(value, data_type)


def _type_of(column: KeyColumn) -> DataType:
    from pyspark.sql import types

    base = base_type(column.type_text)
    if base not in _KEY_TYPES:
        raise LedgerError(
            f"column {column.name!r} cannot be part of a key: its type is {column.type_text}. "
            f"Keys may be {_KEY_TYPES_TEXT}"
        )
    found: type[DataType] = getattr(types, _KEY_TYPES[base])
    if found is types.DecimalType:
        precision, _, scale = column.type_text.partition("(")[2].rstrip(") ").partition(",")
        return types.DecimalType(int(precision or 10), int(scale or 0))
    return found()


def parquet_position_sql(path_sql: str, row_index_sql: str) -> str:
    """SQL of the identity of a Parquet record without a key: its file and its place there."""
    return _position_sql(path_sql, f"CAST({row_index_sql} AS STRING)")


def line_position_sql(path_sql: str, raw_sql: str) -> str:
    """SQL of the identity of a JSON or CSV line without a key: its file and its text's hash.

    Equal lines of one file are one identity that occurs several times.
    """
    return _position_sql(path_sql, f"sha2({raw_sql}, 256)")


def _position_sql(path_sql: str, mark_sql: str) -> str:
    # `@@` would be a key: a path that begins so gets `./` in front.
    return f"concat('@', regexp_replace({path_sql}, '^@', './@'), '#', {mark_sql})"


def row_position_sql(schema: StructType) -> str:
    """SQL of the identity of a table's row without a key: the hash of all that it holds."""
    row_key = row_key_expression(schema.fields)
    return f"concat('@row#', substr({row_key}, {_ROW_HASH_START}, {_SHA256_DIGITS}))"


def relative_path_sql(root: str) -> str:
    """SQL of a file's path below a folder, decoded: `_metadata.file_path` is URL-encoded.

    A file system has several spellings (`file:/a`, `file:///a`), so it is cut off on both sides.
    """
    path = "url_decode(replace(_metadata.file_path, '+', '%2B'))"
    without_system = f"regexp_replace({path}, '{FILE_SYSTEM}', '')"
    return f"substr({without_system}, {len(re.sub(FILE_SYSTEM, '', root).rstrip('/')) + 2})"


def is_positional_sql(key_text_sql: str) -> str:
    """SQL of whether an identity says where a record stands, and not what its key is."""
    return f"(startswith({key_text_sql}, '@') AND NOT startswith({key_text_sql}, '@@'))"


def weight_of(frame: DataFrame) -> str | None:
    """SQL of a row's weight; None if every row counts.

    A frame put together of several has no weight for rows of those that had none: each counts.
    """
    return f"coalesce({quote(WEIGHT)}, 1)" if WEIGHT in frame.columns else None


def whole_characters_sql(text_sql: str, spark_version: str) -> str:
    """SQL of a text with U+FFFD where its bytes are no UTF-8, as writers of text files leave it."""
    if int(spark_version.partition(".")[0]) < _KNOWS_UTF8:
        return f"decode(CAST({text_sql} AS BINARY), 'UTF-8')"
    return f"make_valid_utf8({text_sql})"


def written_key_sql(spark_version: str) -> str:
    """SQL of an identity as a text file can hold it: broken UTF-8 as hex digits.

    No other identity looks like that: one that begins with a single `@` has a `#` in it.
    """
    whole = whole_characters_sql(KEY, spark_version)
    return f"if({KEY} = {whole}, {KEY}, concat('@x:', hex({KEY})))"


def read_key_sql(text_sql: str) -> str:
    """SQL of the identity that `written_key_sql` wrote."""
    key = f"CAST(unhex(substr({text_sql}, 4)) AS STRING)"
    return f"if({text_sql} RLIKE '^@x:([0-9A-F]{{2}})+$', {key}, {text_sql})"


def hash_sql(key_text_sql: str, seed: str) -> str:
    """SQL of a 64-bit hash of a key's text."""
    return f"xxhash64(X'{seed}', {key_text_sql})"


def committed_hash_sql(key_text_sql: str, salt: str) -> str:
    """SQL of the hash of a key that commitments add up."""
    return hash_sql(key_text_sql, hash_seeds(salt)[0])


def bucket_sql(key_text_sql: str, salt: str) -> str:
    """SQL of the bucket of a key, 0 to 4095, in which differences are looked for."""
    return f"CAST(shiftrightunsigned({committed_hash_sql(key_text_sql, salt)}, 52) AS INT)"


def limbs_sql(hashed: str) -> tuple[str, str]:
    """SQL of the two 32-bit limbs of a hash."""
    return f"({hashed} & {_LIMB_MASK}L)", f"shiftrightunsigned({hashed}, {LIMB_BITS})"


def centred_limbs_sql(hashed: str) -> tuple[str, str]:
    """SQL of how far the limbs of a hash are from `LIMB_MIDDLE`, above or below.

    Hashes lie as often above it as below, so that these cancel out in sums: a sum of the limbs
    themselves is too large for a BIGINT from 2^31 records, a sum of these from 2^32 of one key.
    """
    low, high = limbs_sql(hashed)
    return f"({low} - {LIMB_MIDDLE}L)", f"({high} - {LIMB_MIDDLE}L)"


def text_sql(text: str) -> str:
    """A text as SQL literal."""
    return text_literal(text).sql("spark")
