"""Partitions read again: in every form that keys are kept in, by one action."""

from __future__ import annotations

import json
from datetime import date
from hashlib import sha256
from pathlib import Path

import deltalake
import pytest
from pyarrow import parquet, table

from lakeproof.accounting.storage import LocalStorage
from lakeproof.accounting.without_spark.key_text import Summer, key_text
from lakeproof.engines.spark.accounting.partitions import PartitionReader, measure_partitions
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    NOTHING,
    AdjointType,
    Commitment,
    DatasetPosition,
    KeyColumn,
    Level,
    OutputPartition,
    PartitionType,
)

SALT = "000102030405060708090a0b0c0d0e0f"
ID = (KeyColumn("id", "string"),)
PAIR = (KeyColumn("day", "date"), KeyColumn("n", "int"))
TYPES = {
    AdjointType.FilteredKeysMetadata: PartitionType.FILTERED,
    AdjointType.ErrorRecords: PartitionType.ERROR,
    AdjointType.ReverseJoinMetadata: PartitionType.AGGREGATED,
    AdjointType.GroupCommitments: PartitionType.AGGREGATED,
}


def part(location: str, adjoint: AdjointType = AdjointType.PassThrough, **options):
    kind = TYPES.get(adjoint, PartitionType.OUTPUT)
    return OutputPartition(kind, "", None, adjoint, str(location), **options)


def reader_of(spark, folder, keys=None):
    return PartitionReader(spark, str(folder), keys or {"": ID}, lambda _path: LocalStorage())


def summed(*texts: str) -> Commitment:
    summer = Summer(SALT, Level.COMMIT)
    summer.add_all(texts)
    return summer.commitment


