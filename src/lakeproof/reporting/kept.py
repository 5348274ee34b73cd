"""Kept results and violations as text: rows of the state tables, whoever read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lakeproof.model.canonical import readable_key
from lakeproof.model.outcome import CheckStatus
from lakeproof.model.printable import printable
from lakeproof.reporting.console import ORDER

Row = Mapping[str, object]


def heaviest_first(rows: Iterable[Row]) -> list[Row]:
    """Kept results in the order of a report: failed, error, warned, skipped, passed."""
    places = {status.value: place for place, status in enumerate(ORDER)}
    unknown = places[CheckStatus.ERROR.value]
    return sorted(
        rows,
        key=lambda row: (
            places.get(str(row["status"]), unknown),
            str(row["table_fqn"]),
            str(row["rule_key"]),
        ),
    )


def results_text(run_id: str, rows: Sequence[Row], total: int) -> str:
    """One line per result, the name last because it may be long."""
    moment = _moment(rows[0]["executed_at"]) if rows else ""
    head = f"Run {printable(run_id)}{f' at {moment} UTC' if moment else ''}"
    lines = [head, f"{'STATUS':<7} {'FAILING':>11} {'ROWS':>13}  RULE"]
    lines += [
        f"{printable(row['status']).upper():<7} {_count(row['failing_rows']):>11} "
        f"{_count(row['total_rows']):>13}  {printable(row['check_name'])} ({_target(row)})"
        for row in rows
    ]
    return "\n".join([*lines, _shown(len(rows), total, "results")])


def violations_text(rows: Sequence[Row], total: int, names: Mapping[str, str]) -> str:
    """Violations under their rule; `names` gives what people call each rule_id."""
    lines: list[str] = []
    above: tuple[object, object] | None = None
    for row in rows:
        rule = (row["table_fqn"], row["rule_id"])
        if rule != above:
            name = names.get(str(row["rule_id"]), f"rule {str(row['rule_id'])[:12]}")
            lines.append(f"{printable(name)} on {printable(row['table_fqn'])}")
            above = rule
        lines += _violation_lines(row)
    return "\n".join([*lines, _shown(len(rows), total, "violations")])


def _violation_lines(row: Row) -> Iterable[str]:
    occurrences = int(str(row["occurrences"]))
    rows = "" if occurrences == 1 else f"  ({occurrences:,} rows)"
    yield f"  {printable(row['status']):<8}  {readable_key(str(row['violation_key']))}{rows}"
    life = f"since {_moment(row['first_seen'])}, last seen {_moment(row['last_seen'])}"
    if row["resolved_at"] is not None:
        life += f", resolved {_moment(row['resolved_at'])}"
    times = int(str(row["reopen_count"] or 0))
    if times:
        life += f", came back {times} times" if times > 1 else ", came back once"
    yield f"            {life}"


def _shown(shown: int, total: int, noun: str) -> str:
    if shown == total:
        return f"{total:,} {noun}"
    return f"{shown:,} of {total:,} {noun} shown; --limit shows more"


def _target(row: Row) -> str:
    table = row["table_fqn"] or row["table_name"]
    column = f".{row['column_name']}" if row["column_name"] else ""
    return printable(f"{table}{column}")


def _count(value: object) -> str:
    return f"{int(str(value)):,}"


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return printable(value)
