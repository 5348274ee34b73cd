"""Values that are easily taken for each other, and whether they are equal: one row for each.

A table of facts has one row per fact, so one comparison answers all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Column -> type on the source's side and on the target's.
TYPES = {
    "bin": ("BINARY", "BINARY"),
    "day": ("DATE", "DATE"),
    "deep": ("ARRAY<ARRAY<INT>>", "ARRAY<ARRAY<INT>>"),
    "d": ("DECIMAL(10,2)", "DECIMAL(12,4)"),
    "f": ("FLOAT", "DOUBLE"),
    "flag": ("BOOLEAN", "BOOLEAN"),
    "floats": ("ARRAY<DOUBLE>", "ARRAY<DOUBLE>"),
    "i": ("INT", "BIGINT"),
    "list": ("ARRAY<INT>", "ARRAY<BIGINT>"),
    "list2": ("ARRAY<INT>", "ARRAY<BIGINT>"),
    "long": ("BIGINT", "BIGINT"),
    "m": ("MAP<STRING,INT>", "MAP<STRING,INT>"),
    "ntz": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ"),
    "p": ("STRING", "STRING"),
    "q": ("STRING", "STRING"),
    "st": ("STRUCT<a:INT,b:INT>", "STRUCT<b:INT,a:INT>"),
    "ts": ("TIMESTAMP", "TIMESTAMP"),
    "x": ("DOUBLE", "DOUBLE"),
}


@dataclass(frozen=True)
class Fact:
    """Values by column as SQL, for the source and the target, and whether they are equal."""

    name: str
    source: Mapping[str, str]
    target: Mapping[str, str]
    equal: bool = False


def one(name: str, column: str, source: str, target: str, *, equal: bool = False) -> Fact:
    return Fact(name, {column: source}, {column: target}, equal)


# What comparisons of text miss: the five rows that were planted to measure other tools.
COLLISIONS = (
    Fact("delimiter shift", {"p": "'a|b'", "q": "'c'"}, {"p": "'a'", "q": "'b|c'"}),
    Fact("sentinel for NULL", {"p": "'__NULL__'", "q": "'x'"}, {"p": "NULL", "q": "'x'"}),
    Fact("NULL swapped", {"p": "NULL", "q": "'a'"}, {"p": "'a'", "q": "NULL"}),
    Fact("boundary shift", {"p": "'ab'", "q": "'c'"}, {"p": "'a'", "q": "'bc'"}),
    Fact("trailing space", {"p": "'a'", "q": "'b'"}, {"p": "'a '", "q": "'b'"}),
)

FACTS = (
    *COLLISIONS,
    # Texts are their bytes.
    one("empty text is not NULL", "p", "''", "NULL"),
    one("leading zeros are text", "p", "'007'", "'7'"),
    one("exponents are text", "p", "'1e3'", "'1000'"),
    one("case is text", "p", "'a'", "'A'"),
    one("decomposed letters are other bytes", "p", "'\u00e9'", "'e\u0301'"),
    one("empty bytes are not NULL", "bin", "X''", "NULL"),
    one("a zero byte counts", "bin", "X'61'", "X'6100'"),
    one("false is not NULL", "flag", "false", "NULL"),
    # Numbers.
    one("a wider integer is the same number", "i", "1", "1", equal=True),
    one("beyond the narrow type", "i", "1", "4294967297"),
    one("beyond 53 bits", "long", "9007199254740993", "9007199254740992"),
    one("zero is not NULL", "i", "0", "NULL"),
    one("trailing zeros never matter", "d", "1.10", "1.1000", equal=True),
    one("a finer scale shows a change", "d", "1.10", "1.1001"),
    one("unscaled values are not values", "d", "1.00", "100.00"),
    # Floats.
    one("minus zero", "x", "-0.0D", "0.0D", equal=True),
    one("NaN is NaN", "x", "'NaN'", "'NaN'", equal=True),
    one("NaN is not NULL", "x", "'NaN'", "NULL"),
    one("NaN is no number", "x", "'NaN'", "0.0D"),
    one("infinity is infinity", "x", "'Infinity'", "'Infinity'", equal=True),
    one("infinities have a sign", "x", "'Infinity'", "'-Infinity'"),
    one("infinity is not the largest", "x", "'Infinity'", "1.7976931348623157E308D"),
    one("beyond the sixth digit", "x", "1.0000001D", "1.0000002D", equal=True),
    one("across a rounding edge", "x", "0.1234565D", "0.12345649999D", equal=True),
    one("half a unit apart", "x", "0.1234564D", "0.1234568D", equal=True),
    one("a unit and a half apart", "x", "0.1234560D", "0.1234575D"),
    one("large floats keep all bits", "x", "9.0E15D", "9.000000000000001E15D"),
    one("a large float is itself", "x", "9.0E15D", "9.0E15D", equal=True),
    one("large floats have a sign", "x", "-9.0E15D", "9.0E15D"),
    one("a float widened", "f", "0.1", "0.1", equal=True),
    one("a float changed", "f", "0.1", "0.10001"),
    # Nested values.
    one("NULL at the end of an array", "list", "array(1, NULL)", "array(1)"),
    one("NULL moved in an array", "list", "array(1, NULL)", "array(NULL, 1)"),
    one("no elements are not NULL", "list", "array()", "NULL"),
    one("one NULL is not nothing", "list", "array(NULL)", "array()"),
    one("the order of an array", "list", "array(1, 2)", "array(2, 1)"),
    one("arrays of wider elements", "list", "array(1, 2)", "array(1L, 2L)", equal=True),
    one("boundaries inside", "deep", "array(array(1), array(2))", "array(array(1, 2))"),
    one("empty inside", "deep", "array(array())", "array()"),
    one("NULL inside", "deep", "array(NULL)", "array(array())"),
    Fact(
        "boundaries between arrays",
        {"list": "array(1, 2)", "list2": "array(3)"},
        {"list": "array(1)", "list2": "array(2, 3)"},
    ),
    one("NULL moved in a struct", "st", "struct(1, NULL)", "struct(1, NULL)"),
    one("a struct of NULLs is not NULL", "st", "struct(NULL, NULL)", "NULL"),
    one("fields in another order", "st", "struct(1, 2)", "struct(2, 1)", equal=True),
    one("fields swapped", "st", "struct(1, 2)", "struct(1, 2)"),
    one("map order", "m", "map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)", equal=True),
    one("map values swapped", "m", "map('a', 1, 'b', 2)", "map('a', 2, 'b', 1)"),
    one("NULL in a map", "m", "map('a', NULL)", "map()"),
    one("an empty map is not NULL", "m", "map()", "NULL"),
    one("minus zero inside", "floats", "array(-0.0D)", "array(0.0D)", equal=True),
    one("NaN inside", "floats", "array(double('NaN'))", "array(NULL)"),
    one("rounded inside", "floats", "array(1.0000001D)", "array(1.0000002D)", equal=True),
    one("changed inside", "floats", "array(1.0D)", "array(1.1D)"),
    # Moments.
    one("a microsecond", "ts", "'2024-01-01 00:00:00Z'", "'2024-01-01 00:00:00.000001Z'"),
    one("two zones", "ts", "'2024-01-01 00:00:00Z'", "'2024-01-01 02:00:00+02:00'", equal=True),
    one("a local time that a zone skips", "ntz", "'2024-03-10 02:30:00'", "'2024-03-10 03:30:00'"),
    one("before the epoch", "ts", "'1969-12-31 23:59:59.999999Z'", "'1970-01-01 00:00:00Z'"),
    one("a day", "day", "'1582-10-04'", "'1582-10-15'"),
    Fact("all is NULL", {}, {}, equal=True),
)


def table_sql(facts: Iterable[Fact], side: str) -> str:
    """The facts as a table of one side: the key `fact` and a column for every type."""
    rows = []
    for fact in facts:
        values = fact.source if side == "source" else fact.target
        cells = [
            f"CAST({values.get(name, 'NULL')} AS {kinds[side == 'target']})"
            for name, kinds in TYPES.items()
        ]
        rows.append(f"('{fact.name}', {', '.join(cells)})")
    names = ", ".join(f"`{name}`" for name in TYPES)
    return f"SELECT * FROM VALUES {', '.join(rows)} AS t(fact, {names})"
