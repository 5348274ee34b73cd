"""An input is pinned, read once for its keys, and every record of it has an identity."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from actions.executions import executions_after, newest_execution
from lakeproof.accounting.storage import LocalStorage
from lakeproof.accounting.without_spark.key_text import Summer, row_text
from lakeproof.accounting.without_spark.records.datasets import Dataset
from lakeproof.engines.spark.accounting.inputs import account_input, open_input
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import KeyColumn, KeyUniqueness, Level, input_hash_of

SALT = secrets.token_hex(16)


def opened(spark, dataset, **terms):
    given = dataset if not isinstance(dataset, Path) else str(dataset)
    return open_input(spark, given, storage=LocalStorage(), **terms)


def accounted(pinned, *key, uniqueness=KeyUniqueness.ALLOW, level=Level.COMMIT):
    return account_input(pinned, key, salt=SALT, level=level, uniqueness=uniqueness, name="in")


def sums_of(texts):
    summer = Summer(SALT, Level.COMMIT)
    summer.add_all(texts)
    return summer.commitment


def line_text(path: str, line: str) -> str:
    return f"@{path}#{sha256(line.encode()).hexdigest()}"


def keys_of(found):
    return sorted(row[0] for row in found.keys().collect())


def assert_identities(found, expected):
    """The pass, the keys and the whole frame tell the same records."""
    assert keys_of(found) == sorted(expected)
    assert found.accounting.total_records == len(expected)
    assert found.accounting.commitment == sums_of(expected)


@contextmanager
def executions(spark):
    """Descriptions of what Spark ran in the block."""
    ran: list[str] = []
    before = newest_execution(spark)
    yield ran
    ran += [run.physicalPlanDescription() for run in executions_after(spark, before)]


JSON_SCHEMA = "id STRING, price DOUBLE, tags ARRAY<STRING>"
GOOD = [
    '{"id":"a","price":1.5}',
    '{"id":"@b","price":2,"tags":["x"]}',
    '{"id":"typed","price":"x"}',
]
BROKEN = ['{"price":5,"id":"late', '{"id":"cut","price":', "not json", "not json"]
NO_KEY = ['{"price":7}', "{}", '{"id":null,"price":"also typed"}', '{"price":7}']


def write(folder: Path, **files: list[str]) -> Path:
    for name, lines in files.items():
        place = folder / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_suffix(".json").write_text("\n".join(lines) + "\n")
    return folder


def test_lines_without_a_readable_key_are_known_by_file_and_text(spark, tmp_path):
    folder = write(
        tmp_path / "in + %20 é [x]",
        plain=[*GOOD, "", "   "],
        broken=['{"id":"c"}', *BROKEN],
        more__none=['{"id":"d"}', *NO_KEY, BROKEN[0], "", "\t"],
    )
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden.json").write_text('{"id":"hidden"}')
    expected = ["a", "@@b", "typed", "c", "d"]
    expected += [line_text("broken.json", line) for line in BROKEN]
    expected += [line_text("more/none.json", line) for line in [*NO_KEY, BROKEN[0]]]
    pinned = opened(spark, folder, schema=JSON_SCHEMA)
    found = accounted(pinned, "id")
    assert_identities(found, expected)
    assert (found.accounting.null_keys, found.accounting.distinct_keys) == (9, 5)
    assert (found.keyless.malformed, found.keyless.others) == (5, 4)
    frame = found.frame()
    assert frame.columns == ["id", "price", "tags", "_lakeproof_key", "_lakeproof_raw"]
    rows = {row["_lakeproof_key"]: row for row in frame.collect()}
    assert rows["typed"]["_lakeproof_raw"] == GOOD[2]
    assert rows["a"]["_lakeproof_raw"] is None
    assert rows["@@b"]["tags"] == ["x"]
    assert rows[line_text("more/none.json", NO_KEY[0])]["price"] == 7
    for line, file in ((BROKEN[0], "broken.json"), (BROKEN[0], "more/none.json")):
        assert rows[line_text(file, line)]["_lakeproof_raw"] == line
    # Malformed is malformed, whatever columns a query reads.
    raws = frame.where("_lakeproof_raw IS NOT NULL")
    assert raws.count() == raws.select("price").count() == 5 + 1 + 1
    assert raws.select("_lakeproof_key").distinct().count() == 6
    # Spark's reader would stop at the price, and lose the line that breaks off behind it.
    dear = frame.where("price IS NULL").select("_lakeproof_key")
    assert frame.where("price IS NOT NULL").count() + dear.count() == len(expected)
    assert spark.conf.get("spark.sql.json.filterPushdown.enabled") == "true"


@pytest.mark.parametrize(
    "uniqueness",
    [
        KeyUniqueness.REQUIRE,
        pytest.param(KeyUniqueness.ALLOW, marks=pytest.mark.slow),
        pytest.param(KeyUniqueness.ASSUME, marks=pytest.mark.slow),
    ],
)
def test_the_pass_is_one_action_and_a_second_only_for_records_without_key(
    spark, tmp_path, uniqueness
):
    folder = write(tmp_path / "in", one=GOOD, two=BROKEN)
    pinned = opened(spark, folder, schema=JSON_SCHEMA)
    with executions(spark) as ran:
        found = accounted(pinned, "id", uniqueness=uniqueness)
    assert len(ran) == 1
    assert ("hashpartitioning" in ran[0]) == (uniqueness is not KeyUniqueness.ASSUME)
    assert found.accounting.commitment == sums_of(
        ["a", "@@b", "typed", *(line_text("two.json", line) for line in BROKEN)]
    )
    assert found.accounting.distinct_keys == (None if uniqueness == "assume" else 3)
    assert found.duplicates is None
    write(folder, two=NO_KEY)
    pinned = opened(spark, folder, schema=JSON_SCHEMA)
    with executions(spark) as ran:
        found = accounted(pinned, "id", uniqueness=uniqueness)
    assert len(ran) == 2
    assert "one.json" not in ran[1]
    assert found.accounting.null_keys == 4


def test_keys_that_repeat_are_listed_only_where_they_must_be_unique(spark, tmp_path):
    lines = [json.dumps({"id": key, "n": at}) for at, key in enumerate("aabcccd")]
    folder = write(tmp_path / "in", f=[*lines, "broken", "broken", "{}", "{}"])
    pinned = opened(spark, folder)
    assert pinned.schema.simpleString() == "struct<id:string,n:bigint>"
    found = accounted(pinned, "id", uniqueness=KeyUniqueness.REQUIRE)
    assert (found.duplicate_keys, found.duplicate_records) == (2, 3)
    listed = {row["source_key"]: row["input_records"] for row in found.duplicates.collect()}
    assert listed == {"a": 2, "c": 3}
    assert (found.accounting.total_records, found.accounting.distinct_keys) == (11, 4)
    allowed = accounted(pinned, "id")
    assert (allowed.duplicates, allowed.accounting.distinct_keys) == (None, 4)
    assert allowed.accounting.commitment == found.accounting.commitment
    counted = accounted(pinned, "id", level=Level.COUNT, uniqueness=KeyUniqueness.ASSUME)
    assert counted.accounting.commitment.limbs == ()
    assert counted.accounting.commitment.records == 11


CSV = [
    "id,price,x",
    "1,1.5,u",
    ",2.5,v",
    "2,abc,w",
    "3",
    "4,1,2,3,surplus",
    "",
    "   ",
    '"5",3.5,"y, ""z"""',
    "abc,4,bad key",
    ',5,back\\slash "quote',
    ",6",
]


