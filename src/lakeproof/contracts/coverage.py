"""What becomes of every rule of a contract: the check that runs, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lakeproof.model.printable import counted, printable
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.threshold import Threshold

_NO_OBJECT = "(no object)"


class Fate(StrEnum):
    """What a rule comes to. `SKIPPED`: nothing is wrong with it, and still nothing can be run."""

    RUNS = "runs"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Covered:
    """One rule in the light of coverage; `limit` is what its number is held against, if said."""

    key: str
    location: str
    origin: str
    status: Fate
    check: str
    table: str
    column: str
    reason: str = ""
    notes: str = ""
    limit: str = ""
    engine: str = ""
    place: str = ""

    @property
    def what(self) -> str:
        """What runs, with what it is held against; or why not."""
        if self.status is Fate.RUNS:
            return f"{self.check}, {self.limit}" if self.limit else self.check
        return self.reason


def coverage(rules: Sequence[Rule | RejectedRule]) -> list[Covered]:
    """Every rule, in the order given."""
    return [_covered(rule) for rule in rules]


def coverage_document(covered: Sequence[Covered]) -> dict[str, object]:
    """As plain values: the counts, and an entry for each rule."""
    return {
        "counts": {"rules": len(covered), **_counts(covered)},
        "rules": [
            {
                "key": one.key,
                "location": one.location,
                "origin": one.origin,
                "status": one.status.value,
                "check": one.check,
                "table": one.table,
                "column": one.column,
                "limit": one.limit,
                "engine": one.engine,
                "place": one.place,
                "reason": one.reason,
                "notes": one.notes,
            }
            for one in covered
        ],
    }


def coverage_text(covered: Sequence[Covered], source: str = "") -> str:
    """A table for people: rules under their object, then how many run.

    Places are by line and column where they are of the file `source`, which is named once.
    """
    lines = [printable(source), ""] if source else []
    for table, rules in _by_table(covered).items():
        places = dict.fromkeys(one.place for one in rules if one.place)
        found = [f"  {printable(place)}" for place in places]
        lines += [printable(table), *found, *_lines(rules, f"{source}:"), ""]
    return "\n".join([*lines, summary(covered)])


def summary(covered: Sequence[Covered]) -> str:
    """`103 rules: 90 run, 10 skipped, 3 errors`."""
    counts = _counts(covered)
    return (
        f"{counted(len(covered), 'rule')}: {counts[Fate.RUNS]:,} run, "
        f"{counts[Fate.SKIPPED]:,} skipped, {counted(counts[Fate.ERROR], 'error')}"
    )


def _covered(rule: Rule | RejectedRule) -> Covered:
    if isinstance(rule, Rule):
        is_limited = rule.comparison is not None or rule.threshold != Threshold()
        told = "must be " if rule.comparison is not None else ""
        status, reason, limit = Fate.RUNS, "", f"{told}{rule.limit}" if is_limited else ""
    else:
        status = Fate.SKIPPED if rule.is_skipped else Fate.ERROR
        reason, limit = rule.reason, ""
    return Covered(
        key=rule.key,
        location=rule.source,
        origin=rule.declared.get("origin", ""),
        status=status,
        check=rule.check,
        table=str(rule.table) if rule.table else rule.table_label,
        column=rule.column_label,
        reason=reason,
        notes=rule.declared.get("note", ""),
        limit=limit,
        engine=rule.declared.get("engine", ""),
        place=rule.declared.get("place", ""),
    )


def _counts(covered: Sequence[Covered]) -> dict[str, int]:
    return {fate.value: sum(1 for one in covered if one.status is fate) for fate in Fate}


def _by_table(covered: Sequence[Covered]) -> Mapping[str, list[Covered]]:
    found: dict[str, list[Covered]] = {}
    for one in covered:
        found.setdefault(one.table or _NO_OBJECT, []).append(one)
    return found


def _lines(rules: Sequence[Covered], source: str) -> list[str]:
    """Columns as wide as their longest word; the last one, which explains, as long as it is."""
    words = [
        [
            printable(word)
            for word in (
                one.status.value,
                one.location.removeprefix(source),
                one.origin,
                one.column,
            )
        ]
        for one in rules
    ]
    widths = [max(len(row[place]) for row in words) for place in range(4)]
    lines = []
    for one, row in zip(rules, words, strict=True):
        cells = [word.ljust(width) for word, width in zip(row, widths, strict=True)]
        note = f" ({printable(one.notes)})" if one.notes else ""
        lines.append(f"  {'  '.join(cells)}  {printable(one.what)}{note}".rstrip())
    return lines
