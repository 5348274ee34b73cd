"""Types of servers and of the standard, as Spark stores them."""

from __future__ import annotations

import time

import pytest

from lakeproof.contracts.odcs.physical_types import logical_types, physical_types

STORED = [
    ("varchar(18)", "postgres", ["string"]),
    ("CHAR(3)", "snowflake", ["string"]),
    ("bpchar", "postgres", ["string"]),
    ("character varying(10)", "postgres", ["string"]),
    ("uuid", "postgres", ["string"]),
    ("Name", "postgres", ["string"]),
    ("NVARCHAR2", "oracle", ["string"]),
    ("NCLOB", "oracle", ["string"]),
    ("int4", "postgres", ["int"]),
    ("INTEGER", "", ["int"]),
    ("serial", "postgres", ["int"]),
    ("int2", "postgres", ["smallint"]),
    ("int8", "postgres", ["bigint"]),
    ("int8", "", ["bigint", "tinyint"]),
    ("INT64", "bigquery", ["bigint"]),
    ("LONG", "spark", ["bigint"]),
    ("tinyint", "tsql", ["smallint"]),
    ("number(10,2)", "oracle", ["decimal(10,2)"]),
    ("DECIMAL(18, 2)", "databricks", ["decimal(18,2)"]),
    ("decimal", "spark", ["decimal(10,0)"]),
    ("NUMBER", "snowflake", ["decimal(38,0)"]),
    ("float", "spark", ["float"]),
    ("float(3,2)", "mysql", ["float", "double"]),
    ("double precision", "postgres", ["double"]),
    ("BINARY_DOUBLE", "oracle", ["double"]),
    ("bool", "postgres", ["boolean"]),
    ("bytea", "postgres", ["binary"]),
    ("RAW", "oracle", ["binary"]),
    ("date", "postgres", ["date"]),
    ("DATE", "oracle", ["date", "timestamp", "timestamp_ntz"]),
    ("timestamp", "spark", ["timestamp"]),
    ("timestamp", "postgres", ["timestamp", "timestamp_ntz"]),
    ("timestamp without time zone", "postgres", ["timestamp", "timestamp_ntz"]),
    ("timestamptz", "postgres", ["timestamp"]),
    ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "oracle", ["timestamp"]),
    ("TIMESTAMP_NTZ", "databricks", ["timestamp_ntz"]),
    ("MAP<STRING, ARRAY<DOUBLE>>", "databricks", ["map<string,array<double>>"]),
    ("struct<A: int, b: array<string>>", "spark", ["struct<a:int,b:array<string>>"]),
    ("text[]", "postgres", ["array<string>"]),
]


@pytest.mark.parametrize(("word", "dialect", "types"), STORED)
def test_a_physical_type_is_what_spark_stores_it_as(word, dialect, types):
    assert list(physical_types(word, dialect).types) == types
    assert physical_types(word.upper(), dialect) == physical_types(word.lower(), dialect)


@pytest.mark.parametrize(
    ("word", "dialect", "families"),
    [
        ("numeric", "postgres", ["decimal"]),
        ("NUMBER", "oracle", ["decimal"]),
        ("struct", "spark", ["struct"]),
        ("array", "spark", ["array"]),
        ("list", "", ["array"]),
        ("MAP<STRING, STRUCT>", "databricks", ["map"]),
    ],
)
def test_a_word_that_leaves_the_size_open_is_a_family(word, dialect, families):
    found = physical_types(word, dialect)
    assert list(found.families) == families
    assert not found.types


def test_whole_numbers_of_a_database_may_be_kept_as_integers():
    assert physical_types("NUMBER", "oracle", "integer").families == ("decimal", "integer")
    assert physical_types("NUMBER(10)", "oracle", "integer").families == ("integer",)
    assert physical_types("NUMBER(10,2)", "oracle", "integer").families == ()


def test_a_number_in_square_brackets_is_a_length_unless_the_column_is_an_array():
    assert physical_types("varchar[50]", "postgres", "string").types == ("string",)
    assert physical_types("varchar[50]", "postgres", "array").types == ("array<string>",)


@pytest.mark.parametrize("word", ["jsonb", "xml", "geometry", "interval", "inet"])
def test_a_type_without_a_form_in_spark_says_so(word):
    found = physical_types(word, "postgres")
    assert f"physicalType {word!r} has no type in Spark" in found.obstacle
    assert not found.is_unknown


@pytest.mark.parametrize("word", ["Flag", "OrderNumber", "object", "int; drop table x", "", "<"])
def test_a_word_that_is_no_type_is_unknown(word):
    found = physical_types(word, "postgres")
    assert found.is_unknown
    assert repr(word) in found.obstacle


def test_logical_types_are_families():
    assert logical_types("integer").families == ("integer",)
    assert logical_types("time").families == ("time", "string")
    unknown = logical_types("money")
    assert unknown.is_unknown
    assert "'money' is no logicalType" in unknown.obstacle


def test_a_struct_of_many_ambiguous_fields_is_checked_by_its_family_at_once():
    fields = ", ".join(f"f{number} FLOAT" for number in range(60))
    started = time.process_time()
    assert physical_types(f"STRUCT<{fields}>", "bigquery").families == ("struct",)
    assert time.process_time() - started < 1
