from __future__ import annotations

import io
import os
import pty
import subprocess
import sys

import pytest

from lakeproof.cli.streams import Results, progress_on_stderr
from lakeproof.running.progress import StepDone

NOISY = """
import os, subprocess, sys
from lakeproof.cli.streams import results_only_on_stdout
with results_only_on_stdout() as results:
    print("python talks")
    subprocess.run(["sh", "-c", "echo a child talks"], check=True)
    os.write(1, b"the descriptor talks\\n")
    results.write("the result \\u2514 \\udcff")
print("afterwards")
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_python(code, **options):
    return subprocess.run([sys.executable, "-c", code], check=False, text=True, **options)


def test_only_the_result_reaches_stdout_whoever_else_writes_there():
    done = run_python(NOISY, capture_output=True)
    assert done.stdout == "the result └ \\udcff\nafterwards\n"
    told = {"python talks", "a child talks", "the descriptor talks"}
    assert told == set(done.stderr.splitlines())


def test_what_the_encoding_cannot_say_is_escaped():
    done = run_python(NOISY, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.startswith("the result \\u2514")


def test_a_reader_that_went_away_does_not_change_the_exit_code():
    code = (
        "import sys\nfrom lakeproof.cli.streams import results_only_on_stdout\n"
        "with results_only_on_stdout() as results:\n"
        "    sys.stdin.readline()\n"
        "    for _ in range(3): results.write('x' * 100_000)\n"
        "sys.exit(5)"
    )
    read_end, write_end = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=write_end, text=True
    )
    os.close(write_end)
    os.close(read_end)
    child.communicate("go\n")
    assert child.returncode == 5


def test_a_closed_stdout_is_no_error():
    code = "from lakeproof.cli.main import main\nmain(['--version'])"
    shell = f"exec '{sys.executable}' -c \"$1\" >&-"
    assert subprocess.run(["sh", "-c", shell, "sh", code], check=False).returncode == 0


@pytest.mark.parametrize(("colours", "dressed"), [("", True), ("1", False)])
def test_status_words_are_coloured_on_a_terminal_unless_declined(monkeypatch, colours, dressed):
    monkeypatch.setenv("NO_COLOR", colours)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    Results(stream).write_report("FAILED  a [bold]rule[/bold]: x\nGATE CLOSED  1 failed")
    assert ("\x1b[" in stream.getvalue()) is dressed
    assert "a [bold]rule[/bold]: x" in stream.getvalue()


def test_a_long_line_is_not_broken_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Results(stream).write_report("FAILED  " + "x" * 200)
    assert "x" * 200 in stream.getvalue()


def test_off_a_terminal_each_step_is_one_line(capsys):
    with progress_on_stderr(None) as listener:
        listener(StepDone("sales: scanned\x1b[2J", 1.25))
        listener(StepDone("kept 8 results", 0.0))
    assert capsys.readouterr().err == "sales: scanned\\x1b[2J (1.2 s)\nkept 8 results\n"


def test_quiet_says_nothing(capsys):
    with progress_on_stderr("none") as listener:
        listener(StepDone("sales: scanned", 1.25))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("how", "moves"), [("None", True), ("'lines'", False)])
def test_on_a_terminal_one_line_moves_and_stdout_stays_clean(how, moves):
    code = (
        "import time\n"
        "from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout\n"
        "from lakeproof.running.progress import StepDone\n"
        "with results_only_on_stdout() as results:\n"
        f"    with progress_on_stderr({how}) as listener:\n"
        "        listener(StepDone('a [red]step[/red]', 1.0)); time.sleep(0.3)\n"
        "    results.write('{}')\n"
    )
    ours, theirs = pty.openpty()
    done = run_python(
        code,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": "80"},
    )
    os.close(theirs)
    told = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.stdout == "{}\n"
    assert "a [red]step[/red]" in told
    assert ("\x1b[" in told) is moves
    assert "\x1b[3" not in told, "NO_COLOR is honoured"
