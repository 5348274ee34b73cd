"""Incremental runs as people meet them: rules come and go, break, and time passes."""

from __future__ import annotations

import itertools
import json
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeproof import QualityCheck, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.errors import ConfigError
from lakeproof.state.suppressing import Suppression, Suppressor
from oracle.conditions import compare
from oracle.kept_state import KeptState, store_in
from oracle.live_tables import CATALOGS, opened
from oracle.shop import Shop, config_of, customer_row, order_row
from spark_settings import for_few_records

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORDERS = [
    order_row(1, 1),
    order_row(1, 1),
    order_row(2, 1, code=None),
    order_row(3, 1, customer=9),
    order_row(4, 1, amount=13, day=(NOW + timedelta(days=2)).date()),
]
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


class Scene:
    """A shop of its own with a store of its own; runs are numbered."""

    def __init__(self, spark, table_format: str) -> None:
        name = f"story{next(_numbers)}"
        prefix = f"{CATALOGS[table_format]}.incremental"
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {prefix}")
        self.spark = spark
        self.shop = Shop(f"{prefix}.{name}_orders", f"{prefix}.{name}_customers", name)
        self.orders, self.customers = opened(
            spark, table_format, self.shop, ORDERS, [customer_row(1), customer_row(2)]
        )
        self.store = store_in(table_format, f"incremental_{name}")
        self.kept = KeptState(spark, self.store)
        self.runs = 0

    def checks(self, *names: str) -> list[QualityCheck]:
        """The shop's checks of these names, without its prefix."""
        by_name = {
            check.name.removeprefix(f"{self.shop.name}_"): check for check in self.shop.checks
        }
        return [replace(by_name[name], name=name) for name in names]

    def run(self, checks, **options):
        """Results by name; `days` pass before it."""
        self.runs += 1
        options.setdefault("config", config_of([self.shop]))
        now = NOW + timedelta(days=options.pop("days", 0), seconds=self.runs)
        outcome = run_checks(
            self.spark,
            checks,
            store=self.store,
            run_id=options.pop("run_id", f"run-{self.runs}"),
            suite="nightly",
            clock=lambda: now,
            **options,
        )
        return {result.check_name: result for result in outcome.results}

    def hits(self, rule_id: str) -> dict[str, object]:
        rows = [row for row in self.kept.rows("violations") if row["rule_id"] == rule_id]
        return {row["violation_key"]: row for row in rows}

    def resolutions(self, rule_id: str) -> set[tuple[str, str]]:
        return {(row["status"], row["resolution"]) for row in self.hits(rule_id).values()}

    def head(self, rule_id: str):
        """The newest progress of a rule."""
        rows = [row for row in self.kept.rows("progress") if row["rule_id"] == rule_id]
        return max(rows, key=lambda row: row["batch_seq"])

    def versions(self) -> dict[str, int]:
        """What changes with every commit to a state table."""
        found = {}
        for kind, table in self.store.tables.items():
            name = f"{self.store.catalog}.{self.store.namespace}.{table}"
            query = (
                f"SELECT count(*) FROM {name}.snapshots"
                if self.store.format == "iceberg"
                else f"DESCRIBE HISTORY {name} LIMIT 1"
            )
            found[kind] = self.spark.sql(query).collect()[0][0]
        return found

    def files(self) -> list[Path]:
        """Every data file of the orders."""
        query = f"SELECT DISTINCT input_file_name() FROM {self.shop.orders}"
        return [Path(row[0].removeprefix("file:")) for row in self.spark.sql(query).collect()]

    def lose_files(self) -> int:
        """Who reads a row of the orders now fails."""
        paths = self.files()
        for path in paths:
            path.unlink()
        return len(paths)

    @contextmanager
    def without_files(self):
        """As above, until the end."""
        hidden = {path: path.with_suffix(".hidden") for path in self.files()}
        assert hidden
        for path, aside in hidden.items():
            path.rename(aside)
        yield
        for path, aside in hidden.items():
            aside.rename(path)


