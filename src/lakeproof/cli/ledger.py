"""`lakeproof ledger`: what a run's books say, whether storage agrees, where a record went."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from lakeproof.cli.ledger_text import keys_text, ledger_text, trace_text, verified_text
from lakeproof.cli.options import format_option, verbose_option
from lakeproof.cli.streams import Results, results_only_on_stdout
from lakeproof.gating.policy import EXIT_NOT_EVALUATED, EXIT_NOTHING, EXIT_OPEN
from lakeproof.reporting.document import document_text

LIMIT = 20

directory_argument = click.argument("directory", metavar="DIR")
input_option = click.option(
    "--input", "input_path", metavar="PATH", default=None, help="Where the input is, if it moved."
)


@click.group()
def ledger() -> None:
    """Read and verify the books of a pipeline, without starting Spark.

    DIR is the run directory, or the ledger file in it.
    """


@ledger.command()
@directory_argument
@format_option
@verbose_option
def show(*, directory: str, style: str) -> None:
    """Show the equation of a run, and what is wrong with it.

    With --format json, the ledger as it is.
    """
    from lakeproof.accounting.document import ledger_to_json, load_ledger

    with results_only_on_stdout() as results:
        found = load_ledger(directory)
        if style == "json":
            results.write(document_text(json.loads(ledger_to_json(found))))
        else:
            results.write_report(ledger_text(found))


@ledger.command()
@directory_argument
@input_option
@format_option
@verbose_option
@click.pass_context
def verify(ctx: click.Context, *, directory: str, input_path: str | None, style: str) -> None:
    """Hold a ledger against what is on storage.

    \b
    Exit codes: 0 verified; 1 unbalanced or altered; 2 there is no ledger;
    3 something could not be read, such as an input on another machine.
    """  # noqa: D301 (\b is click's mark for "do not wrap")
    from lakeproof.accounting.without_spark.verifying import verify_ledger

    with results_only_on_stdout() as results:
        report = verify_ledger(directory, input_path)
        if style == "json":
            document = {
                "ledger": directory,
                "verified": report.exit_code == EXIT_OPEN,
                "balanced": report.balanced,
                "findings": [asdict(found) for found in report.findings],
                "checked": report.checked,
                "not_checked": report.not_checked,
                "left_out": report.left_out,
            }
            results.write(document_text(document))
        else:
            results.write_report(verified_text(report, directory))
    ctx.exit(report.exit_code)


@ledger.command()
@directory_argument
@click.option("--key", metavar="K", default=None, help="Where the record of this key went.")
@click.option(
    "--group", metavar="JSON", default=None, help='Keys of a group: {"flight_date": "2025-01-31"}.'
)
@click.option("--step", metavar="ID", default="", help="Step of the group, where several fit.")
@click.option("--missing", is_flag=True, help="Keys of the input that are in no partition.")
@click.option("--limit", type=click.IntRange(1), default=LIMIT, help=f"Default: {LIMIT}.")
@input_option
@format_option
@verbose_option
def trace(
    *,
    directory: str,
    input_path: str | None,
    key: str | None,
    group: str | None,
    step: str,
    missing: bool,
    limit: int,
    style: str,
) -> None:
    """Say where records went: one, those of a group, lost ones.

    One of --key, --group, --missing. K is as reports show it; a key of several columns is JSON.
    Exit 5 if there is nothing to tell, 3 if it cannot be told without the input.
    """
    if sum((key is not None, group is not None, missing)) != 1:
        raise click.UsageError("give one of --key, --group and --missing")
    with results_only_on_stdout() as results:
        if key is not None:
            code = _write_trace(results, directory, (key, input_path), style)
        elif group is not None:
            asked = (_group(group), step, input_path)
            code = _write_sources(results, directory, asked, limit, style)
        else:
            code = _write_missing(results, directory, limit, style)
    raise click.exceptions.Exit(code)


def _group(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise click.BadParameter(
            'write each group column as JSON: {"flight_date": "2025-01-31"}, or {} for a total',
            param_hint="--group",
        )
    return found


def _write_trace(
    results: Results, directory: str, asked: tuple[str, str | None], style: str
) -> int:
    from lakeproof.accounting.document import load_ledger
    from lakeproof.accounting.without_spark.tracing import trace as trace_of

    found = trace_of(load_ledger(directory), *asked)
    if style == "json":
        results.write(document_text(asdict(found)))
    else:
        results.write_report(trace_text(found))
    if found.dispositions or found.in_input or (found.in_input is False and found.note):
        return EXIT_OPEN
    return EXIT_NOT_EVALUATED if found.in_input is None else EXIT_NOTHING


def _write_sources(
    results: Results,
    directory: str,
    asked: tuple[dict[str, object], str, str | None],
    limit: int,
    style: str,
) -> int:
    from lakeproof.accounting.document import load_ledger
    from lakeproof.accounting.without_spark.tracing import sources

    keys = sources(load_ledger(directory), *asked)
    _write_keys(results, keys[:limit], len(keys), style, "record")
    return EXIT_OPEN if keys else EXIT_NOTHING


def _write_missing(results: Results, directory: str, limit: int, style: str) -> int:
    from lakeproof.accounting.document import load_ledger
    from lakeproof.accounting.without_spark.listed_keys import missing

    found = load_ledger(directory)
    keys = [one.source_key for one in missing(found, limit)]
    total = found.discrepancy.missing_count if found.discrepancy is not None else 0
    _write_keys(results, keys, total, style, "missing record")
    return EXIT_OPEN if total else EXIT_NOTHING


def _write_keys(results: Results, keys: Sequence[str], total: int, style: str, noun: str) -> None:
    if style == "json":
        results.write(document_text({"total": total, "keys": list(keys)}))
    else:
        results.write_report(keys_text(keys, total, noun))
