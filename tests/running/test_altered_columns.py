"""Columns that are renamed, dropped or widened: rules that do not read them go on by changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakeproof import QualityCheck, plan, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.errors import ConfigError
from oracle.kept_state import CATALOGS, KeptState, store_in
from spark_settings import for_few_records

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMESPACE = "altered_columns"
PROPERTIES = {
    "delta": "delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name', "
    "delta.enableTypeWidening = true",
    "iceberg": "'format-version' = '2'",
}
FORMATS = ("delta", "iceberg")


@pytest.fixture(scope="module")
def spark(spark):
    for catalog in CATALOGS.values():
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.{NAMESPACE}")
    with for_few_records(spark):
        yield spark


class Story:
    """Orders and their customers; each run is held against one that reads every row."""

    def __init__(self, spark, name, table_format):
        self.spark = spark
        self.format = table_format
        prefix = f"{CATALOGS[table_format]}.{NAMESPACE}.{name}"
        self.orders, self.customers = f"{prefix}_orders", f"{prefix}_customers"
        self.stores = [
            store_in(table_format, f"altered_{name}_{which}") for which in ("kept", "whole")
        ]
        using = f"USING {table_format} TBLPROPERTIES ({PROPERTIES[table_format]})"
        self.runs = 0
        self.commit(
            f"CREATE TABLE {self.orders} (id BIGINT, line INT NOT NULL, code STRING, amount INT, "
            f"customer INT, note STRING, extra STRING) {using}",
            f"CREATE TABLE {self.customers} (id INT, name STRING) {using}",
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
        """The table's newest version or snapshot."""
        query = (
            f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'"
            if self.format == "iceberg"
            else f"DESCRIBE HISTORY {table} LIMIT 1"
        )
        return self.spark.sql(query).collect()[0][0]

    def told(self, mark, *altered):
        """What is said of changes after a mark, and of its columns that were altered at versions.

        Iceberg reads old rows by the ids of the present columns: where that was is not told.
        """
        if self.format == "iceberg":
            why = f"its columns changed after snapshot {mark}"
            return f"changes after snapshot {mark}: {why}", why
        places = " and ".join(map(str, altered))
        why = f"its columns changed at version{'s' * (len(altered) > 1)} {places}"
        return f"changes after version {mark}: {why}", why

    def run(self, **options):
        """How each rule was read, in words; what was found is what a scan finds."""
        self.runs += 1
        given = {
            "suite": "altered",
            "config": self.config,
            "clock": lambda: NOW + timedelta(seconds=self.runs),
        }
        store = {"store": self.stores[0], "run_id": f"run-{self.runs}"}
        kept = run_checks(self.spark, self.checks, **store, **given, **options).results
        whole = run_checks(self.spark, self.checks, store=None, **given).results
        assert [_found(one) for one in kept] == [_found(one) for one in whole]
        assert {str(one.status) for one in whole} <= {"passed", "failed"}
        return {one.check_name: one.mode_reason for one in kept}

    def violations(self):
        """Those that are open now, and those that a first run over the whole table finds."""
        run_checks(
            self.spark,
            self.checks,
            store=self.stores[1],
            run_id="whole",
            suite="altered",
            config=self.config,
            mode="snapshot",
        )
        return [self._open(store) for store in self.stores]

    def _open(self, store):
        hits = KeptState(self.spark, store).hits()
        return {key: hit.occurrences for key, hit in hits.items() if hit.status == "open"}


def _found(result):
    counts = (result.failing_rows, result.total_rows, result.table_rows)
    return (result.check_name, str(result.status), *counts)


@pytest.mark.parametrize("table_format", FORMATS)
def test_rules_go_on_by_changes_where_no_column_of_theirs_was_altered(spark, table_format):
    story = Story(spark, "own", table_format)
    orders = story.orders
    story.run()

    mark = story.head(orders)
    story.change(10)
    story.commit(f"ALTER TABLE {orders} RENAME COLUMN extra TO spare")
    renamed = story.head(orders)
    story.change(11)
    told, _ = story.told(mark, renamed)
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
    told, why = story.told(mark, dropped)
    with pytest.raises(ConfigError, match=f"{why}, note among them"):
        story.run(require_incremental=True)
    reasons = story.run()
    assert reasons.pop("noted") == f"the whole table, rebuilt: {why}, note among them"
    assert set(reasons.values()) == {told}

    mark = story.head(orders)
    story.change(15)
    story.commit(f"ALTER TABLE {orders} ALTER COLUMN amount TYPE BIGINT")
    widened = story.head(orders)
    story.change(16, "'b', 6000000000, 2, 'n', 'x'")
    story.commit(f"ALTER TABLE {orders} ALTER COLUMN line DROP NOT NULL")
    loosened = story.head(orders)
    story.change(17)
    told, why = story.told(mark, widened, loosened)
    reasons = story.run()
    assert reasons.pop("doubled") == f"the whole table, rebuilt: {why}, amount among them"
    assert set(reasons.values()) == {told}
    followed, scanned = story.violations()
    assert followed == scanned


@pytest.mark.parametrize("table_format", FORMATS)
def test_a_table_that_is_referred_to_may_be_altered_too(spark, table_format):
    story = Story(spark, "parent", table_format)
    customers = story.customers
    story.run()

    def changes_after(mark):
        place = "version" if table_format == "delta" else "snapshot"
        return f"changes after {place} {mark}: mode cdf was asked for"

    mark = story.head(story.orders)
    story.change(10)
    story.commit(
        f"DELETE FROM {customers} WHERE id = 3",
        f"ALTER TABLE {customers} RENAME COLUMN name TO title",
        f"INSERT INTO {customers} VALUES (9, 'nine')",
    )
    assert set(story.run().values()) == {changes_after(mark)}

    mark = story.head(story.orders)
    story.change(11)
    story.commit(
        f"DELETE FROM {customers} WHERE id = 2",
        f"ALTER TABLE {customers} DROP COLUMN id",
        f"ALTER TABLE {customers} ADD COLUMN id INT FIRST",
        f"INSERT INTO {customers} VALUES (2, 'nine')",
    )
    reasons = story.run()
    parent = reasons.pop("parent")
    assert parent.startswith(f"the whole table, rebuilt: {customers}: its columns changed")
    assert parent.endswith(", id among them")
    assert set(reasons.values()) == {changes_after(mark)}
    followed, scanned = story.violations()
    assert followed == scanned
