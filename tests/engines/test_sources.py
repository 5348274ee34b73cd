"""Files of a contract, read by Spark."""

from __future__ import annotations

import datetime as dt
from shutil import copytree, ignore_patterns

import pytest

from lakeproof.contracts.files import FileSource
from lakeproof.engines.spark.sources import frame_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.places import UNKNOWN_FORMAT

CSV = {"header": "true", "inferSchema": "true", "escape": '"', "sep": ";"}


def rows(frame):
    return sorted(tuple(row) for row in frame.collect())


def test_csv_has_names_types_and_quotes_by_its_own_rules(spark, tmp_path):
    text = 'id;day;said\n1;2025-01-02;"a ""b""; c"\n2;2025-01-03;\n'
    (tmp_path / "orders.csv").write_text(text, encoding="utf-8")
    frame = frame_of(spark, FileSource("csv", str(tmp_path / "orders.csv"), CSV))
    assert frame.dtypes == [("id", "int"), ("day", "date"), ("said", "string")]
    day = dt.date
    assert rows(frame.fillna("")) == [(1, day(2025, 1, 2), 'a "b"; c'), (2, day(2025, 1, 3), "")]


def test_json_is_a_line_per_row_or_one_array(spark, tmp_path):
    (tmp_path / "lines.json").write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    (tmp_path / "array.json").write_text('[\n{"a": 1},\n{"a": 2}\n]\n', encoding="utf-8")
    lines = FileSource("json", str(tmp_path / "lines.json"))
    array = FileSource("json", str(tmp_path / "array.json"), {"multiLine": "true"})
    assert rows(frame_of(spark, lines)) == rows(frame_of(spark, array)) == [(1,), (2,)]


def test_a_relative_path_starts_where_we_stand(spark, tmp_path, monkeypatch):
    spark.range(3).write.parquet(str(tmp_path / "data" / "a.parquet"))
    monkeypatch.chdir(tmp_path)
    assert frame_of(spark, FileSource("parquet", "data/*.parquet")).count() == 3


def test_a_delta_folder_stays_at_the_version_it_had(spark, tmp_path):
    path = str(tmp_path / "orders")
    spark.range(2).write.format("delta").save(path)
    frame = frame_of(spark, FileSource("delta", path))
    spark.range(5).write.format("delta").mode("append").save(path)
    assert frame.count() == 2
    assert frame_of(spark, FileSource("delta", path)).count() == 7


def test_a_delta_folder_that_cannot_be_read_is_not_taken_for_loose_files(spark, tmp_path):
    path = tmp_path / "orders"
    spark.range(2).write.parquet(str(path))
    assert frame_of(spark, FileSource(UNKNOWN_FORMAT, str(path))).count() == 2
    spark.range(2).write.format("delta").save(str(tmp_path / "table"))
    newer = tmp_path / "newer"
    copytree(tmp_path / "table", newer, ignore=ignore_patterns("*.crc"))
    (log,) = (newer / "_delta_log").glob("*.json")
    version = '"minReaderVersion":'
    text = log.read_text(encoding="utf-8").replace(f"{version}1", f"{version}99")
    log.write_text(text, encoding="utf-8")
    with pytest.raises(CheckDefinitionError, match="cannot be read: "):
        frame_of(spark, FileSource(UNKNOWN_FORMAT, str(newer)))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (FileSource("parquet", "nowhere/*.parquet"), "there are no parquet files at nowhere/"),
        (FileSource("delta", "nowhere/at/all"), "there are no delta files at nowhere/at/all"),
        (FileSource("parquet", "empty"), "the parquet files at empty are empty"),
        (FileSource("json", "broken.json", {"encoding": "no-such"}), "cannot be read: "),
    ],
)
def test_files_that_cannot_be_read_are_an_error_of_their_rules(
    spark, tmp_path, monkeypatch, source, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(CheckDefinitionError, match=said):
        frame_of(spark, source)
