"""`lakeproof store`: the tables that keep results, made before they are needed."""

from __future__ import annotations

import click

from lakeproof.cli.options import (
    Where,
    format_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.model.names import TableName
from lakeproof.reporting.document import document_text


@click.group()
def store() -> None:
    """Make the tables that keep results."""


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
