"""`lakeproof contract`: what becomes of a contract's rules, which are due, and the file anew."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeproof.cli.contract_options import ContractOptions, contract_options
from lakeproof.cli.options import Command, Where, config_option, format_option, verbose_option
from lakeproof.cli.streams import Results, results_only_on_stdout
from lakeproof.errors import ConfigError
from lakeproof.model.printable import counted, printable
from lakeproof.reporting.document import document_text

if TYPE_CHECKING:
    from lakeproof.contracts.contract import Contract
    from lakeproof.model.rule import RejectedRule, Rule

file_argument = click.argument("file", metavar="FILE")
output_option = click.option(
    "-o", "--output", metavar="PATH", default="", help="Write there, not to standard output."
)


@click.group()
def contract() -> None:
    """Look at a data contract (ODCS) without starting Spark."""


def _reading(command: Command) -> Command:
    """What both commands have that look at rules."""
    for option in (output_option, format_option, config_option, contract_options, file_argument):
        command = option(command)
    return contract.command()(verbose_option(command))


@_reading
def coverage(
    *, file: str, contracts: ContractOptions, config: str, style: str, output: str
) -> None:
    """List every rule of a contract with its place: runs as what, or why not.

    Rules are those of `quality`, those that the schema implies and those of `slaProperties`.
    """
    from lakeproof.contracts.coverage import coverage as coverage_of
    from lakeproof.contracts.coverage import coverage_document, coverage_text

    with results_only_on_stdout() as results:
        loaded = _load(file)
        rules = contracts.gathered(loaded, Where(config=config).settings()).rules
        covered = coverage_of(rules)
        findings = [str(found) for found in loaded.findings]
        if style == "json":
            text = document_text({**coverage_document(covered), "findings": findings})
        else:
            text = coverage_text(covered, loaded.document.source)
            for found in findings:
                click.echo(printable(found), err=True)
        _write(results, text, output)


@_reading
@click.option(
    "--at", "moment", metavar="TIME", default="", help="ISO time, UTC unless it says. Default: now."
)
def due(
    *, file: str, contracts: ContractOptions, config: str, style: str, output: str, moment: str
) -> None:
    """List the rules of a contract whose schedule fires in the minute of --at.

    A rule without a schedule is always due. A scheduler other than cron cannot be decided here:
    its rules are listed as such.
    """
    from lakeproof.model.schedule import Due, is_due

    at = _moment(moment)
    with results_only_on_stdout() as results:
        rules = contracts.gathered(_load(file), Where(config=config).settings(), at).rules
        answers = [(rule, is_due(rule.declared, at)) for rule in rules]
        listed = [(rule, found) for rule, found in answers if found.due is not Due.NOT_DUE]
        if style == "json":
            entries = [
                {**_entry(rule), "due": found.due.value, "reason": found.reason}
                for rule, found in listed
            ]
            text = document_text({"at": at.isoformat(), "rules": entries})
        else:
            number = sum(1 for _, found in listed if found.due is Due.DUE)
            told = [_line(rule, found.due.value, found.reason) for rule, found in listed]
            ending = f"{number:,} of {counted(len(rules), 'rule')} due at {at.isoformat()}"
            text = "\n".join([*told, ending])
        _write(results, text, output)


@contract.command()
@file_argument
@output_option
@verbose_option
def export(*, file: str, output: str) -> None:
    """Write a contract of any accepted form as ODCS v3.2.0.

    Variables and comments are kept. What the standard has no place for becomes a custom property.
    """
    from lakeproof.contracts.export import export_contract

    if output.lower().endswith(".json"):
        raise click.BadParameter("the export is YAML; name it .yaml", param_hint="--output")
    with results_only_on_stdout() as results:
        _write(results, export_contract(_load(file)).rstrip("\n"), output)


def _load(file: str) -> Contract:
    from lakeproof.contracts.loading import load_contract

    return load_contract(Path(file))


def _moment(text: str) -> datetime:
    if not text:
        return datetime.now(UTC)
    try:
        found = datetime.fromisoformat(text)
    except ValueError as problem:
        raise click.BadParameter(
            f"{text!r} is not an ISO time such as 2025-03-01T10:00", param_hint="--at"
        ) from problem
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _entry(rule: Rule | RejectedRule) -> dict[str, object]:
    return {
        "key": rule.key,
        "location": rule.source,
        "schedule": rule.declared.get("schedule", ""),
        "scheduler": rule.declared.get("scheduler", ""),
    }


def _line(rule: Rule | RejectedRule, word: str, reason: str) -> str:
    told = f"  ({reason})" if reason and rule.declared.get("schedule") else ""
    return printable(f"{word}  {rule.key}  {rule.source}{told}")


def _write(results: Results, text: str, output: str) -> None:
    if not output:
        results.write(text)
        return
    try:
        Path(output).write_text(f"{text}\n", encoding="utf-8")
    except OSError as problem:
        raise ConfigError(
            f"{output} cannot be written: {problem.strerror or problem}. Name another place"
        ) from problem
