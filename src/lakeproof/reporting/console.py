"""A run's outcome as text: what failed first, the gate last. Plain at 80 columns.

Colour is laid over the finished text (`coloured`), so that nothing is said by colour alone.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

from lakeproof.model.canonical import readable_key
from lakeproof.model.outcome import PARTITION, CheckResult, CheckStatus
from lakeproof.model.printable import counted, printable
from lakeproof.reporting.log_commands import inert
from lakeproof.reporting.run_report import Decision, Passed, RunReport

if TYPE_CHECKING:
    from rich.text import Text

WIDTH = 80
SAMPLE_KEYS_MAX = 3
SAMPLE_VALUE_CHARACTERS_MAX = 100
BAD_DATA = frozenset({CheckStatus.FAILED, CheckStatus.WARNED})
"""Statuses that bad rows lead to: only there is a share, a threshold and a sample to tell."""

_CLOSERS_MAX = 8
_INDENT = " " * 8
_NO_TOLERANCE = "0 rows"

ORDER = (
    CheckStatus.FAILED,
    CheckStatus.ERROR,
    CheckStatus.WARNED,
    CheckStatus.SKIPPED,
    CheckStatus.PASSED,
)
_STYLES = {
    "FAILED": "bold red",
    "ERROR": "bold magenta",
    "WARNED": "yellow",
    "SKIPPED": "cyan",
    "PASSED": "green",
    "GATE CLOSED": "bold white on red",
    "GATE OPEN": "bold black on green",
}


def outcome_text(
    run_id: str,
    results: Sequence[CheckResult],
    gate: Decision,
    *,
    passed: Passed = Passed.COUNTED,
    see_more: str = "",
) -> str:
    """The whole report; `see_more` is the command that lists the bad rows, if there is one."""
    blocks = [f"Run {printable(run_id)}: {counted(len(results), 'rule')}"]
    listed = [result for result in results if result.status != CheckStatus.PASSED]
    blocks += ["\n".join(_result_lines(result)) for result in by_weight(listed)]
    blocks += _passed_block(results, passed)
    blocks.append("\n".join(_gate_lines(results, gate)))
    if see_more:
        blocks.append(f"See the bad rows: {see_more}")
    return inert("\n".join(blocks))


def render_console(report: RunReport) -> str:
    return outcome_text(
        report.run_id,
        report.results,
        report.gate,
        passed=report.passed,
        see_more=report.see_more,
    )


def by_weight(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Failed first, then what could not be evaluated, warnings, skipped, passed.

    A status that nobody knows counts as an error; within one status the suite's order stays.
    """
    places = {status: place for place, status in enumerate(ORDER)}
    return sorted(results, key=lambda result: places.get(result.status, places[CheckStatus.ERROR]))


def target_of(result: CheckResult) -> str:
    """The table and column, as people say them: `sales.amount`, `sales.(a, b)`, `sales`."""
    table = printable(result.table_name)
    if not result.column_name:
        return table
    columns = result.column_name.split(",")
    named = columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
    return f"{table}.{printable(named)}"


def allowed_text(result: CheckResult) -> str:
    """The threshold in words; a bound of the check's own comes before the tolerance."""
    bound, tolerance = _bound_and_tolerance(result)
    if not bound:
        return printable(tolerance)
    return printable(f"{bound}, tolerated {tolerance}" if tolerance else bound)


def found_text(result: CheckResult) -> str:
    """What was found, how much is allowed, what of it is new, and what could not be seen."""
    found, allowed = observed_text(result), f"allowed {allowed_text(result)}"
    if result.details:
        found = f"{printable(result.details)}{_in_brackets(_failing_share(result))}"
        bound, tolerance = _bound_and_tolerance(result)
        if bound and bound in result.details:
            allowed = f"tolerated {printable(tolerance)}" if tolerance else ""
        elif _is_compared(result):
            found, allowed = printable(result.details), ""
    coverage = f"coverage {printable(result.coverage)}" if result.coverage else ""
    return "; ".join(fact for fact in (found, allowed, news_text(result), coverage) if fact)


def observed_text(result: CheckResult) -> str:
    """What was found, against how much was scanned.

    Most rules measure the share of failing rows, and then one phrase says both. Others measure
    something else: rows beyond the first of each key, or the number of rows itself.
    """
    scanned = f"{result.total_rows:,} rows"
    if _bound_and_tolerance(result)[0] or (_is_compared(result) and not result.sample_keys):
        return f"observed {number_text(result.measure)}"
    share = _failing_share(result)
    if _counts_keys(result):
        return f"{int(result.measures['surplus_rows']):,} surplus of {scanned}{_in_brackets(share)}"
    if share is None and result.total_rows:
        observed = share_text(result.measure)
        return f"failing {result.failing_rows:,} in {scanned}, observed {observed}"
    return f"{result.failing_rows:,} of {scanned} failed{_in_brackets(share)}"


def _bound_and_tolerance(result: CheckResult) -> tuple[str, str]:
    """The check's own bound ('' if it has none), and how much beyond it is tolerated ('' if none).

    Without a bound the tolerance is all there is to say, so there it is said even if it is none.
    """
    bound, _, tolerance = result.threshold.rpartition("; ")
    return bound, "" if bound and tolerance == _NO_TOLERANCE else tolerance


def _is_compared(result: CheckResult) -> bool:
    """Whether a contract's operators judged it: then its details end with what must be."""
    return _is_of_contract(result) and f"must be {result.threshold}" in result.details


def _is_of_contract(result: CheckResult) -> bool:
    """A suite declares nothing; only the partition that a run asked for may stand there."""
    return bool(result.declared.keys() - {PARTITION})


