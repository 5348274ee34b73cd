"""`lakeproof show`: what earlier runs have kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from lakeproof.cli.options import (
    Where,
    format_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import Results, progress_on_stderr, results_only_on_stdout
from lakeproof.config import Config
from lakeproof.gating.policy import EXIT_NOTHING
from lakeproof.model.names import TableName
from lakeproof.model.printable import printable
from lakeproof.reporting.document import document_text
from lakeproof.reporting.kept import heaviest_first, results_text, violations_text
from lakeproof.running.progress import Listener
from lakeproof.state.reading import Among, Answer, Question, SparkReader, StateReader
from lakeproof.state.without_spark import reader_without_spark

LATEST = "latest"
ALL = "all"


@click.group()
def show() -> None:
    """Show kept results and violations."""


@show.command()
@click.option("--run", "run_id", default=LATEST, metavar="ID", help="Default: latest.")
@click.option("--table", default="", help="Of this table only.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@where_options()
@format_option
@progress_options
@verbose_option
@click.pass_context
def results(
    ctx: click.Context,
    *,
    run_id: str,
    table: str,
    limit: int,
    where: Where,
    style: str,
    progress: str | None,
) -> None:
    """Show the results of one run, failures first. Exit 5 if there is no such run."""
    settings = where.settings()
    with results_only_on_stdout() as output:
        with (
            progress_on_stderr(progress) as listener,
            _reader(where, settings, listener) as reader,
        ):
            wanted = _latest_run(reader) if run_id == LATEST else run_id
            conditions = [Among(("run_id",), (wanted,))]
            if table:
                # A rule that could not be read has a short name only.
                names = (table, str(_full_name(table, settings)))
                conditions.append(Among(("table_fqn", "table_name"), names))
            found = heaviest_first(reader.ask(Question("results", tuple(conditions))).rows)
        shown = found[:limit]
        if style == "json":
            output.write(document_text({"run_id": wanted, "total": len(found), "results": shown}))
        elif found:
            output.write_report(results_text(wanted, shown, len(found)))
    if not found:
        of_table = f" of {table}" if table else ""
        told = f"no results{of_table} of run {wanted!r} are kept" if wanted else "no run is kept"
        click.echo(f"lakeproof: {printable(told)}", err=True)
        ctx.exit(EXIT_NOTHING)


@show.command()
@click.option(
    "--status",
    type=click.Choice(("open", "resolved", ALL)),
    default="open",
    show_default=True,
)
@click.option("--table", default="", help="Of this table only.")
@click.option("--rule", default="", metavar="NAME", help="Of this rule only.")
@click.option("--run", "run_id", default="", metavar="ID", help="Found first or last by this run.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@where_options()
@format_option
@progress_options
@verbose_option
def violations(
    *,
    status: str,
    table: str,
    rule: str,
    run_id: str,
    limit: int,
    where: Where,
    style: str,
    progress: str | None,
) -> None:
    """Show bad rows by their keys: since when they are open, when they were resolved."""
    settings = where.settings()
    with results_only_on_stdout() as output:
        with (
            progress_on_stderr(progress) as listener,
            _reader(where, settings, listener) as reader,
        ):
            conditions = []
            if status != ALL:
                conditions.append(Among(("status",), (status,)))
            if table:
                conditions.append(Among(("table_fqn",), (str(_full_name(table, settings)),)))
            if rule:
                conditions.append(Among(("rule_id",), _ids_of(reader, rule)))
            if run_id:
                columns = ("first_run_id", "last_run_id", "reopened_run_id")
                run = _latest_run(reader) if run_id == LATEST else run_id
                conditions.append(Among(columns, (run,)))
            order = ("table_fqn", "rule_id", "first_seen", "violation_key")
            answer = reader.ask(Question("violations", tuple(conditions), order, limit))
            names = _names_of(reader, sorted({str(row["rule_id"]) for row in answer.rows}))
        _write_violations(output, answer, names, style)


def _write_violations(output: Results, answer: Answer, names: dict[str, str], style: str) -> None:
    if style == "json":
        rows = [{"rule": names.get(str(row["rule_id"])), **row} for row in answer.rows]
        output.write(document_text({"total": answer.total, "violations": rows}))
    else:
        output.write_report(violations_text(answer.rows, answer.total, names))


@contextmanager
def _reader(where: Where, settings: Config, listener: Listener) -> Iterator[StateReader]:
    """Without Spark where that is possible, because Spark takes seconds to say the same."""
    store = where.store_to_open(settings)
    session = settings.session
    require_lakehouse(session)
    quick = reader_without_spark(session, store)
    if quick is not None:
        yield quick
        return
    with session_for(session, listener) as spark:
        from lakeproof.state import open_store

        yield SparkReader(open_store(spark, store))


def _full_name(table: str, settings: Config) -> TableName:
    return TableName.parse(table).resolve(settings.default_catalog, settings.default_namespace)


def _latest_run(reader: StateReader) -> str:
    """The run with the newest result; '' before the first."""
    newest = reader.ask(Question("results", order=("-executed_at", "-run_id"), limit=1)).rows
    return str(newest[0]["run_id"]) if newest else ""


def _ids_of(reader: StateReader, name: str) -> tuple[str, ...]:
    """Every logic that ever had this name: a rule that was changed has violations under both."""
    kept = reader.ask(Question("results", (Among(("rule_key", "check_name"), (name,)),)))
    return tuple(sorted({str(row["rule_id"]) for row in kept.rows}))


def _names_of(reader: StateReader, rule_ids: Sequence[str]) -> dict[str, str]:
    """What each rule was called last."""
    if not rule_ids:
        return {}
    question = Question(
        "results", (Among(("rule_id",), tuple(rule_ids)),), ("executed_at", "rule_key")
    )
    return {str(row["rule_id"]): str(row["check_name"]) for row in reader.ask(question).rows}
