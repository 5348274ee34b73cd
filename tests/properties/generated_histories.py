"""Random histories of two real tables, by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from oracle.conditions import Condition, Row, both, compare, either, is_null, negation
from oracle.live_tables import CATALOGS, PROPERTIES, LiveTable
from oracle.shop import CUSTOMER, ORDER, Shop

START = date(2026, 3, 1)
KEYS = (("order_id", "line"), ("code", "line"), ("day", "order_id"))
"""By which columns orders are known; an index lies in the order of the first: a number, a text, a
date, and NULL."""
POOLS: dict[str, Sequence[object]] = {
    "order_id": [1, 1, 2, 3, -4, 5, 100, 101, -70, None],
    "line": [1, 1, 2, None],
    "code": ["a", "b", "c", "x", "O'B", None],
    "amount": [-1, 1, 5, 9, 13, None],
    "customer": [1, 2, 3, 4, 9, None],
    "day": [*(START + timedelta(days=days) for days in (-2, 0, 1, 2, 3, 6)), None],
    "id": [1, 2, 3, 4, 4, None],
    "name": ["n", "m", None],
}


class History:
    """One shop's life, by a seed: the same seed gives the same commits."""

    def __init__(self, spark, table_format: str, namespace: str, seed: int) -> None:
        self.chance = random.Random(f"{table_format} {seed}")  # noqa: S311 - arranges test data
        prefix = f"{CATALOGS[table_format]}.{namespace}"
        keyed = self.chance.random() < 0.7
        self.shop = Shop(
            f"{prefix}.orders_{seed}",
            f"{prefix}.customers_{seed}",
            f"h{seed}",
            KEYS[seed % len(KEYS)] if keyed else (),
        )
        self.orders = LiveTable(spark, self.shop.orders, table_format, ORDER, ("order_id", "line"))
        self.customers = LiveTable(spark, self.shop.customers, table_format, CUSTOMER, ("id",))
        properties = dict(PROPERTIES[table_format])
        if table_format == "delta":
            vectors = self.chance.choice(["true", "false"])
            properties["delta.enableDeletionVectors"] = vectors
        self.orders.create(self.drawn(ORDER, self.chance.randint(3, 10)), properties)
        self.customers.create(self.drawn(CUSTOMER, 3), properties)

    def drawn(self, types: dict[str, str], count: int) -> list[Row]:
        return [{name: self.chance.choice(POOLS[name]) for name in types} for _ in range(count)]

    def condition(self, types: dict[str, str]) -> Condition:
        simple = self._comparison(types)
        others = (
            lambda: simple,
            lambda: is_null(self.chance.choice(list(types))),
            lambda: negation(simple),
            lambda: both(simple, self._comparison(types)),
            lambda: either(simple, self._comparison(types)),
        )
        return self.chance.choice(others)()

    def _comparison(self, types: dict[str, str]) -> Condition:
        column = self.chance.choice(list(types))
        value = self.chance.choice([value for value in POOLS[column] if value is not None])
        return compare(column, self.chance.choice(["=", "<>", "<", ">="]), value)

    def commit(self) -> None:
        """One random commit, on the orders or (one in four) on the customers."""
        table = self.customers if self.chance.random() < 0.25 else self.orders
        chance, types = self.chance, table.types
        column = chance.choice(list(types))
        some = chance.sample(table.rows, len(table.rows) // 2)
        operations: list[tuple[int, Callable[[], None]]] = [
            (5, lambda: table.insert(self.drawn(types, chance.randint(1, 4)))),
            (4, lambda: table.update(self.condition(types), column, chance.choice(POOLS[column]))),
            (3, lambda: table.delete(self.condition(types))),
            (1, lambda: table.delete(None)),
            (4, lambda: table.merge(self.drawn(types, 3), self._comparison(types))),
            (2, lambda: table.overwrite(some + self.drawn(types, 2))),
            (2, table.compact),
            (3, lambda: table.go_back(chance.randint(1, 3))),
            (1, lambda: table.touch(self.condition(types))),
            (1, lambda: table.set_property(chance.randint(1, 9))),
        ]
        weights, choices = zip(*operations, strict=True)
        chance.choices(choices, weights)[0]()
