from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import lakeproof
from lakeproof.cli.main import main

PACKAGE = Path(lakeproof.__file__).parent
RUN = "from lakeproof.cli.doctor import doctor; doctor()"


def run_python(*arguments, **environ):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare_environment(tmp_path):
    """No Java and no package manager on the PATH, an empty home."""
    return {
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        "JAVA_HOME": "",
        "LAKEPROOF_JARS": "",
        "LAKEPROOF_JAVA": "",
    }


@pytest.fixture
def core_only(tmp_path):
    """A folder with Lakeproof and click and nothing else that is not Python's own."""
    folder = tmp_path / "core-only"
    folder.mkdir()
    (folder / "lakeproof").symlink_to(PACKAGE)
    (folder / "click").symlink_to(Path(click.__file__).parent)
    return folder


def test_eleven_lines_and_exit_0_where_all_is_there():
    outcome = CliRunner().invoke(main, ["doctor"])
    assert outcome.exit_code == 0, outcome.output
    lines = outcome.output.splitlines()
    assert len(lines) == 11
    assert not [line for line in lines if line.startswith("MISSING")]


def test_without_java_and_jars_it_exits_3_and_names_the_command(bare_environment):
    done = run_python("-c", RUN, **bare_environment)
    assert done.returncode == 3
    missing = [line for line in done.stdout.splitlines() if line.startswith("MISSING")]
    assert [line.split()[1] for line in missing] == ["java", "delta", "iceberg"]
    assert all("-> lakeproof doctor --fix" in line for line in missing)
    assert done.stderr == ""


def test_without_pyspark_it_works_and_names_the_command(core_only):
    hidden = f"import sys; sys.path.insert(0, {str(core_only)!r}); {RUN}"
    done = run_python("-I", "-S", "-c", hidden)
    assert done.returncode == 3, done.stderr
    lines = {line.split()[1]: line for line in done.stdout.splitlines()}
    assert "not installed  -> pip install 'lakeproof[spark,delta,iceberg]'" in lines["pyspark"]
    assert lines["pyiceberg"].startswith("- ")
    assert lines["deltalake"].startswith("- ")


def test_fix_without_pyspark_says_what_to_install_first(core_only, tmp_path):
    hidden = f"import sys; sys.path.insert(0, {str(core_only)!r}); {RUN}"
    empty = str(tmp_path / "no-jars")
    done = run_python("-I", "-S", "-c", hidden, "--fix", LAKEPROOF_JARS=empty)
    assert done.returncode == 3
    assert "Not mended: pyspark is not installed" in done.stderr
    assert "iceberg-spark-runtime" in done.stdout


def test_it_never_loads_pyspark():
    watch = "import sys, atexit; atexit.register(lambda: print('pyspark' in sys.modules)); "
    done = run_python("-c", watch + RUN)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("file", "text", "seen"),
    [
        ("lakeproof.toml", "", "lakeproof.toml"),
        ("pyproject.toml", "[tool.lakeproof]\n", "pyproject.toml"),
        ("pyproject.toml", "[tool.other]\n", "none here, the defaults apply"),
        ("pyproject.toml", "[tool\n", "not valid TOML"),
    ],
)
def test_the_configuration_in_the_folder_is_named(tmp_path, monkeypatch, file, text, seen):
    (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(main, ["doctor"])
    (line,) = [line for line in outcome.output.splitlines() if " configuration " in line]
    assert seen in line


def test_importing_lakeproof_loads_neither_pyspark_nor_sqlglot():
    look = "import sys, lakeproof; print({'pyspark', 'sqlglot'} & set(sys.modules))"
    assert run_python("-c", look).stdout.strip() == "set()"
