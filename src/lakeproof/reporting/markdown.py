"""A run as GitHub-flavoured Markdown, in which nothing from outside is anything but text.

Texts stand in code spans: there no link, image, mention, HTML or emphasis is read, not even by
the filters that run after the Markdown. What a code span in a table cannot hold is put between
two of them as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.printable import printable
from lakeproof.reporting.console import (
    BAD_DATA,
    by_weight,
    counts_text,
    found_text,
    samples_of,
    status_word,
    target_of,
)
from lakeproof.reporting.log_commands import COMMAND_MARK
from lakeproof.reporting.run_report import Passed, RunReport

_UNSPEAKABLE = re.compile(rf"(\||{COMMAND_MARK.pattern})")
_REFERENCES = {"|": "&#124;", "##": "&#35;&#35;"}
_BACKTICKS = re.compile("`+")


def render_markdown(report: RunReport) -> str:
    """The gate, then a table of what did not pass, heaviest first; passed ones on demand."""
    word = "open" if report.gate.is_open else "closed"
    moment = f" at {code(report.executed_at)} UTC" if report.executed_at else ""
    counts = counts_text(report.results)
    lines = [
        f"## Lakeproof: gate {word}",
        "",
        f"Run {code(report.run_id)}{moment}: {code(counts) if counts else 'no results'}",
    ]
    others = report.gate.reasons[len(report.gate.failures) :]
    if others:
        lines += ["", *(f"- closed because {code(reason)}" for reason in others)]
    listed = [
        result
        for result in by_weight(report.results)
        if report.passed is Passed.LISTED or result.status != CheckStatus.PASSED
    ]
    if listed:
        lines += ["", "| status | rule | on | found | rows |", "|---|---|---|---|---|"]
        lines += [f"| {' | '.join(_cells(result))} |" for result in listed]
    if report.see_more:
        lines += ["", f"See the bad rows: {code(report.see_more)}"]
    return "\n".join(lines)


def code(text: object) -> str:
    """The text as code spans on one line; nothing for nothing."""
    parts = _UNSPEAKABLE.split(printable(text))
    return "".join(_REFERENCES.get(part) or _span(part) for part in parts if part)


def _span(text: str) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    # One blank on both sides is taken off again; without it a backtick at an end would be fence.
    is_touchy = text[0] in "` " or text[-1] in "` "
    return f"{fence} {text} {fence}" if is_touchy and text.strip() else f"{fence}{text}{fence}"


def _cells(result: CheckResult) -> Iterable[str]:
    is_bad_data = result.status in BAD_DATA
    yield code(status_word(result))
    yield code(result.check_name)
    yield code(target_of(result))
    yield code(found_text(result) if is_bad_data else result.details)
    yield ", ".join(code(sample) for sample in samples_of(result)) if is_bad_data else ""
