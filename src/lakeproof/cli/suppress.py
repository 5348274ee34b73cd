"""`lakeproof suppress`: violations that somebody answers for, until a moment."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from lakeproof.cli.looking_up import names_of
from lakeproof.cli.options import (
    Where,
    format_option,
    progress_options,
    verbose_option,
    where_options,
)
from lakeproof.cli.sessions import require_lakehouse, session_for
from lakeproof.cli.streams import progress_on_stderr, results_only_on_stdout
from lakeproof.durations import Duration, duration_of
from lakeproof.model.canonical import readable_key
from lakeproof.model.printable import printable
from lakeproof.reporting.document import document_text
from lakeproof.reporting.kept import HIT_DIGITS
from lakeproof.reporting.log_commands import inert

if TYPE_CHECKING:
    from lakeproof.state.suppressing import Hit, Suppression


@click.command()
@click.argument("hits", nargs=-1, required=True, metavar="HIT...")
@click.option(
    "--until", metavar="WHEN", default="", help="A date, a moment (UTC), or a duration: 30d."
)
@click.option("--why", metavar="TEXT", default="", help="The reason, for who reads it later.")
@click.option("--by", metavar="NAME", default="", help="Who answers for it. Default: you.")
@click.option("--lift", is_flag=True, help="Hold them against their rules again, at once.")
@where_options()
@format_option
@progress_options
@verbose_option
def suppress(
    *,
    hits: tuple[str, ...],
    until: str,
    why: str,
    by: str,
    lift: bool,
    where: Where,
    style: str,
    progress: str | None,
) -> None:
    """Leave violations out of the gate until a moment, with who and why.

    HIT is the id of a violation, or its first 8 digits or more, as show violations tells it.
    Counts stay true: failing_rows has them, suppressed_rows says how many they are.
    """
    moment = _moment(until, datetime.now(UTC)) if until else None
    if lift and (moment or why or by):
        raise click.UsageError("--lift takes neither --until nor --why nor --by")
    if not lift and (moment is None or not why.strip()):
        raise click.UsageError("give --until and --why, or --lift")
    settings = where.settings()
    store = where.store_to_open(settings)
    require_lakehouse(settings.session)
    with results_only_on_stdout() as results:
        with (
            progress_on_stderr(progress) as listener,
            session_for(settings.session, listener) as spark,
        ):
            from lakeproof.state import open_store
            from lakeproof.state.reading import SparkReader
            from lakeproof.state.suppressing import Suppression, Suppressor

            kept = open_store(spark, store)
            kept.prepare()
            suppressor = Suppressor(spark, store)
            found = suppressor.find(hits)
            given = None if moment is None else Suppression(moment, by or _user(), why.strip())
            suppressor.set(found, given)
            names = names_of(SparkReader(kept), sorted({hit.rule_id for hit in found}))
        if style == "json":
            results.write(document_text(_document(found, names, given)))
        else:
            results.write_report(inert("\n".join(_lines(found, names, given))))


def _moment(text: str, now: datetime) -> datetime:
    """When it ends; a moment without zone is UTC, a date the end of that day."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return _later(text, now)
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    if len(text.strip()) == len("2026-12-31"):
        found += timedelta(days=1)
    if found <= now:
        raise click.BadParameter(f"{text} is over. --lift ends a suppression", param_hint="--until")
    return found.astimezone(UTC)


def _later(text: str, now: datetime) -> datetime:
    duration = duration_of(text)
    if duration is None:
        raise click.BadParameter(
            f"{printable(text)} is neither a date (2026-12-31), a moment (2026-12-31T18:00) nor a "
            "duration (30d, 12h, 6mo)",
            param_hint="--until",
        )
    try:
        return Duration(-duration.months, -duration.seconds).before(now)
    except (OverflowError, ValueError) as problem:
        raise click.BadParameter(f"{text} is too long", param_hint="--until") from problem


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        raise click.UsageError("who answers for it is not known here. Give --by") from None


def _document(
    hits: Sequence[Hit], names: Mapping[str, str], given: Suppression | None
) -> dict[str, object]:
    return {
        "suppressed_until": None if given is None else given.until.replace(tzinfo=None),
        "suppressed_by": None if given is None else given.by,
        "suppressed_why": None if given is None else given.why,
        "violations": [
            {
                "hit_id": hit.hit_id,
                "rule": names.get(hit.rule_id),
                "rule_id": hit.rule_id,
                "table_fqn": hit.table,
                "violation_key": hit.violation_key,
                "status": hit.status,
            }
            for hit in hits
        ],
    }


def _lines(hits: Sequence[Hit], names: Mapping[str, str], given: Suppression | None) -> list[str]:
    lines = [
        f"{hit.hit_id[:HIT_DIGITS]}  {printable(names.get(hit.rule_id, hit.rule_id[:12]))} on "
        f"{printable(hit.table)}: {readable_key(hit.violation_key)} ({printable(hit.status)})"
        for hit in hits
    ]
    if given is None:
        return [*lines, "no longer suppressed; the next run holds them against their rules"]
    until = given.until.strftime("%Y-%m-%d %H:%M")
    told = f"suppressed until {until} UTC by {printable(given.by)}: {printable(given.why)}"
    return [*lines, told]
