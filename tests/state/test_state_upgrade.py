"""A store of an older version is read as it is, and brought up by the next run."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lakeproof.config import SessionSettings
from lakeproof.model.names import TableName
from lakeproof.state import literals, open_store
from lakeproof.state.reading import Among, Question, SparkReader
from lakeproof.state.statements import result_of_row, result_row
from lakeproof.state.tables import TABLES
from lakeproof.state.without_spark import reader_without_spark

NEW = {
    "1": ["new_violations", "sample_keys", "sample_values", "measures", "source", "declared"],
    "2": ["declared"],
}
"""The columns of results that a version does not have."""


@pytest.fixture(params=NEW)
def version(request):
    return request.param


@pytest.fixture
def old(spark, scene, make_result, version):
    """The settings of a store as that version made it, with one result in it."""
    settings = replace(scene.settings, namespace=f"old_{scene.table.short}")
    space = f"{settings.catalog}.{settings.namespace}"
    spark.sql(f"CREATE NAMESPACE {space}")
    for kind, table in TABLES.items():
        columns = tuple(column for column in table.columns if column.name not in NEW[version])
        before = replace(table, columns=columns)
        name = TableName.parse(f"{space}.{settings.tables[kind]}")
        ddl = before.ddl(name, settings.format, {})
        assert "schema_version' = '3'" in ddl
        spark.sql(ddl.replace("schema_version' = '3'", f"schema_version' = '{version}'"))
        if kind == "results":
            row = result_row(make_result(run_id="before", tags=("a",)))
            spark.sql(f"INSERT INTO {name.sql} {literals.rows(before, [row])}").collect()
    return settings


def readers(spark, settings):
    folder = Path(spark.conf.get("spark.sql.catalog.iceberg.warehouse")).parent
    quick = reader_without_spark(SessionSettings(warehouse=str(folder)), settings)
    assert quick is not None
    return [quick, SparkReader(open_store(spark, settings))]


def versions(spark, settings):
    names = [f"{settings.catalog}.{settings.namespace}.{name}" for name in settings.tables.values()]
    return {
        row["value"]
        for name in names
        for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        if row["key"] == "lakeproof.schema_version"
    }


def test_an_old_store_is_read_with_nothing_where_it_has_no_column(spark, old, version, make_result):
    for reader in readers(spark, old):
        (row,) = reader.ask(Question("results", (Among(("run_id",), ("before",)),))).rows
        assert {row[name] for name in NEW[version]} == {None}
        assert list(row) == [column.name for column in TABLES["results"].columns]
        expected = make_result(
            run_id="before", tags=("a",), executed_at="2026-03-01 12:00:00.123456"
        )
        assert result_of_row(row) == expected
    assert versions(spark, old) == {version}, "reading changes nothing"


def test_a_run_brings_an_old_store_up_and_keeps_its_rows(spark, old, make_result):
    store = open_store(spark, old)
    store.prepare()
    assert versions(spark, old) == {"3"}
    result = make_result(
        run_id="after",
        executed_at="2026-03-01 12:00:00.123456",
        new_violations=3,
        sample_keys=("k",),
        sample_values=("v",),
        measures={"rows": 2.0},
        measure=0.5,
        try_number=2,
        source="checks.py:7",
        declared={"id": "rows", "schedule": "0 6 * * *"},
    )
    assert store.record_results([result]) == 1
    for reader in readers(spark, old):
        rows = reader.ask(Question("results", order=("executed_at", "run_id"))).rows
        after, before = [result_of_row(row) for row in rows]
        assert after == result
        assert (before.run_id, before.new_violations, before.sample_keys) == ("before", None, ())
        assert before.declared == {}
    open_store(spark, old).prepare()
    assert versions(spark, old) == {"3"}


def test_two_drivers_bring_it_up_at_once(spark, old):
    start = threading.Barrier(2)
    problems = []

    def drive(session):
        store = open_store(session, old)
        start.wait()
        try:
            store.prepare()
        except Exception as problem:  # noqa: BLE001 (told by the assertion below)
            problems.append(problem)

    threads = [
        threading.Thread(target=drive, args=(session,)) for session in (spark, spark.newSession())
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert versions(spark, old) == {"3"}
    found = spark.sql(f"SELECT * FROM {old.catalog}.{old.namespace}._quality_results").columns
    assert found == [column.name for column in TABLES["results"].columns]