def _counts_keys(result: CheckResult) -> bool:
    """Whether keys are what fails, while rows beyond the first of each are what is tolerated."""
    return "duplicated_values" in result.measures


def _failing_share(result: CheckResult) -> float | None:
    """The share of rows that fail; None if the check measures something else."""
    if _bound_and_tolerance(result)[0]:
        return None
    if _counts_keys(result) and result.total_rows:
        return result.measures["surplus_rows"] / result.total_rows
    share = result.failing_rows / result.total_rows if result.total_rows else None
    measure = result.measure
    if measure is None and _is_of_contract(result):  # withheld, or no value: no share of rows
        return None
    if measure is None or measure == result.failing_rows or share is None:
        return share
    return share if math.isclose(measure, share) else None


def _in_brackets(share: float | None) -> str:
    return "" if share is None else f" ({share_text(share)})"


def share_text(share: float | None) -> str:
    """A share in percent; one that is not nothing never reads 0 %, nor a part of all 100 %."""
    if share is None or not math.isfinite(share):
        return "no share"
    percent = share * 100
    if 0 < percent < 0.01:  # noqa: PLR2004 (two places after the point are shown)
        return "< 0.01 %"
    if 99.99 < percent < 100:  # noqa: PLR2004 (as above)
        return "> 99.99 %"
    return f"{percent:.2f}".rstrip("0").rstrip(".") + " %"


def number_text(value: float | None) -> str:
    if value is None:
        return "nothing"
    if math.isfinite(value) and value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}"


def news_text(result: CheckResult) -> str:
    """`all new`, `3 new keys`, `none new`; nothing if no store could tell or no row is to blame."""
    new = result.new_violations
    if new is None or not result.sample_keys:
        return ""
    if new == 0:
        return "none new"
    if new == result.failing_rows:
        return "all new"
    return "1 new key" if new == 1 else f"{new:,} new keys"


def sample_text(result: CheckResult) -> str:
    return " | ".join(samples_of(result))


def samples_of(result: CheckResult) -> list[str]:
    """Up to three keys of bad rows with what they held, and whether there are more."""
    values = chain(result.sample_values, repeat(""))
    pairs = zip(result.sample_keys[:SAMPLE_KEYS_MAX], values, strict=False)
    shown = [f"{readable_key(key)}{_value_text(value)}" for key, value in pairs]
    # Fewer keys than that are all there are: many bad rows may share one.
    if len(shown) == SAMPLE_KEYS_MAX and result.failing_rows > len(shown):
        shown.append("...")
    return shown


def _value_text(value: str) -> str:
    """In brackets, cut: a document in a column must not push the other keys out of sight."""
    if not value:
        return ""
    shown = printable(value)
    if len(shown) > SAMPLE_VALUE_CHARACTERS_MAX:
        shown = shown[: SAMPLE_VALUE_CHARACTERS_MAX - 3] + "..."
    return f" ({shown})"


def status_word(result: CheckResult) -> str:
    return printable(result.status).upper()


def counts_text(results: Sequence[CheckResult]) -> str:
    """`2 failed, 1 error, 5 passed`: what there is, heaviest first."""
    words = [status_word(result).lower() for result in by_weight(results)]
    return ", ".join(f"{words.count(word):,} {word}" for word in dict.fromkeys(words))


def _result_lines(result: CheckResult) -> Iterable[str]:
    check = f": {printable(result.check_type)} on {target_of(result)}"
    yield f"{status_word(result):<7} {printable(result.check_name)}{check}"
    if result.status not in BAD_DATA:
        yield from _wrapped(printable(result.details))
        return
    yield from _wrapped(found_text(result))
    rows = sample_text(result)
    if rows:
        yield from _wrapped(f"rows: {rows}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,  # a name that was cut cannot be copied
        break_on_hyphens=False,
    )


def _passed_block(results: Sequence[CheckResult], passed: Passed) -> list[str]:
    """What passed; a rule that did so only because rows are suppressed is always named."""
    those = [result for result in results if result.status == CheckStatus.PASSED]
    named = those if passed is Passed.LISTED else [one for one in those if one.suppressed_rows]
    blocks = ["\n".join(_result_lines(result)) for result in named]
    left = [result for result in those if result not in named]
    if left:
        others = "other " if named else ""
        blocks.append(f"PASSED  {counted(len(left), f'{others}rule')}{_append_only(left)}")
    return blocks


def _append_only(results: Sequence[CheckResult]) -> str:
    seen = sum(1 for result in results if result.coverage.startswith("append-only"))
    return f", {seen:,} by new rows only (append-only)" if seen else ""


def _gate_lines(results: Sequence[CheckResult], gate: Decision) -> Iterable[str]:
    word = "GATE OPEN" if gate.is_open else "GATE CLOSED"
    yield f"{word}  {counts_text(results) or 'no results'}"
    names = [printable(result.check_name) for result in gate.failures[:_CLOSERS_MAX]]
    left = len(gate.failures) - len(names)
    if left:
        names.append(f"{left:,} more")
    if names:
        yield from _wrapped(f"closed by {', '.join(names)}")
    # The decision lists its failures' reasons first; those stand above, in full.
    for reason in gate.reasons[len(gate.failures) :]:
        yield from _wrapped(f"closed because {printable(reason)}")


_MARKED = re.compile(rf"^({'|'.join(_STYLES)})\b", re.MULTILINE)


def coloured(text: str) -> Text:
    """The same text with its status words in colour.

    Only at the start of a line, where no text from outside can stand.
    """
    from rich.text import Text

    dressed = Text(text, no_wrap=True)
    for found in _MARKED.finditer(text):
        dressed.stylize(_STYLES[found.group(1)], *found.span(1))
    return dressed