@pytest.mark.parametrize("header", [True, False])
def test_csv_lines_are_known_by_their_key_or_their_text(spark, tmp_path, header):
    lines = CSV if header else CSV[1:]
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "f.csv").write_text("\r\n".join(lines))
    (folder / "g.csv").write_text("\n".join([*lines[:1], "9,1,x"]) if header else "9,1,x\n")
    options = {"header": "true"} if header else {}
    pinned = opened(spark, folder, schema="id INT, price DOUBLE, x STRING", options=options)
    assert pinned.position.format == "csv"
    found = accounted(pinned, "id")
    keyless = [",2.5,v", "abc,4,bad key", ',5,back\\slash "quote', ",6"]
    assert_identities(
        found, ["1", "2", "3", "4", "5", "9", *(line_text("f.csv", line) for line in keyless)]
    )
    rows = {row["_lakeproof_key"]: row for row in found.frame().collect()}
    assert rows[line_text("f.csv", ",2.5,v")]["price"] == 2.5
    assert rows[line_text("f.csv", ",2.5,v")]["_lakeproof_raw"] is None
    malformed = {key for key, row in rows.items() if row["_lakeproof_raw"] is not None}
    lines_told = {line_text("f.csv", line) for line in ("abc,4,bad key", ",6")}
    assert malformed == {"2", "3", "4", *lines_told}


