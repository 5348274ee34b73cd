"""Completion as a shell sees it; the installed files are those of a home of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = {
    "bash": ".local/share/bash-completion/completions/lakeproof",
    "zsh": ".zfunc/_lakeproof",
    "fish": ".config/fish/completions/lakeproof.fish",
}
START_FILES = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_second_installation_changes_nothing(lakeproof, home, shell):
    first = lakeproof("--install-completion", shell)
    assert first.exit_code == 0, first.output
    assert str(home / SCRIPTS[shell]) in first.stdout
    assert f"exec {shell}" in first.stdout
    before = {path: path.read_text() for path in home.rglob("*") if path.is_file()}
    assert set(before) == {
        home / name for name in (SCRIPTS[shell], START_FILES.get(shell)) if name is not None
    }
    second = lakeproof("--install-completion", shell)
    assert second.exit_code == 0
    assert {path: path.read_text() for path in home.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("shell", SCRIPTS)
def test_what_is_shown_is_what_would_be_installed_and_nothing_is_written(lakeproof, home, shell):
    shown = lakeproof("--show-completion", shell)
    assert shown.exit_code == 0
    assert not list(home.iterdir())
    lakeproof("--install-completion", shell)
    assert (home / SCRIPTS[shell]).read_text() == shown.stdout
    assert f"_LAKEPROOF_COMPLETE={shell}_complete" in shown.stdout


def test_the_start_file_keeps_what_it_had(lakeproof, home):
    (home / ".bashrc").write_text("alias a=b")
    lakeproof("--install-completion", "bash")
    lines = (home / ".bashrc").read_text().splitlines()
    assert lines[0] == "alias a=b"
    assert len(lines) == 2


def test_the_shell_is_guessed(lakeproof, home, monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert lakeproof("--install-completion").exit_code == 0
    assert (home / SCRIPTS["fish"]).is_file()


@pytest.mark.parametrize(
    ("given", "told"),
    [((), "$SHELL says 'tcsh', which is not one of bash"), (("ksh",), "'ksh' is not one of bash")],
)
def test_an_unknown_shell_is_a_usage_error(lakeproof, home, monkeypatch, given, told):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    done = lakeproof("--install-completion", *given)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not list(home.iterdir())


def test_a_home_that_cannot_be_written_is_told(lakeproof, home):
    (home / ".config").write_text("a file where a folder should be")
    done = lakeproof("--install-completion", "fish")
    assert done.exit_code == 2
    assert "lakeproof --show-completion fish prints it" in done.stderr


def complete(shell_program, home, words):
    """What a real interactive bash offers for the last of the words, after its start-up file."""
    script = (
        f"COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); "
        '_lakeproof_completion lakeproof; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    found = {**os.environ, "HOME": str(home)}
    found["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{found['PATH']}"
    done = subprocess.run(
        [shell_program, "--rcfile", str(home / ".bashrc"), "-i", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=found,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_options_and_selection_methods(lakeproof, home):
    assert lakeproof("--install-completion", "bash").exit_code == 0
    assert complete("bash", home, "lakeproof l") == ["lint", "ls", "ledger"]
    assert "--select" in complete("bash", home, "lakeproof ls --s")
    assert complete("bash", home, "lakeproof ls --select t") == ["table:", "tag:"]
    assert complete("bash", home, "lakeproof ls --select tag:a,sev") == ["tag:a,severity:"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_the_script_without_complaint(lakeproof, home, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    lakeproof("--install-completion", shell)
    done = subprocess.run(
        [program, "-n", str(home / SCRIPTS[shell])], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
