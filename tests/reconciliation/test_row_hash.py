"""Rows hashed by the planned statement: equal hashes for equal rows, and only for those."""

from __future__ import annotations

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.rule import Logic, Rule
from lakeproof.planning.pairs.comparison import bind_compare
from lakeproof.planning.pairs.scopes import PairScopes
from lakeproof.planning.pairs.types import key_cast_sql
from spark_settings import WITH_GENERATED_CODE

TYPES = {
    "arr": ("array<int>", "array<bigint>"),
    "arr2": ("array<bigint>", "array<bigint>"),
    "arrays": ("array<array<int>>", "array<array<int>>"),
    "bag": ("array<string>", "array<string>"),
    "bin": ("binary", "binary"),
    "col": ("string collate UTF8_LCASE", "string"),
    "d": ("double", "double"),
    "day": ("date", "date"),
    "dec": ("decimal(10,2)", "decimal(22,4)"),
    "doubles": ("array<double>", "array<float>"),
    "f": ("float", "float"),
    "fine": ("decimal(38,18)", "decimal(38,18)"),
    "flag": ("boolean", "boolean"),
    "i": ("int", "bigint"),
    "iv": ("interval day to second", "interval day to second"),
    "local": ("timestamp_ntz", "timestamp"),
    "lossy": ("bigint", "decimal(38,30)"),
    "map": ("map<string, int>", "map<string, bigint>"),
    "mix": ("int", "decimal(12,1)"),
    "near": ("decimal(10,2)", "decimal(10,2)"),
    "nothing": ("void", "int"),
    "ntz": ("timestamp_ntz", "timestamp_ntz"),
    "s": ("string", "string"),
    "s2": ("string", "string"),
    "seen": ("timestamp", "timestamp"),
    "share": ("double", "double"),
    "st": ("struct<a: int, b: string>", "struct<B: string, a: bigint>"),
    "structs": ("array<struct<a: int, m: map<int, double>>>",) * 2,
    "text": ("string", "string"),
    "ts": ("timestamp", "timestamp"),
    "wide": ("decimal(38,0)", "decimal(38,0)"),
}
SETTINGS = {
    "assume_timezone": "Europe/Berlin",
    "timestamp_precision": "ms",
    "normalize": {"text": ["rstrip", "lower", "nfc"]},
    "unordered_arrays": ["bag"],
    "column_tolerances": {
        "fine": {"relative": 0.000001, "absolute": 0.0},
        "near": 0.05,
        "seen": 1.5,
        "share": {"relative": 0.1},
        "wide": {"absolute": 1, "relative": 0.0},
    },
}
SAME, FORGIVEN, DIFFERENT = (True, True), (False, True), (False, False)
"""Whether the hashes are equal, and whether every column is."""

