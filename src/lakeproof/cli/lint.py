"""`lakeproof lint`: what is wrong with suites as far as can be known without Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import click

from lakeproof.cli.options import (
    Where,
    config_option,
    format_option,
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


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that cannot run, and why."""

    suite: str
    rule: str
    reason: str

    def __str__(self) -> str:
        return f"{printable(self.suite)}: {printable(self.rule)}: {printable(self.reason)}"


@click.command()
@suite_argument
@config_option
@format_option
@verbose_option
@click.pass_context
def lint(ctx: click.Context, *, suites: tuple[str, ...], config: str, style: str) -> None:
    """Find mistakes in suites without starting Spark. Exit 2 if there are any, 5 if no rule is.

    SUITE is package.module:NAME, a list of QualityCheck; several are joined, and a name that
    two of them use is a mistake.
    """
    settings = Where(config=config).settings()
    with results_only_on_stdout() as results:
        rules = rules_by_suite(load_suites(suites), settings)
        findings = list(_findings(rules))
        if style == "json":
            results.write(
                document_text(
                    {
                        "rules": len(rules),
                        "findings": [
                            {"suite": found.suite, "rule": found.rule, "reason": found.reason}
                            for found in findings
                        ],
                    }
                )
            )
        else:
            for found in findings:
                results.write(str(found))
            told = counted(len(findings), "finding") if findings else "no findings"
            results.write(f"{counted(len(rules), 'rule')}, {told}")
    if findings:
        ctx.exit(EXIT_USAGE)
    if not rules:
        click.echo(f"lakeproof: no rules in {printable(', '.join(suites))}", err=True)
        ctx.exit(EXIT_NOTHING)


def rules_by_suite(
    suites: Sequence[Suite], config: Config
) -> list[tuple[Suite, Rule | RejectedRule]]:
    """The rules of all suites together, each with the suite that it came from."""
    from lakeproof.contracts.suite import rules_of

    # Names must be unique over all suites, so they are read as one; read alone, each says
    # how many of the rules are its own.
    owners = [suite for suite in suites for _ in rules_of(suite.checks, config)]
    return list(zip(owners, rules_of(all_checks(suites), config), strict=True))


def refuse_rejected(
    suites: Sequence[Suite], config: Config, chosen: Collection[str] | None = None
) -> None:
    """`--strict`: stop before Spark starts if a rule, of those chosen, cannot run anyway."""
    rules = rules_by_suite(suites, config)
    among = [(suite, rule) for suite, rule in rules if chosen is None or rule.key in chosen]
    findings = [str(found) for found in _findings(among)]
    if findings:
        raise SuiteError(f"--strict: {len(findings)} rule(s) cannot run: {'; '.join(findings)}")


def _findings(rules: Sequence[tuple[Suite, Rule | RejectedRule]]) -> Iterator[Finding]:
    for suite, rule in rules:
        if isinstance(rule, RejectedRule):
            yield Finding(suite.name, rule.key, rule.reason)
