"""Records read without Spark are the records that Spark reads: same keys, same sums."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeproof.accounting.without_spark.inputs import read_input
from lakeproof.accounting.without_spark.key_text import Summer, key_text
from lakeproof.accounting.without_spark.records.arrow import parquet_rows
from lakeproof.accounting.without_spark.records.csv_text import CsvForm
from lakeproof.accounting.without_spark.records.datasets import Dataset
from lakeproof.accounting.without_spark.records.json_text import json_records
from lakeproof.accounting.without_spark.records.reading import (
    NotCheckableError,
    TextReading,
    UnreadableError,
)
from lakeproof.accounting.without_spark.records.text_files import check_options, json_rows, lines_of
from lakeproof.accounting.without_spark.records.values import value_of_json, value_of_text
from lakeproof.model.accounting import DatasetPosition, KeyColumn, KeyUniqueness, Level
from lakeproof.model.partition_folders import partition_values

SALT = "00112233445566778899aabbccddeeff"
ID = KeyColumn("id", "string")

BROKEN = b"\xff"
"""No UTF-8."""

# Each line, and the keys of its records under a string key; None is a record without one.
JSON_LINES = {
    b'{"id":"a"}': ["a"],
    b"{'id':'it\\'s'}": ["it's"],
    b'{"id":"it\\\'s"}': ["it's"],
    b'{"id":"a"} and more': ["a"],
    b'[{"id":"b"},{"id":"c"}]': ["b", "c"],
    b"[]": [],
    b" \t": [],
    b"": [],
    b"null": [None],
    b"5": [None],
    b"\xc2\xa0": [None],
    b'{"id":"a","id":"last"}': ["last"],
    b'{"ID":"case"}': [None],
    b'{"id":1.50}': ["1.50"],
    b'{"id":-0}': ["-0"],
    b'{"id":01}': [None],
    b'{"id":true}': ["true"],
    b'{"id":{"a" : 1, "b":[1, {}]}}': ['{"a" : 1, "b":[1, {}]}'],
    b'{"id":[1, "x" ]}': ['[1, "x" ]'],
    b'{"id":NaN}': ["NaN"],
    b'{"id":+INF}': ["+INF"],
    b'{"id":INF}': [None],
    b'{"id":"a",}': [None],
    b'{"id":"a"': [None],
    b'{"id":"a\\u00e9\\n\\/"}': ["aé\n/"],
    b'{"id":"\\ud83d\\ude00"}': ["😀"],
    b'{"id":"\\ud800"}': ["?"],
    b'{"id":"a\\q"}': [None],
    b'{"id":"a\tb"}': [None],
    b'{"id":"%b"}' % BROKEN: [None],
    b'{"id":"fine"} %b' % BROKEN: ["fine"],
    b'{"id":""}': [""],
    b'{"id":"@at"}': ["@at"],
    b'{id:"a"}': [None],
    b'{"id":1e400}': ["1e400"],
    b'{"id":5.}': [None],
    b'{"id":+5}': [None],
    b'{"x":{"id":"inner"},"id":"outer"}': ["outer"],
    b'{"id":"\xe2\x80\xa8"}': ["\u2028"],
}

# Each line of CSV, and its first field.
CSV_LINES = {
    "a,b": "a",
    "a": "a",
    ",b": None,
    '"",b': None,
    '"a,b",c': "a,b",
    '"a""b",c': '"a""b"',
    '"a\\"b",c': 'a"b',
    '"a\\\\",c': "a\\",
    '"a\\b",c': "a\\b",
    'a\\"b,c': 'a\\"b',
    '"a"x,c': '"a"x',
    '"a" ,c': "a",
    ' "a",c': ' "a"',
    '"a': "a",
    '"a\\",c': 'a",c',
    '"a"""': 'a""',
    '"a"",b",c': 'a"',
    '"""a""",c': '"""a"""',
    " a ,b": " a ",
    "@a,b": "@a",
}


@pytest.mark.parametrize("line", JSON_LINES)
def test_a_line_of_json_is_taken_as_spark_takes_it(line):
    found = json_records(line, ["id"])
    records = [{}] if found is None else found
    assert [value_of_json(one.get("id"), "string") for one in records] == JSON_LINES[line]


