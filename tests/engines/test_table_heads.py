"""Where a table stands: identity, version and folder, whichever way Spark is asked."""

from __future__ import annotations

from urllib.parse import quote as percent_encoded

import pytest

from lakeproof.engines.spark import pinning
from lakeproof.engines.spark.changes.delta import delta_abilities
from lakeproof.engines.spark.pinning import read_head
from lakeproof.model.names import TableName
from lakeproof.planning.tables import PinnedTable

TABLE = TableName(("spark_catalog", "heads", "t"))


@pytest.fixture
def table(spark, tmp_path):
    folder = tmp_path / "a folder of 100%"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.heads")
    spark.sql(
        f"CREATE TABLE {TABLE.sql} (id INT, day STRING) USING delta PARTITIONED BY (day) "
        f"LOCATION '{folder.parent.as_uri()}/{percent_encoded(folder.name)}' "
        "TBLPROPERTIES (delta.columnMapping.mode = 'name', delta.enableChangeDataFeed = true)"
    )
    yield TABLE
    spark.sql(f"DROP TABLE {TABLE.sql}")


def by_statements(spark, monkeypatch):
    """The head as a Connect session finds it."""
    with monkeypatch.context() as patched:
        patched.setattr(pinning, "is_connect", lambda _: True)
        return read_head(spark, TABLE)


def test_plan_and_statements_say_the_same_of_a_delta_table(spark, table, monkeypatch):
    created = read_head(spark, table)
    assert created == by_statements(spark, monkeypatch)
    assert created.position.value == 0
    spark.sql(f"INSERT INTO {table.sql} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"ALTER TABLE {table.sql} RENAME COLUMN id TO number")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW {table.short} AS SELECT 1 AS other")
    now = read_head(spark, table)
    assert now == by_statements(spark, monkeypatch)
    assert (now.position.value, now.table_id, now.location) == (
        2,
        created.table_id,
        created.location,
    )
    spark.catalog.dropTempView(table.short)


def test_another_table_of_the_same_name_has_another_identity(spark, table):
    before = read_head(spark, table)
    spark.sql(f"DROP TABLE {table.sql}")
    spark.sql(f"CREATE TABLE {table.sql} (id INT) USING delta")
    after = read_head(spark, table)
    assert after.position == before.position
    assert after.table_id != before.table_id


def test_no_job_is_needed_to_tell_where_a_table_stands_or_whether_it_has_a_feed(spark, table):
    for number in range(3):
        spark.sql(f"INSERT INTO {table.sql} VALUES ({number}, 'a')")
    context = spark.sparkContext
    context.setJobGroup("heads", "")
    head = read_head(spark, table)
    pinned = PinnedTable(
        table=table,
        table_id=head.table_id,
        format="delta",
        position=head.position,
        columns=(),
        relation=table.sql,
        key_columns=(),
        key_sql="",
    )
    assert delta_abilities(spark, pinned).has_feed
    context.setJobGroup("rows", "")
    spark.sql(f"TABLE {table.sql}").collect()
    context._jsc.sc().listenerBus().waitUntilEmpty()
    jobs_of = context.statusTracker().getJobIdsForGroup
    context._jsc.sc().clearJobGroup()
    assert head.position.value == 3
    assert (bool(jobs_of("heads")), bool(jobs_of("rows"))) == (False, True)
