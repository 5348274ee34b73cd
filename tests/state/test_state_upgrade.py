"""A store of an older version is read as it is, and brought up by the next run."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from lakeproof import faults
from lakeproof.config import SessionSettings
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import Standing
from lakeproof.state import literals, open_store
from lakeproof.state.reading import Among, Question, SparkReader
from lakeproof.state.statements import result_of_row, result_row
from lakeproof.state.store import Move, TableWork
from lakeproof.state.tables import SCHEMA_VERSION, TABLES
from lakeproof.state.without_spark import reader_without_spark

START = datetime(2026, 3, 1, 12)  # noqa: DTZ001 (state holds UTC without zone)
INCREMENTAL = ["suppressed_rows", "coverage", "method", "files_read"]
NEW = {
    "1": [
        *("new_violations", "sample_keys", "sample_values", "measures", "source", "declared"),
        *INCREMENTAL,
    ],
    "2": ["declared", *INCREMENTAL],
    "3": INCREMENTAL,
    "4": [],
    "5": [],
}
"""The columns of results that a version does not have."""

TILES = {"tile", "tile_key"}
"""The columns of the key index that came after version 4."""

BEFORE_4 = {
    "violations": [
        "hit_id",
        "rule_id",
        "table_fqn",
        "violation_key",
        "status",
        "occurrences",
        "first_seen",
        "last_seen",
        "resolved_at",
        "reopen_count",
        "first_run_id",
        "last_run_id",
        "reopened_run_id",
        "first_position",
        "last_position",
        "batch_seq",
    ],
    "progress": [
        "table_id",
        "table_fqn",
        "group_id",
        "rule_id",
        "mode",
        "position",
        "batch_seq",
        "run_id",
        "updated_at",
    ],
    "key_index": [],
}
"""The columns of the other tables up to version 3, in their order; without any, no table."""


@pytest.fixture(params=["3", "5", *(pytest.param(one, marks=pytest.mark.slow) for one in "124")])
def version(request):
    return request.param


def old_progress(scene):
    return {
        "table_id": "uuid",
        "table_fqn": str(scene.table),
        "group_id": "suite",
        "rule_id": scene.rule,
        "mode": "snapshot",
        "position": Position("iceberg", 7).to_json(),
        "batch_seq": 3,
        "run_id": "before",
        "updated_at": START,
    }


@pytest.fixture
def old(spark, scene, make_result, version):
    """The settings of a store as that version made it, with one result in it."""
    settings = replace(scene.settings, namespace=f"old_{scene.table.short}")
    space = f"{settings.catalog}.{settings.namespace}"
    spark.sql(f"CREATE NAMESPACE {space}")
    for kind, table in TABLES.items():
        tiles = TILES if version < "5" else ()
        names = [c.name for c in table.columns if c.name not in {*NEW[version], *tiles}]
        if version < "4":
            names = BEFORE_4.get(kind, names)
        if not names:
            continue
        columns = {column.name: column for column in table.columns}
        before = replace(table, columns=tuple(columns[name] for name in names))
        name = TableName.parse(f"{space}.{settings.tables[kind]}")
        ddl = before.ddl(name, settings.format, {})
        assert f"schema_version' = '{SCHEMA_VERSION}'" in ddl
        now = f"schema_version' = '{SCHEMA_VERSION}'"
        spark.sql(ddl.replace(now, f"schema_version' = '{version}'"))
        rows = {
            "results": [result_row(make_result(run_id="before", tags=("a",)))],
            "progress": [old_progress(scene)],
        }
        if kind in rows:
            spark.sql(f"INSERT INTO {name.sql} {literals.rows(before, rows[kind])}").collect()
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
        if spark.catalog.tableExists(name)
        for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        if row["key"] == "lakeproof.schema_version"
    }


def test_an_old_store_is_read_with_nothing_where_it_has_no_column(spark, old, version, make_result):
    for reader in readers(spark, old):
        (row,) = reader.ask(Question("results", (Among(("run_id",), ("before",)),))).rows
        assert all(row[name] is None for name in NEW[version])
        assert list(row) == [column.name for column in TABLES["results"].columns]
        expected = make_result(
            run_id="before", tags=("a",), executed_at="2026-03-01 12:00:00.123456"
        )
        assert result_of_row(row) == expected
    assert versions(spark, old) == {version}, "reading changes nothing"


def crash():
    """The columns are there, but not the version that promises them."""
    raise faults.FaultInjectedError


def assert_progress_goes_on(store, scene):
    """A rule stands where it stood, without numbers, and moves on from there."""
    mark = Mark("uuid", Position("iceberg", 7))
    known = store.progress([scene.rule])[scene.rule]
    assert (known.mark, known.standing, known.batch_seq) == (mark, None, 3)
    work = TableWork(scene.table, "uuid", "suite", (scene.rule,), Position("iceberg", 8))
    batches = store.begin("next", [work], START)
    moved = replace(batches[0], batch_seq=4)
    further = Mark("uuid", Position("iceberg", 8))
    move = Move(scene.rule, Mode.CDF, further, Standing(rows=5), previous=3, suite="checks")
    store.commit([moved], "next", [move], START)
    (known,) = store.progress_of_suite("checks", scene.table)
    assert (known.mark, known.standing, known.batch_seq) == (further, Standing(rows=5), 4)


def test_a_run_brings_an_old_store_up_and_keeps_its_rows(spark, old, scene, make_result):
    store = open_store(spark, old)
    with faults.armed("during_upgrade", crash), pytest.raises(faults.FaultInjectedError):
        store.prepare()
    assert not store.exists()
    store.prepare()
    assert store.exists()
    assert versions(spark, old) == {str(SCHEMA_VERSION)}
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
    assert_progress_goes_on(store, scene)
    for reader in readers(spark, old):
        rows = reader.ask(Question("results", order=("executed_at", "run_id"))).rows
        after, before = [result_of_row(row) for row in rows]
        assert after == result
        assert (before.run_id, before.new_violations, before.sample_keys) == ("before", None, ())
        assert before.declared == {}
    open_store(spark, old).prepare()
    assert versions(spark, old) == {str(SCHEMA_VERSION)}


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
    assert versions(spark, old) == {str(SCHEMA_VERSION)}
    found = spark.sql(f"SELECT * FROM {old.catalog}.{old.namespace}._quality_results").columns
    assert found == [column.name for column in TABLES["results"].columns]
