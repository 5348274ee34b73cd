"""`lakeproof lint`: what is wrong with suites and contracts as far as Spark is not needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from lakeproof.cli.contract_options import ContractOptions, contract_options
from lakeproof.cli.options import (
    Where,
    config_option,
    format_option,
    is_verbose,
    suite_argument,
    verbose_option,
)
from lakeproof.cli.streams import results_only_on_stdout
from lakeproof.cli.suites import Suite, all_checks, load_suites
from lakeproof.config import Config
from lakeproof.errors import SuiteError
from lakeproof.gating.policy import EXIT_NOTHING, EXIT_USAGE
from lakeproof.model.printable import counted, printable
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.reporting.document import document_text

if TYPE_CHECKING:
    from lakeproof.contracts.contract import Contract


@dataclass(frozen=True, slots=True)
class Mistake:
    """A rule that cannot run, or a place in a contract that is not as it should be, and why.

    A note is told, and does not make lint fail.
    """

    suite: str
    rule: str
    reason: str
    source: str = ""
    is_note: bool = False

    def __str__(self) -> str:
        place = self.source or self.suite
        named = f"{printable(self.rule)}: " if self.rule else ""
        note = "note: " if self.is_note else ""
        return f"{printable(place)}: {note}{named}{printable(self.reason)}"


@click.command()
@suite_argument
@contract_options
@config_option
@format_option
@verbose_option
@click.pass_context
def lint(
    ctx: click.Context,
    *,
    suites: tuple[str, ...],
    contracts: ContractOptions,
    config: str,
    style: str,
) -> None:
    """Find mistakes without starting Spark. Exit 2 if there are any, 5 if no rule is.

    SUITE is package.module:NAME, a list of QualityCheck, or a contract's file; several are
    joined, and a name that two of them use is a mistake.
    """
    settings = Where(config=config).settings()
    with results_only_on_stdout() as results:
        loaded = load_suites(suites)
        rules = rules_by_suite(loaded, settings, contracts)
        found = [*_mistakes(loaded, rules), *_watermark_notes(settings)]
        mistakes = [one for one in found if not one.is_note]
        if style == "json":
            results.write(
                document_text(
                    {
                        "rules": len(rules),
                        "findings": [_entry(one) for one in mistakes],
                        "notes": [_entry(one) for one in found if one.is_note],
                    }
                )
            )
        else:
            for one in found:
                results.write(str(one))
            told = counted(len(mistakes), "finding") if mistakes else "no findings"
            results.write(f"{counted(len(rules), 'rule')}, {told}")
    if mistakes:
        ctx.exit(EXIT_USAGE)
    if not rules:
        click.echo(f"lakeproof: no rules in {printable(', '.join(suites))}", err=True)
        ctx.exit(EXIT_NOTHING)


def _entry(found: Mistake) -> dict[str, str]:
    return {
        "suite": found.suite,
        "rule": found.rule,
        "reason": found.reason,
        "source": found.source,
    }


def rules_by_suite(
    suites: Sequence[Suite], config: Config, contracts: ContractOptions
) -> list[tuple[Suite, Rule | RejectedRule]]:
    """The rules of all suites together, each with the suite that it came from."""
    owners = [suite for suite in suites for _ in suite.checks]
    gathered = contracts.gathered(all_checks(suites), config)
    return [
        (owners[number], rule)
        for number, rule in zip(gathered.entries, gathered.rules, strict=True)
    ]


def refuse_rejected(
    suites: Sequence[Suite],
    config: Config,
    contracts: ContractOptions,
    chosen: Collection[str] | None = None,
) -> None:
    """`--strict`: stop before Spark starts if a rule, of those chosen, cannot run anyway."""
    rules = rules_by_suite(suites, config, contracts)
    among = [(suite, rule) for suite, rule in rules if chosen is None or rule.key in chosen]
    mistakes = [str(one) for one in _mistakes(suites, among) if not one.is_note]
    if mistakes:
        raise SuiteError(f"--strict: {counted(len(mistakes), 'finding')}: {'; '.join(mistakes)}")


def tell_findings(ctx: click.Context, suites: Sequence[Suite]) -> None:
    """What was noticed about contracts, on standard error; notes only to those who ask."""
    for one in _of_contracts(suites):
        if not one.is_note or is_verbose(ctx):
            click.echo(f"lakeproof: {'' if one.is_note else 'warning: '}{one}", err=True)


def _mistakes(
    suites: Sequence[Suite], rules: Sequence[tuple[Suite, Rule | RejectedRule]]
) -> Iterator[Mistake]:
    yield from _of_contracts(suites)
    told = {suite.name: _pointers(suite) for suite in suites}
    for suite, rule in rules:
        if not isinstance(rule, RejectedRule) or rule.is_skipped:
            continue
        place = rule.declared.get("pointer", "")
        # What the contract's own findings say of an entry is not said again.
        if not any(one == place or one.startswith(f"{place}/") for one in told[suite.name]):
            yield Mistake(suite.name, rule.key, rule.reason, rule.source)


def _watermark_notes(config: Config) -> Iterator[Mistake]:
    """A watermark by its column alone allows no lateness, which is seldom what is meant."""
    for table, settings in config.tables.items():
        if settings.watermark is not None and settings.watermark.is_short_form:
            column = settings.watermark.column
            reason = (
                f"table {table}: watermark {column} allows no lateness, so a row that comes late "
                f'is missed. Write watermark = {{column = "{column}", allowed_lateness = "2h"}}, '
                "or 0 if none comes late"
            )
            yield Mistake("", "", reason, config.source, is_note=True)


def _pointers(suite: Suite) -> list[str]:
    """The places of what is wrong in the contract."""
    return [
        found.location.pointer
        for contract in _contracts(suite)
        for found in contract.findings
        if found.level == "error"
    ]


def _of_contracts(suites: Sequence[Suite]) -> Iterator[Mistake]:
    for suite in suites:
        for contract in _contracts(suite):
            for found in contract.findings:
                is_note = found.level == "note"
                yield Mistake(suite.name, "", found.message, str(found.location), is_note=is_note)


def _contracts(suite: Suite) -> list[Contract]:
    from lakeproof.contracts.contract import Contract  # a suite alone needs no YAML

    return [one for one in suite.checks if isinstance(one, Contract)]