def many_checks(scene: Scene) -> list[QualityCheck]:
    """A hundred rules that read changes, a query among them."""
    ranges = [
        QualityCheck(f"range_{number}", "range", scene.shop.orders, "amount", {"max_value": number})
        for number in range(95)
    ]
    return [*ranges, *scene.checks("present", "unique", "parent", "count", "odd")]


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_nothing_new_is_seen_without_reading_a_row(spark, table_format):
    scene = Scene(spark, table_format)
    checks = many_checks(scene)
    first = scene.run(checks)
    before = scene.versions()
    kept = scene.kept.rows("results")
    assert scene.lose_files() > 0

    started = time.monotonic()
    again = scene.run(checks)
    seconds = time.monotonic() - started

    after = scene.versions()
    assert after == {**before, "results": after["results"]}
    assert len(scene.kept.rows("results")) == len(kept) + 100
    for name, result in again.items():
        said = first[name]
        assert result.mode_reason.startswith("nothing new since"), name
        assert (result.status, result.failing_rows, result.total_rows, result.table_rows) == (
            said.status,
            said.failing_rows,
            said.total_rows,
            said.table_rows,
        )
        assert (result.details, result.measures) == (said.details, said.measures), name
    assert seconds < 20  # 5 on a machine that has nothing else to do


