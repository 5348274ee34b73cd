"""`lakeproof run`: suites checked, results kept, the gate decided, the exit code accordingly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from lakeproof.cli.lint import refuse_rejected
from lakeproof.cli.options import (
    NO_STORE,
    Where,
    format_option,
    is_verbose,
    key_option,
    progress_options,
    suite_argument,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import Results, progress_on_stderr, results_only_on_stdout
from lakeproof.cli.suites import all_checks, label_of, load_suites
from lakeproof.config import FAIL_ON, FORMATS
from lakeproof.gating.policy import EXIT_USAGE, exit_code
from lakeproof.reporting.console import Passed, outcome_text
from lakeproof.reporting.document import document_text

if TYPE_CHECKING:
    from lakeproof.api import RunOutcome


@click.command()
@suite_argument
@where_options(stores=(*FORMATS, NO_STORE))
@key_option
@click.option("--run-id", default=None, help="Name of this run; repeating it adds nothing.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    default=None,
    help="Limit of the run; rules not done by then are errors.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default=None,
    help="What makes the exit code 1. Default: error.",
)
@click.option("--strict", is_flag=True, help="A rule that cannot run makes the exit code 2.")
@format_option
@progress_options
@verbose_option
@click.pass_context
def run(  # noqa: PLR0913 (one per option)
    ctx: click.Context,
    *,
    suites: tuple[str, ...],
    where: Where,
    keys: Mapping[str, tuple[str, ...]],
    run_id: str | None,
    timeout: float | None,
    fail_on: str | None,
    strict: bool,
    style: str,
    progress: str | None,
) -> None:
    """Check tables, keep the results and decide the gate.

    SUITE is package.module:NAME, a list of QualityCheck; several are joined.
    """
    settings = where.settings()
    require_lakehouse(settings.session)
    with results_only_on_stdout() as results:
        loaded = load_suites(suites)
        if strict:
            refuse_rejected(loaded, settings)
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.api import run_checks

            outcome = run_checks(
                spark,
                all_checks(loaded),
                store=where.kept_in(settings),
                run_id=run_id,
                keys=keys,
                config=settings,
                timeout_seconds=timeout,
                suite=label_of(loaded),
                listener=listener,
            )
        if style == "json":
            results.write(document_text(outcome.to_dict()))
        else:
            passed = Passed.LISTED if is_verbose(ctx) else Passed.COUNTED
            _write_console(results, outcome, passed, where)
    if strict and outcome.plan.rejected:
        ctx.exit(EXIT_USAGE)
    ctx.exit(exit_code(outcome.results, outcome.gate, fail_on or settings.gate.fail_on))


def _write_console(results: Results, outcome: RunOutcome, passed: Passed, where: Where) -> None:
    """The report; it names the next command only if that command has something to show."""
    is_kept = any(result.new_violations is not None for result in outcome.results)
    has_hits = any(result.sample_keys for result in outcome.results)
    command = f"lakeproof show violations --run {outcome.run_id}{where.typed}"
    text = outcome_text(
        outcome.run_id,
        outcome.results,
        outcome.gate,
        passed=passed,
        see_more=command if is_kept and has_hits else "",
    )
    results.write_report(text)