def test_parquet_records_without_key_are_known_by_file_and_row(spark, tmp_path):
    folder = tmp_path / "in é +"
    rows = "SELECT if(id % 4 = 1, NULL, concat('k', id)) AS a, if(id = 5, 7, NULL) AS b, id"
    spark.sql(f"{rows} FROM range(8)").coalesce(1).write.parquet(str(folder))
    file = next(folder.glob("*.parquet"))
    odd = folder / "part #1 [a]{b} %41+.parquet"
    file.rename(odd)
    (folder / f".{file.name}.crc").unlink()
    named = [f"k{number}" for number in (0, 2, 3, 4, 6, 7)]
    for given in (folder, f"file://{folder}", odd):
        single = accounted(opened(spark, given, format="parquet"), "a")
        assert_identities(single, [*named, f"@{odd.name}#1", f"@{odd.name}#5"])
    pinned = opened(spark, folder)
    with executions(spark) as ran:
        both = accounted(pinned, "a", "b")
    assert len(ran) == 2
    texts = [f'{{"a":["s","{key}"],"b":null}}' for key in named]
    # One of the two has half a key, which is a key.
    texts += ['{"a":null,"b":["i","7"]}', f"@{odd.name}#1"]
    assert_identities(both, texts)
    with executions(spark) as ran:
        assert accounted(pinned, "id").accounting.null_keys == 0
    assert len(ran) == 1
    assert both.accounting.input_hash == input_hash_of(pinned.position)
    assert both.accounting.key == (KeyColumn("a", "string"), KeyColumn("b", "int"))


def test_partition_values_are_text_unless_the_schema_says_otherwise(spark, tmp_path):
    folder = tmp_path / "in"
    for place in ("k=001", "k=1", "k=a%3Ab", "k=__HIVE_DEFAULT_PARTITION__"):
        (folder / place).mkdir(parents=True)
        (folder / place / "f.json").write_text('{"n":1}\n{"n":null}\nbroken\n')
    place = "k=__HIVE_DEFAULT_PARTITION__/f.json"
    without = [line_text(place, line) for line in ('{"n":1}', '{"n":null}', "broken")]
    for schema in (None, "k STRING, n INT"):
        found = accounted(opened(spark, folder, schema=schema), "k")
        assert_identities(found, [*["001", "1", "a:b"] * 3, *without])
    assert {row["n"] for row in found.frame().where("k IS NULL").collect()} == {1, None}
    shutil.rmtree(folder / "k=a%3Ab")
    typed = accounted(opened(spark, folder, schema="n INT, k INT"), "k")
    assert_identities(typed, [*["1"] * 6, *without])
    nested = accounted(opened(spark, folder, schema="n INT"), "n", "k")
    assert nested.accounting.null_keys == 2
    assert nested.frame().columns[:2] == ["n", "k"]


@pytest.mark.parametrize("name", ["f.json", "f.csv", "f.parquet"])
def test_an_input_without_records_is_an_input(spark, tmp_path, name):
    format_name = name.partition(".")[2]
    empty = tmp_path / "empty"
    empty.mkdir()
    for schema in (None, "k STRING, v INT"):
        pinned = opened(spark, empty, format=format_name, schema=schema)
        found = accounted(pinned, "k", uniqueness=KeyUniqueness.REQUIRE)
        assert_identities(found, [])
        assert "_lakeproof_key" in found.frame().columns
    # A file that appears later is not read.
    (empty / "later.json").write_text('{"k":"later"}')
    assert found.frame().collect() == []
    if format_name != "parquet":
        (empty / "later.json").unlink()
        (empty / name).write_text("")
        assert_identities(accounted(opened(spark, empty), "k"), [])
    with pytest.raises(LedgerError, match="there is no input at"):
        opened(spark, tmp_path / "nowhere", format=format_name)


def test_tables_are_pinned_at_their_version(spark, tmp_path):
    path = tmp_path / "delta table"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.inputs")
    rows = "SELECT * FROM VALUES ('a', 1), ('b', 2), (NULL, 3), (NULL, 3) AS t(k, n)"
    create = f"CREATE TABLE inputs_t USING delta LOCATION '{path}' AS {rows}"
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.inputs.t USING iceberg AS {rows}")
    spark.sql(create)
    nameless = row_text({"k": None, "n": 3})
    inputs = [opened(spark, name) for name in ("iceberg.inputs.t", "inputs_t", str(path))]
    assert [item.position.kind for item in inputs] == ["iceberg", "delta", "delta"]
    books = [accounted(item, "k") for item in inputs]
    for sql in ("iceberg.inputs.t", "inputs_t"):
        spark.sql(f"INSERT INTO {sql} VALUES ('later', 4)")
    for item in books:
        assert_identities(item, ["a", "b", nameless, nameless])
        assert item.pinned.moved() == ""
        assert item.accounting.input_hash == f"{item.pinned.position.kind}:" + (
            item.pinned.position.version
        )
    metadata = Path(inputs[0].position.metadata_location)
    snapshots = json.loads(metadata.read_text())["snapshots"]
    assert int(inputs[0].position.version) in {one["snapshot-id"] for one in snapshots}
    assert {Path(item.position.location.removeprefix("file:")) for item in inputs[1:]} == {path}
    spark.sql(
        "CALL iceberg.system.expire_snapshots(table => 'inputs.t', retain_last => 1, "
        "older_than => TIMESTAMP '2100-01-01 00:00:00')"
    )
    assert "is no longer kept" in inputs[0].moved()
    spark.sql("DROP TABLE inputs_t")
    shutil.rmtree(path)
    assert {item.moved() for item in inputs[1:]} == {"the table is gone"}
    spark.sql(create)
    assert {item.moved() for item in inputs[1:]} == {"another table has its name now"}
    spark.sql("DROP TABLE inputs_t")
    spark.sql("CREATE TABLE iceberg.inputs.none (k STRING) USING iceberg")
    assert_identities(accounted(opened(spark, "iceberg.inputs.none"), "k"), [])
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW inputs_view AS {rows}")
    view = opened(spark, "inputs_view")
    assert (view.position.kind, view.position.location) == ("frame", "inputs_view")
    frame = opened(spark, spark.sql(rows))
    assert_identities(accounted(frame, "k"), ["a", "b", nameless, nameless])
    assert (frame.position.kind, frame.moved()) == ("frame", "")


