"""`lakeproof demo`: an embedded lakehouse with planted errors, checked before your eyes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from lakeproof.cli.options import is_verbose, verbose_option
from lakeproof.cli.sessions import session_for
from lakeproof.cli.streams import Progress, progress_on_stderr, results_only_on_stdout
from lakeproof.config import SessionSettings


def _program() -> str:
    """How a person calls us: by name if that is found, else by the path that was typed."""
    return "lakeproof" if shutil.which("lakeproof") else os.path.relpath(sys.argv[0])


@click.command()
@click.option(
    "--warehouse", metavar="PATH", default="lakeproof-demo", help="Folder to build it in."
)
@verbose_option
@click.pass_context
def demo(ctx: click.Context, *, warehouse: str) -> None:
    """Build a small lakehouse with planted errors, check it, and see the gate close.

    Exits 0 if every planted error was found. Works offline; lakeproof doctor says what it needs.
    """
    from lakeproof.demo.show import show_demo

    settings = SessionSettings(use="embedded", warehouse=warehouse)
    with results_only_on_stdout() as results:
        click.echo("Starting Spark ...", err=True)
        # The tour speaks for itself; steps are told only to those who want to know more.
        with (
            progress_on_stderr(Progress.LINES if is_verbose(ctx) else Progress.NONE) as listener,
            session_for(settings, listener) as spark,
        ):
            show_demo(spark, Path(warehouse), results.write_report, listener, _program())
