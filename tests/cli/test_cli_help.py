from __future__ import annotations

import subprocess
import sys

import click
import pytest

from lakeproof.cli.main import COMMANDS, main

HEAVY = ("pyspark", "sqlglot", "rich", "pyarrow", "pyiceberg", "deltalake")
CALLS = (
    *((name,) for name in COMMANDS),
    ("show", "results"),
    ("show", "violations"),
    ("show", "progress"),
    ("store", "init"),
    ("store", "migrate"),
    ("store", "prune"),
    ("store", "audit"),
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "trace"),
)


def loaded_after(*arguments):
    look = (
        "import sys\nfrom lakeproof.cli.main import main\n"
        f"try: main({list(arguments)!r})\n"
        f"except SystemExit: print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_help_loads_nothing_heavy():
    assert loaded_after("--help") == "[]"


@pytest.mark.parametrize("command", ["run", "reconcile", "ledger"])
def test_help_of_a_command_loads_neither_pyspark_nor_sqlglot(command):
    assert loaded_after(command, "--help") == "[]"


def test_exactly_the_commands_that_work_are_listed(lakeproof):
    listed = lakeproof("--help").stdout.partition("Commands:")[2].split("\n")
    names = [line.split()[0] for line in listed if line.strip()]
    assert names == [
        "demo",
        "init",
        "run",
        "plan",
        "lint",
        "ls",
        "contract",
        "reconcile",
        "ledger",
        "promote",
        "show",
        "suppress",
        "store",
        "doctor",
    ]
    context = click.Context(main)
    for name in names:
        assert isinstance(main.get_command(context, name), click.Command)


@pytest.mark.parametrize("call", [(), *CALLS], ids=" ".join)
def test_each_help_is_plain_and_fits_a_screen(lakeproof, call):
    done = lakeproof(*call, "--help", env={"COLUMNS": "80"}, color=True)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) < 40
    assert max(len(line) for line in lines) <= 80
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout


def test_an_unknown_command_is_a_usage_error(lakeproof):
    done = lakeproof("rum")
    assert done.exit_code == 2
    assert done.stdout == ""


def test_the_version_is_told(lakeproof):
    import lakeproof as package

    assert lakeproof("--version").stdout == f"lakeproof, version {package.__version__}\n"
