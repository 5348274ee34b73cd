from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lakeproof.cli.main import main

_numbers = itertools.count()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder; what a command adds to the import path is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def suite_file(folder):
    """Write a module into the current folder; gives its name, which no other test has."""

    def write(text):
        name = f"suite_of_test_{next(_numbers)}"
        head = "from lakeproof.model.suite import QualityCheck\n"
        (folder / f"{name}.py").write_text(head + text, encoding="utf-8")
        return name

    return write


@pytest.fixture
def lakeproof():
    """The command line in this process: `lakeproof("lint", "a:B")` with .stdout and .stderr."""

    def invoke(*arguments, **options):
        return CliRunner().invoke(main, [str(one) for one in arguments], **options)

    return invoke


@pytest.fixture(scope="session")
def warehouse(spark):
    """The folder of the shared session: a command that names it gets that very session."""
    return Path(spark.conf.get("spark.sql.catalog.iceberg.warehouse")).parent
