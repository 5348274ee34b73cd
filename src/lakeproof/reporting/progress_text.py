"""How far rules have come, for people and programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lakeproof.model.distance import Distance
from lakeproof.model.printable import counted, printable
from lakeproof.model.reading import Mark
from lakeproof.reporting.console import share_text
from lakeproof.reporting.log_commands import inert

WARN_ABOVE = 0.5
"""The share of the time after which somebody should run, or let the table keep more."""


@dataclass(frozen=True, slots=True)
class RuleStand:
    """Where one rule stands. `distance` is None where no table was looked at.

    `processed_at` is in UTC without zone, as the store holds moments.
    """

    table: str
    rule: str
    rule_id: str
    mode: str
    mark: Mark | None
    parent: Mark | None
    processed_at: datetime | None
    run_id: str
    batch_seq: int
    generation: int
    distance: Distance | None = None

    @property
    def place(self) -> str:
        """`version 12`, `snapshot 42`, `2025-01-01 00:00:00.000000`."""
        if self.mark is None:
            return "a place that is not known"
        if self.mark.watermark is not None:
            return printable(str(self.mark.watermark))
        return str(self.mark.position) if self.mark.position else "no history"


def progress_text(stands: Sequence[RuleStand], now: datetime) -> str:
    """Rules that stand alike share a line, under their table; the names below it."""
    lines: list[str] = []
    for table in dict.fromkeys(stand.table for stand in stands):
        lines.append(printable(table))
        alike: dict[str, list[str]] = {}
        for stand in stands:
            if stand.table == table:
                alike.setdefault(_stand_text(stand, now), []).append(printable(stand.rule))
        for text, rules in alike.items():
            lines += [f"  {text}", f"    {', '.join(rules)}"]
    return inert("\n".join([*lines, counted(len(stands), "rule")]))


def warnings_of(stands: Iterable[RuleStand], now: datetime) -> list[str]:
    """One for each table that is gone, or whose changes may soon be gone, or are."""
    found: dict[str, str] = {}
    for stand in stands:
        distance = stand.distance
        if distance is None:
            continue
        used = distance.used(now)
        table = distance.table or stand.table
        if distance.unreadable:
            which = "no rule that refers to it" if distance.table else "none of its rules"
            found[table] = f"{distance.unreadable}; a run can evaluate {which}"
        elif stand.mode == "snapshot":
            continue
        elif distance.is_gap:
            found[table] = f"{table}: {distance.problem}; the next run rebuilds"
        elif used is not None and used > WARN_ABOVE:
            found.setdefault(
                table,
                f"{table}: {_used_text(distance, used)}. Run soon, or let the table keep "
                "more; after that a run rebuilds from the whole table",
            )
    return list(found.values())


def progress_document(stands: Iterable[RuleStand], now: datetime) -> dict[str, object]:
    """One entry for each rule, in plain values."""
    return {"rules": [_stand_document(stand, now) for stand in stands]}


def _stand_text(stand: RuleStand, now: datetime) -> str:
    at = stand.processed_at.isoformat(" ", "seconds") if stand.processed_at else "an unknown time"
    told = [f"{printable(stand.mode)} at {stand.place}", f"read {at}"]
    distance = stand.distance
    if distance is not None:
        used = distance.used(now)
        problem = distance.unreadable or distance.problem
        where = f"{distance.table}: " if distance.table else ""
        if problem:
            told.append(printable(f"{where}{problem}"))
        elif distance.commits is not None:
            behind = f"{counted(distance.commits, 'commit')} behind" if distance.commits else ""
            told.append(printable(where) + (behind or "at the head"))
        if used is not None:
            told.append(_used_text(distance, used))
    return ", ".join(told)


def _used_text(distance: Distance, used: float) -> str:
    assert distance.kept_for is not None  # noqa: S101 (else nothing is used)
    days = distance.kept_for.total_seconds() / 86_400
    return f"{share_text(used)} of the {days:g} days that changes are kept are over"


def _stand_document(stand: RuleStand, now: datetime) -> dict[str, object]:
    mark, distance = stand.mark, stand.distance
    position = mark.position if mark else None
    watermark = mark.watermark if mark else None
    return {
        "table_fqn": stand.table,
        "rule": stand.rule,
        "rule_id": stand.rule_id,
        "mode": stand.mode,
        "position": {"kind": position.kind, "value": position.value} if position else None,
        "watermark": {"type": watermark.type, "value": watermark.value, "text": str(watermark)}
        if watermark
        else None,
        "processed_at": stand.processed_at,
        "run_id": stand.run_id,
        "batch_seq": stand.batch_seq,
        "generation": stand.generation,
        "referred_table": (distance.table or None) if distance else None,
        "unreadable": distance.unreadable if distance else None,
        "problem": distance.problem if distance else None,
        "commits_behind": distance.commits if distance else None,
        "needed_since": distance.since.astimezone(UTC).replace(tzinfo=None)
        if distance and distance.since
        else None,
        "kept_seconds": distance.kept_for.total_seconds()
        if distance and distance.kept_for
        else None,
        "kept_share_used": distance.used(now) if distance else None,
    }
