"""Runs that read changes say and keep what a scan of every row would: random real histories."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

import pytest
from generated_histories import START, History

from lakeproof import run_checks
from lakeproof.state import index_log
from oracle.kept_state import KeptState, Lives, differences, store_in
from oracle.live_tables import CATALOGS
from oracle.shop import config_of
from spark_settings import for_few_records

COMMITS = 8
SEEDS = {"delta": (1, 2, 3), "iceberg": (1, 2, 3)}
SLOW_HISTORIES = {"delta": 500, "iceberg": 200}
TOGETHER = 10
REPLACED = "the whole table, rebuilt: another table has its name now"


@dataclass
class Checked:
    """Some histories that one suite checks, and what its store must hold after each run."""

    spark: object
    format: str
    namespace: str
    seeds: tuple[int, ...]
    lives: Lives = field(default_factory=Lives)
    results: dict = field(default_factory=dict)
    runs: int = 0

    def __post_init__(self):
        catalog = CATALOGS[self.format]
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.{self.namespace}")
        self.histories = [
            History(self.spark, self.format, self.namespace, seed) for seed in self.seeds
        ]
        self.store = store_in(self.format, f"{self.namespace}_state")

    def run(self) -> list[str]:
        """A run, held against every row: what differs, and how it came; days pass between runs."""
        self.runs += 1
        run_id = f"run-{self.runs:02}"
        clock = datetime.combine(START, time(12), UTC) + timedelta(days=self.runs - 1)
        shops = [history.shop for history in self.histories]
        with pytest.MonkeyPatch.context() as patch:
            if self.runs % 2 == 0:  # as over a large index: looked up only where the keys lie
                patch.setattr(index_log, "SMALL_INDEX_ROWS", -1)
            outcome = run_checks(
                self.spark,
                [check for shop in shops for check in shop.checks],
                store=self.store,
                run_id=run_id,
                config=config_of(shops),
                clock=lambda: clock,
            )
        results = self.results = {result.check_name: result for result in outcome.results}
        truths = {}
        for history in self.histories:
            truths |= history.shop.truths(history.orders.rows, history.customers.rows, clock)
        for name, truth in truths.items():
            self.lives.see(run_id, results[name].rule_id, truth)
        kept = KeptState(self.spark, self.store)
        found = differences(results, truths, kept, self.lives)
        return [*found, *self.told()] if found else []

    def told(self) -> list[str]:
        return [
            f"{history.shop.name}: {statement}"
            for history in self.histories
            for table in (history.orders, history.customers)
            for statement in table.told
        ]

    def live(self) -> list[str]:
        """Each history makes its commits, two or three between two runs; the first difference.

        Before the last run the orders of the first history become another table.
        """
        differing = self.run()
        left = COMMITS
        while left and not differing:
            count = min(left, 2 + self.runs % 2)
            for history in self.histories:
                for _ in range(count):
                    history.commit()
            left -= count
            if not left:
                self.histories[0].orders.make_anew()
            differing = self.run()
        return differing

    @property
    def reasons(self) -> set[str]:
        """Why rules over keys and rows of the first history were read as they were, last."""
        name = self.histories[0].shop.name
        return {
            self.results[f"{name}_{rule}"].mode_reason for rule in ("known", "unique", "parent")
        }


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_incremental_runs_equal_a_full_scan_after_each_run(spark, table_format):
    checked = Checked(spark, table_format, "histories", SEEDS[table_format])
    assert checked.live() == []
    assert checked.reasons == {REPLACED}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table_format", "first"),
    [
        (table_format, first)
        for table_format, count in SLOW_HISTORIES.items()
        for first in range(1000, 1000 + count, TOGETHER)
    ],
)
def test_incremental_runs_equal_a_full_scan_over_many_histories(spark, table_format, first):
    seeds = tuple(range(first, first + TOGETHER))
    checked = Checked(spark, table_format, f"histories_{first}", seeds)
    assert checked.live() == []
    assert checked.reasons == {REPLACED}
    for history in checked.histories:  # thousands of tables would fill the disk
        spark.sql(f"DROP TABLE {history.shop.orders}")
        spark.sql(f"DROP TABLE {history.shop.customers}")
