"""`lakeproof run`: suites checked, results kept, the gate decided, the exit code accordingly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from lakeproof.cli.contract_options import ContractOptions, contract_options
from lakeproof.cli.lint import refuse_rejected, tell_findings
from lakeproof.cli.options import (
    NO_STORE,
    Where,
    key_option,
    mode_options,
    partition_option,
    progress_options,
    suite_argument,
    verbose_option,
    where_options,
)
from lakeproof.cli.report_options import Reports, report_of, report_options
from lakeproof.cli.selecting import Wanted, selection_options
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.cli.suites import all_checks, label_of, load_suites
from lakeproof.config import FAIL_ON, FORMATS
from lakeproof.gating.policy import EXIT_OPEN, EXIT_USAGE, exit_code
from lakeproof.model.run_id import ensure_run_id

if TYPE_CHECKING:
    from lakeproof.accounting.zero_loss import Books


def _read_quarantine(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> str | Mapping[str, str] | None:
    """One table to put all rows into, or one for each that is named."""
    pairs = [text.rpartition("=") for text in given]
    if not all(target.strip() for _table, _sign, target in pairs):
        raise click.BadParameter("name the table to put the rows into: [TABLE=]TO")
    if len(pairs) == 1 and not pairs[0][1]:
        return pairs[0][2].strip()
    named = {table.strip(): target.strip() for table, _sign, target in pairs}
    if len(named) < len(pairs) or "" in named:
        raise click.BadParameter("with several, write TABLE=TO, each table once")
    return named or None


def _books_at(ledger: str | None) -> Books | None:
    """Read before Spark starts: a ledger that is not there is told at once."""
    if ledger is None:
        return None
    from lakeproof.accounting.zero_loss import books_at

    return books_at(ledger)


@click.command()
@suite_argument
@selection_options
@contract_options
@where_options(stores=(*FORMATS, NO_STORE))
@key_option
@mode_options
@click.option(
    "--verify-statistics",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    default=0.0,
    help="Also read this share of the files.",
)
@partition_option
@click.option(
    "--quarantine",
    metavar="[TABLE=]TO",
    multiple=True,
    callback=_read_quarantine,
    help="Bad rows of TABLE in full into table TO.",
)
@click.option(
    "--ledger",
    metavar="DIR",
    default=None,
    help="The books of the run in DIR must balance.",
)
@click.option("--run-id", default=None, help="Name of this run; repeating it adds nothing.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    default=None,
    help="Limit of the run.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    metavar="LEVEL",
    default=None,
    help="Exit 1 for warning, error (default) or never.",
)
@click.option("--strict", is_flag=True, help="Exit 2 if a rule cannot run.")
@report_options
@progress_options
@verbose_option
@click.pass_context
def run(  # noqa: PLR0913 (one per option)
    ctx: click.Context,
    *,
    suites: tuple[str, ...],
    wanted: Wanted,
    contracts: ContractOptions,
    where: Where,
    keys: Mapping[str, tuple[str, ...]],
    mode: str,
    require_incremental: bool,
    method: str,
    verify_statistics: float,
    partition: Mapping[str, str],
    quarantine: str | Mapping[str, str] | None,
    ledger: str | None,
    run_id: str | None,
    timeout: float | None,
    fail_on: str | None,
    strict: bool,
    reports: Reports,
    progress: str | None,
) -> None:
    """Check tables, keep the results and decide the gate.

    SUITE is package.module:NAME, a list of QualityChecks, or a contract's file.
    """
    settings = contracts.settings(where.settings())
    with results_only_on_stdout() as results:
        loaded = load_suites(suites)
        if run_id is not None:
            ensure_run_id(run_id)
        books = _books_at(ledger)
        require_lakehouse(settings.session)
        chosen = wanted.known_early(loaded, settings, contracts)
        if strict:
            refuse_rejected(loaded, settings, contracts, chosen)
        tell_findings(ctx, loaded)
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.api import run_checks

            outcome = run_checks(
                spark,
                all_checks(loaded),
                tables=contracts.tables,
                variables=contracts.variables,
                server=contracts.server,
                store=where.kept_in(settings),
                run_id=run_id,
                keys=keys,
                select=wanted.select,
                exclude=wanted.exclude,
                config=settings,
                mode=mode,
                require_incremental=require_incremental,
                method=method,
                verify_statistics=verify_statistics,
                quarantine=quarantine,
                partition=partition or None,
                ledger=books,
                timeout_seconds=timeout,
                suite=label_of(loaded),
                listener=listener,
            )
        report = report_of(ctx, where, outcome.run_id, outcome.results, outcome.gate)
        reports.write(results, report)
    if strict and any(not rule.is_skipped for rule in outcome.plan.rejected):
        ctx.exit(EXIT_USAGE)
    code = exit_code(outcome.results, outcome.gate, fail_on or settings.gate.fail_on)
    ctx.exit(EXIT_OPEN if wanted.accepts(code) else code)