NINES = "9" * 37
EDGE = ("0.1234565D", "0.12345651D")
INSIDE = "named_struct('a', 1, 'm', map(1, {0}))"
FACTS = [
    (SAME, {"i": ("1", "1")}),
    (SAME, {"dec": ("1.00", "1")}),
    (DIFFERENT, {"dec": ("1.00", "1.0001")}),
    (SAME, {"mix": ("7", "7.0")}),
    (DIFFERENT, {"mix": ("7", "70.0")}),
    (DIFFERENT, {"i": ("NULL", "0")}),
    (DIFFERENT, {"s": ("NULL", "''")}),
    (DIFFERENT, {"s": ("NULL", "'__NULL__'")}),
    (DIFFERENT, {"s": ("'a'", "NULL"), "s2": ("NULL", "'a'")}),
    (DIFFERENT, {"s": ("'ab'", "'a'"), "s2": ("'c'", "'bc'")}),
    (DIFFERENT, {"s": ("'a|b'", "'a'"), "s2": ("'c'", "'b|c'")}),
    (DIFFERENT, {"s": ("'a'", "'a '")}),
    (DIFFERENT, {"s": ("'a'", "'A'")}),
    (DIFFERENT, {"s": (r"'e\u0301'", r"'\u00e9'")}),
    (SAME, {"text": (r"'E\u0301  '", r"'\u00e9'")}),
    (DIFFERENT, {"text": (r"' \u00e9'", r"'\u00e9'")}),
    (SAME, {"text": ("NULL", "NULL")}),
    (DIFFERENT, {"col": ("'a'", "'A'")}),
    (DIFFERENT, {"bin": ("X'00'", "X'0000'")}),
    (DIFFERENT, {"flag": ("true", "NULL")}),
    (DIFFERENT, {"day": ("DATE'2024-01-01'", "DATE'2024-01-02'")}),
    (DIFFERENT, {"iv": ("INTERVAL '1' SECOND", "INTERVAL '2' SECOND")}),
    (SAME, {"nothing": ("NULL", "NULL")}),
    (DIFFERENT, {"nothing": ("NULL", "1")}),
    (SAME, {"d": ("-0.0D", "0.0D")}),
    (SAME, {"d": ("double('NaN')", "double('NaN')")}),
    (DIFFERENT, {"d": ("double('NaN')", "NULL")}),
    (DIFFERENT, {"d": ("double('NaN')", "double('Infinity')")}),
    (SAME, {"d": ("0.1D + 0.2D", "0.3D")}),
    (FORGIVEN, {"d": EDGE}),
    (DIFFERENT, {"d": ("0.123456D", "0.123457D")}),
    (DIFFERENT, {"d": ("9000000D", "9e12D")}),
    (DIFFERENT, {"d": ("1e300D", "1.0000000000000002e300D")}),
    (DIFFERENT, {"d": ("double('Infinity')", "double('-Infinity')")}),
    (FORGIVEN, {"d": ("3000000000.0000005D", "3000000000.000001D")}),
    (SAME, {"f": ("0.1F", "0.1F")}),
    (DIFFERENT, {"f": ("16777216F", "16777218F")}),
    (DIFFERENT, {"f": ("0.123456F", "0.123458F")}),
    (SAME, {"arr": ("array(1, NULL)", "array(1, NULL)")}),
    (DIFFERENT, {"arr": ("array(1, NULL)", "array(1)")}),
    (DIFFERENT, {"arr": ("array()", "NULL")}),
    (DIFFERENT, {"arr": ("array(1, 2)", "array(2, 1)")}),
    (DIFFERENT, {"arr": ("array(1, 2)", "array(1)"), "arr2": ("array(3)", "array(2, 3)")}),
    (DIFFERENT, {"arrays": ("array(array(1), array(2))", "array(array(1, 2))")}),
    (DIFFERENT, {"arrays": ("array(array(1), NULL)", "array(array(1), array())")}),
    (SAME, {"bag": ("array('b', 'a', 'a')", "array('a', 'b', 'a')")}),
    (DIFFERENT, {"bag": ("array('b', 'a', 'a')", "array('a', 'b', 'b')")}),
    (SAME, {"doubles": ("array(0.1D, -0.0D)", "array(0.1F, 0.0F)")}),
    (DIFFERENT, {"doubles": (f"array({EDGE[0]})", f"array({EDGE[1]} + 1e-6D)")}),
    (SAME, {"map": ("map('a', 1, 'b', NULL)", "map('b', NULL, 'a', 1)")}),
    (DIFFERENT, {"map": ("map('a', 1, 'b', NULL)", "map('a', NULL, 'b', 1)")}),
    (DIFFERENT, {"map": ("map('a', NULL)", "map()")}),
    (SAME, {"st": ("named_struct('a', 1, 'b', 'x')", "named_struct('B', 'x', 'a', 1L)")}),
    (DIFFERENT, {"st": ("named_struct('a', 1, 'b', NULL)", "named_struct('B', '1', 'a', NULL)")}),
    (DIFFERENT, {"st": ("named_struct('a', NULL, 'b', NULL)", "NULL")}),
    (SAME, {"structs": (f"array({INSIDE.format('1e-9D')})", f"array({INSIDE.format('-0.0D')})")}),
    (DIFFERENT, {"structs": (f"array({INSIDE.format('1D')})", f"array({INSIDE.format('2D')})")}),
    (SAME, {"ts": ("timestamp_micros(-1)", "timestamp_micros(-1000)")}),
    (DIFFERENT, {"ts": ("timestamp_micros(-1)", "timestamp_micros(1)")}),
    (SAME, {"ntz": ("TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'",
                    "TIMESTAMP_NTZ'1969-12-31 23:59:59.999'")}),
    (DIFFERENT, {"ntz": ("TIMESTAMP_NTZ'2024-03-10 02:30:00'",
                         "TIMESTAMP_NTZ'2024-03-10 03:30:00'")}),
    (SAME, {"local": ("TIMESTAMP_NTZ'2024-07-01 12:00:00'", "TIMESTAMP'2024-07-01 10:00:00Z'")}),
    (DIFFERENT, {"local": ("TIMESTAMP_NTZ'2024-07-01 12:00:00'",
                           "TIMESTAMP'2024-07-01 12:00:00Z'")}),
    (FORGIVEN, {"near": ("1.00", "1.05")}),
    (DIFFERENT, {"lossy": ("5", "5.0000001")}),
    (SAME, {"lossy": ("5", "5.0")}),
    (FORGIVEN, {"wide": (f"{NINES}9", f"{NINES}8")}),
    (DIFFERENT, {"wide": (f"{NINES}9", f"{NINES}0")}),
    (DIFFERENT, {"wide": (f"{NINES}9", f"-{NINES}9")}),
    (FORGIVEN, {"fine": ("1000000", "1000001")}),
    (DIFFERENT, {"fine": ("1000000", "1000001.000000000000000001")}),
    (FORGIVEN, {"fine": (f"9{'0' * 18}", f"9000001{'0' * 12}")}),
    (DIFFERENT, {"fine": (f"9{'0' * 18}", f"900001{'0' * 13}")}),
    (DIFFERENT, {"near": ("1.00", "1.06")}),
    (DIFFERENT, {"near": ("NULL", "0.00")}),
    (FORGIVEN, {"share": ("100D", "110D")}),
    (DIFFERENT, {"share": ("110D", "99D - 1e-9D")}),
    (DIFFERENT, {"share": ("double('Infinity')", "1D")}),
    (FORGIVEN, {"seen": ("TIMESTAMP'2024-01-01 00:00:00Z'", "TIMESTAMP'2024-01-01 00:00:01.5Z'")}),
    (DIFFERENT, {"seen": ("TIMESTAMP'2024-01-01 00:00:00Z'", "TIMESTAMP'2024-01-01 00:00:02Z'")}),
]  # fmt: skip