def lines(path: Path, *records: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (one if isinstance(one, str) else json.dumps(one) for one in records)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def rows(path: Path, **columns: list[object]) -> None:
    """A Parquet file, quicker than Spark writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table(columns), path)


@pytest.fixture(scope="module")
def run(spark, tmp_path_factory) -> Path:
    """Keys in all forms; the names of the files say what is special about them."""
    run = tmp_path_factory.mktemp("run with blanks")
    filtered = run / "adjoint/filtered_keys"
    rows(filtered / "weighted.parquet", source_key=list("abbc"), _lakeproof_weight=[1, 0, 1, None])
    rows(
        filtered / "two.parquet",
        source_key=list("abc"),
        _lakeproof_source=["left", "right", "right"],
    )
    rows(
        filtered / "kilograms.parquet",
        source_key=list("abc"),
        weight=[0.0, 0.4, 2.0],
        source=["left", "warehouse", "right"],
        _Lakeproof_Weight=[0.4, 1.0, 0.0],
    )
    rows(filtered / "numbers.parquet", source_key=[7], epoch=["2024-01-01"])
    rows(
        run / "adjoint/reverse_joins/by_hand.parquet/part-0.parquet",
        group_key=[{"g": 1}] * 3,
        source_key=list("aaé"),
    )
    lines(
        run / "errors/error_type=parse/part-0.json",
        {"source_key": "a", "_lakeproof_weight": 1},
        "{broken",
    )
    lines(run / "errors/error_type=null/part-0.json", {"source_key": "@x#1"}, {"source_key": 5})
    lines(run / "errors/_summary.json", {"source_key": "not a record"})
    rows(run / "errors_parquet/error_type=null/part-0.parquet", source_key=["a", None])
    # Three billion records in each: together more than a sum of their hashes can hold.
    vast = {f"limb_{n}": [n + 3_000_000_000 * 2**31] * 3 for n in range(2)}
    rows(run / "adjoint/groups/vast.parquet", records=[3_000_000_000] * 3, rows=[1] * 3, **vast)
    limbs = {f"limb_{n}": [10 * n + 1] * 2 for n in range(2)}
    rows(run / "adjoint/groups/days.parquet", records=[3, 3], rows=[4, 4], **limbs)
    (run / "empty").mkdir()
    (run / "empty/_SUCCESS").touch()
    _write_outputs(run / "out")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.books")
    spark.sql("CREATE OR REPLACE TABLE iceberg.books.out USING iceberg AS SELECT 'i' AS id")
    spark.sql("CREATE OR REPLACE TABLE books_out USING delta AS SELECT 't' AS id")
    return run


def _write_outputs(out: Path) -> None:
    rows(out / "parquet/part-0.parquet", id=["@a", "001", None], x=[1, 2, 3])
    lines(out / "json/part-0.json", {"id": "@a"}, {"id": "001", "x": 1}, {"x": 2})
    lines(out / "csv/part-0.csv", "id,x", "@a,1", "001,2", ",3")
    rows(out / "no [pattern] {a,b}*/part-0.parquet", id=["odd"])
    rows(out / "folders/id=001/part-0.parquet", x=[1])
    lines(out / "csv_folders/id=001/part-0.csv", "x", "1")
    carried = {"_lakeproof_key": ["k0", "k0"], "_lakeproof_weight": [1, 0]}
    rows(out / "carried_parquet/part-0.parquet", id=["changed"] * 2, **carried)
    lines(
        out / "carried_json/part-0.json",
        *({"id": "changed", "_lakeproof_key": "k0", "_lakeproof_weight": n} for n in (0, 1)),
    )
    lines(out / "pairs_csv/part-0.csv", "n,day", "0,2024-01-31", "1,2024-01-31")
    lines(out / "pairs_json/part-0.json", *({"day": "2024-01-31", "n": n} for n in (0, 1)))
    lines(out / "bare_csv/part-0.csv", "2024-01-31,0", "2024-01-31,1")
    deltalake.write_deltalake(out / "delta", table({"id": ["gone"]}))
    deltalake.write_deltalake(out / "delta", table({"id": ["d"]}), mode="overwrite")


FILTERED, ERRORS = AdjointType.FilteredKeysMetadata, AdjointType.ErrorRecords
BARE = (
    '{"type":"struct","fields":['
    + ",".join(
        f'{{"name":"{name}","type":"{kind}","nullable":true,"metadata":{{}}}}'
        for name, kind in (("day", "date"), ("n", "integer"))
    )
    + "]}"
)
CASES = {
    "weights count rows": (part("adjoint/filtered_keys/weighted.parquet", FILTERED), "abc", 4),
    "weights of others do not": (
        part("adjoint/filtered_keys/kilograms.parquet", FILTERED, source="right"),
        "ab",
        3,
    ),
    "own source": (part("adjoint/filtered_keys/two.parquet", FILTERED, source="right"), "bc", 2),
    "all sources": (part("adjoint/filtered_keys/two.parquet", FILTERED), "abc", 3),
    "by hand": (
        part("adjoint/reverse_joins/by_hand.parquet", AdjointType.ReverseJoinMetadata),
        "aaé",
        3,
    ),
    "bare numbers": (part("adjoint/filtered_keys/numbers.parquet", FILTERED), "7", 1),
    "error lines": (part("errors/", ERRORS), ("a", "@null", "@x#1", "5"), 4),
    "error rows": (part("errors_parquet", ERRORS), ("a", "@null"), 2),
    "parquet": (part("out/parquet"), ("@@a", "001", "@null"), 3),
    "json": (part("out/json"), ("@@a", "001", "@null"), 3),
    "csv": (part("out/csv"), ("@@a", "001", "@null"), 3),
    "odd path": (part("out/no [pattern] {a,b}*"), ("odd",), 1),
    "folders": (part("out/folders"), ("001",), 1),
    "csv folders": (part("out/csv_folders"), ("001",), 1),
    "carried": (part("out/carried_parquet"), ("k0",), 2),
    "carried in json": (part("out/carried_json"), ("k0",), 2),
    "pairs csv": (part("out/pairs_csv", source="pairs"), "pairs", 2),
    "pairs json": (part("out/pairs_json", source="pairs"), "pairs", 2),
    "no header": (
        part(
            "out/bare_csv",
            source="pairs",
            format="csv",
            position=DatasetPosition("files", options={"header": "false"}, schema_text=BARE),
        ),
        "pairs",
        2,
    ),
    "delta folder": (part("out/delta"), "d", 1),
    "delta name": (part("books_out"), "t", 1),
    "iceberg name": (part("iceberg.books.out"), "i", 1),
    "no such catalog": (part("a.b.c"), (), 0),
    "absent": (part("nowhere", ERRORS), (), 0),
    "empty": (part("empty", FILTERED), (), 0),
}


def test_every_form_of_partition_is_summed(spark, run):
    pairs = [key_text([date(2024, 1, 31), n], PAIR) for n in (0, 1)]
    reader = reader_of(spark, run, {"": ID, "right": ID, "pairs": PAIR})
    groups = part("adjoint/groups/days.parquet", AdjointType.GroupCommitments)
    vast = part("adjoint/groups/vast.parquet", AdjointType.GroupCommitments)
    asked = [partition for partition, _, _ in CASES.values()]

    measured = measure_partitions(reader, [*asked, groups, vast], salt=SALT, level=Level.COMMIT)

    found = dict(zip([*CASES, "groups", "vast"], measured.partitions, strict=True))
    for name, (_, keys, rows) in CASES.items():
        texts = pairs if keys == "pairs" else keys
        assert found[name].commitment == summed(*texts), name
        assert (found[name].rows, found[name].record_count) == (rows, len(texts)), name
    assert found["groups"].commitment == Commitment(6, (2, 22))
    assert found["groups"].rows == 8
    many = 9_000_000_000
    assert found["vast"].commitment == Commitment(many, (many * 2**31, 3 + many * 2**31))
    assert measured.reasons == measured.hints == ()
    _positions_pin_what_was_read(run, found)


def _positions_pin_what_was_read(run: Path, found: dict[str, OutputPartition]) -> None:
    errors = found["error lines"].position
    assert [file.path for file in errors.files] == [
        "error_type=null/part-0.json",
        "error_type=parse/part-0.json",
    ]
    data = (run / "errors/error_type=null/part-0.json").read_bytes()
    assert errors.files[0].sha256 == sha256(data).hexdigest()
    assert (errors.kind, errors.location, errors.format) == ("files", "errors/", "json")
    assert found["csv"].position.format == "csv"
    assert found["error rows"].position.format == "parquet"
    assert (found["delta folder"].position.kind, found["delta folder"].position.version) == (
        "delta",
        "1",
    )
    assert found["delta name"].position.version == "0"
    iceberg = found["iceberg name"].position
    assert iceberg.kind == "iceberg"
    assert iceberg.version
    assert iceberg.metadata_location.endswith(".metadata.json")


def test_nothing_stored_needs_no_spark(tmp_path):
    (tmp_path / "errors").mkdir()
    asked = [part("errors", ERRORS), part("adjoint/filtered_keys/x.parquet", FILTERED)]

    measured = measure_partitions(reader_of(None, tmp_path), asked, salt=SALT, level=Level.COMMIT)

    assert [one.commitment for one in measured.partitions] == [NOTHING, NOTHING]
    assert [one.record_count for one in measured.partitions] == [0, 0]
    none = measure_partitions(reader_of(None, tmp_path), [], salt=SALT, level=Level.COMMIT)
    assert none.partitions == ()


def test_what_cannot_be_read_is_named(spark, run, tmp_path):
    lines(tmp_path / "mixed/a.json", {"source_key": "a"})
    (tmp_path / "mixed/b.parquet").write_bytes(b"x")
    lines(tmp_path / "bare.csv", "a,b")
    broken = tmp_path / "broken.parquet"
    rows(broken, source_key=["a"] * 2_000)
    data = bytearray(broken.read_bytes())
    data[4:40] = b"\xff" * 36
    broken.write_bytes(bytes(data))
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn/part.parquet").write_bytes(b"PAR1")
    position = DatasetPosition("files", options={"header": "false"})
    said = {
        "several formats (json, parquet)": part(tmp_path / "mixed", FILTERED, morphism_id="f"),
        "CSV without a header": part(tmp_path / "bare.csv", format="csv", position=position),
        "has no column 'source_key'. It has: id, x": part(run / "out/parquet", FILTERED),
        "has no column 'id'": part(run / "adjoint/groups/days.parquet"),
        "lacks rows, records, limb_0": part(run / "out/parquet", AdjointType.GroupCommitments),
        f"{broken} cannot be read": part(broken, FILTERED),
        f"{tmp_path / 'torn'} cannot be read": part(tmp_path / "torn", FILTERED),
    }
    for text, partition in said.items():
        with pytest.raises(LedgerError) as caught:
            measure_partitions(reader_of(spark, run), [partition], salt=SALT, level=Level.COMMIT)
        assert text in str(caught.value)
        assert partition.name in str(caught.value)


def test_full_lineage_contradicts_itself_if_groups_and_reverse_join_differ(spark, tmp_path):
    joined = tmp_path / "adjoint/reverse_joins/days.parquet"
    rows(joined, source_key=["a", "b"], _lakeproof_source=["one", "two"])
    limbs = {f"limb_{n}": [limb] for n, limb in enumerate(summed("a", "b").limbs)}
    rows(tmp_path / "adjoint/groups/days.parquet", records=[2], rows=[2], **limbs)
    join = AdjointType.ReverseJoinMetadata
    both = [
        part("adjoint/reverse_joins/days.parquet", join, morphism_id="days", source=source)
        for source in ("one", "two")
    ]
    reader = reader_of(spark, tmp_path, {"": ID, "one": ID, "two": ID})

    def reasons(partitions):
        return measure_partitions(reader, partitions, salt=SALT, level=Level.COMMIT).reasons

    assert reasons(both) == ()
    (told,) = reasons(both[:1])
    assert told.endswith("its reverse join holds 1 record, and its groups were made of 2")


def test_records_are_counted_without_hashes_and_types_are_hinted_at(spark, run):
    reader = reader_of(spark, run, {"": (KeyColumn("id", "bigint"),)})
    groups = part("adjoint/groups/days.parquet", AdjointType.GroupCommitments)
    asked = [part("out/parquet"), groups, part("nowhere", ERRORS)]

    measured = measure_partitions(reader, asked, salt=SALT, level=Level.COUNT)

    assert [one.commitment for one in measured.partitions] == [
        Commitment(3),
        Commitment(6),
        Commitment(0),
    ]
    assert measured.hints == (
        "partition OUTPUT: key column id is string there and bigint in the input",
    )
