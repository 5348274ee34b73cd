"""`lakeproof store audit`: kept state held against the tables that it was counted from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from lakeproof.cli.contract_options import ContractOptions, contract_options
from lakeproof.cli.options import (
    Where,
    format_option,
    key_option,
    progress_options,
    suite_argument,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.cli.suites import Suite, all_checks, label_of, load_suites
from lakeproof.config import Config
from lakeproof.errors import ConfigError
from lakeproof.gating.policy import (
    EXIT_CLOSED_BY_DATA,
    EXIT_NOT_EVALUATED,
    EXIT_NOTHING,
    EXIT_OPEN,
)
from lakeproof.model.nearest import nearest
from lakeproof.model.printable import counted, printable
from lakeproof.reporting.document import document_text
from lakeproof.reporting.log_commands import inert

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeproof.planning.plan import Plan
    from lakeproof.running.auditing import Audited
    from lakeproof.running.progress import Listener


@click.command()
@suite_argument
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.01,
    show_default=True,
    help="How much of the key space.",
)
@click.option("--rule", "names", metavar="NAME", multiple=True, help="This rule. Repeatable.")
@click.option("--rebuild", is_flag=True, help="Run, and build anew what differs.")
@contract_options
@where_options()
@key_option
@format_option
@progress_options
@verbose_option
@click.pass_context
def audit(  # noqa: PLR0913 (one per option)
    ctx: click.Context,
    *,
    suites: tuple[str, ...],
    share: float,
    names: tuple[str, ...],
    rebuild: bool,
    contracts: ContractOptions,
    where: Where,
    keys: Mapping[str, tuple[str, ...]],
    style: str,
    progress: str | None,
) -> None:
    """Count a part of the keys again, from the tables where the rules stand.

    Give the suites as they are run. Exit 1 if kept state differs and is not rebuilt, else 3 if a
    rule could not be counted, 5 if no rule of them keeps an index that can be counted again.
    """
    from lakeproof.planning.settings import with_keys

    settings = with_keys(contracts.settings(where.settings()), keys)
    run_id = ""
    with results_only_on_stdout() as results:
        loaded = load_suites(suites)
        require_lakehouse(settings.session)
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            found = _audited(spark, loaded, settings, contracts, where, share, names)
            drifted = [one.rule_key for one in found if one.has_drifted]
            if rebuild and drifted:
                run_id = _rebuilt(spark, loaded, settings, contracts, where, drifted, listener)
        if style == "json":
            results.write(document_text(_document(found, share, run_id)))
        else:
            results.write_report(inert("\n".join(_lines(found, run_id))))
    ctx.exit(_exit_code(found, is_rebuilt=bool(run_id)))


def _exit_code(found: Sequence[Audited], *, is_rebuilt: bool) -> int:
    """What is known to be wrong weighs most, then what is not known."""
    if any(one.has_drifted for one in found) and not is_rebuilt:
        return EXIT_CLOSED_BY_DATA
    if any(one.failed for one in found):
        return EXIT_NOT_EVALUATED
    return EXIT_NOTHING if all(one.skipped for one in found) else EXIT_OPEN


def _audited(
    spark: SparkSession,
    loaded: Sequence[Suite],
    settings: Config,
    contracts: ContractOptions,
    where: Where,
    share: float,
    names: Sequence[str],
) -> list[Audited]:
    from lakeproof.planning.settings import table_settings
    from lakeproof.preparing import Where as Objects
    from lakeproof.preparing import planner_of
    from lakeproof.running.auditing import Auditor
    from lakeproof.state import open_store

    now = datetime.now(UTC)
    objects = Objects(contracts.tables, contracts.server)
    planner = planner_of(spark, all_checks(loaded), settings, now, objects, contracts.variables)
    planner.engine.ensure_ready()
    plan = planner.at(now)
    _refuse_unknown(plan, names)
    store = open_store(spark, where.store_to_open(settings))
    store.prepare()
    auditor = Auditor(
        planner.engine,
        store,
        lambda table: table_settings(settings, table),
        lambda at: planner.at(now, at),
        settings.timeout_seconds,
    )
    return auditor.audit(plan, share, frozenset(names))


def _refuse_unknown(plan: Plan, names: Sequence[str]) -> None:
    known = [*(rule.key for rule in plan.rules), *(rule.key for rule in plan.rejected)]
    for name in names:
        if name not in known:
            near = nearest(name, known)
            told = f". Nearest: {', '.join(near)}" if near else ""
            raise ConfigError(f"no rule {name!r} in these suites{told}")


def _rebuilt(
    spark: SparkSession,
    loaded: Sequence[Suite],
    settings: Config,
    contracts: ContractOptions,
    where: Where,
    drifted: Sequence[str],
    listener: Listener,
) -> str:
    """Run the suites as `run` would, with these rules built from the whole table."""
    from lakeproof.api import run_checks

    outcome = run_checks(
        spark,
        all_checks(loaded),
        tables=contracts.tables,
        variables=contracts.variables,
        server=contracts.server,
        store=where.store_to_open(settings),
        config=settings,
        suite=label_of(loaded),
        rebuild=drifted,
        listener=listener,
    )
    return outcome.run_id


def _lines(found: Sequence[Audited], run_id: str) -> list[str]:
    lines = []
    for one in found:
        name = f"{printable(one.rule_key)} on {printable(one.table)}"
        if one.skipped:
            lines.append(f"SKIPPED  {name}: {printable(one.skipped)}")
        elif one.failed:
            lines.append(f"UNKNOWN  {name}: {printable(one.failed)}")
        elif one.has_drifted:
            facts = [f"{one.different:,} of {counted(one.keys, 'key')} differ"]
            facts = facts if one.different else []
            facts += [f"other numbers: {', '.join(one.numbers)}"] if one.numbers else []
            lines.append(f"DRIFTED  {name}: {'; '.join(facts)}")
        else:
            keys = f"{counted(one.keys, 'key')} and all numbers" if one.keys else "all numbers"
            lines.append(f"EQUAL    {name}: {keys}")
    unknown = [one for one in found if one.failed]
    if unknown:
        lines.append(
            f"{counted(len(unknown), 'rule')} could not be audited. Where rows are gone, run the "
            "suite: its rules then stand where there are rows to count"
        )
    if run_id:
        lines.append(f"rebuilt by run {run_id}")
    elif any(one.has_drifted for one in found):
        lines.append("Next: the same with --rebuild")
    return lines


def _document(found: Sequence[Audited], share: float, run_id: str) -> dict[str, object]:
    return {
        "share": share,
        "rebuilt_by": run_id or None,
        "rules": [
            {
                "rule": one.rule_key,
                "rule_id": one.rule_id,
                "table_fqn": one.table,
                "keys": one.keys,
                "different": one.different,
                "numbers": list(one.numbers),
                "drifted": one.has_drifted,
                "skipped": one.skipped or None,
                "failed": one.failed or None,
            }
            for one in found
        ],
    }
