"""The last results of each rule as a small line of blocks, newest right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.reporting.console import status_word
from lakeproof.reporting.kept import heaviest_first, name_and_place, shown_of
from lakeproof.reporting.log_commands import inert

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.:-=+*#"
_LETTERS = {CheckStatus.ERROR: "E", CheckStatus.SKIPPED: "S"}
_EVALUATED = frozenset({CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.WARNED})
_HEAD = "NOT PASSED"


@dataclass(frozen=True, slots=True)
class RuleTrend:
    """One rule's results, oldest first; there is at least one."""

    results: tuple[CheckResult, ...]

    @property
    def latest(self) -> CheckResult:
        return self.results[-1]

    @property
    def not_passed(self) -> int:
        return sum(1 for result in self.results if result.status != CheckStatus.PASSED)


def trends_of(newest_first: Iterable[CheckResult], runs_max: int) -> list[RuleTrend]:
    """The rules by what their latest result says, heaviest first.

    A rule is known by its name and table, so that a changed threshold does not begin a new line.
    """
    by_rule: dict[tuple[str, str], list[CheckResult]] = {}
    for result in newest_first:
        name = (result.rule_key or result.check_name, result.table_fqn or result.table_name)
        found = by_rule.setdefault(name, [])
        if len(found) < runs_max:
            found.append(result)
    trends = {id(found[0]): RuleTrend(tuple(reversed(found))) for found in by_rule.values()}
    return [trends[id(latest)] for latest in heaviest_first(found[0] for found in by_rule.values())]


def trend_text(trends: Sequence[RuleTrend], total: int, blocks: str = BLOCKS) -> str:
    """One line per rule: its present status, the blocks, how often it did not pass, its name."""
    drawn = [trend_line(trend, blocks) for trend in trends]
    width = max(len("RUNS"), *map(len, drawn)) if drawn else len("RUNS")
    lines = [f"{'STATUS':<7} {'RUNS':>{width}}  {_HEAD}  RULE"]
    for trend, line in zip(trends, drawn, strict=True):
        told = f"{trend.not_passed} of {len(trend.results)}"
        lines.append(
            f"{status_word(trend.latest):<7} {line:>{width}}  {told:>{len(_HEAD)}}  "
            f"{name_and_place(trend.latest)}"
        )
    return inert("\n".join([*lines, shown_of(len(trends), total, "rule")]))


def trend_line(trend: RuleTrend, blocks: str = BLOCKS) -> str:
    """A block for each result by its measure against the largest; a letter where there is none."""
    values = [_value(result) for result in trend.results]
    known = [value for value in values if value is not None]
    lowest, highest = min(known, default=0.0), max(known, default=0.0)
    lowest = min(lowest, 0.0)
    return "".join(
        _LETTERS.get(result.status, "?")
        if value is None
        else _block(value - lowest, highest - lowest, blocks)
        for result, value in zip(trend.results, values, strict=True)
    )


def fits(text: str, encoding: str | None) -> bool:
    """Whether a stream of this encoding can say it."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _value(result: CheckResult) -> float | None:
    """What the rule held against its threshold, or else the share of failing rows."""
    if result.status not in _EVALUATED:
        return None
    if result.measure is not None and math.isfinite(result.measure):
        return result.measure
    return result.failing_rows / result.total_rows if result.total_rows else 0.0


def _block(height: float, height_max: float, blocks: str) -> str:
    """The lowest block means nothing at all; whatever is more than that is seen."""
    share = height / height_max if height_max > 0 else 0.0
    return blocks[math.ceil(share * (len(blocks) - 1))]
