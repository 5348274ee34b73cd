"""`lakeproof doctor`: what is there, what is missing, what to type. Never starts Spark."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

import lakeproof
from lakeproof.config import find_config, load_config
from lakeproof.engines.spark.jars import (
    DELTA_JARS,
    ICEBERG_JARS,
    jar_folder,
    missing_jars,
    resolve_jars,
)
from lakeproof.engines.spark.java import (
    JAVA_WANTED,
    find_java,
    install_java,
    manual_command,
    present_javas,
)
from lakeproof.engines.spark.session import PYSPARK_SERIES
from lakeproof.errors import ConfigError, EngineUnavailableError

if TYPE_CHECKING:
    from lakeproof.engines.spark.jars import Jar

EXIT_MISSING = 3
_FIX = "lakeproof doctor --fix"
_INSTALL = "pip install 'lakeproof[spark,delta,iceberg]'"
_PYTHON_MIN, _PYTHON_END = (3, 11), (3, 14)


class State(Enum):
    """What a finding means for the embedded lakehouse."""

    OK = "ok"
    OPTIONAL = "-"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor: a part, its state, and the command that mends it ('' if none)."""

    part: str
    state: State
    seen: str
    mend: str = ""

    def __str__(self) -> str:
        arrow = f"  -> {self.mend}" if self.mend else ""
        return f"{self.state.value:<8} {self.part:<13} {self.seen}{arrow}"


@click.command()
@click.option("--fix", is_flag=True, help="Install Java and fetch the jars if they are missing.")
def doctor(*, fix: bool) -> None:
    """Say what is there, what is missing and what to type. Exit 3 if something is missing."""
    if fix:
        try:
            install_java(click.echo)
            if missing_jars():
                click.echo(f"Jars: fetching into {jar_folder()} ...")
                resolve_jars()
        except EngineUnavailableError as error:
            # The findings below still name everything else that is missing.
            click.echo(f"Not mended: {error}", err=True)
    found = examine(Path.cwd())
    for finding in found:
        click.echo(str(finding))
    if any(finding.state is State.MISSING for finding in found):
        sys.exit(EXIT_MISSING)


def examine(folder: Path) -> tuple[Finding, ...]:
    """Every part that the embedded lakehouse needs or can use, looked at without importing it."""
    return (
        Finding("lakeproof", State.OK, lakeproof.__version__),
        _python(),
        _java(),
        _pyspark(),
        _jars("delta jars", DELTA_JARS),
        _jars("iceberg jars", ICEBERG_JARS),
        _jar_folder(),
        _reader("pyiceberg", "reads Iceberg state without Spark", "pyiceberg[sql-sqlite,pyarrow]"),
        _reader("deltalake", "reads Delta state without Spark", "deltalake"),
        _reader("xxhash", "verifies ledgers without Spark", "lakeproof[ledger]"),
        _configuration(folder),
    )


def _python() -> Finding:
    seen = ".".join(str(part) for part in sys.version_info[:3])
    if _PYTHON_MIN <= sys.version_info[:2] < _PYTHON_END:
        return Finding("python", State.OK, f"{seen}  {sys.executable}")
    return Finding("python", State.MISSING, f"{seen} is not 3.11 to 3.13", "use Python 3.13")


def _java() -> Finding:
    java = find_java()
    if java is not None:
        return Finding("java", State.OK, f"{java.version}  {java.path}")
    others = ", ".join(f"{other.path} is {other.version}" for other in present_javas())
    seen = f"{JAVA_WANTED} needed, {others or 'none found'}"
    return Finding("java", State.MISSING, seen, f"{_FIX}, or {manual_command()}")


def _pyspark() -> Finding:
    installed = _installed_version("pyspark")
    if installed is None:
        return Finding("pyspark", State.MISSING, "not installed", _INSTALL)
    if not installed.startswith(f"{PYSPARK_SERIES}."):
        seen = f"{installed}; the embedded lakehouse needs {PYSPARK_SERIES}"
        return Finding("pyspark", State.MISSING, seen, _INSTALL)
    return Finding("pyspark", State.OK, installed)


def _jars(part: str, jars: tuple[Jar, ...]) -> Finding:
    absent = set(missing_jars())
    named = ", ".join(f"{jar.artifact} {jar.version}" for jar in jars if jar in absent)
    if named:
        return Finding(part, State.MISSING, named, _FIX)
    return Finding(part, State.OK, ", ".join(f"{jar.artifact} {jar.version}" for jar in jars))


def _jar_folder() -> Finding:
    folder = jar_folder()
    # Its lack is already reported with the jars that should be in it.
    state = State.OK if folder.is_dir() else State.OPTIONAL
    return Finding("jar folder", state, f"{folder}  (LAKEPROOF_JARS names another)")


def _reader(package: str, use: str, requirement: str) -> Finding:
    installed = _installed_version(package)
    if installed is None:
        seen = f"not installed ({use})"
        return Finding(package, State.OPTIONAL, seen, f"pip install '{requirement}'")
    return Finding(package, State.OK, installed)


def _configuration(folder: Path) -> Finding:
    try:
        found = find_config(folder)
        if found is None:
            return Finding("configuration", State.OPTIONAL, "none here, the defaults apply")
        load_config(found)
    except ConfigError as problem:
        return Finding("configuration", State.MISSING, str(problem), "mend the file")
    return Finding("configuration", State.OK, str(found))


def _installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    doctor()
