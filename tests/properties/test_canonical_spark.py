"""Spark's canonical texts equal plain Python's in every session, column order, partitioning."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own custom
from pyspark.sql import types as T  # noqa: N812 - PySpark's own custom

from lakeproof.engines.spark.canonical_sql import (
    canonical_obstacle,
    hit_id_expression,
    key_expression,
    row_key_expression,
    value_expression,
)
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import Months, Struct, encode_key, encode_value, hit_id, row_key
from spark_settings import under

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT_MIN_MICROS = (datetime.min.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
INSTANT_MAX_MICROS = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
ROW_COUNT = 30
SESSIONS = [
    {
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.timeType.enabled": "true",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.parser.escapedStringLiterals": "false",
        "spark.sql.legacy.timeParserPolicy": "CORRECTED",
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    },
    {
        "spark.sql.session.timeZone": "America/St_Johns",
        "spark.sql.timeType.enabled": "true",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
        "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    },
]


def whole_numbers(bits):
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def decimals(precision, scale):
    unscaled = st.integers(-(10**precision) + 1, 10**precision - 1)
    return unscaled.map(lambda digits: Decimal((digits < 0, _digits(digits), -scale)))


def _digits(number):
    return tuple(map(int, str(abs(number))))


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
TRICKY_TEXT = st.text("\ufffd\\\"'`${}[],:\u0000\u001f\u007f\u2028é\U0001f600", max_size=6)
STRINGS = st.one_of(TEXT, TRICKY_TEXT)
DOUBLES = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 5e-324, 1e22, 0.1, math.nan]))
ITEM = T.StructType(
    [
        T.StructField("z.z", T.DecimalType(12, 3)),
        T.StructField("a", T.MapType(T.StringType(), T.ArrayType(T.DoubleType()))),
    ]
)
ITEMS = st.builds(
    lambda number, by_name: {"z.z": number, "a": by_name},
    st.none() | decimals(12, 3),
    st.none()
    | st.dictionaries(STRINGS, st.none() | st.lists(st.none() | DOUBLES, max_size=2), max_size=2),
)

# Column name -> type and values. Names are as awkward as the values.
COLUMNS = {
    "flag": (T.BooleanType(), st.booleans()),
    "tiny": (T.ByteType(), whole_numbers(8)),
    "small": (T.ShortType(), whole_numbers(16)),
    "int": (T.IntegerType(), whole_numbers(32)),
    "big int": (T.LongType(), whole_numbers(64)),
    "d.38.38": (T.DecimalType(38, 38), decimals(38, 38)),
    "d38_0": (T.DecimalType(38, 0), decimals(38, 0)),
    "d`10`2": (T.DecimalType(10, 2), decimals(10, 2)),
    "float": (T.FloatType(), st.floats(width=32)),
    "DOUBLE": (T.DoubleType(), DOUBLES),
    'str"ing': (T.StringType(), STRINGS),
    "bin'ary": (T.BinaryType(), st.binary(max_size=5)),
    "日付": (T.DateType(), st.dates()),
    "micros": (T.LongType(), st.integers(INSTANT_MIN_MICROS, INSTANT_MAX_MICROS)),
    "e0": (T.TimestampNTZType(), st.datetimes()),
    "\U0001f600": (
        T.DayTimeIntervalType(),
        st.timedeltas(timedelta(days=-100_000_000), timedelta(days=100_000_000)),
    ),
    "\uffee{0}%s\\n": (T.ArrayType(T.StringType()), st.lists(st.none() | STRINGS, max_size=3)),
    "array of structs": (T.ArrayType(ITEM), st.lists(st.none() | ITEMS, max_size=2)),
    "map": (
        T.MapType(T.IntegerType(), T.DateType()),
        st.dictionaries(whole_numbers(32), st.none() | st.dates(), max_size=3),
    ),
    "struct": (ITEM, ITEMS),
}
SCHEMA = T.StructType([T.StructField(name, column[0]) for name, column in COLUMNS.items()])
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | column[1] for name, column in COLUMNS.items()}),
    min_size=ROW_COUNT,
    max_size=ROW_COUNT,
)


def as_python(name, value):
    """The value that the table holds: `micros` becomes a TIMESTAMP, structs are marked."""
    if value is None:
        return None
    if name == "micros":
        return EPOCH + timedelta(microseconds=value)
    if name == "struct":
        return Struct(value)
    if name == "array of structs":
        return [None if item is None else Struct(item) for item in value]
    return value


def with_instants(frame):
    return frame.withColumn("micros", F.timestamp_micros("micros"))


@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.reuse, Phase.generate],  # shrinking would start hundreds of Spark jobs
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(ROWS)
def test_spark_and_python_agree_on_generated_rows_of_every_type(spark, rows):
    expected = [{name: as_python(name, value) for name, value in row.items()} for row in rows]
    numbered = T.StructType([T.StructField("row number", T.IntegerType()), *SCHEMA.fields])
    values = [(at, *(row[name] for name in COLUMNS)) for at, row in enumerate(rows)]
    frame = with_instants(spark.createDataFrame(values, numbered))
    # Fixed orders, so that Spark compiles the long expressions twice and not for every example.
    orders = [frame.columns, list(reversed(frame.columns))]
    for partitions, order, session in zip((1, 7), orders, SESSIONS, strict=True):
        with under(spark, session):
            got = encoded(
                frame.select([f"`{name.replace('`', '``')}`" for name in order]), partitions
            )
        assert len(got) == ROW_COUNT
        for at, spark_key, spark_row_key, spark_hit_id in got:
            assert spark_key == encode_key(expected[at])
            assert spark_row_key == row_key(expected[at])
            assert spark_hit_id == hit_id("r1", encode_key(expected[at]))


def encoded(frame, partitions):
    fields = [field for field in frame.schema.fields if field.name != "row number"]
    keys = (f"{key_expression(fields)} AS k", f"{row_key_expression(fields)} AS r")
    return (
        frame.repartition(partitions)
        .selectExpr("`row number`", *keys)
        .selectExpr("*", hit_id_expression("'r1'", "k"))
        .collect()
    )


def test_every_character_is_escaped_alike(spark):
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    texts = ["".join(characters[at : at + 512]) for at in range(0, len(characters), 512)]
    frame = spark.createDataFrame([(text,) for text in texts], "s STRING")
    got = frame.selectExpr("s", value_expression("s", T.StringType()) + " AS k").collect()
    assert len(got) == len(texts)
    assert all(row.k == encode_value(row.s) for row in got)


def test_awkward_column_names_are_keys_in_both_worlds(spark):
    letters = [
        chr(code) for code in (*range(0x20, 0x7F), 0x7F, 0x85, 0xE9, 0x2028, 0xFFFD, 0x1F600)
    ]
    names = [f"a{letter}b" for letter in letters if not letter.isupper()]
    names += [
        "--x",
        "/*",
        "*/",
        "''",
        "\\'",
        "\\u0041",
        "a\nb",
        "a\tb",
        "\x01",
        "NULL",
        "e0",
        "$",
        "${",
    ]
    names = sorted(set(names), reverse=True)
    frame = spark.createDataFrame(
        [tuple(range(len(names)))],
        T.StructType([T.StructField(name, T.IntegerType()) for name in names]),
    )
    expected = encode_key({name: at for at, name in enumerate(names)})
    frame.createOrReplaceTempView("awkward_names")
    for session in SESSIONS:
        with under(spark, session):
            sql = key_expression(frame.schema.fields, relation="t`1")
            assert spark.sql(f"SELECT {sql} FROM awkward_names AS `t``1`").first()[0] == expected
            assert frame.select(F.expr(key_expression(frame.schema))).first()[0] == expected


@pytest.mark.parametrize("session", SESSIONS, ids=["kathmandu", "st_johns"])
@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("TIMESTAMP_NTZ'2024-03-10 02:30:00'", datetime(2024, 3, 10, 2, 30)),  # noqa: DTZ001
        ("INTERVAL '-1-3' YEAR TO MONTH", Months(-15)),
        ("INTERVAL '2' YEAR", Months(24)),
        ("INTERVAL '5' HOUR", timedelta(hours=5)),
        ("CAST('ab' AS VARCHAR(5))", "ab"),
        ("CAST(1.10 AS DECIMAL(10,3))", Decimal("1.1")),
        ("CAST(0 AS DECIMAL(38,20))", Decimal(0)),
        ("CAST(0.1 AS FLOAT)", 0.10000000149011612),
        ("CAST('-0.0' AS FLOAT)", 0.0),
        ("DATE'0001-01-01'", date(1, 1, 1)),
        ("DATE'1582-10-10'", date(1582, 10, 10)),
        ("timestamp_micros(-62135596800000000L)", datetime(1, 1, 1, tzinfo=UTC)),
        ("TIME'23:59:59.000001'", time(23, 59, 59, 1)),
        ("NULL", None),
        ("array(NULL)", [None]),
        ("array(array(1), NULL, array())", [[1], None, []]),
        ("map(struct(2 AS b, 1 AS a), array(map('k', 1.50BD)))", None),
        ("'A' COLLATE UTF8_LCASE", "A"),
    ],
)
def test_chosen_values_agree_in_every_session(spark, literal, value, session):
    with under(spark, session):
        frame = spark.sql(f"SELECT {literal} AS v")
        got = frame.selectExpr(value_expression("v", frame.schema["v"].dataType)).first()[0]
    if literal.startswith("map("):
        assert got == (
            '["m",[[["o",{"a":["i","1"],"b":["i","2"]}],["a",[["m",[[["s","k"],["d","1.5"]]]]]]]]]'
        )
    else:
        assert got == encode_value(value)


def test_years_beyond_python_keep_one_text_in_every_session(spark):
    texts = set()
    for session in SESSIONS:
        with under(spark, session):
            frame = spark.sql("SELECT make_date(-5, 1, 1) AS v, make_date(12345, 1, 1) AS w")
            texts.add(frame.selectExpr(key_expression(frame.schema.fields)).first()[0])
    assert texts == {'{"v":["D","-005-01-01"],"w":["D","12345-01-01"]}'}


def test_broken_utf8_stays_apart(spark):
    broken = ["FF41", "FE41", "F09F98", "EDA080", "C080", "F4908080", "EFBFBD", "41"]
    frame = spark.createDataFrame([(bytes.fromhex(text),) for text in broken], "b BINARY")
    text = value_expression("CAST(b AS STRING)", T.StringType())
    got = [row[0] for row in frame.selectExpr(text).collect()]
    assert got == [f'["u","{text}"]' for text in broken[:-1]] + ['["s","A"]']


def test_types_without_canonical_form_are_refused_in_keys_and_left_out_of_row_keys(spark):
    frame = spark.sql("SELECT 1 AS id, parse_json('{}') AS payload, array(parse_json('1')) AS more")
    with pytest.raises(CheckDefinitionError, match="'payload' cannot be part of a key: a VARIANT"):
        key_expression(frame.schema.fields)
    assert canonical_obstacle(frame.schema["id"].dataType) is None
    assert frame.selectExpr(row_key_expression(frame.schema)).first()[0] == row_key({"id": 1})
    with pytest.raises(CheckDefinitionError, match="No column of this table has a canonical form"):
        row_key_expression(frame.schema.fields[1:])
    with pytest.raises(CheckDefinitionError, match="type interval has no canonical form"):
        value_expression("v", T.CalendarIntervalType())


def test_collated_keys_are_refused_since_one_key_has_several_spellings():
    collated = T.ArrayType(T.StringType("UTF8_LCASE"))
    with pytest.raises(CheckDefinitionError, match="'name' cannot be part of a key: under string"):
        key_expression([("name", collated)])
    assert "COLLATE UTF8_BINARY" in row_key_expression([("name", collated)])


def test_a_struct_column_named_as_its_table_is_read_as_the_column(spark):
    struct = T.StructType([T.StructField("a", T.IntegerType())])
    sql = key_expression([("s", struct)], relation="s")
    got = spark.sql(f"SELECT {sql} FROM (SELECT named_struct('a', 1) AS s, 2 AS a) AS s")
    assert got.first()[0] == encode_key({"s": Struct(a=1)})


def test_a_name_that_spark_would_replace_is_refused():
    with pytest.raises(
        CheckDefinitionError, match=r"'\$\{spark.app.name\}' cannot be named in SQL"
    ):
        key_expression([("${spark.app.name}", T.LongType())])


def test_columns_must_be_named_once_and_at_all():
    with pytest.raises(CheckDefinitionError, match="'a' is named twice"):
        key_expression([("a", T.LongType()), ("a", T.LongType())])
    with pytest.raises(CheckDefinitionError, match="at least one column"):
        key_expression([])
