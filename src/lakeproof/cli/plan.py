"""`lakeproof plan`: the plan that `run` would execute, shown instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from lakeproof.cli.contract_options import ContractOptions, contract_options
from lakeproof.cli.lint import refuse_rejected, tell_findings
from lakeproof.cli.options import (
    Where,
    format_option,
    key_option,
    mode_options,
    partition_option,
    progress_options,
    suite_argument,
    verbose_option,
    where_options,
)
from lakeproof.cli.selecting import Wanted, selection_options
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.cli.suites import all_checks, label_of, load_suites
from lakeproof.gating.policy import EXIT_USAGE
from lakeproof.reporting.document import document_text

if TYPE_CHECKING:
    from lakeproof.planning.plan import Plan


@click.command()
@suite_argument
@selection_options
@contract_options
@where_options()
@key_option
@mode_options
@partition_option
@click.option("--sql", is_flag=True, help="The SQL of every statement, as it runs.")
@click.option("--strict", is_flag=True, help="Exit 2 if a rule cannot run.")
@format_option
@progress_options
@verbose_option
@click.pass_context
def plan(  # noqa: PLR0913 (one per option)
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
    partition: Mapping[str, str],
    sql: bool,
    strict: bool,
    style: str,
    progress: str | None,
) -> None:
    """Show what run would do: how each table is read, and what each action answers.

    SUITE is package.module:NAME, a list of QualityCheck, or a contract's file. Reads the tables'
    metadata and how far earlier runs have come, never the tables' rows. Bad rows are asked for
    as if every rule had failed.
    """
    settings = contracts.settings(where.settings())
    settings = replace(settings, store=where.store_to_open(settings))
    with results_only_on_stdout() as results:
        loaded = load_suites(suites)
        require_lakehouse(settings.session)
        chosen = wanted.known_early(loaded, settings, contracts)
        if strict:
            refuse_rejected(loaded, settings, contracts, chosen)
        tell_findings(ctx, loaded)
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.api import plan as plan_checks

            planned = plan_checks(
                spark,
                all_checks(loaded),
                tables=contracts.tables,
                variables=contracts.variables,
                server=contracts.server,
                config=settings,
                keys=keys,
                mode=mode,
                require_incremental=require_incremental,
                method=method,
                select=wanted.select,
                exclude=wanted.exclude,
                partition=partition or None,
                suite=label_of(loaded),
            )
        results.write(_plan_text(planned, style, sql=sql))
    if strict and any(not rule.is_skipped for rule in planned.rejected):
        ctx.exit(EXIT_USAGE)


def _plan_text(planned: Plan, style: str, *, sql: bool) -> str:
    from lakeproof.planning.explain import plan_document, plan_sql, plan_tree, statements_of

    if style == "json":
        return document_text(plan_document(planned, statements_of(planned) if sql else ()))
    return plan_sql(planned) if sql else plan_tree(planned)
