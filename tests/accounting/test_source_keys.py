"""The text of a key: one for each value under any settings, and the same in Python."""

from __future__ import annotations

import secrets
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.sql.types import StructType

from lakeproof.accounting.without_spark.key_text import Summer, key_text
from lakeproof.engines.spark.accounting.commitments import commitment_of
from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    bucket_sql,
    hash_sql,
    is_positional_sql,
    key_columns,
    key_sql,
)
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import Commitment, KeyColumn, Level, hash_seeds

# A value as Spark SQL, its type, as Python, and its text.
SINGLE = [
    ("'BKG_001'", "string", "BKG_001", "BKG_001"),
    ("''", "string", "", ""),
    ("'@home'", "string", "@home", "@@home"),
    ("'@@'", "string", "@@", "@@@"),
    ("'Ünï \u2603'", "string", "Ünï \u2603", "Ünï \u2603"),
    ("-12Y", "tinyint", -12, "-12"),
    ("12S", "smallint", 12, "12"),
    ("CAST(0 AS INT)", "int", 0, "0"),
    ("-9223372036854775808L", "bigint", -(2**63), "-9223372036854775808"),
    ("CAST('1.100' AS DECIMAL(12,3))", "decimal(12,3)", Decimal("1.100"), "1.1"),
    ("CAST('100' AS DECIMAL(5,0))", "decimal(5,0)", Decimal(100), "100"),
    ("CAST('-0.00' AS DECIMAL(5,2))", "decimal(5,2)", Decimal("-0.00"), "0"),
    (
        "CAST('0.0000000001' AS DECIMAL(38,10))",
        "decimal(38,10)",
        Decimal("0.0000000001"),
        "0.0000000001",
    ),
    ("true", "boolean", True, "true"),
    ("DATE'0987-06-05'", "date", date(987, 6, 5), "0987-06-05"),
    (
        "TIMESTAMP'2024-03-10 02:30:00.120+01:00'",
        "timestamp",
        datetime(2024, 3, 10, 1, 30, 0, 120000, tzinfo=UTC),
        "2024-03-10 01:30:00.12Z",
    ),
    (
        "TIMESTAMP'1969-12-31 23:59:59.999999Z'",
        "timestamp",
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        "1969-12-31 23:59:59.999999Z",
    ),
    (
        "TIMESTAMP_NTZ'2024-03-10 02:30:00'",
        "timestamp_ntz",
        datetime(2024, 3, 10, 2, 30),  # noqa: DTZ001 (without zone, on purpose)
        "2024-03-10 02:30:00",
    ),
    ("X'00ff'", "binary", b"\x00\xff", "00FF"),
]


def test_a_key_has_one_text_on_spark_and_in_python(spark):
    texts = []
    for number, (sql, type_text, value, text) in enumerate(SINGLE):
        column = KeyColumn("the `key`", type_text)
        assert key_text([value], [column]) == text
        texts.append(
            f"SELECT {number} AS number, {key_sql([column])} AS text, "
            "typeof(`the ``key```) AS kind "
            f"FROM (SELECT {sql} AS `the ``key```)"
        )
        texts.append(
            f"SELECT {number}, {key_sql([column])}, '' FROM (SELECT CAST(NULL AS {type_text}) AS "
            "`the ``key```)"
        )
    # Beyond what Python can tell, a moment has its text all the same.
    late = key_sql([KeyColumn("late", "timestamp")])
    texts.append(f"SELECT 200, {late}, '' FROM (SELECT timestamp_micros(2000000000000000000) late)")
    texts.append(
        f"SELECT 201, {late}, '' FROM (SELECT timestamp_micros(-9223372036854775807) late)"
    )
    two = [KeyColumn("b", "string"), KeyColumn("a", "int")]
    composite = {
        "1": ("'x'", "CAST(1 AS INT)", ("x", 1)),
        "2": ("'@x'", "CAST(NULL AS INT)", ("@x", None)),
        "3": ("CAST(NULL AS STRING)", "CAST(NULL AS INT)", (None, None)),
    }
    for number, (first, second, _) in composite.items():
        texts.append(
            f"SELECT 100 + {number}, {key_sql(two)}, '' FROM (SELECT {first} AS b, {second} AS a)"
        )
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        rows = spark.sql("\nUNION ALL ".join(texts)).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    found = {row["number"]: row for row in rows if row["text"] is not None}
    for number, (_, type_text, _, text) in enumerate(SINGLE):
        assert (found[number]["text"], found[number]["kind"]) == (text, type_text)
    nulls = [row["number"] for row in rows if row["text"] is None]
    assert sorted(nulls) == [*range(len(SINGLE)), 103]
    for number, (_, _, values) in composite.items():
        expected = key_text(values, two)
        assert expected == (found[100 + int(number)]["text"] if expected else None)
    assert found[200]["text"] == "+65347-06-24 03:33:20Z"
    assert found[201]["text"] == "-290308-12-21 19:59:05.224193Z"
    assert found[101]["text"] == '{"a":["i","1"],"b":["s","x"]}'


