"""A run's outcome as an HTML fragment for notebooks: no script, nothing loaded, all escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.printable import printable
from lakeproof.reporting.console import (
    BAD_DATA,
    by_weight,
    counts_text,
    found_text,
    sample_text,
    status_word,
    target_of,
)
from lakeproof.reporting.run_report import Decision

SIZE_CHARACTERS_MAX = 90_000
"""Of the rows; with head and foot the fragment stays under 100 KB in plain ASCII."""

_DETAILS_CHARACTERS_MAX = 300
_NAME_CHARACTERS_MAX = 120

# Text and ground are the notebook's own, light or dark; only mid-tones that stand on both are set.
_TABLE = "border-collapse:collapse;font-size:90%"
_CELL = "padding:3px 8px;text-align:left;vertical-align:top;border-bottom:1px solid #8886"
_COLOURS = {
    CheckStatus.FAILED: "#d33",
    CheckStatus.ERROR: "#b4b",
    CheckStatus.WARNED: "#b80",
    CheckStatus.SKIPPED: "#38a",
}


def outcome_html(run_id: str, results: Sequence[CheckResult], gate: Decision) -> str:
    """The gate, then every rule that did not pass, heaviest first; passed ones are counted."""
    listed = by_weight(result for result in results if result.status != CheckStatus.PASSED)
    rows, left = _rows_that_fit(listed)
    table = ""
    if rows:
        heads = "".join(
            f'<th style="{_CELL}">{head}</th>' for head in ("status", "rule", "on", "found")
        )
        table = f'<table style="{_TABLE}"><tr>{heads}</tr>{"".join(rows)}</table>'
    if left:
        table += f"<p>{left:,} more are not shown here; they are in <code>.results</code>.</p>"
    return f"<div>{_gate_html(run_id, results, gate)}{table}</div>"


def _rows_that_fit(results: Iterable[CheckResult]) -> tuple[list[str], int]:
    """As many rows as the size allows, and how many were left out."""
    rows: list[str] = []
    size, left = 0, 0
    for result in results:
        row = _row(result) if not left else ""
        size += len(row)
        if left or size > SIZE_CHARACTERS_MAX:
            left += 1
        else:
            rows.append(row)
    return rows, left


def _gate_html(run_id: str, results: Sequence[CheckResult], gate: Decision) -> str:
    word, colour = ("GATE OPEN", "#2a2") if gate.is_open else ("GATE CLOSED", "#d33")
    others = "".join(
        f"<br>closed because {_safe(reason, _DETAILS_CHARACTERS_MAX)}"
        for reason in gate.reasons[len(gate.failures) :]
    )
    return (
        f'<p><b style="color:{colour}">{word}</b> '
        f"{_safe(counts_text(results) or 'no results', _DETAILS_CHARACTERS_MAX)} "
        f"(run {_safe(run_id, _NAME_CHARACTERS_MAX)}){others}</p>"
    )


def _row(result: CheckResult) -> str:
    colour = _COLOURS.get(result.status, _COLOURS[CheckStatus.ERROR])
    is_bad_data = result.status in BAD_DATA
    told = found_text(result) if is_bad_data else result.details
    found = [_safe(told, _DETAILS_CHARACTERS_MAX)]
    rows = sample_text(result) if is_bad_data else ""
    if rows:
        found.append(f"<code>{_safe(rows, _DETAILS_CHARACTERS_MAX)}</code>")
    cells = (
        f'<b style="color:{colour}">{_safe(status_word(result), _NAME_CHARACTERS_MAX)}</b>',
        _safe(result.check_name, _NAME_CHARACTERS_MAX),
        _safe(target_of(result), _NAME_CHARACTERS_MAX),
        "<br>".join(found),
    )
    return "<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>"


def _safe(text: object, characters_max: int) -> str:
    """Cut, escaped, and in ASCII, so that size in characters is size in bytes."""
    shown = printable(text)
    if len(shown) > characters_max:
        shown = shown[: characters_max - 3] + "..."
    return escape(shown).encode("ascii", "xmlcharrefreplace").decode("ascii")