@pytest.mark.parametrize("line", CSV_LINES)
def test_a_line_of_csv_is_cut_as_spark_cuts_it(line):
    assert CsvForm().fields(line)[0] == CSV_LINES[line]


def test_the_signs_of_csv_can_be_others():
    assert CsvForm(escape='"').fields('"a""b",c') == ['a"b', "c"]
    assert CsvForm(separator="||").fields("a||b|c") == ["a", "b|c"]
    assert CsvForm(quote="'").fields("'a,b',c") == ["a,b", "c"]
    assert CsvForm(quote="").fields('"a",b') == ['"a"', "b"]
    assert CsvForm(null_text="-").fields('-,"",') == [None, "", None]
    assert CsvForm(empty_text="E").fields('"",') == ["E", None]
    trimmed = CsvForm(trims_left=True, trims_right=True)
    assert trimmed.fields(' "a", b ,') == ["a", "b", None]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("12", "bigint", 12),
        ("+1", "int", 1),
        (" 1", "int", None),
        ("1.0", "int", None),
        ("128", "tinyint", None),
        ("9223372036854775808", "bigint", None),
        ("1.255", "decimal(12,2)", Decimal("1.26")),
        ("1e2", "decimal(12,2)", Decimal(100)),
        ("99999999999", "decimal(12,2)", None),
        ("tRue", "boolean", True),
        ("1", "boolean", None),
        ("2024-1-3", "date", date(2024, 1, 3)),
        ("2024-01-31 x", "date", date(2024, 1, 31)),
        ("2024-01-31x", "date", None),
        ("2024-02-30", "date", None),
        ("2024-01-31T10:00:00.1234567+02:00", "timestamp", (2024, 1, 31, 8, 0, 0, 123456)),
        ("2024-01-31 10:00", "timestamp", (2024, 1, 31, 9)),
        ("2024-03-31 02:30:00", "timestamp", (2024, 3, 31, 1, 30)),
        ("2024-10-27 02:30:00", "timestamp", (2024, 10, 27, 0, 30)),
        ("2024-01-31 10:00:00 UTC", "timestamp", (2024, 1, 31, 10)),
        ("2024-01-31 24:00:00", "timestamp", None),
        ("2024-01-31 10:00:00Z", "timestamp_ntz", None),
    ],
)
def test_a_text_becomes_the_value_that_spark_makes_of_it(value, kind, expected):
    if isinstance(expected, tuple):
        expected = datetime(*expected, tzinfo=UTC)
    assert value_of_text(value, kind, "Europe/Berlin") == expected


def test_what_depends_on_the_reading_session_is_not_guessed():
    for text, zone in (("2024-01-31 10:00:00", ""), ("10:00", "UTC"), ("12024-01-01", "UTC")):
        with pytest.raises(NotCheckableError):
            value_of_text(text, "timestamp", zone)
    with pytest.raises(NotCheckableError, match="allowcomments"):
        check_options(TextReading({"allowcomments": "true"}), [ID], is_csv=False)
    dated = [KeyColumn("d", "date")]
    with pytest.raises(NotCheckableError, match="dateformat"):
        check_options(TextReading({"dateformat": "dd.MM.yyyy"}), dated, is_csv=True)
    check_options(TextReading({"dateformat": "dd.MM.yyyy", "mode": "x"}), [ID], is_csv=True)


@pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 20])
def test_lines_end_in_any_of_three_ways_and_a_mark_of_order_is_left_off(
    tmp_path, monkeypatch, chunk
):
    monkeypatch.setattr("lakeproof.accounting.without_spark.records.text_files._CHUNK_BYTES", chunk)
    data = b"\xef\xbb\xbfone\rtwo\r\nthree\n\n\r\rfour\n\rfive"
    expected = [b"one", b"two", b"three", b"", b"", b"", b"four", b"", b"five"]
    plain, packed = tmp_path / "plain.json", tmp_path / "packed.json.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    assert list(lines_of(plain)) == list(lines_of(packed)) == expected
    plain.write_bytes(b"one|two\n|")
    assert list(lines_of(plain, b"|")) == [b"one", b"two\n"]


def test_a_broken_archive_and_an_unknown_one_are_told_apart(tmp_path):
    broken, unknown = tmp_path / "a.json.gz", tmp_path / "a.json.zst"
    broken.write_bytes(gzip.compress(b"x" * 1000)[:20])
    unknown.write_bytes(b"")
    with pytest.raises(UnreadableError, match=r"a\.json\.gz"):
        list(lines_of(broken))
    with pytest.raises(NotCheckableError, match=r"\.zst"):
        list(lines_of(unknown))


