"""Books that do not balance: which records are missing, extra or counted twice, by true counts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
from pyarrow.parquet import write_table

from lakeproof.accounting.storage import LocalStorage
from lakeproof.accounting.without_spark.key_text import Summer
from lakeproof.engines.spark.accounting import diagnosis
from lakeproof.engines.spark.accounting.diagnosis import diagnose
from lakeproof.engines.spark.accounting.key_lists import judge_keys
from lakeproof.engines.spark.accounting.partitions import PartitionReader, measure_partitions
from lakeproof.model.accounting import (
    AdjointType,
    AllowedOverlap,
    Commitment,
    KeyColumn,
    Level,
    OutputPartition,
    PartitionType,
)

SALT = "ff" * 16
FILTERED = OutputPartition(
    PartitionType.FILTERED,
    "",
    None,
    AdjointType.FilteredKeysMetadata,
    "filtered.parquet",
    morphism_id="it's cheap",
)
ERRORS = OutputPartition(PartitionType.ERROR, "", None, AdjointType.ErrorRecords, "errors")
GROUPS = OutputPartition(
    PartitionType.AGGREGATED,
    "",
    None,
    AdjointType.GroupCommitments,
    "groups.parquet",
    morphism_id="days",
)


def summed(keys) -> Commitment:
    summer = Summer(SALT, Level.COMMIT)
    summer.add_all(keys)
    return summer.commitment


def keyed(spark, keys):
    """A frame of these keys as a pipeline carries them."""
    return spark.createDataFrame([(key,) for key in keys], "_lakeproof_key STRING")


class Books:
    """A run directory with what ended where; the AGGREGATED keys are known to their frame only."""

    def __init__(self, spark, folder, *, given, filtered=(), errors=(), grouped=()):
        self.spark, self.folder, self.given = spark, folder, list(given)
        self.reader = PartitionReader(
            spark, str(folder), {"": (KeyColumn("id", "string"),)}, lambda _path: LocalStorage()
        )
        schema = pa.schema([("source_key", pa.string())])
        write_table(pa.table({"source_key": list(filtered)}, schema), folder / "filtered.parquet")
        (folder / "errors").mkdir()
        texts = "".join(json.dumps({"source_key": key}) + "\n" for key in errors)
        (folder / "errors/part.json").write_text(texts, encoding="utf-8")
        total = summed(grouped)
        sums = {"records": [total.records], "rows": [total.records]}
        sums |= {f"limb_{number}": [limb] for number, limb in enumerate(total.limbs)}
        write_table(pa.table(sums), folder / "groups.parquet")
        groups = replace(GROUPS, recompute=keyed(spark, grouped))
        self.partitions = measure_partitions(
            self.reader, [FILTERED, ERRORS, groups], salt=SALT, level=Level.COMMIT
        ).partitions

    def diagnose(self, partitions=None, **options):
        options = {"salt": SALT, "lists_location": str(self.folder / "discrepancy")} | options
        keys = keyed(self.spark, self.given)
        expected = options.pop("expected", summed(self.given))
        return diagnose(self.reader, keys, expected, partitions or self.partitions, **options)

    def listed(self, kind: str):
        rows = self.spark.read.parquet(str(self.folder / f"discrepancy/{kind}_keys.parquet"))
        return {
            row["source_key"]: (row["input_records"], row["accounted_records"], row["partitions"])
            for row in rows.collect()
        }


def held_frames(spark) -> int:
    return spark.sparkContext._jsc.getPersistentRDDs().size()


def test_missing_extra_and_duplicate_records_are_told_apart(spark, tmp_path):
    many = [f"good_{number:05}" for number in range(1_000)]
    lost = [f"lost_{number:03}" for number in range(150)]
    given = [*many, *lost, "twice", "twice", "thrice", "thrice", "in two", "again", "@x#1", "é"]
    before = held_frames(spark)
    books = Books(
        spark,
        tmp_path,
        given=given,
        filtered=["in two", "again", "again", "thrice", "thrice"],
        errors=["in two", "thrice", "@x#1", None, "foreign", "foreign"],
        grouped=[*many, "twice", "é"],
    )

    found = books.diagnose()

    accounted = Counter([*many, "twice", "é", "in two", "again", "again", *["thrice"] * 3])
    accounted += Counter(["in two", "@x#1", "@null", "foreign", "foreign"])
    assert found.missing_count == (Counter(given) - accounted).total() == 151
    assert (found.extra_count, found.duplicate_count) == (3, 3)
    assert (found.missing_keys, found.extra_keys) == (tuple(lost[:100]), ("@null", "foreign"))
    assert found.duplicate_keys == {
        "again": ("FILTERED(it's cheap)",),
        "in two": ("FILTERED(it's cheap)", "ERROR"),
        "thrice": ("FILTERED(it's cheap)", "ERROR"),
    }
    assert found.keys_named
    assert not found.balanced
    assert found.reasons == ()
    assert 100 < found.buckets <= 156  # those of the 156 keys that differ
    missing = books.listed("missing")
    assert sorted(missing) == [*lost, "twice"]
    assert missing["twice"] == (2, 1, ["AGGREGATED(days)"])
    assert missing["lost_149"] == (1, 0, [])
    assert books.listed("extra")["foreign"] == (0, 2, ["ERROR"])
    assert books.listed("duplicate")["thrice"] == (2, 3, ["FILTERED(it's cheap)", "ERROR"])
    assert held_frames(spark) == before


def test_a_declared_overlap_is_counted_up_to_its_limit(spark, tmp_path):
    books = Books(
        spark,
        tmp_path,
        given=["a", "b", "c", "d"],
        filtered=["a", "b"],
        errors=["b", "a", "c"],
        grouped=["d", "c"],
    )
    cheap = AllowedOverlap(("it's cheap", "ERROR"), "kept for review", 2)
    late = AllowedOverlap(("AGGREGATED", "ERROR"), "late errors", 1)
    none = AllowedOverlap(("AGGREGATED", "FILTERED"), "never", 9)

    allowed = books.diagnose(overlaps=[none, cheap, late])
    assert allowed.balanced
    assert [(one.records, one.keys) for one in allowed.overlaps] == [
        (0, ()),
        (2, ("a", "b")),
        (1, ("c",)),
    ]
    assert (allowed.lists_location, (tmp_path / "discrepancy").exists()) == ("", False)

    exceeded = books.diagnose(overlaps=[replace(cheap, max=1), late])
    assert exceeded.duplicate_count == 2
    assert list(exceeded.duplicate_keys) == sorted(books.listed("duplicate")) == ["a", "b"]
    assert exceeded.reasons == (
        "the overlap of it's cheap, ERROR (kept for review) is allowed for 1 record, and has 2",
    )
    assert books.listed("missing") == {}


def test_no_overlap_excuses_a_key_twice_in_one_partition_or_unknown(spark, tmp_path):
    books = Books(
        spark,
        tmp_path,
        given=["twice", "thrice", "once"],
        filtered=["twice", "twice", "thrice", "thrice", "unknown"],
        errors=["thrice", "unknown", "once"],
    )
    overlap = AllowedOverlap(("FILTERED", "ERROR", "AGGREGATED"), "all", 100)
    found = books.diagnose(overlaps=[overlap])
    assert (found.duplicate_count, found.extra_count) == (1 + 2, 2)
    assert list(found.duplicate_keys) == ["thrice", "twice"]
    assert found.overlaps[0].records == 0


def test_an_overlap_of_two_names_allows_no_record_twice_under_one(spark, tmp_path):
    books = Books(
        spark,
        tmp_path,
        given=["in both filters", "in all", "meant"],
        filtered=["in both filters", "in all", "meant"],
        errors=["in all", "meant"],
    )
    table = pa.table({"source_key": ["in both filters", "in all"]})
    write_table(table, tmp_path / "late.parquet")
    late = replace(FILTERED, adjoint_location="late.parquet", morphism_id="late")
    partitions = measure_partitions(
        books.reader, [FILTERED, ERRORS, late], salt=SALT, level=Level.COMMIT
    ).partitions

    def duplicates(*names):
        found = books.diagnose(partitions, overlaps=[AllowedOverlap(names, "meant", 9)])
        assert found.missing_count == found.extra_count == 0
        return list(found.duplicate_keys)

    assert duplicates("FILTERED", "ERROR") == ["in all", "in both filters"]
    assert duplicates("FILTERED(it's cheap)", "ERROR") == ["in all", "in both filters"]
    assert duplicates("it's cheap", "late") == ["in all", "meant"]
    assert duplicates("it's cheap", "late", "ERROR") == []
    assert duplicates("late", "FILTERED", "ERROR") == []  # the closest name counts


def test_what_is_mended_while_it_is_looked_at_does_not_balance(spark, tmp_path, monkeypatch):
    books = Books(spark, tmp_path, given=["a", "b"], filtered=["a"])

    def as_if_mended(keys, *terms):
        return judge_keys(keys.where("false"), *terms)

    monkeypatch.setattr(diagnosis, "judge_keys", as_if_mended)
    found = books.diagnose()
    assert (found.balanced, found.keys_named, found.missing_count) == (False, False, 1)
    assert found.reasons[0] == "the stored partitions changed while they were verified"


def test_keys_are_not_named_by_frames_that_tell_of_something_else(spark, tmp_path):
    given = ["a", "b", "c"]
    books = Books(spark, tmp_path, given=given, filtered=["a"], errors=["x"], grouped=["b"])
    filtered, errors, groups = books.partitions

    def told(partitions=(), **options):
        found = books.diagnose(partitions, **options)
        assert not found.keys_named
        assert not found.lists_location
        assert not found.balanced
        return (found.missing_count, found.extra_count, found.reasons[0])

    swapped = told([filtered, errors, replace(groups, recompute=None)])
    assert swapped[:2] == (1, 1)
    assert swapped[2].startswith("the keys of AGGREGATED(days) are not stored")
    other = [filtered, errors, replace(groups, recompute=keyed(spark, ["z"]))]
    assert told(other)[2].startswith("AGGREGATED(days) computed again does not give")
    assert told(expected=summed(["a", "b", "c", "d"])) == (
        1,
        0,
        "the input read again does not give the records that were counted at first",
    )
    changed = [replace(filtered, commitment=summed(["z", "y"])), errors, groups]
    assert told(changed) == (0, 1, "the stored partitions changed while they were verified")
    assert books.diagnose().missing_keys == ("c",)
