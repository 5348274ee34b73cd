from __future__ import annotations

import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lakeproof.engines.spark.java import find_java, install_java, present_javas, use_java
from lakeproof.errors import EngineUnavailableError


def java_script(version):
    return f"""echo 'openjdk version "{version}" 2025-04-15' >&2"""


@pytest.mark.parametrize(
    ("version", "major", "fits"),
    [
        ("1.8.0_402", 8, False),
        ("11.0.22", 11, False),
        ("17", 17, True),
        ("17.0.15", 17, True),
        ("21.0.2", 21, True),
        ("22.0.1", 22, True),
        ("23.0.2", 23, False),
        ("25-ea", 25, False),
    ],
)
def test_java_fits_from_17_up_to_the_last_that_hadoop_can_use(
    tmp_path, script, version, major, fits
):
    binary = script(tmp_path / "bin" / "java", java_script(version))
    environ = {"PATH": str(binary.parent), "HOME": str(tmp_path)}
    (seen,) = present_javas(environ)
    assert (seen.version, seen.major) == (version, major)
    assert (find_java(environ) is not None) is fits


def test_java_home_wins_over_the_path(tmp_path, script):
    script(tmp_path / "home21" / "bin" / "java", java_script("21.0.2"))
    on_path = script(tmp_path / "bin" / "java", java_script("17.0.15"))
    environ = {"JAVA_HOME": str(tmp_path / "home21"), "PATH": str(on_path.parent), "HOME": ""}
    found = find_java(environ)
    assert found is not None
    assert (found.major, found.home) == (21, tmp_path / "home21")


def test_too_old_java_home_gives_way_to_the_path_and_is_taken_out_of_the_environment(
    tmp_path, script
):
    script(tmp_path / "old" / "bin" / "java", java_script("11.0.22"))
    on_path = script(tmp_path / "bin" / "java", java_script("17.0.15"))
    environ = {
        "JAVA_HOME": str(tmp_path / "old"),
        "PATH": str(on_path.parent),
        "HOME": str(tmp_path),
    }
    found = find_java(environ)
    assert found is not None
    assert (found.path, found.home) == (on_path, None)
    use_java(found, environ)
    assert "JAVA_HOME" not in environ


def test_java_in_our_cache_is_found_last_and_named_to_spark(tmp_path, script):
    home = tmp_path / ".cache" / "lakeproof" / "java" / "jdk-17.0.15+6"
    script(home / "bin" / "java", java_script("17.0.15"))
    environ = {"PATH": "", "HOME": str(tmp_path)}
    found = find_java(environ)
    assert found is not None
    use_java(found, environ)
    assert environ["JAVA_HOME"] == str(home)


@pytest.mark.parametrize(
    "body",
    [
        "echo 'Unable to locate a Java Runtime.' >&2; exit 1",
        "exit 0",
        """echo 'openjdk version "unknown"' >&2""",
        """echo 'openjdk version "17.0.15"' >&2; exit 1""",
    ],
)
def test_a_java_that_does_not_answer_as_one_is_no_java(tmp_path, script, body):
    binary = script(tmp_path / "bin" / "java", body)
    assert find_java({"PATH": str(binary.parent), "HOME": str(tmp_path)}) is None


def test_a_java_that_cannot_be_executed_is_no_java(tmp_path, script):
    binary = script(tmp_path / "home" / "bin" / "java", java_script("17.0.15"))
    binary.chmod(0o644)
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": "", "HOME": str(tmp_path)}
    assert find_java(environ) is None


def test_lines_before_the_version_do_not_hide_it(tmp_path, script):
    body = "echo 'Picked up JAVA_TOOL_OPTIONS: -Dx=1' >&2\n" + java_script("17.0.15")
    binary = script(tmp_path / "bin" / "java", body)
    found = find_java({"PATH": str(binary.parent), "HOME": str(tmp_path)})
    assert found is not None
    assert found.version == "17.0.15"


@pytest.fixture
def bare_machine(tmp_path, monkeypatch):
    """No Java, no package manager, an empty home."""
    (tmp_path / "nothing").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("LAKEPROOF_JAVA", raising=False)
    return tmp_path


class JdkError(Exception):
    pass


def test_a_missing_java_is_installed_without_root(bare_machine, monkeypatch, script):
    def install(version, path):
        return str(script(Path(path) / "jdk-17" / "bin" / "java", java_script(version)).parents[1])

    monkeypatch.setitem(sys.modules, "jdk", SimpleNamespace(install=install, JdkError=JdkError))
    said = []
    java = install_java(said.append)
    assert java.path == bare_machine / ".cache/lakeproof/java/jdk-17/bin/java"
    assert len(said) == 1
    # The unfinished folder is gone, and a second call has nothing to do.
    assert [p.name for p in (bare_machine / ".cache/lakeproof").iterdir()] == ["java"]
    assert install_java(said.append) == java
    assert len(said) == 1


def test_a_java_that_cannot_be_fetched_stops_with_the_command_to_type(bare_machine, monkeypatch):
    def install(version, path):
        raise JdkError(f"no network for {version} into {path}")

    monkeypatch.setitem(sys.modules, "jdk", SimpleNamespace(install=install, JdkError=JdkError))
    said = []
    with pytest.raises(EngineUnavailableError, match="Type: install a Java 17"):
        install_java(said.append)
    assert "no network" in said[-1]
    assert list((bare_machine / ".cache/lakeproof").iterdir()) == []


def test_as_root_the_package_manager_is_the_second_way(bare_machine, monkeypatch, script):
    programs = bare_machine / "nothing"
    script(
        programs / "apt-get",
        f'echo "$*" >> {bare_machine}/asked\n'
        'case "$*" in *openjdk-17*) exit 100;; *openjdk-21*) ;; *) exit 0;; esac\n'
        f"printf '#!/bin/sh\\n%s\\n' {shlex.quote(java_script('21.0.2'))} > {programs}/java\n"
        f"/bin/chmod +x {programs}/java",
    )
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setitem(sys.modules, "jdk", None)  # as if install-jdk were not installed
    assert install_java(lambda _: None).path == programs / "java"
    asked = (bare_machine / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["update", "install", "install"]


def test_without_root_the_package_manager_is_left_alone(bare_machine, monkeypatch, script):
    script(bare_machine / "nothing" / "apt-get", f"touch {bare_machine}/asked")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setitem(sys.modules, "jdk", None)
    with pytest.raises(EngineUnavailableError, match="sudo apt-get install -y openjdk-17-jre"):
        install_java(lambda _: None)
    assert not (bare_machine / "asked").exists()