def test_folders_are_columns_whose_declared_type_decides(tmp_path):
    assert partition_values("k=001/x=a%2Fb/n=__HIVE_DEFAULT_PARTITION__/f=g.json") == {
        "k": "001",
        "x": "a/b",
        "n": None,
    }
    file = tmp_path / "f.json"
    file.write_bytes(b'{"k":"data"}\n')
    for kind, expected in (("string", "001"), ("int", 1)):
        rows = json_rows(file, "k=001/f.json", [KeyColumn("k", kind)], TextReading())
        assert [values for values, _ in rows] == [(expected,)]


def test_parquet_gives_row_numbers_and_null_for_columns_that_are_not_there(tmp_path):
    file = tmp_path / "f.parquet"
    table = pa.table({"Id": ["a", None, "b"], "raw": [b"x", b"y", None]})
    pq.write_table(table, file, row_group_size=2)
    rows = list(parquet_rows(file, "f.parquet", [ID, KeyColumn("none", "int")]))
    assert rows == [(("a", None), 0), ((None, None), 1), (("b", None), 2)]
    assert [mark for _, mark in parquet_rows(file, "f.parquet", [KeyColumn("none", "int")])] == [
        0,
        1,
        2,
    ]


def test_a_file_is_read_in_bounded_pieces(tmp_path):
    file = tmp_path / "f.json"
    file.write_bytes(b'{"id":"a"}\n' * 10)
    dataset = Dataset(DatasetPosition("files", format="json"), str(file), ("f.json",))
    rows = dataset.identified([ID], ())
    assert next(rows) == ("a", ())
    assert sum(1 for _ in rows) == 9


def test_tables_are_read_at_their_version_by_the_columns_that_are_there(tmp_path):
    from deltalake import write_deltalake
    from pyiceberg.catalog.sql import SqlCatalog

    tables = [pa.table({'a "b"': ["x", None, ""]}), pa.table({'a "b"': ["later"]})]
    for table in tables:
        write_deltalake(tmp_path / "delta", table, mode="append")
    catalog = SqlCatalog("c", uri="sqlite:///:memory:", warehouse=(tmp_path / "ice").as_uri())
    catalog.create_namespace("n")
    ice = catalog.create_table("n.t", tables[0].schema)
    for table in tables:
        ice.append(table)
    first = str(ice.history()[0].snapshot_id)
    key = [KeyColumn('a "b"', "string"), KeyColumn("none", "int")]
    for place, position in (
        (str(tmp_path / "delta"), DatasetPosition("delta", version="0")),
        (ice.metadata_location, DatasetPosition("iceberg", version=first)),
    ):
        assert sorted(Dataset(position, place).rows(key), key=str) == [
            ("", None),
            ("x", None),
            (None, None),
        ]
        found = Counter(text for text, _ in Dataset(position, place).identified(key[:1], ()))
        assert found["x"] == 1
        assert sum(text.startswith("@row#") for text in found) == 1
        known = Dataset(position, place).identified(key[:1], (), has_null_keys=False)
        assert sorted(text for text, _ in known) == ["", "@null", "x"]
    catalog.close()
    empty = Dataset(DatasetPosition("iceberg"), ice.metadata_location)
    assert list(empty.rows(key)) == []
    with pytest.raises(UnreadableError):
        list(Dataset(DatasetPosition("delta", version="7"), str(tmp_path / "delta")).rows(key))


# ------------------------------------------------------------------------------- against Spark


def same_records(spark, dataset, names, **options):
    """Both readings of an input, by identity and by sums."""
    from lakeproof.accounting.storage import LocalStorage
    from lakeproof.engines.spark.accounting.inputs import account_input, open_input

    dataset = str(dataset) if isinstance(dataset, Path) else dataset
    pinned = open_input(spark, dataset, storage=LocalStorage(), **options)
    accounted = account_input(
        pinned, names, salt=SALT, level=Level.COMMIT, uniqueness=KeyUniqueness.ALLOW
    )
    source = accounted.accounting
    ours = Counter(text for text, _ in read_input(source))
    theirs = Counter(row[0] for row in accounted.frame().select("_lakeproof_key").collect())
    assert ours == theirs, (ours - theirs, theirs - ours)
    summer = Summer(SALT, Level.COMMIT)
    summer.add_all(ours.elements())
    assert summer.commitment == source.commitment
    return ours


