"""Kept results and violations as text: rows of the state tables, whoever read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lakeproof.model.canonical import readable_key
from lakeproof.model.outcome import CheckResult
from lakeproof.model.printable import counted, printable
from lakeproof.reporting.console import by_weight, status_word
from lakeproof.reporting.log_commands import inert

HIT_DIGITS = 12
"""As many of a violation's id as name it to people."""
_TO_SECONDS = len("2025-01-02 03:04:05")

Row = Mapping[str, object]


def heaviest_first(results: Iterable[CheckResult]) -> list[CheckResult]:
    """In the order of a report, and then by name: the suite's own order is not kept."""
    return by_weight(
        sorted(results, key=lambda result: (result.table_fqn, result.rule_key, result.check_name))
    )


def results_text(run_id: str, results: Sequence[CheckResult], total: int) -> str:
    """One line per result, the name last because it may be long."""
    moment = printable(results[0].executed_at[:_TO_SECONDS]) if results else ""
    head = f"Run {printable(run_id)}{f' at {moment} UTC' if moment else ''}"
    lines = [head, f"{'STATUS':<7} {'FAILING':>11} {'ROWS':>13}  RULE"]
    lines += [
        f"{status_word(result):<7} {result.failing_rows:>11,} {result.total_rows:>13,}  "
        f"{name_and_place(result)}"
        for result in results
    ]
    return inert("\n".join([*lines, shown_of(len(results), total, "result")]))


def name_and_place(result: CheckResult) -> str:
    """`name (catalog.schema.table.column)`."""
    column = f".{result.column_name}" if result.column_name else ""
    place = f"{result.table_fqn or result.table_name}{column}"
    return f"{printable(result.check_name)} ({printable(place)})"


def violations_text(
    rows: Sequence[Row], total: int, names: Mapping[str, str], now: datetime
) -> str:
    """Violations under their rule; `names` gives what people call each rule_id.

    `now` is in UTC without zone, as the store holds moments: a suppression may be over by then.
    """
    lines: list[str] = []
    above: tuple[object, object] | None = None
    for row in rows:
        rule = (row["table_fqn"], row["rule_id"])
        if rule != above:
            name = names.get(str(row["rule_id"]), f"rule {str(row['rule_id'])[:12]}")
            lines.append(f"{printable(name)} on {printable(row['table_fqn'])}")
            above = rule
        lines += _violation_lines(row, now)
    return inert("\n".join([*lines, shown_of(len(rows), total, "violation")]))


def _violation_lines(row: Row, now: datetime) -> Iterable[str]:
    occurrences = int(str(row["occurrences"]))
    rows = "" if occurrences == 1 else f"  ({occurrences:,} rows)"
    yield f"  {printable(row['status']):<8}  {readable_key(str(row['violation_key']))}{rows}"
    life = f"since {_moment(row['first_seen'])}, last seen {_moment(row['last_seen'])}"
    if row["resolved_at"] is not None:
        why = row.get("resolution")
        life += f", resolved {_moment(row['resolved_at'])}{f' ({_words(why)})' if why else ''}"
    times = int(str(row["reopen_count"] or 0))
    if times:
        life += f", came back {times} times" if times > 1 else ", came back once"
    yield f"            {life}, hit {printable(row['hit_id'])[:HIT_DIGITS]}"
    until = row.get("suppressed_until")
    if isinstance(until, datetime):
        told = f"suppressed until {_moment(until)}" if until > now else "suppression is over"
        yield f"            {told}, by {printable(row['suppressed_by'])}: " + printable(
            row["suppressed_why"]
        )


def _words(name: object) -> str:
    """`rule_changed` as people say it."""
    return printable(name).replace("_", " ")


def shown_of(shown: int, total: int, noun: str) -> str:
    if shown == total:
        return counted(total, noun)
    return f"{shown:,} of {counted(total, noun)} shown; --limit shows more"


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return printable(value)