def side_of(spark, place):
    """One row per fact; what the fact says nothing of is NULL."""
    columns = []
    for name, types in TYPES.items():
        known = [
            f"WHEN {number} THEN CAST({values[name][place]} AS {types[place]})"
            for number, (_, values) in enumerate(FACTS)
            if name in values
        ]
        if types[place] == "void":
            columns.append(f"NULL AS `{name}`")
        else:
            columns.append(f"CASE fact {' '.join(known)} END AS `{name}`")
    return spark.sql(f"SELECT fact, {', '.join(columns)} FROM range({len(FACTS)}) AS t(fact)")


def bound(spark, source, target, check="checksum_reconciliation", **params):
    names = {side: TableName(("frame", "test", side)) for side in ("source", "target")}
    engine = SparkEngine(spark, {names["source"]: source, names["target"]: target})
    arguments = find_check(check).read((), {"source_table": "source", **params})
    logic = Logic(names["target"], check, 1, (), arguments)
    rule = Rule("rule", logic.rule_id, logic, names["target"], "target", (), arguments)
    pinned = [engine.pin(name, ()) for name in (names["target"], names["source"])]
    return bind_compare(rule, *pinned, engine, PairScopes())


def judged(spark, step):
    words = " AND ".join(
        f"s.hash_{number} = t.hash_{number}" for number in range(step.algorithm.words)
    )
    equal = " AND ".join(
        f"({one.equal_sql.format(source=f's.value_{number}', target=f't.value_{number}')})"
        for number, one in enumerate(step.columns)
    )
    rows = spark.sql(
        f"SELECT s.key_0 AS fact, {words} AS hashed, {equal} AS equal, s.hash_0 AS word, "
        "s.exact_hash = t.exact_hash AS exact "
        f"FROM ({step.source.sql}) s JOIN ({step.target.sql}) t ON s.key_0 = t.key_0"
    ).collect()
    return {row["fact"]: row for row in rows}


