from __future__ import annotations

import zipfile

import pytest

from lakeproof.engines.spark import jars as jars_module
from lakeproof.engines.spark.jars import (
    EXCLUDED,
    JARS,
    jar_files,
    jar_folder,
    missing_jars,
    resolve_jars,
)
from lakeproof.errors import EngineUnavailableError


def write_jar(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")


@pytest.fixture
def spark_submit(tmp_path, monkeypatch, script):
    """A stand-in for Spark's resolver, whose body the test writes."""

    def write(body):
        monkeypatch.setattr(jars_module, "_spark_home", lambda: tmp_path / "spark")
        return script(tmp_path / "spark" / "bin" / "spark-submit", body)

    return write


def test_the_folder_is_below_home_unless_named():
    home = {"HOME": "/home/ada"}
    assert str(jar_folder(home)) == "/home/ada/.cache/lakeproof/jars"
    assert str(jar_folder({**home, "LAKEPROOF_JARS": "/srv/jars"})) == "/srv/jars"


def test_exactly_the_absent_jars_are_missing(tmp_path):
    assert missing_jars(tmp_path) == JARS
    write_jar(tmp_path / JARS[2].file_name)
    assert missing_jars(tmp_path) == (JARS[0], JARS[1], JARS[3])


def test_a_full_cache_is_used_without_the_resolver(tmp_path, spark_submit):
    spark_submit("exit 9")
    cache = tmp_path / "cache"
    for jar in JARS:
        write_jar(cache / jar.file_name)
    assert resolve_jars(cache) == jar_files(cache)


def test_the_resolver_is_asked_once_for_the_four_and_only_they_stay(tmp_path, spark_submit):
    source = tmp_path / "source"
    for jar in JARS:
        write_jar(source / jar.file_name)
    write_jar(source / "org.slf4j_slf4j-api-1.0.jar")
    spark_submit(
        f'echo "$@" >> {tmp_path}/arguments\n'
        'for word in "$@"; do case $word in spark.jars.ivy=*) ivy=${word#*=};; esac; done\n'
        f'mkdir "$ivy/jars" && cp {source}/* "$ivy/jars"'
    )
    cache = tmp_path / "cache"
    assert resolve_jars(cache) == jar_files(cache)
    assert resolve_jars(cache) == jar_files(cache)
    assert sorted(cache.iterdir()) == sorted(jar_files(cache))
    (asked,) = (tmp_path / "arguments").read_text().splitlines()
    assert f"--packages {','.join(jar.coordinate for jar in JARS)} " in asked
    assert f"--exclude-packages {','.join(EXCLUDED)} " in asked


def test_a_torn_download_never_becomes_a_jar(tmp_path, spark_submit):
    source = tmp_path / "source"
    for jar in JARS:
        write_jar(source / jar.file_name)
    torn = source / JARS[3].file_name
    torn.write_bytes(torn.read_bytes()[:40])
    spark_submit(
        'for word in "$@"; do case $word in spark.jars.ivy=*) ivy=${word#*=};; esac; done\n'
        f'mkdir "$ivy/jars" && cp {source}/* "$ivy/jars"'
    )
    cache = tmp_path / "cache"
    with pytest.raises(EngineUnavailableError, match=r"sqlite-jdbc:3\.50\.3\.0 as a whole file"):
        resolve_jars(cache)
    assert missing_jars(cache) == (JARS[3],)
    assert not list(cache.glob(".resolving-*"))


def test_a_resolver_that_fails_says_why_and_leaves_nothing(tmp_path, spark_submit):
    spark_submit("echo ':: module not found: io.delta#delta-storage;4.4.0' >&2; exit 1")
    cache = tmp_path / "cache"
    with pytest.raises(EngineUnavailableError, match=r"module not found: io\.delta#delta-storage"):
        resolve_jars(cache)
    assert list(cache.iterdir()) == []
