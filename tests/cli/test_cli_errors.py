from __future__ import annotations

import pytest

from lakeproof import errors
from lakeproof.cli import lint
from lakeproof.cli.main import EXIT_CODES, exit_code_of


def every_error():
    return [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.LakeproofError)
    ]


@pytest.fixture
def failing_lint(lakeproof, monkeypatch):
    """`lakeproof lint` that raises in the middle of its work."""

    def invoke(problem, *options):
        def raises(_):
            raise problem

        monkeypatch.setattr(lint, "load_suites", raises)
        return lakeproof("lint", "a:B", *options)

    return invoke


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.ConfigError, 2),
        (errors.SuiteError, 2),
        (errors.EngineUnavailableError, 3),
        (errors.StateSchemaError, 3),
        (errors.AlreadyRunningError, 4),
        (errors.FencedError, 4),
        (errors.GateClosedError, 1),
        (errors.LakeproofError, 3),
        (RuntimeError, 3),
        (MemoryError, 3),
    ],
)
def test_each_error_has_its_exit_code_and_one_line(failing_lint, kind, code):
    done = failing_lint(kind("what\nwhere \x1b[31m next"))
    assert done.exit_code == code
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("lakeproof: ")
    assert "\x1b" not in line


def test_codes_are_those_that_the_error_tree_draws():
    for line in (errors.__doc__ or "").splitlines():
        name, _, code = line.strip("│├└─ ").partition(" ")
        if "exit" in code and hasattr(errors, name):
            assert exit_code_of(getattr(errors, name)()) == int(code.split()[-1])
    assert set(EXIT_CODES) <= set(every_error())


def test_an_unexpected_error_shows_its_trace_only_with_v(failing_lint):
    assert "Traceback" not in failing_lint(RuntimeError("boom")).stderr
    told = failing_lint(RuntimeError("boom"), "-v").stderr
    assert "Traceback" in told
    assert told.splitlines()[-1] == "lakeproof: unexpected RuntimeError: boom (-v shows where)"


def test_ctrl_c_exits_130(failing_lint):
    done = failing_lint(KeyboardInterrupt())
    assert (done.exit_code, done.stderr) == (130, "lakeproof: interrupted\n")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("run",), "Missing argument 'SUITE...'"),
        (("run", "a:B", "--store", "parquet"), "'parquet' is not one of"),
        (("run", "a:B", "--timeout", "0"), "--timeout"),
        (("run", "a:B", "--fail-on", "info"), "'info' is not one of"),
        (("run", "a:B", "--key", "sales"), "'sales' is not of the form table=column"),
        (("run", "a:B", "--key", "sales=a,,b"), "is not of the form table=column"),
        (("run", "a:B", "--key", "s=a", "--key", "s=b"), "the key of 's' is given twice"),
        (("run", "a:B", "--warehouse", "x", "--remote", "sc://y"), "not both"),
        (("run", "a:B", "--config", "none.toml"), "none.toml: cannot be read"),
        (("show", "results", "--limit", "0"), "--limit"),
        (("show", "violations", "--status", "closed"), "'closed' is not one of"),
        (("show", "results"), "no lakehouse in 'lakehouse'"),
    ],
)
def test_usage_errors_exit_2_before_anything_starts(lakeproof, folder, call, told):
    done = lakeproof(*call)
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stdout == ""
    assert list(folder.iterdir()) == []


def test_a_typo_in_the_configuration_exits_2_and_names_the_nearest_key(lakeproof, folder):
    (folder / "lakeproof.toml").write_text("defalt_catalog = 'x'\n", encoding="utf-8")
    done = lakeproof("lint", "a:B")
    assert done.exit_code == 2
    assert "Did you mean 'default_catalog'?" in done.stderr
