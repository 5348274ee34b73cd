"""--select, --exclude and --allow-empty, for every command that takes rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import wraps

import click
from click.shell_completion import CompletionItem

from lakeproof.cli.contract_options import ContractOptions
from lakeproof.cli.lint import rules_by_suite
from lakeproof.cli.options import Command
from lakeproof.cli.suites import Suite
from lakeproof.config import Config
from lakeproof.errors import NothingSelectedError
from lakeproof.gating.policy import EXIT_NOTHING
from lakeproof.model.printable import printable
from lakeproof.planning.selection import METHODS, AnyRule, Chosen, LastStatuses, Selection


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rules that the options ask for: as typed, for the API, and read, for use here."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    allow_empty: bool = False

    def choose(self, rules: Sequence[AnyRule], last_statuses: LastStatuses | None = None) -> Chosen:
        """The rules; raises if there are none, and tells on standard error what met nothing."""
        chosen = self.selection.choose(rules, last_statuses)
        chosen.raise_if_empty()
        for line in chosen.unmatched:
            click.echo(f"lakeproof: warning: {printable(line)}", err=True)
        return chosen

    def accepts(self, code: int) -> bool:
        """Whether nothing evaluated is what the caller allows; then it is told."""
        if code != EXIT_NOTHING or not self.allow_empty:
            return False
        click.echo("lakeproof: nothing was evaluated (--allow-empty)", err=True)
        return True

    def known_early(
        self, suites: Sequence[Suite], config: Config, contracts: ContractOptions
    ) -> frozenset[str] | None:
        """The keys of the chosen rules, before Spark starts; None for all, or if not known yet."""
        if not self.selection or self.selection.needs_status:
            return None
        rules = [rule for _, rule in rules_by_suite(suites, config, contracts)]
        return frozenset(rule.key for rule in self.choose(rules).rules)


def selection_options(command: Command) -> Command:
    """--select and --exclude as `wanted`; with --allow-empty, nothing selected ends well."""

    @wraps(command)
    def joined(
        *arguments: object,
        select: tuple[str, ...],
        exclude: tuple[str, ...],
        allow_empty: bool,
        **rest: object,
    ) -> object:
        wanted = Wanted(select, exclude, Selection.parse(select, exclude), allow_empty)
        try:
            return command(*arguments, wanted=wanted, **rest)
        except NothingSelectedError as problem:
            if not allow_empty:
                raise
            click.echo(f"lakeproof: {printable(problem)} (--allow-empty)", err=True)
            return None

    decorated: Command = joined
    for option in (
        click.option(
            "--allow-empty", is_flag=True, help="Exit 0, not 5, if there is nothing to run."
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar="TERMS",
            shell_complete=_complete_method,
            help="Leave these rules out, same grammar.",
        ),
        click.option(
            "--select",
            multiple=True,
            metavar="TERMS",
            shell_complete=_complete_method,
            help="Only these: 'table:sales tag:a,check:range'.",
        ),
    ):
        decorated = option(decorated)
    return decorated


def _complete_method(
    _: click.Context, __: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The methods, after what is typed of the last term."""
    start = max(incomplete.rfind(" "), incomplete.rfind(",")) + 1
    typed, last = incomplete[:start], incomplete[start:]
    return [CompletionItem(f"{typed}{method}:") for method in METHODS if method.startswith(last)]
