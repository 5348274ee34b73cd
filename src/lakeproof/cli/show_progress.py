"""`lakeproof show progress`: how far rules have come, and how long that still helps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING

import click

from lakeproof.cli.looking_up import names_of, table_name
from lakeproof.cli.options import (
    Where,
    format_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.state_reader import state_reader
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.errors import LakeproofError
from lakeproof.gating.policy import EXIT_NOTHING
from lakeproof.model.distance import Distance
from lakeproof.model.names import TableName
from lakeproof.model.printable import printable
from lakeproof.model.reading import Mark, Mode
from lakeproof.reporting.document import document_text
from lakeproof.reporting.log_commands import inert
from lakeproof.reporting.progress_text import (
    RuleStand,
    progress_document,
    progress_text,
    warnings_of,
)
from lakeproof.state.reading import Among, Question, SparkReader, StateReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command()
@click.option("--table", default="", help="Of this table only.")
@click.option("--kept-only", is_flag=True, help="Look at no table: what is kept, without Spark.")
@where_options()
@format_option
@progress_options
@verbose_option
@click.pass_context
def progress(
    ctx: click.Context,
    *,
    table: str,
    kept_only: bool,
    where: Where,
    style: str,
    progress: str | None,
) -> None:
    """Show how far each rule has come, how far behind that is, and until when it helps.

    Changes are kept for a time. The tables are asked whether those of each rule are still there;
    where they are gone, a run rebuilds it from the whole table. Exit 5 if no rule has progress.
    """
    settings = where.settings()
    now = datetime.now(UTC)
    wanted = table_name(table, settings).values if table else ()
    with results_only_on_stdout() as results:
        with progress_on_stderr(progress) as listener, ExitStack() as held:
            if kept_only:
                reader = held.enter_context(state_reader(where, settings, listener))
                stands = _stands(reader, wanted)
            else:
                from lakeproof.state import open_store

                require_lakehouse(settings.session)
                spark = held.enter_context(session_for(settings.session, listener))
                reader = SparkReader(open_store(spark, where.store_to_open(settings)))
                stands = _stands(reader, wanted)
                stands = list(_measured(spark, stands, _referred(reader, stands), now))
        if style == "json":
            results.write(document_text(progress_document(stands, now)))
        elif stands:
            results.write_report(progress_text(stands, now))
    for warning in warnings_of(stands, now):
        click.echo(inert(f"lakeproof: warning: {printable(warning)}"), err=True)
    if not stands:
        of = f" of table {table!r}" if table else ""
        click.echo(inert(f"lakeproof: no progress{printable(of)} is kept"), err=True)
        ctx.exit(EXIT_NOTHING)


_COLUMNS = (
    "table_fqn", "rule_id", "rule_key", "mode", "position", "parent_position", "processed_at",
    "updated_at", "run_id", "batch_seq", "epoch", "generation", "standing", "suite",
)  # fmt: skip


def _stands(reader: StateReader, tables: tuple[str, ...]) -> list[RuleStand]:
    """The present of each rule: of its log, the row with the highest batch and epoch."""
    conditions = (Among(("table_fqn",), tables),) if tables else ()
    rows = reader.ask(Question("progress", conditions, columns=_COLUMNS)).rows
    newest: dict[str, Mapping[str, object]] = {}
    for row in sorted(rows, key=lambda row: (_number(row["batch_seq"]), _number(row["epoch"]))):
        newest[str(row["rule_id"])] = row
    newest = {rule_id: row for rule_id, row in newest.items() if not _is_retired(row)}
    names = names_of(reader, sorted(newest))
    stands = [_stand(row, names.get(rule_id, "")) for rule_id, row in newest.items()]
    return sorted(stands, key=lambda stand: (stand.table, stand.rule, stand.rule_id))


def _stand(row: Mapping[str, object], name: str) -> RuleStand:
    """A rule with a new `name` keeps the old one in its progress until it has something to read."""
    processed = row["processed_at"] or row["updated_at"]
    rule_id = str(row["rule_id"])
    return RuleStand(
        table=str(row["table_fqn"]),
        rule=str(name or row["rule_key"] or rule_id[:12]),
        rule_id=rule_id,
        mode=str(row["mode"]),
        mark=_mark(row["position"]),
        parent=_mark(row["parent_position"]),
        processed_at=processed if isinstance(processed, datetime) else None,
        run_id=str(row["run_id"]),
        batch_seq=_number(row["batch_seq"]),
        generation=_number(row["generation"]),
    )


def _is_retired(row: Mapping[str, object]) -> bool:
    """Whether no suite asks for the rule any more, or it is no rule but rows that were kept.

    State of an older version says neither (NULL), and is shown.
    """
    if row["standing"] is not None:
        return False
    return row["rule_key"] == "" or (row["suite"] == "" and row["mode"] == Mode.SNAPSHOT)


def _mark(text: object) -> Mark | None:
    """State of an older version holds a position without its table: that is no mark."""
    try:
        return Mark.from_json(str(text)) if text else None
    except (ValueError, KeyError, TypeError):
        return None


def _number(value: object) -> int:
    return 0 if value is None else int(str(value))


def _measured(
    spark: SparkSession, stands: Sequence[RuleStand], referred: Mapping[str, str], now: datetime
) -> Iterable[RuleStand]:
    """The same with how far each is behind; one look for rules that stand alike.

    A rule that refers to another table has a mark there, too, and the worse of the two counts.
    `referred` has the names of such tables by their ids.
    """
    measure = cache(partial(_distance, spark))
    for stand in stands:
        if stand.mark is None:
            yield stand
            continue
        found = [measure(stand.table, stand.mark, stand.mode)]
        other = referred.get(stand.parent.table_id, "") if stand.parent is not None else ""
        if stand.parent is not None and other:
            found.append(replace(measure(other, stand.parent, Mode.CDF.value), table=other))
        yield replace(stand, distance=max(found, key=lambda distance: distance.rank(now)))


def _distance(spark: SparkSession, table: str, mark: Mark, mode: str) -> Distance:
    from lakeproof.engines.spark.retention import distance_of

    try:
        return distance_of(spark, TableName.parse(table), mark, mode)
    except LakeproofError as problem:
        # Without history they may be files or a frame, checked under a name of their own.
        return Distance(unreadable=str(problem) if mark.position is not None else "")


def _referred(reader: StateReader, stands: Iterable[RuleStand]) -> dict[str, str]:
    """The names of tables that rules refer to, by their ids: runs have held them, too."""
    ids = {stand.parent.table_id for stand in stands if stand.parent is not None}
    if not ids:
        return {}
    condition = Among(("table_id",), tuple(sorted(ids)))
    columns = ("table_id", "table_fqn", "created_at")
    rows = reader.ask(
        Question("intents", (condition,), order=("created_at",), columns=columns)
    ).rows
    return {str(row["table_id"]): str(row["table_fqn"]) for row in rows}
