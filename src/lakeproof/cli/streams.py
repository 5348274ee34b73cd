"""Who may write where: the result alone on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from typing import IO, TYPE_CHECKING

import click

from lakeproof.model.printable import printable
from lakeproof.reporting.console import coloured
from lakeproof.reporting.log_commands import inert
from lakeproof.running.progress import Listener, StepDone, ignore

if TYPE_CHECKING:
    from rich.text import Text

STDOUT, STDERR = 1, 2


class Results:
    """Standard output, for the result and nothing else."""

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream

    @property
    def takes_colour(self) -> bool:
        """A terminal whose user has not declined (NO_COLOR)."""
        is_terminal = self._stream is not None and self._stream.isatty()
        return is_terminal and not os.environ.get("NO_COLOR")

    def write(self, text: str) -> None:
        """The text and a newline; a reader that has gone away changes nothing about the result."""
        if self._stream is None:
            return
        try:
            click.echo(text, file=self._stream)
        except BrokenPipeError:
            self._stream = None

    def write_report(self, text: str, dress: Callable[[str], Text] = coloured) -> None:
        """The text, with its status words in colour where that is wanted."""
        if not self.takes_colour:
            self.write(text)
            return
        from rich.console import Console

        console = Console(file=self._stream, highlight=False, soft_wrap=True)
        with console.capture() as captured:
            console.print(dress(text), end="")
        self.write(captured.get())


@contextmanager
def results_only_on_stdout() -> Iterator[Results]:
    """Standard output for the result; what others print there meanwhile goes to standard error.

    Others are a suite's module, pyspark, and the Java process that Spark starts: that one
    inherits the descriptor, so the descriptor itself is turned, not only `sys.stdout`.
    """
    given = sys.stdout
    with redirect_stdout(sys.stderr):
        if not _is_descriptor(given, STDOUT):  # closed, or captured by a test
            yield Results(given)
            return
        given.flush()
        with _turned_to_stderr() as kept:
            yield Results(
                # What the terminal's encoding cannot say is escaped, never a crash.
                os.fdopen(
                    kept, "w", encoding=given.encoding, errors="backslashreplace", closefd=False
                )
            )


@contextmanager
def _turned_to_stderr() -> Iterator[int]:
    """Descriptor 1 leads to standard error meanwhile; gives one that leads where it did before."""
    kept = os.dup(STDOUT)
    try:
        os.dup2(STDERR, STDOUT)
        yield kept
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)


def _is_descriptor(stream: IO[str] | None, number: int) -> bool:
    try:
        return stream is not None and stream.fileno() == number
    except (OSError, ValueError):
        return False


class Progress(StrEnum):
    """How a command tells what it is doing; `AUTO` moves on a terminal and says lines elsewhere."""

    AUTO = "auto"
    LINES = "lines"
    NONE = "none"


@contextmanager
def progress_on_stderr(how: str | None) -> Iterator[Listener]:
    """A listener that shows steps on standard error: a line each, or one that moves."""
    wanted = Progress(how or Progress.AUTO)
    if wanted is Progress.NONE or sys.stderr is None:
        yield ignore
    elif wanted is Progress.LINES or not sys.stderr.isatty():
        yield _say_line
    else:
        with _moving_line() as listener:
            yield listener


def _say_line(step: StepDone) -> None:
    seconds = f" ({step.seconds:.1f} s)" if step.seconds else ""
    click.echo(f"{inert(printable(step.text))}{seconds}", err=True)


@contextmanager
def _moving_line() -> Iterator[Listener]:
    """What was finished last and for how long we are at it; gone when the result is there."""
    from rich import progress
    from rich.console import Console

    columns = (
        progress.SpinnerColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}", markup=False),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting", total=None)
        yield lambda step: shown.update(task, description=printable(step.text))