@pytest.mark.parametrize("table_format", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def test_a_repeated_run_that_took_no_lease_says_what_it_said_whatever_was_written_since(
    spark, table_format
):
    scene = Scene(spark, table_format)
    checks = scene.checks("present", "unique")
    scene.run(checks)
    said = scene.run(checks, run_id="tried-twice")
    assert said["present"].mode_reason.startswith("nothing new since")
    scene.orders.insert([order_row(7, 1, code=None)])
    before = scene.versions()
    with scene.without_files():
        assert scene.run(checks, run_id="tried-twice", try_number=2) == said
    assert scene.versions() == before

    seen = scene.run(checks)["present"]
    assert (seen.failing_rows, seen.new_violations) == (said["present"].failing_rows + 1, 1)
    assert scene.run(checks, run_id="tried-twice", try_number=3) == said


@pytest.mark.slow
def test_a_suite_that_changes_reads_no_more_than_it_must(spark):
    scene = Scene(spark, "delta")
    present, unique, known = scene.checks("present", "unique", "known")
    first = scene.run([present, unique, known])
    assert [first[name].failing_rows for name in ("present", "unique", "known")] == [1, 1, 0]
    seen = scene.hits(first["present"].rule_id)

    (sane,) = scene.checks("sane")
    renamed = replace(present, name="there")
    second = scene.run([renamed, unique, known, sane])
    assert second["there"].rule_id == first["present"].rule_id
    assert second["there"].mode_reason.startswith("nothing new")
    assert second["unique"].mode_reason.startswith("nothing new")
    assert "first run of this rule" in second["sane"].mode_reason
    assert (second["sane"].failing_rows, second["sane"].new_violations) == (1, 1)
    assert scene.hits(first["present"].rule_id) == seen

    scene.orders.insert([order_row(5, 1, code="x", amount=50)])
    changed = replace(sane, params={"min_value": 0, "max_value": 20})
    third = scene.run([renamed, known, changed])
    assert third["there"].mode_reason.startswith("changes after")
    assert "first run of this rule" in third["sane"].mode_reason
    assert [third[name].failing_rows for name in ("there", "known", "sane")] == [1, 1, 1]
    assert scene.resolutions(first["unique"].rule_id) == {("resolved", "rule_removed")}
    assert scene.resolutions(second["sane"].rule_id) == {("resolved", "rule_changed")}
    assert scene.resolutions(third["sane"].rule_id) == {("open", None)}

    fourth = scene.run([renamed, known, changed, unique])
    assert fourth["unique"].failing_rows == 1
    (came_back,) = scene.hits(first["unique"].rule_id).values()
    assert (came_back["status"], came_back["reopen_count"]) == ("open", 1)

    scene.run([known], select="name:known")  # who chooses rules removes none
    assert scene.resolutions(first["unique"].rule_id) == {("open", None)}


def test_a_rule_in_error_stays_where_it_was_and_keeps_its_hits(spark):
    scene = Scene(spark, "iceberg")
    shares = QualityCheck(
        "shares", "row_expression", scene.shop.orders, None, {"expression": "26 / amount > 3"}
    )
    checks = [shares, *scene.checks("present", "unique")]
    first = scene.run(checks)
    assert first["shares"].failing_rows == 1
    stood = scene.head(first["shares"].rule_id)
    seen = scene.hits(first["shares"].rule_id)

    scene.orders.insert([order_row(6, 1, amount=0), order_row(7, 1, code=None)])
    second = scene.run(checks)
    assert second["shares"].status == "error"
    assert second["present"].failing_rows == 2
    assert scene.head(first["shares"].rule_id) == stood
    assert scene.head(first["present"].rule_id)["run_id"] == "run-2"
    assert scene.hits(first["shares"].rule_id) == seen

    third = scene.run(checks)  # nothing is new but to the rule that broke
    assert third["shares"].status == "error"
    assert third["present"].mode_reason.startswith("nothing new")

    scene.orders.delete(compare("amount", "=", 0))
    fourth = scene.run(checks)
    assert (fourth["shares"].status, fourth["shares"].failing_rows) == ("failed", 1)
    (hit,) = scene.hits(first["shares"].rule_id).values()
    assert (hit["status"], hit["first_run_id"], hit["reopen_count"]) == ("open", "run-1", 0)


@pytest.mark.slow
def test_time_that_passes_and_state_built_anew_keep_the_life_of_a_hit(spark):
    scene = Scene(spark, "delta")
    checks = scene.checks("past", "unique", "present")
    first = scene.run(checks)
    assert first["past"].failing_rows == 1
    unique = first["unique"].rule_id

    later = scene.run(checks, days=3)
    assert (later["past"].status, later["past"].failing_rows) == ("passed", 0)
    assert {row["status"] for row in scene.hits(first["past"].rule_id).values()} == {"resolved"}
    assert later["unique"].mode_reason.startswith("nothing new")
    seen, generation = scene.hits(unique), scene.head(unique)["generation"]

    rebuilt = scene.run(checks, days=3, rebuild=["unique"])
    assert "it was asked for" in rebuilt["unique"].mode_reason
    assert rebuilt["unique"].new_violations == 0
    assert scene.head(unique)["generation"] == generation + 1
    after = scene.hits(unique)
    assert {key: row["first_seen"] for key, row in after.items()} == {
        key: row["first_seen"] for key, row in seen.items()
    }
    assert {row["status"] for row in after.values()} == {"open"}

    whole = scene.run(checks, days=3, mode="snapshot")
    assert {result.mode for result in whole.values()} == {"snapshot"}
    assert whole["unique"].failing_rows == 1
    scene.orders.insert([order_row(2, 1)])
    back = scene.run(checks, days=3)
    assert back["unique"].mode == "cdf"
    assert "was read by snapshot before" in back["unique"].mode_reason
    assert back["unique"].failing_rows == 2

    repeated = scene.run(checks, run_id="run-1")
    assert repeated["unique"].failing_rows == 1
    assert len(scene.hits(unique)) == 2
    assert {row["status"] for row in scene.hits(unique).values()} == {"open"}


def test_who_requires_changes_is_told_which_table_has_none_and_what_to_do(spark):
    scene = Scene(spark, "iceberg")
    plain = f"{CATALOGS['delta']}.incremental.plain"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.incremental")
    spark.sql(f"CREATE TABLE {plain} USING delta AS SELECT 1 AS id")
    check = QualityCheck("there", "not_null", plain, "id")

    with pytest.raises(ConfigError, match="without a store"):
        run_checks(spark, [check], require_incremental=True)
    with pytest.raises(ConfigError, match=r"plain.*ALTER TABLE .*enableChangeDataFeed"):
        scene.run([check], require_incremental=True)
    with pytest.raises(ConfigError, match=r"plain.*mode cdf"):
        scene.run([check], mode="cdf")

    small = scene.run(scene.checks("present"), config=Config())
    assert small["present"].mode == "snapshot"
    assert "bytes are read sooner" in small["present"].mode_reason
    with pytest.raises(ConfigError, match="--mode cdf"):
        scene.run(scene.checks("present"), config=Config(), require_incremental=True)
    forced = scene.run(
        scene.checks("present"),
        config=Config(tables={scene.shop.orders: TableSettings(key=("order_id", "line"))}),
        mode="cdf",
    )
    assert (forced["present"].mode, forced["present"].failing_rows) == ("cdf", 1)


@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_rows_that_are_shown_are_those_that_nobody_answers_for(spark, table_format):
    scene = Scene(spark, table_format)
    scene.orders.insert([order_row(number, 1, amount=90 + number) for number in (5, 6, 7, 8)])
    checks = scene.checks("sane", "odd")
    ids = {name: result.rule_id for name, result in scene.run(checks).items()}
    suppressor = Suppressor(spark, scene.store)
    accepted = [
        row["hit_id"] for key, row in scene.hits(ids["sane"]).items() if order_of(key) in {4, 5}
    ] + [row["hit_id"] for row in scene.hits(ids["odd"]).values()]
    until = Suppression(NOW + timedelta(days=9), "ann", "known")
    suppressor.set(suppressor.find(accepted), until)

    for mode in ("cdf", "snapshot"):  # the first has nothing to read, the second reads everything
        found = scene.run(checks, mode=mode)
        assert (found["sane"].failing_rows, found["sane"].suppressed_rows) == (5, 2)
        assert [order_of(key) for key in found["sane"].sample_keys] == [6, 7, 8]
        assert [order_of(key) for key in found["odd"].sample_keys] == [4]
    assert found["sane"].sample_values == ("amount=96", "amount=97", "amount=98")
    over = scene.run(checks, mode="snapshot", days=10)["sane"]
    assert [order_of(key) for key in over.sample_keys] == [4, 5, 6]


def order_of(violation_key: str) -> int:
    return int(json.loads(violation_key)["order_id"][1])


def stored(scene: Scene, rule_id: str) -> list[str]:
    return [key for key, row in scene.hits(rule_id).items() if row["status"] == "open"]


@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_of_too_many_violations_some_are_stored_and_all_counted(spark, table_format):
    scene = Scene(spark, table_format)
    scene.orders.insert([order_row(number, 1, amount=99) for number in range(10, 16)])
    scene.store = replace(scene.store, max_hits_per_rule=4)
    (sane,) = scene.checks("sane")
    mode = {"mode": "cdf"}

    first = scene.run([sane], **mode)["sane"]
    assert (first.failing_rows, first.new_violations) == (7, 7)
    assert first.coverage == "capped at 4 violations"
    kept = stored(scene, first.rule_id)
    assert len(kept) == 4

    scene.orders.insert([order_row(20, 1, amount=99), order_row(21, 1, amount=99)])
    second = scene.run([sane], **mode)["sane"]
    assert second.mode_reason.startswith("changes after")
    assert (second.failing_rows, second.new_violations) == (9, 2)
    assert stored(scene, first.rule_id) == kept

    scene.orders.update(compare("amount", "=", 99), "amount", 5)
    third = scene.run([sane], **mode)["sane"]
    assert third.mode_reason.startswith("changes after")
    assert (third.failing_rows, third.new_violations) == (1, 0)
    assert third.coverage == "capped at 4 violations"

    fourth = scene.run([sane], **mode)["sane"]
    assert "all its violations may be stored again" in fourth.mode_reason
    assert (fourth.failing_rows, fourth.new_violations, fourth.coverage) == (1, 0, "")
    assert len(stored(scene, first.rule_id)) == 1
    assert scene.run([sane], **mode)["sane"].mode_reason.startswith("nothing new")


@pytest.mark.slow
def test_a_cap_holds_where_the_whole_table_is_read(spark):
    scene = Scene(spark, "delta")
    scene.orders.insert([order_row(number, 1, amount=99) for number in range(10, 16)])
    scene.store = replace(scene.store, max_hits_per_rule=4)
    (sane,) = scene.checks("sane")
    first = scene.run([sane], mode="snapshot")["sane"]
    assert (first.failing_rows, first.new_violations) == (7, 7)
    assert first.coverage == "capped at 4 violations"
    assert len(stored(scene, first.rule_id)) == 4

    scene.orders.insert([order_row(20, 1, amount=99)])
    second = scene.run([sane], mode="snapshot")["sane"]
    assert (second.failing_rows, len(stored(scene, first.rule_id))) == (8, 4)
    assert second.new_violations == 1

    scene.store = replace(scene.store, max_hits_per_rule=None)
    third = scene.run([sane], mode="snapshot")["sane"]
    assert (third.failing_rows, third.coverage) == (8, "")
    assert len(stored(scene, first.rule_id)) == 8
