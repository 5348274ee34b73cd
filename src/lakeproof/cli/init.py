"""`lakeproof init`: a first configuration and a first suite, drafted from a table if named."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeproof.cli.first_config import config_text
from lakeproof.cli.options import Where, progress_options, verbose_option, where_options
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.config import Config, find_config
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.model.printable import printable
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.settings import full_name, table_settings
from lakeproof.profiling.draft import Draft, draft_rules
from lakeproof.profiling.profile import TableProfile
from lakeproof.profiling.suite_text import suite_text

if TYPE_CHECKING:
    from lakeproof.planning.plan import Plan
    from lakeproof.running.progress import Listener

CONFIG_FILE = Path("lakeproof.toml")

_EXAMPLE = (
    Draft("sales_order_id_not_null", "not_null", "No order is without its id", "order_id"),
    Draft("sales_order_id_unique", "uniqueness", "No id stands twice", "order_id"),
    Draft("sales_amount_positive", "positive", "Amounts are above 0", "amount"),
)
_EXAMPLE_NOTES = (
    "Examples: name your own table and columns, or let lakeproof init --from-table draft rules",
    "from a table. docs/reference/checks/index.md lists every check.",
)


@dataclass(frozen=True, slots=True)
class Drafted:
    """A suite's text and what to tell about it; `key` is the table's, as far as it is known."""

    text: str
    told: str
    key: tuple[str, ...] = ()


@click.command()
@click.option(
    "--from-table", "table", metavar="TABLE", default="", help="Draft rules from this table."
)
@click.option(
    "--key", metavar="COL[,COL]", default="", help="Its key columns. Default: what is unique."
)
@click.option(
    "--suite",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("checks.py"),
    show_default=True,
    help="The file to write the suite to.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@where_options(stores=())
@progress_options
@verbose_option
def init(
    *,
    table: str,
    key: str,
    suite: Path,
    force: bool,
    where: Where,
    progress: str | None,
) -> None:
    """Write lakeproof.toml and a first suite, which lakeproof run checks:CHECKS runs.

    With --from-table, rules are drafted from the table's schema and one scan of it, each with its
    evidence as a comment; of columns named like personal data, only from counts. A configuration
    that is there already is used and left as it is. No file is overwritten without --force.
    """
    if suite.suffix != ".py" or not suite.stem.isidentifier():
        raise click.UsageError(f"--suite {str(suite)!r} is not a Python file, such as checks.py")
    if key and not table:
        raise click.UsageError("--key is the key of a table: name it with --from-table")
    has_config = bool(table) and (bool(where.config) or find_config(Path.cwd()) is not None)
    targets = [suite] if has_config else [CONFIG_FILE, suite]
    _refuse_existing([] if force else targets)
    settings = where.settings()
    with results_only_on_stdout() as results:
        if table:
            require_lakehouse(settings.session)
            names = tuple(name.strip() for name in key.split(",")) if key else ()
            with progress_on_stderr(progress) as listener:
                drafted = _draft(table, names, settings, listener, suite.stem)
        else:
            text = suite_text("sales", _EXAMPLE, _EXAMPLE_NOTES, suite.stem)
            drafted = Drafted(text, "three rules as examples")
        texts = {suite: drafted.text}
        if not has_config:
            texts[CONFIG_FILE] = config_text(settings.session, table, drafted.key)
        _write_all(texts)
        # What was typed is in a configuration that was just written; else it must be typed again.
        results.write(_summary(targets, suite, drafted, where.typed if has_config else ""))


def _summary(targets: Sequence[Path], suite: Path, drafted: Drafted, typed: str) -> str:
    name = f"{suite.stem}:CHECKS"
    told = printable(f"Wrote {' and '.join(str(path) for path in targets)}: {drafted.told}")
    if suite.parent != Path():
        return told
    return f"{told}\nNext: lakeproof lint {name}; lakeproof run {name}{printable(typed)}"


def _draft(
    table: str, key: tuple[str, ...], settings: Config, listener: Listener, module: str
) -> Drafted:
    with session_for(settings.session, listener) as spark:
        from lakeproof.api import plan
        from lakeproof.engines.spark.engine import SparkEngine
        from lakeproof.engines.spark.profile import profile_table

        engine = SparkEngine(spark)
        engine.ensure_ready()
        try:
            name = full_name(settings, table)
            known = table_settings(settings, name)
            profile = profile_table(engine, name, key or known.key, known.sensitive)
        except CheckDefinitionError as problem:
            raise ConfigError(f"--from-table {table}: {problem}") from problem
        drafts = draft_rules(profile, datetime.now(UTC))
        if drafts:
            checks = [_check(draft, table) for draft in drafts]
            planned = plan(spark, checks, config=settings, keys={table: key} if key else None)
            drafts = _able(drafts, planned)
    return _drafted(table, key or known.key, profile, drafts, module)


def _able(drafts: Sequence[Draft], planned: Plan) -> list[Draft]:
    """The drafts that the planner takes; a suite that is written down must run."""
    refused = {rule.key for rule in planned.rejected}
    return [draft for draft in drafts if draft.name not in refused]


def _drafted(
    table: str,
    key: tuple[str, ...],
    profile: TableProfile,
    drafts: Sequence[Draft],
    module: str,
) -> Drafted:
    drafted = {draft.column for draft in drafts}
    notes = [f"Left out: column {name!r}: {reason}" for name, reason in profile.left_out]
    notes += [
        f"Nothing is drafted for column {column.column.name!r}"
        for column in profile.columns
        if column.column.name not in drafted
    ]
    if not profile.rows:
        notes = ["The table had no rows, so there was nothing to draft from."]
    unique = [
        column.column.name for column in profile.columns if column.is_unique and not column.private
    ]
    told = f"{len(drafts)} rules drafted from {profile.rows:,} rows of {profile.table}"
    return Drafted(suite_text(table, drafts, notes, module), told, key or tuple(unique[:1]))


def _check(draft: Draft, table: str) -> QualityCheck:
    return QualityCheck(draft.name, draft.check, table, draft.column or None, draft.params)


def _refuse_existing(paths: Sequence[Path]) -> None:
    there = [str(path) for path in paths if path.exists()]
    if there:
        raise ConfigError(
            f"{' and '.join(there)} {'are' if len(there) > 1 else 'is'} there already; nothing was "
            "written. Next: --force overwrites, --suite names another file"
        )


def _write_all(texts: dict[Path, str]) -> None:
    """All files or, if one cannot be written, none that was not there before."""
    drafts: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            drafts[path] = Path(name)
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(text)
        for path, draft in drafts.items():
            draft.chmod(0o644)
            draft.replace(path)
    except OSError as problem:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
        raise ConfigError(f"the files cannot be written: {problem}") from problem
