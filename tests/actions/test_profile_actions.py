from __future__ import annotations

import pytest
from executions import counted_executions

from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.profile import profile_table
from lakeproof.model.names import TableName


@pytest.fixture(scope="module")
def people(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.profiled")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.profiled.people USING iceberg AS SELECT "
        "id, concat('s', id % 3) AS state, CAST(id AS DOUBLE) / 7 AS share, "
        "concat(id, '@example.org') AS email, current_date() AS day FROM range(1000)"
    )
    return TableName(("iceberg", "profiled", "people"))


def test_a_profile_is_one_scan_and_one_look_at_keys_and_values(spark, people):
    with counted_executions(spark, str(people)) as counted:
        profile = profile_table(SparkEngine(spark), people)
    assert len(counted.reading) == 2
    found = {column.column.name: column for column in profile.columns}
    assert profile.rows == 1000
    assert found["id"].is_unique
    assert found["state"].values == ("s0", "s1", "s2")
    assert (found["share"].low, found["share"].high) == (0.0, 999 / 7)


def test_of_private_columns_only_counts_are_fetched(spark, people):
    profile = profile_table(SparkEngine(spark), people, sensitive=["STATE", "share"])
    for column in profile.columns:
        if column.column.name in {"email", "state", "share"}:
            assert column.private
            assert (column.low, column.high, column.values) == (None, None, None)
            assert column.nulls == 0


def test_a_table_with_nothing_promising_is_read_once(spark, people):
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.profiled.plain USING iceberg AS "
        "SELECT CAST(id % 7 AS DOUBLE) AS x FROM range(100)"
    )
    table = TableName(("iceberg", "profiled", "plain"))
    with counted_executions(spark, str(table)) as counted:
        profile_table(SparkEngine(spark), table)
    assert len(counted.reading) == 1
