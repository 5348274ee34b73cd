"""`lakeproof ls`: the rules that a selection means."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lakeproof.cli.contract_options import ContractOptions, contract_options
from lakeproof.cli.lint import rules_by_suite
from lakeproof.cli.options import (
    Where,
    format_option,
    suite_argument,
    verbose_option,
    where_options,
)
from lakeproof.cli.selecting import Wanted, selection_options
from lakeproof.cli.state_reader import state_reader
from lakeproof.cli.streams import Progress, progress_on_stderr, results_only_on_stdout
from lakeproof.cli.suites import load_suites
from lakeproof.config import Config
from lakeproof.model.printable import printable
from lakeproof.model.rule import RejectedRule
from lakeproof.planning.selection import AnyRule
from lakeproof.reporting.document import document_text


@click.command()
@suite_argument
@selection_options
@contract_options
@where_options()
@format_option
@verbose_option
def ls(
    *,
    suites: tuple[str, ...],
    wanted: Wanted,
    contracts: ContractOptions,
    where: Where,
    style: str,
) -> None:
    """List the rules that --select and --exclude mean, without running them.

    SUITE is package.module:NAME, a list of QualityCheck, or a contract's file. Terms are
    name: id: table: column: tag: dimension: severity: check: status: schedule-due: with * and
    ?; a space means or, a comma means and. status: looks at the last kept run. Exit 5 if no rule
    is meant.
    """
    settings = contracts.settings(where.settings())
    with results_only_on_stdout() as results:
        rules = [rule for _, rule in rules_by_suite(load_suites(suites), settings, contracts)]
        chosen = wanted.choose(rules, lambda: _last_statuses(where, settings, rules))
        if style == "json":
            entries = [_entry(rule) for rule in chosen.rules]
            results.write(document_text({"total": len(entries), "rules": entries}))
        else:
            results.write("\n".join(_line(rule) for rule in chosen.rules))


def _last_statuses(
    where: Where, settings: Config, rules: Sequence[AnyRule]
) -> dict[tuple[str, str], str]:
    from lakeproof.state.last_statuses import last_statuses

    with (
        progress_on_stderr(Progress.NONE) as listener,
        state_reader(where, settings, listener) as reader,
    ):
        return last_statuses(reader, rules)


def _entry(rule: AnyRule) -> dict[str, object]:
    return {
        "name": rule.key,
        "check": rule.check,
        "table": ".".join(rule.table.parts) if rule.table else rule.table_label,
        "column": rule.column_label,
        "severity": rule.severity.value,
        "dimension": rule.dimension,
        "tags": list(rule.tags),
        "source": rule.source,
        "problem": rule.reason if isinstance(rule, RejectedRule) else "",
    }


def _line(rule: AnyRule) -> str:
    column = f".{rule.column_label}" if rule.column_label else ""
    tags = "".join(f" #{tag}" for tag in rule.tags)
    broken = ""
    if isinstance(rule, RejectedRule):
        broken = "  (skipped)" if rule.is_skipped else "  (cannot run: see lakeproof lint)"
    return printable(f"{rule.key}  {rule.check} on {rule.table_label}{column}{tags}{broken}")
