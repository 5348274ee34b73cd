"""--format, --report and --output-dir: which reports of a run are wanted, and writing them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import click

from lakeproof.cli.options import Command, Where, is_verbose
from lakeproof.cli.streams import Results
from lakeproof.model.outcome import CheckResult
from lakeproof.model.printable import printable
from lakeproof.reporting.files import ReportFile, check_files, files_in, write_files
from lakeproof.reporting.formats import REPORT_FORMATS
from lakeproof.reporting.markdown import render_markdown
from lakeproof.reporting.run_report import Decision, Passed, RunReport

SUMMARY_BYTES_MAX = 1_000_000
"""GitHub drops a step's whole summary if it is larger than 1 MiB."""


@dataclass(frozen=True, slots=True)
class Reports:
    """What is printed, and what is written to files."""

    style: str
    files: tuple[ReportFile, ...] = ()

    def write(self, results: Results, report: RunReport) -> None:
        """Standard output first: a full disk must not cost the result too."""
        text = REPORT_FORMATS[self.style].render(report)
        if self.style == "console":
            results.write_report(text)
        else:
            results.write(text)
        if self.style == "github":
            _append_summary(report)
        write_files(self.files, report)


def report_options(command: Command) -> Command:
    """The three options, joined as `reports`."""

    @wraps(command)
    def joined(
        *arguments: object,
        style: str,
        files: tuple[str, ...],
        output_dir: str,
        **rest: object,
    ) -> object:
        wanted = [ReportFile.parse(text) for text in files]
        if output_dir:
            wanted += files_in(output_dir)
        # Here, before the command starts anything: Spark alone takes longer than this tells.
        check_files(wanted)
        return command(*arguments, reports=Reports(style, tuple(wanted)), **rest)

    kinds = tuple(REPORT_FORMATS)
    decorated: Command = joined
    for option in (
        click.option(
            "--output-dir", metavar="DIR", default="", help="A report of each kind into DIR."
        ),
        click.option(
            "--report",
            "files",
            multiple=True,
            metavar="[KIND=]PATH",
            help="A report into a file too. Repeatable.",
        ),
        click.option(
            "--format",
            "style",
            type=click.Choice(kinds),
            metavar="KIND",
            default="console",
            help=f"{', '.join(kinds[:-1])} or {kinds[-1]}.",
        ),
    ):
        decorated = option(decorated)
    return decorated


def report_of(
    ctx: click.Context,
    where: Where,
    run_id: str,
    results: Sequence[CheckResult],
    gate: Decision,
) -> RunReport:
    """What a command reports; it names the next command only if that has something to show."""
    is_kept = any(result.new_violations is not None for result in results)
    has_hits = any(result.sample_keys for result in results)
    # A run that reads changes does not touch violations that stay as they were.
    is_whole = all(result.mode in {"", "snapshot"} for result in results)
    which = f" --run {shlex.quote(run_id)}" if is_whole else " --status open"
    command = f"lakeproof show violations{which}{where.typed}"
    return RunReport(
        run_id,
        results,
        gate,
        passed=Passed.LISTED if is_verbose(ctx) else Passed.COUNTED,
        see_more=command if is_kept and has_hits else "",
        root=os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd()),
    )


def _append_summary(report: RunReport) -> None:
    """Add to the page of the job, if it has one; that it cannot be added costs nothing else."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    text = render_markdown(report)
    if len(text.encode()) > SUMMARY_BYTES_MAX:
        whole = text.encode()[:SUMMARY_BYTES_MAX].decode(errors="ignore").rpartition("\n")[0]
        text = f"{whole}\n\nCut here: the rest is in the log and in the reports."
    try:
        with Path(path).open("a", encoding="utf-8") as page:
            page.write(f"{text}\n\n")
    except OSError as problem:
        click.echo(f"lakeproof: no step summary: {printable(problem)}", err=True)
