"""A shop: orders that refer to customers, a suite with each kind of rule, and what it must find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256

from lakeproof.config import Config, TableSettings
from lakeproof.model.canonical import encode_key
from lakeproof.model.suite import QualityCheck
from oracle.conditions import Condition, Row, compare, value_sql
from oracle.expected import Expected, OracleTable, expect
from oracle.related_checks import Found, bad_keys, orphans

ORDER = {
    "order_id": "bigint",
    "line": "int",
    "code": "string",
    "amount": "int",
    "customer": "bigint",
    "day": "date",
}
CUSTOMER = {"id": "bigint", "name": "string"}
ODD_AMOUNT = 13
PAID = compare("amount", ">", 0)

Weights = dict[tuple[str, str], int]
"""What each (side, key hash) weighs in the key index; keys that weigh nothing are left out."""


@dataclass(frozen=True)
class Truth:
    """What a run over these rows must say of one rule, and what state it must leave.

    `weights` is None for a rule that is always evaluated on the whole table.
    """

    status: str
    failing_rows: int
    total_rows: int
    table_rows: int
    violations: Counter[str] = field(default_factory=Counter)
    weights: Weights | None = None


@dataclass(frozen=True)
class Shop:
    """One pair of tables. `key` are the columns by which an order is known, none for its hash."""

    orders: str
    customers: str
    name: str = "shop"
    key: tuple[str, ...] = ("order_id", "line")

    @property
    def checks(self) -> list[QualityCheck]:
        def check(name: str, kind: str, column=None, /, params=None, **more) -> QualityCheck:
            return QualityCheck(
                f"{self.name}_{name}", kind, self.orders, column, params or {}, **more
            )

        odd = f"SELECT * FROM {self.orders} WHERE amount = {ODD_AMOUNT}"
        return [
            check("present", "not_null", "code", filter=PAID.sql),
            check("known", "accepted_values", "code", params={"accepted": ["a", "b", "c"]}),
            check("sane", "range", "amount", params={"min_value": 0, "max_value": 10}),
            check("unique", "uniqueness", ["order_id", "line"]),
            check("key", "unique_key", ["order_id", "line"], params={"nulls": "forbid"}),
            check("number", "uniqueness", "order_id"),
            check(
                "parent",
                "foreign_key",
                "customer",
                params={"references": self.customers, "referenced_columns": "id"},
            ),
            check("count", "row_count_range", params={"min_count": 3, "max_count": 12}),
            check("past", "no_future_dates", "day"),
            check("odd", "custom_sql", params={"sql": odd}),
        ]

    def settings(self, mode: str = "cdf") -> dict[str, TableSettings]:
        return {
            self.orders: TableSettings(key=self.key, mode=mode),
            self.customers: TableSettings(key=("id",), mode=mode),
        }

    def truths(
        self, orders: Sequence[Row], customers: Sequence[Row], clock: datetime
    ) -> dict[str, Truth]:
        """By the name of the check, for the rows that the tables hold now."""
        table = OracleTable(ORDER, orders, self.key)
        by_kind = {check.check_type: check for check in self.checks}
        found: dict[str, Truth] = {}
        for kind, scope, query in (
            ("not_null", PAID, None),
            ("accepted_values", None, None),
            ("range", None, None),
            ("row_count_range", None, None),
            ("no_future_dates", None, None),
            ("custom_sql", None, _odd_rows),
        ):
            check = by_kind[kind]
            found[check.name] = _row_truth(check, table, clock, scope, query)
        both = ["order_id", "line"]
        for which, names, nulls in (
            ("unique", both, "distinct"),
            ("key", both, "forbid"),
            ("number", both[:1], "distinct"),
        ):
            keyed = [row for row in orders if nulls == "forbid" or _is_whole(row, names)]
            bad = bad_keys(orders, names, nulls)
            own = Counter(encode_key({name: row[name] for name in names}) for row in keyed)
            found[f"{self.name}_{which}"] = _found_truth(bad, table, _hashed(own))
        without = orphans(orders, ["customer"], customers, ["id"], ["customer"])
        children = Counter(
            encode_key({"customer": row["customer"]})
            for row in orders
            if row["customer"] is not None
        )
        parents = Counter(
            encode_key({"customer": row["id"]}) for row in customers if row["id"] is not None
        )
        found[by_kind["foreign_key"].name] = _found_truth(
            without, table, _hashed(children) | _hashed(parents, "parent")
        )
        return found


def config_of(shops: Sequence[Shop], mode: str = "cdf") -> Config:
    return Config(tables={k: v for shop in shops for k, v in shop.settings(mode).items()})


def key_hash(violation_key: str) -> str:
    """As the key index has it: 128 bits in hexadecimal digits."""
    return sha256(violation_key.encode("utf-8")).hexdigest()[:32]


def rows_sql(rows: Sequence[Row], types: dict[str, str]) -> str:
    """The rows as a query of literals, each of its column's type."""
    columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in types.items())
    cells = (
        ["NULL" if row[name] is None else value_sql(row[name]) for name in types] for row in rows
    )
    values = ", ".join(f"({', '.join(of_row)})" for of_row in cells)
    return f"SELECT {columns} FROM VALUES {values} AS given({', '.join(types)})"


def order_row(
    order_id: int | None,
    line: int | None,
    code: str | None = "a",
    amount: int | None = 5,
    customer: int | None = 1,
    day: date | None = date(2026, 1, 1),
) -> Row:
    """A good row, but for what is said of it."""
    return dict(zip(ORDER, (order_id, line, code, amount, customer, day), strict=True))


def customer_row(number: int | None, name: str = "n") -> Row:
    return {"id": number, "name": name}


def _odd_rows(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["amount"] == ODD_AMOUNT]


def _is_whole(row: Row, names: Sequence[str]) -> bool:
    return all(row[name] is not None for name in names)


def _row_truth(
    check: QualityCheck,
    table: OracleTable,
    clock: datetime,
    scope: Condition | None,
    query: Callable[[Sequence[Row]], Sequence[Row]] | None,
) -> Truth:
    (one,) = expect(check, table, clock, scope, query)
    return Truth(
        one.status,
        one.failing_rows,
        one.total_rows,
        one.table_rows,
        one.violations,
        _row_weights(check, one),
    )


def _row_weights(check: QualityCheck, found: Expected) -> Weights | None:
    """A query and what the clock decides are evaluated whole, a count has no keys."""
    if check.check_type in {"custom_sql", "no_future_dates"}:
        return None
    return _hashed(found.violations)


def _found_truth(bad: Found, table: OracleTable, weights: Weights) -> Truth:
    total = len(table.rows)
    return Truth(
        "failed" if bad.failing else "passed", bad.failing, total, total, bad.keys, weights
    )


def _hashed(counts: Counter[str], side: str = "") -> Weights:
    return {(side, key_hash(key)): count for key, count in counts.items() if count}
