"""Unique keys that are whole numbers are kept 64 to a row, and stay true whatever comes after."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from lakeproof import QualityCheck, faults, run_checks
from lakeproof.config import Config, TableSettings, WatermarkSettings
from lakeproof.engines.spark import weighing
from lakeproof.model.canonical import encode_key
from lakeproof.state import attempts, index_log, open_store
from oracle.kept_state import KeptState, store_in
from oracle.live_tables import CATALOGS, PROPERTIES
from oracle.shop import key_hash
from spark_settings import for_few_records

COLUMN = 'the "n" of it\'s'
LOWEST, HIGHEST = -(2**63), 2**63 - 1
EDGES = (LOWEST, -129, -65, -64, -63, -1, 0, 1, 63, 64, 127, 128, HIGHEST)
CROWDED = (200, 200, 201, 300, 300, 300)
"""The tiles of 200 and 300 have numbers that are there more than once."""


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


def broken():
    raise faults.FaultInjectedError


@dataclass
class Numbers:
    """A table of numbers with one rule, and how often each number is in it."""

    spark: object
    format: str
    name: str
    settings: TableSettings = field(default_factory=lambda: TableSettings(mode="cdf"))
    rows: Counter = field(default_factory=Counter)
    runs: int = 0

    def __post_init__(self):
        space = f"{CATALOGS[self.format]}.numbers"
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {space}")
        self.table = f"{space}.{self.name}"
        properties = ", ".join(f"'{k}' = '{v}'" for k, v in PROPERTIES[self.format].items())
        mapping = ", 'delta.columnMapping.mode' = 'name'" if self.format == "delta" else ""
        self.spark.sql(
            f"CREATE TABLE {self.table} (`{COLUMN}` BIGINT, at INT) USING {self.format} "
            f"TBLPROPERTIES ({properties}{mapping})"
        )
        self.kept = KeptState(self.spark, store_in(self.format, f"numbers_{self.name}"))

    def insert(self, *numbers):
        rows = ", ".join(f"(CAST('{number}' AS BIGINT), {self.runs})" for number in numbers)
        self.spark.sql(f"INSERT INTO {self.table} VALUES {rows}")
        self.rows.update(numbers)

    def delete(self, *numbers):
        wanted = ", ".join(f"CAST('{number}' AS BIGINT)" for number in numbers)
        self.spark.sql(f"DELETE FROM {self.table} WHERE `{COLUMN}` IN ({wanted})")
        for number in numbers:
            del self.rows[number]

    def run(self):
        self.runs += 1
        outcome = run_checks(
            self.spark,
            [QualityCheck("number", "uniqueness", self.table, COLUMN)],
            store=self.kept.settings,
            run_id=f"run-{self.runs}",
            config=Config(tables={self.table: self.settings}),
        )
        (result,) = outcome.results
        return result

    def assert_true(self):
        """Result, violations and the index, key by key, are those of the numbers."""
        result = self.run()
        bad = {number: count for number, count in self.rows.items() if count > 1}
        assert (result.failing_rows, result.total_rows) == (len(bad), self.rows.total()), result
        texts = {number: encode_key({COLUMN: number}) for number in self.rows}
        weights = {key_hash(texts[number]): count for number, count in self.rows.items()}
        index = self.kept.weights()[result.rule_id]
        assert index == {("", key): weight for key, weight in weights.items()}
        hits = self.kept.hits().items()
        found = {key: hit.occurrences for (_, key), hit in hits if hit.status == "open"}
        assert found == {texts[number]: count for number, count in bad.items()}
        sums = open_store(self.spark, self.kept.settings).index_sums(result.rule_id)
        assert {row["key_hash"]: row["weight"] for row in self.spark.sql(sums).collect()} == weights
        return result

    def tiles(self) -> int:
        return sum(row["tile"] is not None for row in self.kept.rows("key_index"))

    def parts_tiled(self) -> list[bool]:
        """Of each part of the index, the oldest first: whether it has tiles."""
        newest = max(self.kept.rows("progress"), key=lambda row: row["batch_seq"])
        return [attempts.Attempt.from_text(part).is_tiled for part in newest["attempts"]]


@pytest.mark.parametrize(
    ("table_format", "small_rows", "parts_max"),
    [
        ("delta", 200_000, 2),
        pytest.param("delta", -1, 32, marks=pytest.mark.slow),
        ("iceberg", -1, 32),
    ],
)
def test_numbers_in_tiles_are_counted_like_others(
    spark, monkeypatch, table_format, small_rows, parts_max
):
    monkeypatch.setattr(index_log, "SMALL_INDEX_ROWS", small_rows)
    monkeypatch.setattr(attempts, "ATTEMPTS_MAX", parts_max)
    numbers = Numbers(spark, table_format, f"edges_{table_format}_{abs(small_rows)}")
    numbers.insert(*EDGES, *CROWDED)
    numbers.assert_true()
    tiles = numbers.tiles()
    assert tiles == len({number >> 6 for number in EDGES})

    numbers.insert(0, -64, HIGHEST, 2, 65, 201, 400)  # twice now, or new; in a tile or in none
    result = numbers.assert_true()
    assert result.mode_reason.startswith("changes after")
    numbers.delete(-64, 63, LOWEST, 200)
    numbers.insert(63)
    numbers.assert_true()
    numbers.delete(0, 65)
    numbers.insert(0)
    numbers.assert_true()
    assert numbers.tiles() == tiles, "what comes after is told key by key"
    singles = min(parts_max, numbers.runs) - 1
    assert numbers.parts_tiled() == [True, *[False] * singles], "tiles are never merged"


def test_many_crowded_tiles_are_told_key_by_key(spark, monkeypatch):
    monkeypatch.setattr(weighing, "BROADCAST_KEYS_MAX", 1)
    numbers = Numbers(spark, "delta", "crowded")
    numbers.insert(*EDGES, *CROWDED)
    numbers.assert_true()
    assert not numbers.tiles()


def test_numbers_that_lie_apart_are_told_key_by_key(spark):
    numbers = Numbers(spark, "delta", "apart")
    numbers.insert(*range(-2000, 3000, 1000), 2000)
    numbers.assert_true()
    assert not numbers.tiles()
    numbers.insert(1000, 3000)
    numbers.assert_true()


@pytest.mark.parametrize("small_rows", [200_000, -1])
def test_a_number_whose_violation_nobody_committed_is_looked_up_in_its_tile(
    spark, monkeypatch, small_rows
):
    monkeypatch.setattr(index_log, "SMALL_INDEX_ROWS", small_rows)
    numbers = Numbers(spark, "delta", f"strayed_{abs(small_rows)}")
    numbers.insert(1, 2, 3)
    numbers.assert_true()
    numbers.insert(2)
    with faults.armed("after_violations", broken), pytest.raises(faults.FaultInjectedError):
        numbers.run()
    numbers.delete(2)  # both: the number is as gone as its violation
    numbers.insert(2)
    numbers.assert_true()
    (row,) = numbers.kept.rows("violations")
    told = (row["status"], row["resolution"])
    assert told == ("resolved", "fixed"), "a row with that number is still there"


def test_numbers_above_a_watermark_meet_those_in_tiles(spark):
    settings = TableSettings(mode="watermark", watermark=WatermarkSettings("at"))
    numbers = Numbers(spark, "delta", "above", settings)
    numbers.insert(*EDGES)
    numbers.assert_true()
    assert numbers.tiles()
    numbers.insert(64, 65)
    numbers.assert_true()
    numbers.insert(-1, 65)
    numbers.assert_true()
