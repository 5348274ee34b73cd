"""The Spark type that a column of a corpus contract has when its data is in a lake."""

from __future__ import annotations

import re

from pyspark.sql import types as T  # noqa: N812 (its usual name)

from lakeproof.contracts.contract import Property

_WHOLE = T.DecimalType(38, 0)
_WORDS: dict[T.DataType, str] = {
    T.StringType(): "str string text varchar varchar2 nvarchar2 nchar char bpchar clob nclob rowid "
    "urowid uuid xml json name time bfile interval phone accountnumber ordernumber",
    T.BooleanType(): "bool boolean flag namestyle",
    T.ShortType(): "int2",
    T.IntegerType(): "int int4 integer serial",
    T.FloatType(): "binary_float",
    T.DoubleType(): "double float binary_double",
    T.DecimalType(12, 4): "numeric decimal number",
    T.BinaryType(): "bytea raw blob",
    T.DateType(): "date",
    T.TimestampType(): "timestamp timestamptz timestamp_tz datetime",
}
_TYPE_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_OF_LOGICAL = {
    "string": T.StringType(),
    "time": T.StringType(),
    "integer": T.IntegerType(),
    "number": T.DecimalType(12, 4),
    "boolean": T.BooleanType(),
    "date": T.DateType(),
    "timestamp": T.TimestampType(),
}
_OTHERWISE = {
    ("bigquery", "integer"): T.LongType(),
    ("snowflake", "int"): _WHOLE,
    ("snowflake", "integer"): _WHOLE,
    ("snowflake", "number"): _WHOLE,
    ("snowflake", "decimal"): _WHOLE,
}
"""Words that mean something else on one server."""


def spark_type(part: Property, server: str) -> T.DataType:
    """The type by what stands inside, else by the physicalType, else by the logicalType."""
    if part.properties:
        inner = [
            T.StructField(one.physical_name, spark_type(one, server)) for one in part.properties
        ]
        return T.StructType(inner)
    if part.options.get("maxProperties"):  # more fields than it may have
        named = list(part.options["required"])  # type: ignore[call-overload]
        count = int(str(part.options["maxProperties"])) + 1
        more = [f"field{number}" for number in range(count - len(named))]
        return T.StructType([T.StructField(name, T.StringType()) for name in (*named, *more)])
    if part.physical_type.startswith("MAP<") and "STRUCT" not in part.physical_type:
        return _nested_type(part.physical_type.replace(" ", "").lower())
    if part.map_key is not None and part.map_value is not None:
        return T.MapType(spark_type(part.map_key, server), spark_type(part.map_value, server))
    if part.logical_type == "array":
        return T.ArrayType(spark_type(part.items, server) if part.items else T.StringType())
    return _plain_type(part, server)


def _nested_type(text: str) -> T.DataType:
    """`map<string,array<double>>`, the key a plain type."""
    outer, _, inner = text.removesuffix(">").partition("<")
    if outer == "map":
        key, _, value = inner.partition(",")
        return T.MapType(_nested_type(key), _nested_type(value))
    return T.ArrayType(_nested_type(inner)) if outer == "array" else _TYPE_OF[outer]


def _plain_type(part: Property, server: str) -> T.DataType:
    physical = part.physical_type.lower()
    sized = re.fullmatch(r"decimal\((\d+),(\d+)\)", physical)
    if sized:
        return T.DecimalType(int(sized[1]), int(sized[2]))
    word = re.split(r"[\s(\[<]", physical)[0]
    if word:
        return _OTHERWISE.get((server, word)) or _TYPE_OF[word]
    return _OF_LOGICAL.get(part.logical_type, T.StringType())
