"""`lakeproof promote`: the trusted layer follows what runs have passed, and can be taken back."""

from __future__ import annotations

from typing import Any

import click

from lakeproof.cli.options import (
    Where,
    format_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.gating.policy import EXIT_OPEN, exit_code
from lakeproof.reporting.document import document_text
from lakeproof.reporting.log_commands import inert
from lakeproof.state.kept_runs import LATEST


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--run", "run_id", metavar="ID", default="", help="Default: the latest of TABLE.")
@click.option(
    "--mode",
    type=click.Choice(("trusted", "audit")),
    default="trusted",
    help="What moves: a trusted branch, or main.",
)
@click.option("--branch", metavar="NAME", default="", help="Default: as the mode is called.")
@click.option(
    "--delta-as",
    type=click.Choice(("auto", "view", "clone")),
    default="auto",
    help="What shows a Delta table.",
)
@click.option("--ledger", metavar="DIR", default=None, help="Books that must balance.")
@click.option("--rollback", "takes_back", is_flag=True, help="Take a promotion back.")
@where_options()
@format_option
@progress_options
@verbose_option
@click.pass_context
def promote(
    ctx: click.Context,
    /,
    *,
    run_id: str,
    ledger: str | None,
    takes_back: bool,
    where: Where,
    style: str,
    progress: str | None,
    **options: Any,  # noqa: ANN401 (arguments of promote and rollback, by their names)
) -> None:
    """Let the trusted layer show exactly what a run has read, if its gate is open.

    Without TABLE, every table of the run. By default the Iceberg branch trusted is set to the
    snapshot that was checked, of a Delta table the view or clone TABLE_trusted to the version.
    --mode audit: the branch audit was checked, and main is forwarded to it.

    Exit 1 or 3 if the gate is closed, 4 if what was checked cannot be promoted,
    5 if no such run or promotion is kept.
    """
    if takes_back and ledger is not None:
        raise click.UsageError("--rollback asks no gate, so it takes no --ledger")
    if takes_back and not (options["tables"] or run_id):
        raise click.UsageError("--rollback needs a TABLE or --run")
    settings = where.settings()
    store = where.store_to_open(settings)
    require_lakehouse(settings.session)
    with results_only_on_stdout() as results:
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof import promoting

            common = {"store": store, "config": settings, **options}
            if takes_back:
                outcome = promoting.rollback(spark, run_id, **common)
            else:
                outcome = promoting.promote(spark, run_id or LATEST, ledger=ledger, **common)
        if style == "json":
            results.write(document_text(outcome.to_dict()))
        else:
            results.write_report(inert(str(outcome)))
    gate = outcome.gate
    ctx.exit(EXIT_OPEN if gate is None else exit_code(outcome.results, gate, "error"))
