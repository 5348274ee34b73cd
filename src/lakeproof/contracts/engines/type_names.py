"""The types that other tools name, as the check `column_type` takes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeproof.checks.type_text import canonical_type
from lakeproof.errors import CheckDefinitionError

_OTHER_NAMES = {
    **dict.fromkeys(("int8", "byteint"), "tinyint"),
    **dict.fromkeys(("int16", "int2"), "smallint"),
    **dict.fromkeys(("int32", "int4"), "int"),
    "int64": "bigint",
    **dict.fromkeys(("float32", "float4"), "float"),
    **dict.fromkeys(("float64", "float8", "double precision", "double_precision"), "double"),
    **dict.fromkeys(("str", "text", "object", "char", "varchar", "nvarchar"), "string"),
    "character varying": "string",
    "bool": "boolean",
    **dict.fromkeys(("datetime", "datetime64", "datetime64[ns]", "timestamptz"), "timestamp"),
    "timestampntz": "timestamp_ntz",
    "bytes": "binary",
}
_FAMILIES = {
    **dict.fromkeys(("decimal", "numeric"), "decimal"),
    "number": "number",
    **{name: name for name in ("array", "map", "struct")},
}
"""Names that leave open how large a number is, or what stands inside."""
_SIZED_TEXT = re.compile(r"(?:n?var)?char\s*\(\s*\d+\s*\)", re.IGNORECASE)
_CLASS = re.compile(r"([A-Za-z]+)Type(?:\(\))?(\(.*\))?")


def spark_types(names: Sequence[str]) -> dict[str, list[str]]:
    """`types` and `families` for the names; those that mean no type of Spark are left out.

    Spark's classes, pandas' names and SQL's are all understood. If none is, it is refused.
    """
    words = [_word(name) for name in names]
    families = [_FAMILIES[word.lower()] for word in words if word.lower() in _FAMILIES]
    types = [_spark_type(word) for word in words if word.lower() not in _FAMILIES]
    found = {"types": [one for one in types if one], "families": families}
    if not any(found.values()):
        raise CheckDefinitionError(
            f"no type of Spark is named by {', '.join(map(repr, names))}. Write it as Spark does: "
            "bigint, string, decimal(10,2)"
        )
    return {name: list(dict.fromkeys(listed)) for name, listed in found.items() if listed}


def _word(name: str) -> str:
    """`IntegerType()` is Integer, `DecimalType(10,2)` is Decimal(10,2)."""
    of_class = _CLASS.fullmatch(name.strip())
    return of_class[1] + (of_class[2] or "") if of_class else name.strip()


def _spark_type(word: str) -> str:
    """The type as Spark writes it; '' if it has none such."""
    if _SIZED_TEXT.fullmatch(word):
        return "string"  # Spark reads it as such
    try:
        return canonical_type(_OTHER_NAMES.get(word.lower(), word))
    except ValueError:
        return ""
