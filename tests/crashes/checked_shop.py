"""One shop per format that drivers check, step by step, with what its store must hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from crashes.killed_incremental import NAMESPACE, few_checks, run, shop_in
from oracle.conditions import compare
from oracle.kept_state import KeptState, Lives, differences, store_in
from oracle.live_tables import CATALOGS, opened
from oracle.shop import Truth, customer_row, order_row

ORDERS = [
    order_row(1, 1),
    order_row(1, 1),
    order_row(2, 1, code=None),
    order_row(3, 1, customer=9),
    order_row(4, 1, amount=13),
]


@dataclass
class CheckedShop:
    spark: object
    format: str
    name: str
    lives: Lives = field(default_factory=Lives)
    steps: int = 0

    def __post_init__(self):
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOGS[self.format]}.{NAMESPACE}")
        self.shop = shop_in(self.format, self.name)
        self.orders, self.customers = opened(
            self.spark,
            self.format,
            self.shop,
            ORDERS,
            [customer_row(number) for number in (1, 2)],
        )
        self.kept = KeptState(self.spark, store_in(self.format, f"{NAMESPACE}_{self.name}"))

    def change(self) -> None:
        """Hits come, go and come back: every second change undoes the one before."""
        self.steps += 1
        if self.steps % 2:
            given = [order_row(2, 1), order_row(3, 1, code=None), order_row(5, self.steps)]
            self.orders.merge(given, compare("amount", "=", 13))
            self.customers.insert([customer_row(9)])
        else:
            given = [order_row(2, 1, code=None), order_row(3, 1, customer=9, amount=13)]
            self.orders.merge(given, compare("line", ">", 1))
            self.customers.delete(compare("id", "=", 9))

    def run(self, run_id: str, **options):
        return run(self.spark, self.format, self.name, run_id, **options)

    @property
    def truths(self) -> dict[str, Truth]:
        """What is true of the rows, by the name of the check."""
        names = {check.name for check in few_checks(self.shop)}
        now = datetime.now(UTC)
        truths = self.shop.truths(self.orders.rows, self.customers.rows, now)
        return {name: truth for name, truth in truths.items() if name in names}

    @classmethod
    def in_both_formats(cls, spark, name: str) -> dict[str, CheckedShop]:
        return {one: cls(spark, one, f"{name}_{one}") for one in ("delta", "iceberg")}

    def results(self, run_id: str) -> dict[str, Any]:
        """What the run has recorded, by the name of the check; each rule once."""
        rows = [row for row in self.kept.rows("results") if row["run_id"] == run_id]
        by_name = {row["check_name"]: row for row in rows}
        told = sorted((row["check_name"], str(row["position"])) for row in rows)
        assert sorted(name for name, _ in told) == sorted(self.truths), told
        return by_name

    def see(self, run_id: str, first_seen_by: str) -> None:
        """The run has ended well; new hits belong to `first_seen_by`, '' if nobody knows."""
        results = self.results(run_id)
        for name, truth in self.truths.items():
            self.lives.see(first_seen_by, results[name]["rule_id"], truth)

    def wrong(self, run_id: str, first_seen_by: str) -> list[str]:
        """What is wrong with the state after a run that ended well, one line each."""
        self.see(run_id, first_seen_by)
        return differences(self.results(run_id), self.truths, self.kept, self.lives)