def test_what_changes_after_pinning_is_told_and_what_is_new_is_not_read(spark, tmp_path):
    folder = write(tmp_path / "in", a=GOOD, b=GOOD[:1], c=GOOD[:1])
    found = accounted(opened(spark, folder, schema=JSON_SCHEMA), "id")
    write(folder, d=['{"id":"later"}'])
    assert found.pinned.moved() == ""
    assert "later" not in keys_of(found)
    os.utime(folder / "a.json", ns=(1, 1))
    (folder / "b.json").write_text("longer than before, by far")
    (folder / "c.json").unlink()
    assert found.pinned.moved() == "changed: a.json, b.json; gone: c.json"


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        ({"options": {"multiLine": "true"}}, "a record is one line"),
        ({"options": {"mode": "DROPMALFORMED"}}, "not a lost one"),
        ({"options": {"mode": "failfast"}}, "Leave the mode out"),
        ({"options": {"pathGlobFilter": "*.json"}}, "every file of the input"),
        ({"options": {"encoding": "latin1"}}, "UTF-8 text"),
        ({"options": {"ignoreCorruptFiles": True}}, "lost unseen"),
        ({"format": "orc"}, "'orc' is not known"),
        ({"format": "iceberg"}, "no catalog of this session"),
        ({"schema": "id STRING, _corrupt_record STRING"}, "leave it out"),
        ({"schema": "id STRING, _lakeproof_key STRING"}, "Rename or drop"),
    ],
)
def test_readings_that_could_lose_a_record_are_refused(spark, tmp_path, terms, told):
    folder = write(tmp_path / "in", a=GOOD)
    with pytest.raises(LedgerError, match=told):
        opened(spark, folder, **terms)


ARRAYS = [
    b'[{"id":"Z","n":1},{"id":null,"n":2}]',
    b'[{"n":3},{"n":4}] trailing',
    b'[{"n":5},{"n":"mistyped"}]',
    b"[]",
    b" [ ] ",
    b'[{"n":6},null]',
    b'[{"n":7},{"n":',
    b"[8, 9]",
    b'\t{"n":10}',
    b'{"id":"\xff","n":11}',
    b'{"id":"behind","n":12} \xff',
    b'[{"n":13},{"id":"\xff"}]',
    b"",
]


def test_arrays_and_broken_bytes_are_the_records_that_spark_reads(spark, tmp_path):
    folder = tmp_path / "in"
    (folder / "@home").mkdir(parents=True)
    (folder / "@home" / "f.json").write_bytes(b"\n".join(ARRAYS))
    schema = "id STRING, n INT"
    found = accounted(opened(spark, folder, schema=schema, options={"encoding": "UTF-8"}), "id")
    rows = found.frame().select("id", "n").collect()
    plain = spark.read.schema(schema).json(str(folder / "@home")).collect()
    assert sorted(rows, key=repr) == sorted(plain, key=repr)
    files = Dataset(found.pinned.position, str(folder), ("@home/f.json",))
    identities = [text for text, _ in files.identified(found.accounting.key, ())]
    assert_identities(found, identities)
    without = [text for text in identities if text.startswith("@./@home/f.json#")]
    assert len(without) == found.accounting.null_keys == len(identities) - 2


def test_a_session_that_skips_broken_files_is_refused(spark, tmp_path):
    folder = write(tmp_path / "in", a=GOOD)
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(LedgerError, match="ignoreCorruptFiles is on"):
            opened(spark, folder)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
