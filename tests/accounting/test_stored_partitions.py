"""Partitions of every form read without Spark: whose key wins, which rows count."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stored_runs import SALT, committed, schema_text

from lakeproof.accounting.without_spark.stored_partitions import open_partition
from lakeproof.model.accounting import (
    NOTHING,
    AdjointType,
    DatasetPosition,
    KeyColumn,
    Level,
    OutputPartition,
    PartitionType,
)

KEY = (KeyColumn("Id", "int"), KeyColumn("day", "date"))
TEXTS = ['{"Id":["i","1"],"day":["D","2024-01-31"]}', '{"Id":["i","2"],"day":null}']


def output(location, format_name, position=None):
    return OutputPartition(
        PartitionType.OUTPUT,
        "",
        None,
        AdjointType.PassThrough,
        location,
        format=format_name,
        position=position,
    )


def members(partition, folder, key=KEY):
    found = open_partition(partition, str(folder), key).members()
    return sorted((text, weight) for text, weight, _ in found)


def write_output(folder, format_name):
    """Two rows of a typed composite key, in other letter case where names are matched by it."""
    place = folder / "out"
    table = pa.table({"id": pa.array([1, 2], pa.int32()), "day": [date(2024, 1, 31), None]})
    if format_name == "delta":
        from deltalake import write_deltalake

        write_deltalake(place, table)
        return DatasetPosition("delta", "out", "delta", version="0")
    place.mkdir()
    if format_name == "parquet":
        pq.write_table(table, place / "part.parquet")
    elif format_name == "json":
        rows = [{"Id": 1, "day": "2024-01-31"}, {"Id": 2}]
        (place / "part.json").write_text("\n".join(map(json.dumps, rows)))
    else:
        (place / "part.csv").write_text("day,id\n2024-01-31,1\n,2\n")
    fields = [("day", "date"), ("id", "integer")]
    return DatasetPosition("files", "out", format_name, schema_text=schema_text(fields))


@pytest.mark.parametrize("format_name", ["parquet", "json", "csv", "delta"])
def test_an_output_is_known_by_its_key_columns(tmp_path, format_name):
    position = write_output(tmp_path, format_name)
    found = members(output("out", format_name, position), tmp_path)
    assert found == [(text, 1) for text in TEXTS]


def test_a_carried_key_wins_over_columns_and_its_weight_counts(tmp_path):
    (tmp_path / "out").mkdir()
    rows = [
        {"Id": 1, "_lakeproof_key": "@f.json#00", "_lakeproof_weight": 1, "_lakeproof_source": "a"},
        {"Id": 2, "_lakeproof_key": None, "_lakeproof_weight": 0, "_lakeproof_source": "a"},
        {"Id": 3, "_lakeproof_key": "3", "_lakeproof_weight": 1, "_lakeproof_source": "b"},
        {"Id": None, "_lakeproof_key": None, "_lakeproof_weight": None, "_lakeproof_source": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "out/part.parquet")
    partition = replace(output("out", "parquet"), source="a")
    assert members(partition, tmp_path, KEY[:1]) == [("2", 0), ("@f.json#00", 1), ("@null", 1)]
    assert len(members(replace(partition, source=""), tmp_path, KEY[:1])) == 4


def test_a_table_made_by_hand_may_hold_bare_values_and_no_weights(tmp_path):
    (tmp_path / "f.parquet").mkdir()
    theirs = {"source_key": [1, 2], "weight": [0.0, 0.4], "source": ["warehouse", "shop"]}
    theirs["_Lakeproof_Weight"] = [0.4, None]
    pq.write_table(pa.table(theirs), tmp_path / "f.parquet/part.parquet")
    partition = OutputPartition(
        PartitionType.FILTERED, "", 2, AdjointType.FilteredKeysMetadata, "f.parquet", source="a"
    )
    stored = open_partition(partition, str(tmp_path), KEY)
    assert stored.commitment(SALT, Level.COMMIT) == committed(["1", "2"])


def test_error_records_may_be_parquet_too_and_an_absent_folder_is_empty(tmp_path):
    partition = OutputPartition(PartitionType.ERROR, "", 0, AdjointType.ErrorRecords, "errors/")
    empty = open_partition(partition, str(tmp_path), KEY)
    assert empty.commitment(SALT, Level.COMMIT) == NOTHING
    place = tmp_path / "errors/error_type=null"
    place.mkdir(parents=True)
    pq.write_table(pa.table({"source_key": ["@f#1"]}), place / "part.parquet")
    assert members(partition, tmp_path) == [("@f#1", 1)]
