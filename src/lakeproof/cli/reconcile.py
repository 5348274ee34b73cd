"""`lakeproof reconcile`: two tables held against each other, and where they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from lakeproof.cli.options import (
    Command,
    Where,
    format_option,
    partition_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.errors import CheckDefinitionError, ConfigError, UnsafeSqlError
from lakeproof.gating.policy import (
    EXIT_CLOSED_BY_DATA,
    EXIT_NOT_EVALUATED,
    EXIT_NOTHING,
    EXIT_OPEN,
)
from lakeproof.model.pairing import DuplicatePolicy, HashAlgorithm

_EXIT_CODES = {
    "passed": EXIT_OPEN,
    "failed": EXIT_CLOSED_BY_DATA,
    "error": EXIT_NOT_EVALUATED,
    "skipped": EXIT_NOTHING,
}


def _read_names(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Names with commas between, in one option or several."""
    names = [name.strip() for text in given for name in text.split(",")]
    if not all(names):
        raise click.BadParameter("a name is empty: write COL[,COL]")
    return tuple(names) or None


def _names(
    option: str, variable: str, text: str, *, required: bool = False
) -> Callable[[Command], Command]:
    return click.option(
        option,
        variable,
        multiple=True,
        required=required,
        metavar="COL[,COL]",
        callback=_read_names,
        help=text,
    )


@click.command()
@click.argument("source")
@click.argument("target")
@_names("--key", "key", "Columns that align the rows.", required=True)
@_names("--columns", "columns", "Columns to compare. Default: all but metadata.")
@_names("--exclude", "exclude", "Columns to leave out, or patterns such as _load_*.")
@click.option("--where", "condition", metavar="SQL", default=None, help="Rows, on both sides.")
@partition_option
@click.option("--tolerance", type=float, default=0.0, help="Share that may differ. Default: 0.")
@click.option(
    "--absolute-tolerance",
    type=click.IntRange(0),
    default=None,
    metavar="ROWS",
    help="Number that may differ.",
)
@click.option("--sample", type=float, default=None, help="Share of the keys to compare.")
@click.option("--limit", type=click.IntRange(1), default=None, help="Rows to compare at most.")
@click.option(
    "--hash",
    "hash_algorithm",
    type=click.Choice([one.value for one in HashAlgorithm]),
    default=HashAlgorithm.XXHASH64.value,
    metavar="NAME",
    help="xxhash64, xxhash128, md5 or sha256.",
)
@click.option(
    "--float-precision", type=int, default=6, help="Digits of floating point. Default: 6."
)
@click.option(
    "--duplicate-policy",
    type=click.Choice([one.value for one in DuplicatePolicy]),
    default=DuplicatePolicy.FAIL.value,
    help="What several rows of a key mean.",
)
@click.option("--output-table", metavar="TABLE", default=None, help="Every difference into TABLE.")
@where_options(stores=())
@format_option
@progress_options
@verbose_option
@click.pass_context
def reconcile(  # noqa: PLR0913 (one per option)
    ctx: click.Context,
    /,
    *,
    source: str,
    target: str,
    key: tuple[str, ...],
    columns: tuple[str, ...] | None,
    exclude: tuple[str, ...] | None,
    condition: str | None,
    partition: Mapping[str, str],
    where: Where,
    style: str,
    progress: str | None,
    **options: Any,  # noqa: ANN401 (fields of the check, by their names)
) -> None:
    """Hold TARGET against SOURCE by key: missing, added and changed rows.

    Both are tables or paths, of any format and catalog.
    """
    if len(partition) > 1:
        raise click.UsageError("--partition takes one column")
    settings = where.settings()
    with results_only_on_stdout() as results:
        from lakeproof.reconciliation import ChecksumReconciliationCheck
        from lakeproof.reporting.comparison import coloured_comparison, comparison_text
        from lakeproof.reporting.document import document_text

        column, value = next(iter(partition.items()), (None, None))
        try:
            check = ChecksumReconciliationCheck(
                source_table=source,
                target_table=target,
                key_columns=key,
                columns=columns,
                exclude_columns=exclude or (),
                where_clause=condition,
                target_where_clause=condition,
                partition_column=column,
                **options,
            )
        except (CheckDefinitionError, UnsafeSqlError) as problem:
            raise ConfigError(str(problem)) from problem
        require_lakehouse(settings.session)
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            result = check.run(spark, value, config=settings, listener=listener)
        if style == "json":
            results.write(document_text(result.to_dict()))
        else:
            results.write_report(comparison_text(result, source, target), coloured_comparison)
    ctx.exit(_EXIT_CODES[result.status])
