"""What is asked of a table's metadata, where its writer has left something out or encoded it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakeproof.config import TableSettings, WatermarkSettings
from lakeproof.engines.engine import Extent
from lakeproof.engines.spark.changes.sources import abilities, change_source
from lakeproof.engines.spark.chosen_files import NotPossibleError, filtered_files
from lakeproof.engines.spark.extent import table_extent
from lakeproof.errors import ConfigError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mode
from lakeproof.planning.read_mode import AUTO, choose_mode
from lakeproof.planning.tables import PinnedTable


def pinned(table_format: str) -> PinnedTable:
    return PinnedTable(
        table=TableName(("c", "n", "t")),
        table_id="t",
        format=table_format,
        position=Position(table_format, 7),
        columns=(Column("id", "bigint"),),
        relation="`c`.`n`.`t` VERSION AS OF 7",
        key_columns=(),
        key_sql="",
    )


class Answering:
    """A session that gives these rows, one for each statement."""

    def __init__(self, *rows) -> None:
        self.rows = list(rows)

    def sql(self, _):
        return self

    def collect(self):
        return [self.rows.pop(0)]


def test_a_snapshot_that_does_not_sum_up_its_files_is_counted():
    counted = {"files": 40, "size": 1000}
    silent = Answering({"files": None, "size": "9"}, counted)
    assert table_extent(silent, pinned("iceberg")) == Extent(40, 1000)
    summed = Answering({"files": "3", "size": "9"}, counted)
    assert table_extent(summed, pinned("iceberg")) == Extent(3, 9)


def test_a_file_of_delta_is_known_by_its_name_as_the_log_writes_it_and_as_it_is():
    found = filtered_files(pinned("delta"), ["day=1/a%20b.parquet", "c.parquet"])
    assert "IN ('a b.parquet', 'a%20b.parquet', 'c.parquet')" in found.relation
    with pytest.raises(NotPossibleError, match="one name in two folders"):
        filtered_files(pinned("delta"), ["day=1/a%20b.parquet", "day=2/a%20b.parquet"])


@pytest.mark.parametrize(
    ("settings", "mode", "reason"),
    [
        (TableSettings(), "snapshot", "the whole table: {}"),
        (
            TableSettings(watermark=WatermarkSettings("seq")),
            "watermark",
            "{}; watermark seq is declared",
        ),
    ],
)
def test_of_a_shared_table_is_said_what_is_not_asked_rather_than_what_it_has_not(
    settings, mode, reason
):
    """Who shares it may well share its history: that there is none is not known."""
    shared = replace(pinned("deltasharing"), position=None)
    choice = choose_mode(AUTO, settings, abilities(None, shared, settings))
    assert choice.mode == mode
    assert choice.reason == reason.format("Lakeproof does not ask Delta Sharing for a change feed")
    assert choice.advice == (
        'mode = "snapshot_diff" under its [tables] entry' * (mode == "snapshot")
    )
    with pytest.raises(ConfigError, match="mode cdf: Lakeproof does not ask Delta Sharing for"):
        change_source(None, shared, Mode.CDF, settings, None)
