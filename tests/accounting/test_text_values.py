"""Numbers and places in texts that are read without Spark."""

from __future__ import annotations

import json

import pytest

from lakeproof.accounting.without_spark.records.datasets import Dataset
from lakeproof.accounting.without_spark.records.reading import NotCheckableError, TextReading
from lakeproof.accounting.without_spark.records.text_files import check_options
from lakeproof.accounting.without_spark.records.values import value_of_text
from lakeproof.model.accounting import DatasetPosition, KeyColumn


def test_a_folder_column_that_is_not_last_shifts_no_place_of_a_csv(tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.csv").write_text("k1,v1\n")
    fields = [{"name": name, "type": "string"} for name in ("day", "id", "v")]
    text = json.dumps({"type": "struct", "fields": fields})
    position = DatasetPosition("files", format="csv", schema_text=text)
    found = Dataset(position, str(tmp_path), ("day=1/a.csv",)).rows([KeyColumn("id", "string")])
    assert list(found) == [("k1",)]


def test_numbers_of_any_length_and_with_commas_are_read_as_spark_does():
    assert value_of_text("9" * 5000, "bigint") is None
    assert value_of_text("-" + "0" * 5000 + "7", "bigint") == -7
    assert str(value_of_text("1,000.50", "decimal(10,2)")) == "1000.50"
    key = [KeyColumn("id", "decimal(10,2)")]
    with pytest.raises(NotCheckableError, match="locale"):
        check_options(TextReading({"locale": "de-DE"}, ()), key, is_csv=True)