TYPED = {
    "i": ("bigint", pa.int64(), [1, -(2**63), None]),
    "t": ("tinyint", pa.int8(), [-128, 127, None]),
    "d": ("decimal(12,2)", pa.decimal128(12, 2), [Decimal("1.10"), Decimal("-0.50"), None]),
    "e": ("decimal(38,10)", pa.decimal128(38, 10), [Decimal("1E-10"), Decimal(10**27), None]),
    "b": ("boolean", pa.bool_(), [True, False, None]),
    "day": ("date", pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None]),
    "ts": (
        "timestamp",
        pa.timestamp("us", "UTC"),
        [
            datetime(2024, 1, 31, 10, tzinfo=UTC),
            datetime(1500, 1, 1, 0, 0, 0, 120, tzinfo=UTC),
            None,
        ],
    ),
    "ntz": (
        "timestamp_ntz",
        pa.timestamp("us"),
        [datetime(2024, 3, 31, 2, 30), datetime(1900, 1, 1, 0, 0, 0, 100_000), None],  # noqa: DTZ001
    ),
    "x": ("binary", pa.binary(), [b"", b"\x00\xff", None]),
    "s": ("string", pa.string(), ["@a\u2028\ufffd😀", "", None]),
}


def typed_file(folder: Path) -> Path:
    folder.mkdir()
    arrays = {name: pa.array(values, kind) for name, (_, kind, values) in TYPED.items()}
    pq.write_table(pa.table(arrays), folder / "typed é.parquet")
    return folder


def write_lines(folder: Path) -> dict[str, Path]:
    """Files of each kind that a string key `id` is read from."""
    places = {name: folder / name for name in ("json", "csv", "folders")}
    for place in places.values():
        place.mkdir(parents=True)
    # Lines with arrays are refused where other lines have no key.
    lines = [line for line in JSON_LINES if not line.startswith(b"[") and BROKEN not in line]
    (places["json"] / "broken.json").write_bytes(b'{"id":"%b"}' % BROKEN)
    (places["json"] / "a+b c.json").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines))
    (places["json"] / "z.json.gz").write_bytes(gzip.compress(b"\n".join(lines[::2])))
    csv = ["id,other", *CSV_LINES, "  ", "last"]
    (places["csv"] / "a.csv").write_text("\n".join(csv), encoding="utf-8")
    (places["csv"] / "b.csv").write_bytes(b"\n\nid,other\n\xff,x\n,\xff\n")
    for value in ("001", "a b", "a%2Fb", "%C3%A9", "__HIVE_DEFAULT_PARTITION__"):
        inner = places["folders"] / f"id={value}"
        inner.mkdir()
        (inner / "f.json").write_bytes(b'{"n":1}\n{"n":2\n')
    return places


def test_parquet_keys_of_every_type_are_those_of_spark(spark, tmp_path):
    from lakeproof.engines.spark.accounting.source_keys import key_sql

    typed = typed_file(tmp_path / "typed")
    columns = [KeyColumn(name, kind) for name, (kind, _, _) in TYPED.items()]
    frame = spark.read.parquet(str(typed))
    theirs = frame.selectExpr(*(key_sql([column]) for column in columns)).collect()
    ours = [
        tuple(key_text([value], [column]) for value, column in zip(values, columns, strict=True))
        for values, _ in parquet_rows(typed / "typed é.parquet", "", columns)
    ]
    assert ours == [tuple(row) for row in theirs]
    found = same_records(spark, typed, list(TYPED), format="parquet")
    assert "@typed é.parquet#2" in found
    # The old form of timestamps, and a key in folders' names.
    old = tmp_path / "old"
    spark.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    try:
        frame.selectExpr("ts", "s AS k").write.partitionBy("k").parquet(str(old))
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    same_records(spark, old, ["ts", "k"], format="parquet")