# xxhash128 is xxhash64 twice, md5 another digest of the text that sha256 is one of.
@pytest.mark.parametrize("algorithm", ["xxhash64", "sha256"])
def test_hashes_are_equal_for_equal_values_and_only_for_those(spark, interpreted, algorithm):
    step = bound(spark, side_of(spark, 0), side_of(spark, 1), key_columns="fact",
                 hash_algorithm=algorithm, **SETTINGS)  # fmt: skip
    assert [one["column"] for one in step.notes["schema_differences"]] == ["lossy"]
    assert step.notes["columns"] == list(TYPES)
    found = judged(spark, step)
    assert len(found) == len(FACTS)
    wrong = [
        (values, (found[number]["hashed"], found[number]["equal"]))
        for number, (expected, values) in enumerate(FACTS)
        if (found[number]["hashed"], found[number]["equal"]) != expected
    ]
    assert wrong == []
    # What may be forgiven differs in inexact columns only.
    assert all(found[number]["exact"] for number, (kind, _) in enumerate(FACTS) if kind[1])


def test_hashes_do_not_depend_on_the_zone_of_the_session(spark, interpreted):
    step = bound(spark, side_of(spark, 0), side_of(spark, 1), key_columns="fact", **SETTINGS)
    zone = spark.conf.get("spark.sql.session.timeZone")
    words = f"SELECT key_0, hash_0, sample_hash FROM ({step.source.sql})"
    here = {tuple(row) for row in spark.sql(words).collect()}
    try:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        assert {tuple(row) for row in spark.sql(words).collect()} == here
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


KEYS = [
    # number, text (the same number, or none), place
    ("1", "'1'", "'a'"),
    ("7", "'007'", "'a'"),
    ("NULL", "NULL", "'b'"),
    ("-9223372036854775808", "'-9223372036854775808'", "NULL"),
    ("12", "'twelve'", "'c'"),
]


def test_keys_are_read_as_asked_for_and_what_cannot_be_is_marked(spark):
    rows = ", ".join(
        f"(CAST({number} AS BIGINT), {text}, {place}, 1)" for number, text, place in KEYS
    )
    source = spark.sql(
        f"SELECT number AS id, place, v FROM VALUES {rows} AS t(number, text, place, v)"
    )
    target = spark.sql(
        f"SELECT text AS ID, place, v FROM VALUES {rows} AS t(number, text, place, v)"
    )
    step = bound(
        spark, source, target, key_columns=["id", "place"], key_cast={"id": "bigint"},
        normalize={"place": "upper"},
    )  # fmt: skip
    schemas = [spark.sql(side.sql).schema for side in (step.source, step.target)]
    assert [field.name for field in schemas[0]] == [field.name for field in schemas[1]] == [
        "key_0", "key_1", "value_0", "hash_0", "exact_hash", "key_hash", "sample_hash",
        "null_key", "is_castable",
    ]  # fmt: skip
    assert [field.dataType for field in schemas[0]] == [field.dataType for field in schemas[1]]
    found = spark.sql(
        "SELECT s.key_0, t.key_1, s.hash_0 = t.hash_0 AND s.key_hash = t.key_hash AS same, "
        "s.null_key AND t.null_key AS null_key, t.is_castable "
        f"FROM ({step.source.sql}) s JOIN ({step.target.sql}) t "
        "ON s.key_0 <=> t.key_0 AND s.key_1 <=> t.key_1"
    ).collect()
    assert {tuple(row) for row in found} == {
        (1, "A", True, False, True),
        (7, "A", True, False, True),
        (None, "B", True, True, True),
        (-(1 << 63), None, True, True, True),
    }
    lost = spark.sql(f"SELECT null_key FROM ({step.target.sql}) WHERE NOT is_castable").collect()
    assert [row["null_key"] for row in lost] == [False]


def test_an_integer_key_is_its_own_hash_and_a_fraction_does_not_cast(spark):
    numbers = spark.sql("SELECT * FROM VALUES (5, 1), (NULL, 2) AS t(id, v)")
    fractions = spark.sql("SELECT * FROM VALUES (5.0D, 1), (5.5D, 2) AS t(id, v)")
    step = bound(
        spark, numbers, fractions, "key_parity", key_columns="id", key_cast={"id": "bigint"}
    )
    columns = "key_0, key_hash, is_castable"
    of_source, of_target = (
        {tuple(row) for row in spark.sql(f"SELECT {columns} FROM ({side.sql})").collect()}
        for side in (step.source, step.target)
    )
    assert of_source == {(5, 5, True), (None, -(1 << 61), True)}
    assert of_target == {(5, 5, True), (5, 5, False)}


