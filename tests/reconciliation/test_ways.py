"""Tables that need not be read in full: one snapshot on both sides, and files in common."""

from __future__ import annotations

from shutil import copytree

import pytest

from lakeproof.reconciliation import ChecksumReconciliationCheck

ROWS = "SELECT id, concat('name ', id) AS name FROM range(500)"


def compared(spark, source, target, **choices):
    result = ChecksumReconciliationCheck(source, target, ["id"], **choices).run(spark)
    assert result.status != "error", result.failure_message
    return result


@pytest.mark.usefixtures("interpreted")
def test_one_snapshot_on_both_sides_agrees_and_still_must_not_repeat_a_key(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.ways")
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.ways.one USING iceberg AS {ROWS}")
    table = "iceberg.ways.one"
    for policy in ("fail", "multiset"):
        result = compared(spark, table, table, duplicate_policy=policy)
        assert result.passed
        assert result.metadata["method"] == "snapshot"
        assert ("uniqueness" in result.metadata) is (policy == "fail")
        assert result.metric_value["total_keys"] == result.metric_value["source_rows"] == 500
    spark.sql("INSERT INTO iceberg.ways.one VALUES (7, 'name 7')")
    repeated = compared(spark, table, table)
    assert not repeated.passed
    assert repeated.metadata["method"] == "hash_join"
    assert repeated.metadata["method_reason"] == "keys of the source repeat"
    assert repeated.metric_value["surplus_rows"] == 2
    assert compared(spark, table, table, duplicate_policy="multiset").passed
    check = ChecksumReconciliationCheck(table, table, ["id"], duplicate_policy="error")
    refused = check.run(spark)
    assert (refused.status, refused.metric_value) == ("error", {})
    assert refused.metadata["duplicate_keys_source"] == 1, "what was counted is told"


@pytest.mark.usefixtures("interpreted")
def test_a_copied_delta_folder_is_another_table_though_it_has_the_same_id(spark, tmp_path):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.ways")
    names = [f"spark_catalog.ways.{name}" for name in ("first", "second")]
    spark.sql(ROWS).write.format("delta").save(str(tmp_path / "first"))
    copytree(tmp_path / "first", tmp_path / "second")
    for name in names:
        folder = tmp_path / name.rpartition(".")[2]
        spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{folder}'")
    spark.sql(f"UPDATE {names[0]} SET name = 'one' WHERE id = 7")
    spark.sql(f"UPDATE {names[1]} SET name = 'two' WHERE id = 7")
    result = compared(spark, *names)
    positions = result.metadata["positions"]
    assert positions["source"] == positions["target"]
    assert result.metadata["method"] == "cells"
    assert result.metric_value["hash_mismatches"] == 1
    for name in names:
        spark.sql(f"DROP TABLE {name}")


@pytest.mark.slow  # test_shared_files holds what a clone shares, in every form
@pytest.mark.usefixtures("interpreted")
def test_files_that_a_clone_shares_are_left_out_and_the_numbers_stay_whole(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.ways")
    origin, clone = "spark_catalog.ways.origin", "spark_catalog.ways.clone"
    spark.sql(f"CREATE OR REPLACE TABLE {origin} USING delta AS {ROWS}")
    spark.sql(f"CREATE OR REPLACE TABLE {clone} SHALLOW CLONE {origin}")
    same = compared(spark, origin, clone)
    assert same.passed
    assert same.metadata["shared_files"]["rows"] == 500
    assert same.metric_value["shared_keys"] == 500
    spark.sql(f"INSERT INTO {clone} VALUES (900, 'new'), (7, 'again')")
    for policy, method, wanted in (
        ("multiset", "cells", {"missing_in_source": 1, "surplus_rows": 1, "total_keys": 502}),
        ("fail", "hash_join", {"missing_in_source": 1, "surplus_rows": 1, "total_keys": 501}),
    ):
        whole = {"source_rows": 500, "target_rows": 502, **wanted}
        result = compared(spark, origin, clone, duplicate_policy=policy)
        assert result.metadata["method"] == method
        assert result.metadata["shared_files"]["rows"] == 500
        assert whole.items() <= result.metric_value.items()
