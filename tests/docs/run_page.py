"""Does a documentation page as its reader would: block by block, in a folder of its own.

Commands of lakeproof run in this process, so that all pages share one Java; everything else about
them is as in a shell. A command may end with another exit code than 0 only where the page goes on
with `echo $?`.
"""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner
from page_blocks import ROOT, Block, Command, blocks_of, commands_of

from lakeproof import local_session
from lakeproof.cli.main import main

ECHO = "echo $?"
LEFT_OUT = "..."
SURROUNDINGS = ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "SPARK_REMOTE", "NO_COLOR")
"""What the machine says here must not reach the commands."""

_VARYING = (
    (re.compile(r"run-\d{8}t\d{6}-[0-9a-f]{6}"), "RUN"),
    (re.compile(r"\b[\w-]+-[0-9a-f]{16}\b"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?"), "MOMENT"),
    (re.compile(r"\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"snapshot \d+"), "snapshot N"),
    (re.compile(r" +"), " "),
)


class NotTrueError(Exception):
    """The page says something else than what happens."""


class Reader:
    """One folder, one Python namespace and one last exit code for the whole page."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "page"}
        self.exit_code = 0

    def do(self, block: Block) -> None:
        if block.file_name:
            self._write(block)
        elif block.language in {"console", "sh"}:
            commands = commands_of(block)
            for number, command in enumerate(commands):
                is_asked = ECHO in [one.typed for one in commands[number + 1 : number + 2]]
                self._type(command, may_fail=is_asked)
        elif block.language == "python":
            self._session_if_needed(block.text)
            exec(compile(block.text, "a block of the page", "exec"), self.names)  # noqa: S102
        elif block.language == "sql":
            self._session_if_needed("spark")
            for statement in filter(str.strip, block.text.split(";")):
                self.names["spark"].sql(statement).collect()

    def _write(self, block: Block) -> None:
        path = Path(block.file_name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _session_if_needed(self, code: str) -> None:
        """`spark`, as pages say, is the reader's own session."""
        if re.search(r"\bspark\b", code) and "spark" not in self.names:
            self.names["spark"] = local_session("lakehouse", cores="2")

    def _type(self, command: Command, *, may_fail: bool) -> None:
        if command.typed == ECHO:
            printed = [str(self.exit_code)]
        else:
            self.exit_code, printed = self._run(shlex.split(command.typed))
            if self.exit_code and not may_fail:
                told = "\n".join(printed)
                raise NotTrueError(f"$ {command.typed}\nexit code {self.exit_code}\n{told}")
        if command.shown and not same_lines(command.shown, printed):
            shown, told = "\n".join(command.shown), "\n".join(printed)
            raise NotTrueError(f"$ {command.typed}\n--- the page:\n{shown}\n--- it prints:\n{told}")

    def _run(self, words: list[str]) -> tuple[int, list[str]]:
        if words[0] == "lakeproof":
            done = CliRunner().invoke(main, words[1:], prog_name="lakeproof")
            code, output = done.exit_code, done.stdout or done.stderr
        elif words[0] == "python":
            runpy.run_path(words[1], run_name="__main__")
            return 0, []
        else:
            airflow = _with_airflow()
            shell = subprocess.run(words, env=airflow, capture_output=True, text=True, check=False)
            code, output = shell.returncode, shell.stdout or shell.stderr
        return code, output.rstrip("\n").split("\n")


def _with_airflow() -> dict[str, str]:
    """The environment of commands: Airflow is found where it is installed, and at home here."""
    return {
        **os.environ,
        "PATH": f"{os.environ['PATH']}{os.pathsep}{ROOT / '.venv-airflow' / 'bin'}",
        "AIRFLOW_HOME": str(Path("airflow").absolute()),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }


def same_lines(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Whether these lines were printed, but for what differs each time; `...` is any lines."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == LEFT_OUT else re.escape(_steady(line)) + r"\n"
        for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{_steady(line)}\n" for line in printed)) is not None


def _steady(line: str) -> str:
    for varying, name in _VARYING:
        line = varying.sub(name, line)
    return line.rstrip()


def read_page(page: Path, folder: Path, files: Sequence[str] = ()) -> int:
    """How many blocks of the page hold, run after these files of the start; raises NotTrueError."""
    for variable in SURROUNDINGS:
        os.environ.pop(variable, None)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    start = {block.file_name: block for block in blocks_of(ROOT / "docs" / "start.md")}
    reader, done = Reader(), 0
    try:
        for name in files:
            reader.do(start[name])
            reader.do(Block("console", f"$ python {name}\n"))
        for block in blocks_of(page):
            if not block.not_run:
                reader.do(block)
                done += 1
        return done
    finally:
        sys.path.remove(str(folder))
        _forget(folder)


def _forget(folder: Path) -> None:
    """The next page has a session and modules of its own, maybe of the same names."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
    importlib.invalidate_caches()
