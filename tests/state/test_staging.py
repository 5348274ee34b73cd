"""Results that are put aside by one process and recorded by another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from lakeproof import CheckResult, CheckStatus, QualityCheck, faults, run_checks
from lakeproof.config import StoreSettings
from lakeproof.errors import ConfigError, EngineUnavailableError
from lakeproof.state import open_store
from lakeproof.state.staging import StagingStore

TABLE = "iceberg.staging.orders"
CHECKS = [
    QualityCheck("code_present", "not_null", TABLE, "code"),
    QualityCheck("id_unique", "uniqueness", TABLE, "order_id"),
]
KEYS = {TABLE: ["order_id"]}
SETTINGS = StoreSettings(namespace="staging")


@dataclass
class MemoryStage:
    documents: dict = field(default_factory=dict)

    def read(self, run_id):
        return self.documents.get(run_id)

    def write(self, run_id, results):
        self.documents[run_id] = list(results)


@pytest.fixture(scope="module", autouse=True)
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.staging")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS "
        "SELECT * FROM VALUES (1, 'a'), (2, NULL), (3, 'b') AS t(order_id, code)"
    )


def run(spark, stage, run_id, checks=CHECKS, mode="auto"):
    store = StagingStore(spark, SETTINGS, stage, run_id)
    return run_checks(spark, checks, store=store, run_id=run_id, keys=KEYS, mode=mode)


def kept(spark, run_id):
    rows = open_store(spark, SETTINGS).results_frame(run_id).collect()
    return {row["rule_key"]: (row["status"], row["new_violations"]) for row in rows}


def die():
    raise faults.FaultInjectedError


def test_a_killed_run_keeps_what_it_staged_first_and_nothing_is_recorded_before(spark):
    stage = MemoryStage()
    # As a killed process leaves it: staged, and progress not moved.
    with faults.armed("after_results", die), pytest.raises(faults.FaultInjectedError):
        run(spark, stage, "killed")
    first = stage.read("killed")
    assert [result.new_violations for result in first] == [1, 0]
    assert kept(spark, "killed") == {}

    outcome = run(spark, stage, "killed")

    assert stage.read("killed") == first
    assert len(outcome.results) == 2
    store = open_store(spark, SETTINGS)
    assert [store.record_results(first), store.record_results(first)] == [2, 0]
    assert kept(spark, "killed") == {"code_present": ("failed", 1), "id_unique": ("passed", 0)}


@pytest.mark.slow
def test_a_retry_after_a_commit_says_what_was_staged_and_the_next_run_sees_the_commit(spark):
    stage = MemoryStage()
    run(spark, stage, "before", mode="cdf")
    run(spark, stage, "retried", mode="cdf")  # takes no lease
    first = stage.read("retried")
    assert all(result.mode_reason.startswith("nothing new since") for result in first)
    spark.sql(f"INSERT INTO {TABLE} VALUES (4, NULL)")
    try:
        outcome = run(spark, stage, "retried", mode="cdf")
        assert (list(outcome.results), stage.read("retried")) == (first, first)
        assert [result.failing_rows for result in first] == [1, 0]
        assert outcome.violations().count() == 1

        seen = run(spark, stage, "after", mode="cdf").results
        assert [(one.failing_rows, one.new_violations) for one in seen] == [(2, 1), (0, 0)]
    finally:
        spark.sql(f"DELETE FROM {TABLE} WHERE order_id = 4")


def test_a_run_of_nothing_stages_a_document_too(spark):
    stage = MemoryStage()
    run_checks(
        spark, [], store=StagingStore(spark, SETTINGS, stage, "of-nothing"), run_id="of-nothing"
    )
    assert stage.documents == {"of-nothing": []}


@pytest.mark.slow
def test_a_repeated_run_of_other_rules_is_refused(spark):
    stage = MemoryStage()
    run(spark, stage, "changed")
    other = [QualityCheck("code_present", "not_null", TABLE, "order_id")]
    with pytest.raises(ConfigError, match="was used before"):
        run(spark, stage, "changed", other)


def test_errors_of_a_lost_engine_are_not_staged_so_that_a_retry_may_do_better():
    class LostEngine:
        def sql(self, _):
            raise ConnectionRefusedError("no server")

    passed = CheckResult(
        "code_present", "not_null", "orders", "code", CheckStatus.PASSED, 0, 3, "", "2026-01-01",
        run_id="lost", rule_key="code_present",
    )  # fmt: skip
    broken = replace(passed, status=CheckStatus.ERROR, rule_key="id_unique")
    stage = MemoryStage()
    store = StagingStore(LostEngine(), SETTINGS, stage, "lost")
    with pytest.raises(EngineUnavailableError, match="without an engine that answers"):
        store.record_results([passed, broken])
    assert stage.documents == {}
    assert store.record_results([passed]) == 1  # what was evaluated stands
