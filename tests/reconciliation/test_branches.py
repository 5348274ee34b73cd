"""An Iceberg branch or tag by its name: what write-audit-publish has to compare."""

from __future__ import annotations

import pytest

from lakeproof import QualityCheck, reconcile, run_check

TABLE = "iceberg.branches.orders"


@pytest.fixture(scope="module", autouse=True)
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.branches")
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS SELECT id FROM range(1, 101)")
    spark.sql(f"ALTER TABLE {TABLE} CREATE OR REPLACE BRANCH audit")
    spark.sql(f"ALTER TABLE {TABLE} CREATE OR REPLACE TAG first")
    spark.sql(f"INSERT INTO {TABLE}.branch_audit VALUES (-1)")


def test_a_branch_differs_from_its_table_by_what_was_written_to_it(spark):
    result = reconcile(spark, TABLE, f"{TABLE}.branch_audit", key="id")
    assert [sample["key"] for sample in result.metadata["samples"]] == [{"id": "-1"}]
    assert result.metric_value["source_rows"] == 100
    assert result.metric_value["missing_in_source"] == 1
    assert result.metadata["shared_files"]["rows"] == 100


def test_a_tag_is_the_snapshot_that_it_names(spark):
    assert reconcile(spark, TABLE, f"{TABLE}.tag_first", key="id").metadata["method"] == "snapshot"


def test_a_branch_can_be_checked_before_it_is_published(spark):
    check = QualityCheck("positive", "positive", f"{TABLE}.branch_audit", "id")
    assert run_check(spark, check).failing_rows == 1


def test_a_branch_that_is_not_there_is_named_with_those_that_are(spark):
    result = reconcile(spark, TABLE, f"{TABLE}.branch_audti", key="id")
    assert (result.status, result.passed) == ("error", False)
    assert result.failure_message == (
        f"Failed to query target table: {TABLE} has no branch 'audti'. It has: audit, first, main"
    )
