"""What the books cost: sums move no keys, and a difference moves only those of its buckets."""

from __future__ import annotations

import pytest
from executions import counted_executions, newest_execution

from lakeproof.accounting.storage import LocalStorage
from lakeproof.engines.spark.accounting.commitments import commitment_of
from lakeproof.engines.spark.accounting.diagnosis import diagnose
from lakeproof.engines.spark.accounting.partitions import PartitionReader, measure_partitions
from lakeproof.model.accounting import (
    AdjointType,
    KeyColumn,
    Level,
    OutputPartition,
    PartitionType,
)

RECORDS = 200_000
SALT = "5a" * 16


@pytest.fixture(scope="module")
def books(spark, tmp_path_factory):
    """Three partitions of one kind in one folder; the input has one record more."""
    folder = tmp_path_factory.mktemp("books")
    for number in range(3):
        keys = spark.range(number, RECORDS, 3).selectExpr("concat('key ', id) AS source_key")
        keys.write.parquet(str(folder / f"part{number}.parquet"))
    reader = PartitionReader(
        spark, str(folder), {"": (KeyColumn("id", "string"),)}, lambda _path: LocalStorage()
    )
    partitions = [
        OutputPartition(
            PartitionType.FILTERED,
            "",
            None,
            AdjointType.FilteredKeysMetadata,
            f"part{number}.parquet",
            morphism_id=f"m{number}",
        )
        for number in range(3)
    ]
    return folder, reader, partitions


def test_sums_of_all_partitions_are_one_action_that_moves_no_key(spark, books):
    _, reader, partitions = books
    before = newest_execution(spark)

    with counted_executions(spark, "") as counted:
        measured = measure_partitions(reader, partitions, salt=SALT, level=Level.COMMIT)

    assert newest_execution(spark) == before + 1
    assert sum(one.record_count for one in measured.partitions) == RECORDS
    assert counted.shuffle_bytes < 5_000


def test_one_missing_record_moves_the_keys_of_one_bucket(spark, books):
    folder, reader, partitions = books
    measured = measure_partitions(reader, partitions, salt=SALT, level=Level.COMMIT).partitions
    given = spark.range(RECORDS + 1).selectExpr("concat('key ', id) AS _lakeproof_key")
    expected = commitment_of(given, SALT, Level.COMMIT).commitment

    with counted_executions(spark, "") as counted:
        found = diagnose(
            reader, given, expected, measured, salt=SALT, lists_location=str(folder / "found")
        )

    assert found.missing_keys == (f"key {RECORDS}",)
    assert (found.missing_count, found.extra_count, found.duplicate_count) == (1, 0, 0)
    assert found.buckets == 1
    # Sums by bucket are 60 bytes each; the keys themselves would be several megabytes.
    assert counted.shuffle_bytes < 4096 * 60 * 2 * 4
