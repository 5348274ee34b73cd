"""Two tables before and after a change, with rules of every kind over them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import NamedTuple

from lakeproof import QualityCheck
from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.model.canonical import encode_key
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.weights import numbers_of

NOW = datetime(2026, 1, 15, tzinfo=UTC)
ORDERS = "iceberg.weights.orders"
PARENTS = "iceberg.weights.parents"
SCHEMA = (
    "id INT, code STRING, amount DECIMAL(10,2), score DOUBLE, tags ARRAY<STRING>, country STRING, "
    "parent BIGINT, part STRING, day DATE, `qty ``sold` INT"
)
PARENT_SCHEMA = "number INT, part STRING, note STRING"
CHILD_KEY = ["parent", "part"]


def check(name, kind, column=None, where=None, table=ORDERS, **params):
    return QualityCheck(name, kind, table, column, params, filter=where)


WEIGHED = [
    check("null", "not_null", "country"),
    check("null_some", "not_null", "country", "`qty ``sold` > 0 -- sold"),
    check("amount", "range", "amount", min_value=0, max_value=50),
    check("score", "range", "score", min_value=0),
    check("row", "row_expression", expression="code <> 'b' OR amount > 10"),
    check("tags", "not_null", "tags[]"),
    check("tag_set", "accepted_values", "tags[]", "country = 'IT'", accepted=["a", "b"]),
    check("unique", "uniqueness", "score"),
    check("unique_pair", "uniqueness", ["code", "id"], "amount < 30"),
    check("key_equal", "unique_key", ["id", "day"], nulls="equal"),
    check("key_forbid", "unique_key", ["day", "code"], nulls="forbid"),
    check("orphan", "foreign_key", "parent", references=PARENTS, referenced_columns="number"),
    check(
        "orphan_pair",
        "foreign_key",
        CHILD_KEY,
        "country IS NOT NULL",
        references=PARENTS,
        referenced_columns=["number", "part"],
    ),
    check("rows", "row_count_range", min_count=1),
    check("rows_some", "row_count_range", where="country = 'IT'", min_count=1),
    check("ratio", "ratio", where="amount > 0", condition="score > 1", min_share=0.1),
    check("nulls", "aggregate", "score", function="null_share", max_value=0.5),
    check("sum", "aggregate", "`qty ``sold`", function="sum", max_value=10),
    check("sum_none", "aggregate", "id", "id IS NULL", function="sum", max_value=10),
    check("average", "aggregate", "amount", "country = 'DE'", function="avg", max_value=10),
]
WHOLE = [
    check("clock", "no_future_dates", "day"),
    check("filter", "not_null", "code", "day < current_date"),
    check("maximum", "aggregate", "amount", function="max", max_value=10),
    check("doubles", "aggregate", "score", function="sum", max_value=10),
    check("median", "aggregate", "amount", function="median", max_value=10),
    check("query", "custom_sql", sql=f"SELECT * FROM {ORDERS} WHERE id IS NULL"),
    check("order", "is_increasing", "id", order_by="day"),
    check("list", "accepted_values", "part", accepted_table=PARENTS),
]
CHECKS = (*WEIGHED, *WHOLE)


@dataclass(frozen=True)
class Given:
    """Rows as a change source gives them."""

    relation: str
    is_snapshot: bool = False

    def release(self):
        """Nothing is held."""


def made_row(rng):
    return (
        rng.choice([1, 2, 3, 4, None]),
        rng.choice(["a", "b", "a\"b,':[", "", None]),
        rng.choice([Decimal("-1.25"), Decimal("12.50"), Decimal("60.00"), None]),
        rng.choice([0.0, -0.0, float("nan"), 1.5, 2.5, -3.0, None]),
        rng.choice([None, [], ["a"], ["a", None, "x"], [None, None]]),
        rng.choice(["IT", "DE", None]),
        rng.choice([1, 2, 3, 9, None]),
        rng.choice(["p", "q", None]),
        rng.choice([date(2024, 1, 1), date(1, 1, 1), None]),
        rng.choice([-2, 0, 5, None]),
    )


def made_parent(rng):
    return (rng.choice([1, 2, 3, 4, None]), rng.choice(["p", "q", None]), "note")


def made_change(rng, rows, make):
    """The rows after some came, went and changed, and the changes with their weights."""
    after = list(rows)
    changes = []
    for _ in range(14):
        went = after.pop(rng.randrange(len(after))) if rng.random() < 0.6 else None
        came = make(rng) if went is None or rng.random() < 0.6 else None
        if went is not None:
            changes.append((*went, -1))
        if came is not None:
            changes.append((*came, 1))
            after.append(came)
    kept = after[0]
    changes += [(*kept, 1), (*kept, -1)]  # rewritten as it was
    twice = make(rng)
    changes.append((*twice, 2))
    after += [twice, twice]
    return after, changes


def text_of(plan, row):
    """The canonical key of a weight, also of one that is a number."""
    return row.violation_key or encode_key({numbers_of(plan)[row.rule_id]: row.near})


class Weighed(NamedTuple):
    """What one key weighs, over all rows that have it."""

    weight: int = 0
    present: int = 0
    has_null: bool = False

    def __add__(self, row):
        return Weighed(
            self.weight + row.weight, self.present + row.present, self.has_null or row.has_null
        )


class World:
    """Both tables before and after, with the plan at each position and the changes between."""

    def __init__(self, spark):
        self.spark = spark
        self.engine = SparkEngine(spark)
        rng = random.Random(8)  # noqa: S311 (made-up rows)
        spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.weights")
        self.changes, positions = {}, {}
        for table, schema, make in (
            (ORDERS, SCHEMA, made_row),
            (PARENTS, PARENT_SCHEMA, made_parent),
        ):
            before = [make(rng) for _ in range(40 if make is made_row else 6)]
            after, changed = made_change(rng, before, make)
            spark.createDataFrame(before, schema).coalesce(1).writeTo(table).create()
            first = self.head(table)
            spark.createDataFrame(after, schema).coalesce(1).writeTo(table).overwritePartitions()
            positions[table] = (first, self.head(table))
            view = f"changed_{table.rpartition('.')[2]}"
            frame = spark.createDataFrame(changed, f"{schema}, {WEIGHT} BIGINT")
            frame.coalesce(1).createOrReplaceTempView(view)
            halves = [
                Given(f"(SELECT * FROM {view} WHERE {WEIGHT} {sign} 0)") for sign in ("<", ">")
            ]
            self.changes[table] = halves
        self.old, self.new = (
            self.plan({table: found[at] for table, found in positions.items()}) for at in (0, 1)
        )

    def head(self, table):
        rows = self.spark.sql(
            f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1"
        ).collect()
        return Position("iceberg", rows[0][0])

    def plan(self, positions=None, key=("code", "id"), checks=CHECKS):
        config = Config()
        defaults = Defaults(
            resolve=lambda name: name.resolve("iceberg", "weights"),
            key_of=lambda table: key if table.short == "orders" else (),
        )
        at = {TableName.parse(table): found for table, found in (positions or {}).items()}
        made = build_plan(rules_of(checks, config), self.engine, defaults, NOW, at)
        assert not made.rejected, made.rejected
        return made.tables[0]

    def weighed(self, plan, rows, parents):
        """Standings by rule, and the weights of keys by rule, side and key."""
        ids = list(plan.weighed)
        own = self.engine.weigh(plan, ids, rows, 60.0)
        other = self.engine.weigh_parents(plan, list(plan.parents), parents, None)
        assert (own.errors, other.errors, other.standings) == ({}, {}, {})
        found, numbers = {}, numbers_of(plan)
        columns = "rule_id, side, violation_key, near, weight, present, has_null"
        for view in (own.view, other.view):
            for row in self.spark.sql(f"SELECT {columns} FROM {view}").collect():
                is_number = row.rule_id in numbers
                assert (row.violation_key is None) == is_number
                text = text_of(plan, row)
                key = (row.rule_id, row.side, text, row.near)
                assert None not in key
                assert is_number or key not in found
                found[key] = found.get(key, Weighed()) + row
        found = {key: one for key, one in found.items() if one.weight}
        standings = dict(own.standings)
        own.release()
        other.release()
        return standings, found

    def snapshot(self, plan):
        whole = [
            Given(f"(SELECT *, 1L AS {WEIGHT} FROM {pinned.relation})", is_snapshot=True)
            for pinned in (plan.pinned, next(iter(plan.parents.values())))
        ]
        return self.weighed(plan, whole[:1], whole[1:])