def test_sums_and_buckets_are_those_of_python(spark):
    salt = secrets.token_hex(16)
    keys = [f"key {number}" for number in range(1000)] + ["twice", "twice", "é"]
    frame = spark.sql(
        "SELECT concat('key ', id) AS _lakeproof_key FROM range(1000) "
        "UNION ALL SELECT explode(array('twice', 'twice', 'é'))"
    )
    summer = Summer(salt, Level.COMMIT)
    summer.add_all(keys)
    assert commitment_of(frame, salt, Level.COMMIT).commitment == summer.commitment
    # Weight 0 is a row of a record that is accounted for by another one.
    weighted = frame.selectExpr("*", "if(_lakeproof_key = 'twice', 0, 1) AS _lakeproof_weight")
    measured = commitment_of(weighted, salt, Level.COMMIT)
    without = Summer(salt, Level.COMMIT)
    without.add_all(key for key in keys if key != "twice")
    assert (measured.commitment, measured.rows) == (without.commitment, 1003)
    # A union has none for the rows of a frame that had none: each of them counts.
    unweighted = frame.selectExpr("*", "CAST(NULL AS INT) AS _lakeproof_weight")
    assert commitment_of(unweighted, salt, Level.COMMIT).commitment == summer.commitment
    assert commitment_of(frame.limit(0), salt, Level.COMMIT).commitment.limbs == (0, 0)
    assert commitment_of(frame, salt, Level.COUNT).commitment.limbs == ()
    # A sum of hashes as they are would hold 2^31 records.
    many = frame.where("_lakeproof_key <> 'twice'").selectExpr(
        "*", "16777216L AS _lakeproof_weight"
    )
    sums = [limb << 24 for limb in without.commitment.limbs]
    vast = commitment_of(many, salt, Level.COMMIT).commitment
    assert vast == Commitment(1001 << 24, tuple(sums))
    assert max(sums) >= 1 << 63
    buckets = frame.selectExpr(f"{bucket_sql(KEY, salt)} AS bucket", is_positional_sql("'@x'"))
    low, high = buckets.selectExpr("min(bucket)", "max(bucket)").collect()[0]
    assert 0 <= low < 100
    assert 3996 < high < 4096


def test_seeds_are_the_two_halves_of_the_salt():
    first, second = hash_seeds("01" * 8 + "ff" * 8)
    assert hash_sql("k", first) == "xxhash64(X'0101010101010101', k)"
    assert hash_sql("k", second) == "xxhash64(X'ffffffffffffffff', k)"
    with pytest.raises(LedgerError, match="is not 32 hex digits"):
        hash_seeds("abc")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("segmnt_id", "is no column of the input. Nearest: segment_id"),
        ("price", "no float keys: a double"),
        ("tags", "its type is array<string>"),
        ("lower", "under string collate UTF8_LCASE one key has several spellings"),
        ("span", "its type is interval day to second"),
        ("${x}", r"\$\{, which Spark replaces"),
    ],
)
def test_a_column_that_cannot_be_a_key_is_refused_by_name(spark, name, told):
    schema = StructType.fromDDL(
        "segment_id STRING, price DOUBLE, tags ARRAY<STRING>, lower STRING COLLATE UTF8_LCASE, "
        "span INTERVAL DAY TO SECOND, `${x}` INT"
    )
    with pytest.raises(LedgerError, match=told):
        key_columns(schema, [name])


def test_key_columns_take_the_spelling_of_the_input(spark):
    schema = StructType.fromDDL("Segment_Id STRING, leg DECIMAL(5,2), other INT")
    found = key_columns(schema, ["segment_id", "LEG"])
    assert found == (KeyColumn("Segment_Id", "string"), KeyColumn("leg", "decimal(5,2)"))
    with pytest.raises(LedgerError, match="stands twice"):
        key_columns(schema, ["leg", "Leg"])
    with pytest.raises(LedgerError, match="has no column"):
        key_columns(schema, [])
    assert key_columns(StructType(), ["k"]) == (KeyColumn("k", "string"),)