RETYPED = {
    "n": ("DECIMAL(12,2)", pa.array([5, 7], pa.int32())),
    "day": ("DATE", pa.array([5, 7], pa.int32())),
    "at": ("TIMESTAMP", pa.array([datetime(2024, 1, 31), None], pa.timestamp("us"))),  # noqa: DTZ001
    "wall": (
        "TIMESTAMP_NTZ",
        pa.array([None, datetime(2024, 1, 31, tzinfo=UTC)], pa.timestamp("us", "UTC")),
    ),
    "midnight": ("TIMESTAMP_NTZ", pa.array([date(2024, 1, 31), None])),
    "x": ("BINARY", pa.array(["a", None])),
    "s": ("STRING", pa.array([b"a", None])),
}


def test_parquet_keys_of_another_declared_type_are_those_of_spark(spark, tmp_path):
    place = tmp_path / "s=folder"
    place.mkdir()
    table = pa.table({name: values for name, (_, values) in RETYPED.items()})
    pq.write_table(table, place / "f.parquet")
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in RETYPED.items())
    terms = {"format": "parquet", "schema": schema}
    assert all(
        '"s":["s","folder"]' in key for key in same_records(spark, tmp_path, list(RETYPED), **terms)
    )
    # Read recursively, folders have no say.
    found = same_records(
        spark, tmp_path, list(RETYPED), options={"recursiveFileLookup": "true"}, **terms
    )
    assert any('"s":["s","a"]' in key for key in found)
    same_records(spark, place, ["at"], **terms)


def test_keys_out_of_json_and_csv_are_those_of_spark(spark, tmp_path):
    places = write_lines(tmp_path / "lines")
    found = same_records(spark, places["json"], ["id"], format="json", schema="id STRING, n INT")
    assert found["@@at"] == 2
    assert sum(key.startswith("@z.json.gz#") for key in found) > 1
    csv = {"format": "csv", "schema": "id STRING, other STRING"}
    found = same_records(spark, places["csv"], ["id"], options={"header": "true"}, **csv)
    assert found["last"] == 1
    options = {"escape": '"', "nullValue": "a", "ignoreLeadingWhiteSpace": "true"}
    same_records(spark, places["csv"], ["other", "id"], options=options, **csv)
    found = same_records(spark, places["folders"], ["id"], format="json", schema="n INT")
    assert found["001"] == 2


def test_typed_keys_out_of_json_are_those_of_spark_in_its_own_zone(spark, tmp_path):
    (tmp_path / "input").mkdir()
    moments = ("2024-03-31 02:30:00", "2024-01-31T10:00:00.1234567+02:00", "1900-01-01", "x")
    numbers, days = (1.255, "1,000", 7, None), ("12", " 2024-1-3 ", "2024", "x")
    raw, truths = ("YWJj", "!", None, 1), (True, "true", None, False)
    rows = [
        dict(zip(("ts", "d", "day", "x", "b"), values, strict=True))
        for values in zip(moments, numbers, days, raw, truths, strict=True)
    ]
    (tmp_path / "input/t.json").write_text("\n".join(map(json.dumps, rows)))
    schema = "ts TIMESTAMP, d DECIMAL(12,2), day DATE, x BINARY, b BOOLEAN"
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        found = same_records(spark, tmp_path / "input", list(rows[0]), format="json", schema=schema)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert sum(found.values()) == len(rows)
    assert any('"ts":["t","1706688000123456"]' in key for key in found)


def test_keys_of_tables_at_a_version_are_those_of_spark(spark):
    values = (
        "SELECT id, if(id % 5 = 0, NULL, concat('k', id)) AS k, "
        "named_struct('a', id, 'b', array(1.5D, NULL)) AS s, map('x', DATE '2024-01-31') AS m, "
        "timestamp_micros(id) AS ts FROM range(20)"
    )
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.records")
    made = {
        "spark_catalog.default.records_read": "USING delta TBLPROPERTIES "
        "('delta.enableDeletionVectors' = 'true')",
        "iceberg.records.read": "USING iceberg TBLPROPERTIES ('format-version' = '2', "
        "'write.delete.mode' = 'merge-on-read')",
    }
    for table, form in made.items():
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        spark.sql(f"CREATE TABLE {table} {form} AS {values}")
        spark.sql(f"DELETE FROM {table} WHERE id IN (1, 10)")
        found = same_records(spark, table, ["k"])
        assert (found.total(), sum(key.startswith("@row#") for key in found)) == (18, 3)
        spark.sql(f"DROP TABLE {table}")
