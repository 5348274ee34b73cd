from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakeproof.engines.spark.session import LakehouseFolder, local_session, session_settings
from lakeproof.errors import EngineUnavailableError

HERE = Path(__file__).parent
CHILD = {**os.environ, "SPARK_DRIVER_MEMORY": "1g"}


@pytest.fixture
def folder(spark):
    return LakehouseFolder(Path(spark.conf.get("spark.sql.catalog.iceberg.warehouse")).parent)


def test_the_session_is_utc_quiet_and_small(spark):
    conf = spark.conf
    assert conf.get("spark.sql.session.timeZone") == "UTC"
    assert conf.get("spark.sql.shuffle.partitions") == "8"
    assert conf.get("spark.sql.adaptive.enabled") == "true"
    assert conf.get("spark.ui.enabled") == "false"
    assert conf.get("spark.ui.showConsoleProgress") == "false"
    assert conf.get("spark.databricks.delta.snapshotPartitions") == "1"
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"


def test_java_is_told_which_collector_to_use_unless_somebody_has(tmp_path, monkeypatch):
    for name in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    option = "spark.driver.extraJavaOptions"
    assert session_settings(tmp_path)[option].startswith("-XX:+UseParallelGC -Dlog4j2")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss4m -XX:+UseZGC")  # two would not start
    assert session_settings(tmp_path)[option].startswith("-Dlog4j2")


def test_the_same_folder_gives_the_same_session_and_another_is_refused(spark, folder, tmp_path):
    assert local_session(folder.root) is spark
    with pytest.raises(EngineUnavailableError, match=r"already has a Spark session.*stop\(\)"):
        local_session(tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"LAKEPROOF_JARS": "no-such-folder"}, "lakeproof doctor --fix"),
        ({"PATH": "", "JAVA_HOME": "", "LAKEPROOF_JAVA": "no-such-folder"}, "Java 17 to 22"),
    ],
)
def test_what_is_missing_is_said_before_anything_starts(tmp_path, environ, says):
    code = """
from lakeproof.engines.spark.session import local_session
from lakeproof.errors import EngineUnavailableError
try:
    local_session("lakehouse")
except EngineUnavailableError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environ},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert says in done.stdout
    assert not (tmp_path / "lakehouse").exists()


@pytest.mark.slow
def test_delta_tables_are_known_to_the_next_session_and_it_says_nothing(spark, folder):
    spark.sql("CREATE TABLE kept USING delta AS SELECT 1 AS id")
    spark.sql("CREATE DATABASE IF NOT EXISTS bronze")
    spark.sql("CREATE TABLE bronze.dropped USING delta AS SELECT 2 AS id")
    code = """
import sys
from lakeproof.engines.spark.session import local_session
session = local_session(sys.argv[1], cores="1")
print(session.table("kept").columns, session.table("bronze.dropped").columns)
session.sql("INSERT INTO kept VALUES (3)")
session.sql("DROP TABLE bronze.dropped")
try:
    session.table("no_such_table").collect()
except Exception as error:
    print(type(error).__name__)
session.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder.root)],
        env=CHILD,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["['id'] ['id']", "AnalysisException"], done.stderr
    assert done.stderr == ""
    assert sorted(row.id for row in spark.table("kept").collect()) == [1, 3]
    assert not (folder.delta / "bronze.db" / "dropped").exists()


@pytest.mark.parametrize("commits", [15, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_two_processes_that_commit_at_once_lose_nothing(spark, folder, commits):
    table = f"iceberg.setup.rows_{commits}"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.setup")
    spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg")
    arguments = [str(HERE / "insert_rows.py"), str(folder.root), table, str(commits), str(commits)]
    with subprocess.Popen(
        [sys.executable, *arguments],
        env=CHILD,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        assert other.stdin is not None
        other.stdin.write("go\n")
        other.stdin.flush()
        for number in range(commits):
            spark.sql(f"INSERT INTO {table} VALUES ({number})")
        _, complaints = other.communicate(timeout=300)
    assert (other.returncode, complaints) == (0, "")
    spark.sql(f"REFRESH TABLE {table}")
    ids = sorted(row.id for row in spark.table(table).collect())
    assert ids == list(range(2 * commits))
    snapshots = spark.sql(f"SELECT count(*) AS n FROM {table}.snapshots").collect()
    assert snapshots[0].n == 2 * commits
