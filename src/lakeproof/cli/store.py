"""`lakeproof store`: the tables that keep state, made, brought up, audited and pruned."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import click

from lakeproof.cli.options import (
    Where,
    format_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import session_for
from lakeproof.cli.store_audit import audit
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.model.names import TableName
from lakeproof.model.printable import counted, printable
from lakeproof.reporting.document import document_text


@click.group()
def store() -> None:
    """Make, bring up, audit and prune the tables that keep state."""


@store.command()
@where_options()
@format_option
@progress_options
@verbose_option
def init(*, where: Where, style: str, progress: str | None) -> None:
    """Create the state tables that are missing; those that are there stay as they are.

    A run that keeps its results does the same. Useful where creating tables needs other rights
    than writing them.
    """
    settings = where.settings()
    chosen = where.store_to_open(settings)
    with results_only_on_stdout() as results:
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.state import open_store
            from lakeproof.state.tables import SCHEMA_VERSION

            open_store(spark, chosen).prepare()
        space = (chosen.catalog, *chosen.namespace.split("."))
        names = [str(TableName((*space, chosen.tables[kind]))) for kind in chosen.tables]
        if style == "json":
            document = {"format": chosen.format, "version": SCHEMA_VERSION, "tables": names}
            results.write(document_text(document))
        else:
            for name in names:
                results.write(f"{name}  {chosen.format}, version {SCHEMA_VERSION}")


@store.command()
@where_options()
@format_option
@progress_options
@verbose_option
def migrate(*, where: Where, style: str, progress: str | None) -> None:
    """Bring state tables of an older version up to the present one.

    A run that keeps its results does the same. Killed at any step, it can be repeated.
    """
    settings = where.settings()
    chosen = where.store_to_open(settings)
    with results_only_on_stdout() as results:
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.state import open_store
            from lakeproof.state.access import StateAccess
            from lakeproof.state.creation import known_versions
            from lakeproof.state.tables import SCHEMA_VERSION

            access = StateAccess(spark, chosen)
            with access.reaching("look at the state tables"):
                before = known_versions(access)
            open_store(spark, chosen).prepare()
            names = {kind: str(access.tables[kind]) for kind in before}
        if style == "json":
            tables = [{"table": names[kind], "from": before[kind]} for kind in before]
            results.write(document_text({"version": SCHEMA_VERSION, "tables": tables}))
            return
        for kind, version in before.items():
            came_from = "made" if version is None else f"version {version}"
            if version == SCHEMA_VERSION:
                results.write(f"{names[kind]}  version {SCHEMA_VERSION}, as it was")
            else:
                results.write(f"{names[kind]}  {came_from} -> version {SCHEMA_VERSION}")


@store.command()
@click.option("--resolved", is_flag=True, help="Also violations resolved two batches ago or more.")
@where_options()
@format_option
@progress_options
@verbose_option
def prune(*, resolved: bool, where: Where, style: str, progress: str | None) -> None:
    """Remove state that counts no more: of attempts that failed and indexes that were rebuilt.

    Tables that a run is at work on are left alone.
    """
    settings = where.settings()
    chosen = where.store_to_open(settings)
    with results_only_on_stdout() as results:
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.state import open_store

            kept = open_store(spark, chosen)
            removed = kept.prune(datetime.now(UTC), drops_resolved=resolved)
        if style == "json":
            results.write(document_text(asdict(removed)))
            return
        results.write(
            f"removed {counted(removed.index_rows, 'row')} of the key index, "
            f"{counted(removed.kept_rows, 'kept row')} and "
            f"{counted(removed.resolved_violations, 'resolved violation')}"
        )
        if removed.ghosts:
            told = "whose run was never finished: its violations are resolved"
            results.write(f"{counted(removed.ghosts, 'rule')} {told}")
        for table in removed.skipped:
            results.write(f"left alone, a run is at work on it: {printable(table)}")


store.add_command(audit)
