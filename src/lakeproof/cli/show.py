"""`lakeproof show`: what earlier runs have kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import click

from lakeproof.cli.looking_up import (
    ids_of,
    names_of,
    newest_results,
    results_among,
    rule_name,
    run_name,
    table_name,
    unknown_name,
)
from lakeproof.cli.options import (
    Where,
    format_choice,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.report_options import Reports, report_of, report_options
from lakeproof.cli.show_progress import progress as progress_command
from lakeproof.cli.state_reader import state_reader
from lakeproof.cli.streams import Results, progress_on_stderr, results_only_on_stdout
from lakeproof.gating.policy import EXIT_NOTHING, decide
from lakeproof.model.canonical import readable_key
from lakeproof.model.outcome import CheckResult
from lakeproof.model.printable import printable
from lakeproof.reporting.csv_table import COLUMNS, csv_text, readable_result
from lakeproof.reporting.document import document_text, result_document, schema_text
from lakeproof.reporting.kept import heaviest_first, results_text, violations_text
from lakeproof.reporting.log_commands import inert
from lakeproof.reporting.trend import ASCII_BLOCKS, BLOCKS, RuleTrend, fits, trend_text, trends_of
from lakeproof.state.kept_runs import LATEST
from lakeproof.state.reading import Among, Answer, Question
from lakeproof.state.tables import VIOLATIONS

ALL = "all"


@click.group()
def show() -> None:
    """Show kept runs, results, violations and progress."""


@show.command()
@click.argument("run_id", metavar="[RUN]", default=LATEST)
@where_options()
@report_options
@progress_options
@verbose_option
@click.pass_context
def run(
    ctx: click.Context, *, run_id: str, where: Where, reports: Reports, progress: str | None
) -> None:
    """Draw the report of a past run again, in any format. RUN is latest if not given.

    Exit 5 if there is no such run; the gate as it was then is told, not exited with.
    """
    settings = where.settings()
    with results_only_on_stdout() as output:
        with (
            progress_on_stderr(progress) as listener,
            state_reader(where, settings, listener) as reader,
        ):
            name = run_name(reader, run_id)
            found = heaviest_first(results_among(reader, [name]))
            problem = "" if found else unknown_name(reader, [name])
        if found:
            reports.write(output, report_of(ctx, where, name.given, found, decide(found)))
    if not found:
        _end_with_nothing(ctx, problem)


@show.command()
@click.option("--run", "run_id", default=LATEST, metavar="ID", help="Default: latest.")
@click.option("--table", default="", help="Of this table only.")
@click.option("--trend", is_flag=True, help="The last runs of each rule, newest right.")
@click.option(
    "--runs", type=click.IntRange(1), default=30, show_default=True, help="How many, with --trend."
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@where_options()
@format_choice("console", "json", "csv")
@progress_options
@verbose_option
@click.pass_context
def results(  # noqa: PLR0913 (one per option)
    ctx: click.Context,
    *,
    run_id: str,
    table: str,
    trend: bool,
    runs: int,
    limit: int,
    where: Where,
    style: str,
    progress: str | None,
) -> None:
    """Show the results of one run, failures first. Exit 5 if there is no such run."""
    if trend and run_id != LATEST:
        raise click.UsageError("give --run or --trend, not both")
    settings = where.settings()
    # Asked before standard output is turned away from us.
    blocks = BLOCKS if fits(BLOCKS, sys.stdout.encoding) else ASCII_BLOCKS
    with results_only_on_stdout() as output:
        with (
            progress_on_stderr(progress) as listener,
            state_reader(where, settings, listener) as reader,
        ):
            name = run_name(reader, run_id)
            tables = [table_name(table, settings)] if table else []
            asked = [name, *tables]
            found = heaviest_first(results_among(reader, asked)) if not trend else []
            lines = trends_of(newest_results(reader, tables), runs) if trend else []
            problem = "" if found or lines else unknown_name(reader, asked)
        if trend:
            _write_trends(output, lines[:limit], len(lines), style, blocks)
        else:
            _write_results(output, name.given, found[:limit], len(found), style)
    if not found and not lines:
        _end_with_nothing(ctx, problem or f"no results of {table} of run {name.given!r} are kept")


@show.command()
@click.option(
    "--status",
    type=click.Choice(("open", "resolved", "unknown", ALL)),
    default="open",
    show_default=True,
)
@click.option("--new", is_flag=True, help="First seen or reopened by the newest run.")
@click.option("--table", default="", help="Of this table only.")
@click.option("--rule", default="", metavar="NAME", help="Of this rule only.")
@click.option("--run", "run_id", default="", metavar="ID", help="Found first or last by this run.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@where_options()
@format_choice("console", "json", "csv")
@progress_options
@verbose_option
@click.pass_context
def violations(  # noqa: PLR0913 (one per option)
    ctx: click.Context,
    *,
    status: str,
    new: bool,
    table: str,
    rule: str,
    run_id: str,
    limit: int,
    where: Where,
    style: str,
    progress: str | None,
) -> None:
    """Show bad rows by their keys: since when they are open, when and why they were resolved.

    --new looks at the newest run of that table or rule, or at --run. Status is unknown while a
    gap in the table's changes is rebuilt. Exit 5 if no result has that table, rule or run.
    """
    settings = where.settings()
    with results_only_on_stdout() as output:
        with (
            progress_on_stderr(progress) as listener,
            state_reader(where, settings, listener) as reader,
        ):
            asked = []
            conditions = [] if status == ALL else [Among(("status",), (status,))]
            if table:
                asked.append(table_name(table, settings))
                conditions.append(Among(("table_fqn",), asked[-1].values))
            if rule:
                asked.append(rule_name(rule))
                conditions.append(Among(("rule_id",), ids_of(reader, asked[-1])))
            if run_id or new:
                asked.append(run_name(reader, run_id or LATEST, asked))
                since = ("first_run_id", "reopened_run_id")
                columns = since if new else (*since, "last_run_id")
                conditions.append(Among(columns, asked[-1].values))
            order = ("table_fqn", "rule_id", "first_seen", "violation_key")
            answer = reader.ask(Question("violations", tuple(conditions), order, limit))
            names = names_of(reader, sorted({str(row["rule_id"]) for row in answer.rows}))
            problem = "" if answer.total else unknown_name(reader, asked)
        if not problem or style != "console":
            _write_violations(output, answer, names, style)
    if problem:
        _end_with_nothing(ctx, problem)


@show.command()
def schema() -> None:
    """Print the JSON Schema of the result document, which --format json prints."""
    click.echo(schema_text())


def _end_with_nothing(ctx: click.Context, told: str) -> None:
    click.echo(inert(f"lakeproof: {printable(told)}"), err=True)
    ctx.exit(EXIT_NOTHING)


def _write_results(
    output: Results, run_id: str, shown: list[CheckResult], total: int, style: str
) -> None:
    if style == "json":
        listed = [result_document(result) for result in shown]
        output.write(document_text({"run_id": run_id, "total": total, "results": listed}))
    elif style == "csv":
        output.write(csv_text(COLUMNS, map(readable_result, shown)))
    elif shown:
        output.write_report(results_text(run_id, shown, total))


def _write_trends(
    output: Results, shown: list[RuleTrend], total: int, style: str, blocks: str
) -> None:
    points = [[_point(result) for result in trend.results] for trend in shown]
    if style == "json":
        rules = [
            {**_rule(trend.latest), "status": trend.latest.status, "results": of_rule}
            for trend, of_rule in zip(shown, points, strict=True)
        ]
        output.write(document_text({"total": total, "rules": rules}))
    elif style == "csv":
        rows = [
            {**_rule(trend.latest), **point}
            for trend, of_rule in zip(shown, points, strict=True)
            for point in of_rule
        ]
        output.write(csv_text(_TREND_COLUMNS, rows))
    elif shown:
        output.write_report(trend_text(shown, total, blocks))


_TREND_COLUMNS = (
    "check_name", "table_fqn", "column_name", "run_id", "executed_at",
    "status", "failing_rows", "total_rows", "measure",
)  # fmt: skip


def _rule(result: CheckResult) -> dict[str, object]:
    return {name: getattr(result, name) for name in _TREND_COLUMNS[:3]}


def _point(result: CheckResult) -> dict[str, object]:
    return {name: result_document(result)[name] for name in _TREND_COLUMNS[3:]}


def _write_violations(
    output: Results, answer: Answer, names: Mapping[str, str], style: str
) -> None:
    rows = [{"rule": names.get(str(row["rule_id"])), **row} for row in answer.rows]
    if style == "json":
        output.write(document_text({"total": answer.total, "violations": rows}))
    elif style == "csv":
        if len(answer.rows) < answer.total:
            told = (
                f"{len(answer.rows):,} of {answer.total:,} violations written; --limit writes more"
            )
            click.echo(f"lakeproof: warning: {told}", err=True)
        columns = ("rule", "key", *(column.name for column in VIOLATIONS.columns))
        keyed = [{"key": readable_key(str(row["violation_key"])), **row} for row in rows]
        output.write(csv_text(columns, keyed))
    else:
        now = datetime.now(UTC).replace(tzinfo=None)
        output.write_report(violations_text(answer.rows, answer.total, names, now))


show.add_command(progress_command)
