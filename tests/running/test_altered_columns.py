"""Columns that are renamed, dropped or widened: rules that do not read them go on by changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakeproof import QualityCheck, plan, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.errors import ConfigError
from oracle.kept_state import KeptState, store_in
from spark_settings import for_few_records

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMESPACE = "spark_catalog.altered_columns"
PROPERTIES = (
    "delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name', "
    "delta.enableTypeWidening = true"
)


@pytest.fixture(scope="module")
def spark(spark):
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {NAMESPACE}")
    with for_few_records(spark):
        yield spark


class Story:
    """Orders and their customers; each run is held against one that reads every row."""

    def __init__(self, spark, name):
        self.spark = spark
        self.orders, self.customers = f"{NAMESPACE}.{name}_orders", f"{NAMESPACE}.{name}_customers"
        self.stores = [store_in("delta", f"altered_{name}_{which}") for which in ("kept", "whole")]
        self.runs = 0
        self.commit(
            f"CREATE TABLE {self.orders} (id BIGINT, line INT NOT NULL, code STRING, amount INT, "
            f"customer INT, note STRING, extra STRING) USING delta TBLPROPERTIES ({PROPERTIES})",
            f"CREATE TABLE {self.customers} (id INT, name STRING) USING delta "
            f"TBLPROPERTIES ({PROPERTIES})",
            f"INSERT INTO {self.customers} VALUES (1, 'one'), (2, 'two'), (3, 'three')",
            f"INSERT INTO {self.orders} VALUES (1, 1, 'a', 5, 1, 'n', 'x'), "
            "(2, 1, NULL, 99, 2, 'n', 'x'), (2, 1, 'c', 5, 9, 'o', NULL), "
            "(3, 1, 'd', 60, 3, 'p', 'x'), (4, 1, 'e', 5, 1, NULL, 'x')",
        )

    @property
    def checks(self):
        def check(name, kind, column=None, **params):
            return QualityCheck(name, kind, self.orders, column, params)

        return [
            check("present", "not_null", "code"),
            check("sane", "range", "amount", max_value=50),
            check("doubled", "row_expression", expression="amount * 2 < 100"),
            check("unique", "uniqueness", "id"),
            check("noted", "uniqueness", "note"),
            check("parent", "foreign_key", "customer", references=self.customers,
                  referenced_columns="id"),
            check("rows", "row_count_range", min_count=3),
        ]  # fmt: skip

    @property
    def config(self):
        return Config(
            tables={
                self.orders: TableSettings(key=("id",), mode="cdf"),
                self.customers: TableSettings(key=("id",), mode="cdf"),
            }
        )

    def commit(self, *statements):
        for statement in statements:
            self.spark.sql(statement)

    def change(self, number, values="'a', 5, 1, 'n', 'x'"):
        """Rows come, change and go; one is bad under each rule."""
        self.commit(
            f"INSERT INTO {self.orders} VALUES ({number}, 1, {values})",
            f"UPDATE {self.orders} SET code = NULL, amount = 70 WHERE id = {number}",
            f"INSERT INTO {self.orders} VALUES ({number}, 2, {values})",
            f"DELETE FROM {self.orders} WHERE id = {number - 2}",
        )

    def head(self, table):
        return self.spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0]["version"]

    def run(self, **options):
        """How each rule was read, in words; what was found is what a scan finds."""
        self.runs += 1
        results, hits = [], []
        for store, mode in zip(self.stores, ("auto", "snapshot"), strict=True):
            outcome = run_checks(
                self.spark,
                self.checks,
                store=store,
                run_id=f"run-{self.runs}",
                suite="altered",
                config=self.config,
                clock=lambda: NOW + timedelta(seconds=self.runs),
                **{"mode": mode, **(options if mode == "auto" else {})},
            )
            results.append({one.check_name: one for one in outcome.results})
            kept = KeptState(self.spark, store)
            hits.append(
                {key: hit.occurrences for key, hit in kept.hits().items() if hit.status == "open"}
            )
        incremental, whole = ({name: _found(one) for name, one in by.items()} for by in results)
        assert incremental == whole
        assert hits[0] == hits[1]
        assert {status for status, *_ in whole.values()} <= {"passed", "failed"}
        return {name: one.mode_reason for name, one in results[0].items()}


def _found(result):
    return (str(result.status), result.failing_rows, result.total_rows, result.table_rows)


def test_rules_go_on_by_changes_where_no_column_of_theirs_was_altered(spark):
    story = Story(spark, "own")
    orders = story.orders
    story.run()

    mark = story.head(orders)
    story.change(10)
    story.commit(f"ALTER TABLE {orders} RENAME COLUMN extra TO spare")
    renamed = story.head(orders)
    story.change(11)
    told = f"changes after version {mark}, in 2 parts: its columns changed at version {renamed}"
    config = replace(story.config, store=story.stores[0])
    planned = str(plan(spark, story.checks, config=config, suite="altered"))
    assert told in " ".join(planned.split())
    assert set(story.run(require_incremental=True).values()) == {told}

    mark = story.head(orders)
    story.change(12)
    story.commit(f"ALTER TABLE {orders} DROP COLUMN note")
    dropped = story.head(orders)
    story.change(13, "'b', 6, 2, 'y'")
    story.commit(f"ALTER TABLE {orders} ADD COLUMN note STRING AFTER customer")
    story.change(14)
    with pytest.raises(ConfigError, match=f"its columns changed at version {dropped}, note among"):
        story.run(require_incremental=True)
    reasons = story.run()
    told = f"its columns changed at version {dropped}"
    assert reasons.pop("noted") == f"the whole table, rebuilt: {told}, note among them"
    assert set(reasons.values()) == {f"changes after version {mark}, in 2 parts: {told}"}

    mark = story.head(orders)
    story.change(15)
    story.commit(f"ALTER TABLE {orders} ALTER COLUMN amount TYPE BIGINT")
    widened = story.head(orders)
    story.change(16, "'b', 6000000000, 2, 'n', 'x'")
    story.commit(f"ALTER TABLE {orders} ALTER COLUMN line DROP NOT NULL")
    story.change(17)
    reasons = story.run()
    told = f"its columns changed at version {widened}"
    assert reasons.pop("doubled").startswith(f"the whole table, rebuilt: {told}")
    assert all(one.startswith(f"changes after version {mark}, in") for one in reasons.values())


def test_a_table_that_is_referred_to_may_be_altered_too(spark):
    story = Story(spark, "parent")
    customers = story.customers
    story.run()

    mark = story.head(story.orders)
    story.change(10)
    story.commit(
        f"DELETE FROM {customers} WHERE id = 3",
        f"ALTER TABLE {customers} RENAME COLUMN name TO title",
        f"INSERT INTO {customers} VALUES (9, 'nine')",
    )
    reasons = story.run()
    assert set(reasons.values()) == {f"changes after version {mark}: mode cdf was asked for"}

    mark = story.head(story.orders)
    story.change(11)
    story.commit(
        f"DELETE FROM {customers} WHERE id = 2",
        f"ALTER TABLE {customers} DROP COLUMN id",
        f"ALTER TABLE {customers} ADD COLUMN id INT FIRST",
        f"INSERT INTO {customers} VALUES (2, 'nine')",
    )
    reasons = story.run()
    assert reasons.pop("parent").endswith("id among them")
    assert set(reasons.values()) == {f"changes after version {mark}: mode cdf was asked for"}