CASTS = [
    # whether the value is still all there, the value, its type, the type to read it as
    (True, "'1.230'", "string", "decimal(10,2)"),
    (True, "' 1.2 '", "string", "decimal(38,2)"),
    (False, "'1.234'", "string", "decimal(10,2)"),
    (False, "'1.234'", "string", "decimal(38,2)"),
    (False, "'1.5'", "string", "bigint"),
    (True, "'0.10'", "string", "double"),
    (False, "'12345678901234567'", "string", "double"),
    (True, "'2024-01-01'", "string", "date"),
    (False, "'2024-01-01 10:00:00'", "string", "date"),
    (True, "'2024-01-01 10:00:00.5'", "string", "timestamp_ntz"),
    (False, "'2024-01-01 10:00:00+02:00'", "string", "timestamp_ntz"),
    (False, "'2024-01-01 10:00:00.1234567'", "string", "timestamp_ntz"),
    (False, "TIMESTAMP_NTZ'2024-01-01 10:00:00'", "timestamp_ntz", "date"),
    (True, "0.5D", "double", "float"),
    (False, "0.1D", "double", "float"),
    (True, "0.1D", "double", "string"),
    (False, "9007199254740993L", "bigint", "double"),
    (False, "1.234BD", "decimal(4,3)", "decimal(10,2)"),
    (True, "CAST(NULL AS STRING)", "string", "date"),
]


def test_a_key_is_castable_only_if_nothing_of_it_gets_lost(spark):
    asked = [
        f"(SELECT {key_cast_sql(Column('k', own), cast)[1]} FROM (SELECT {value} AS k))"
        for _, value, own, cast in CASTS
    ]
    found = spark.sql(f"SELECT array({', '.join(asked)}) AS found").first()["found"]
    assert [(is_there, *rest) for is_there, (_, *rest) in zip(found, CASTS, strict=True)] == CASTS


def test_flat_values_are_hashed_by_compiled_code_that_reads_only_what_it_needs(spark, tmp_path):
    spark = spark.newSession()
    for name, value in WITH_GENERATED_CODE.items():
        spark.conf.set(name, value)
    spark.range(5).selectExpr(
        "id", "int(id) AS i", "id / 7 AS d", "timestamp_micros(id) AS ts", "'x' AS s", "id AS _dlt"
    ).write.parquet(str(tmp_path / "rows"))
    rows = spark.read.parquet(str(tmp_path / "rows"))
    step = bound(spark, rows, rows, key_columns="id", timestamp_precision="s",
                 exclude_columns=["s", "_dlt"])  # fmt: skip
    hashed = spark.sql(f"SELECT sum(hash_0 & 255), sum(key_hash & 255) FROM ({step.source.sql})")
    hashed.collect()
    plan = hashed._jdf.queryExecution().executedPlan().toString().split("Initial Plan")[0]
    (scan,) = [line for line in plan.splitlines() if "FileScan" in line]
    assert "ReadSchema: struct<id:bigint,i:int,d:double,ts:timestamp>" in scan
    hashes = [line for line in plan.splitlines() if "xxhash64" in line]
    assert hashes
    assert all("*(" in line for line in hashes)


def test_a_sample_takes_the_same_keys_of_both_sides_and_a_smaller_one_is_inside_it(spark):
    source = spark.sql("SELECT id, id AS v FROM range(2000)")
    target = spark.sql("SELECT CAST(id AS INT) AS id, id + 1 AS v FROM range(1000, 3000)")
    taken = []
    for share in (0.5, 0.1):
        step = bound(spark, source, target, key_columns="id", sample=share)
        taken += [
            {row["key_0"] for row in spark.sql(f"SELECT key_0 FROM ({side.sql})").collect()}
            for side in (step.source, step.target)
        ]
    half, half_of_target, tenth, tenth_of_target = taken
    shared = range(1000, 2000)
    assert half & set(shared) == half_of_target & set(shared)
    assert tenth < half
    assert tenth_of_target < half_of_target
    assert 900 < len(half) < 1100
    assert 150 < len(tenth) < 250
