"""A run as GitHub annotations: `::error file=...,line=...,title=...::message`.

One for each rule that did not pass, heaviest first: GitHub shows only the first ten of a kind.
"""

from __future__ import annotations

import os
from pathlib import Path

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
from lakeproof.reporting.log_commands import inert
from lakeproof.reporting.run_report import RunReport


def render_github(report: RunReport) -> str:
    """The annotations, and last a plain line that tells the gate."""
    listed = [result for result in by_weight(report.results) if result.status != CheckStatus.PASSED]
    word = "GATE OPEN" if report.gate.is_open else "GATE CLOSED"
    gate = inert(f"{word}  {counts_text(report.results) or 'no results'}")
    return "\n".join([*(_annotation(result, report.root) for result in listed), gate])


def place_of(source: str, root: str) -> tuple[str, str]:
    """File and line ('' if there is none) of `file:line`; a file below `root` is named from it."""
    path, sign, line = source.rpartition(":")
    if not (sign and line.isascii() and line.isdecimal()):
        path, line = source, ""
    if not path:
        return "", ""
    return _below(path, root), line


def _below(path: str, root: str) -> str:
    """With `/` whatever the system: GitHub knows files by their path in the repository."""
    # By their names alone: the file need not be there when a past run is drawn again.
    full, folder = Path(os.path.abspath(path)), Path(os.path.abspath(root))  # noqa: PTH100
    return full.relative_to(folder).as_posix() if full.is_relative_to(folder) else path


def _annotation(result: CheckResult, root: str) -> str:
    file, line = place_of(result.source, root)
    properties = {"file": file, "line": line, "title": f"{status_word(result)} {result.check_name}"}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    is_bad_data = result.status in BAD_DATA
    lines = [
        f"{printable(result.check_type)} on {target_of(result)}",
        found_text(result) if is_bad_data else printable(result.details),
    ]
    rows = sample_text(result) if is_bad_data else ""
    if rows:
        lines.append(f"rows: {rows}")
    return f"::{_level(result)} {told}::{_data(lines)}"


def _level(result: CheckResult) -> str:
    if result.status == CheckStatus.WARNED:
        return "notice" if result.severity == "info" else "warning"
    return "notice" if result.status == CheckStatus.SKIPPED else "error"


def _data(lines: list[str]) -> str:
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(value: str) -> str:
    shown = printable(value).replace("%", "%25")
    return shown.replace(":", "%3A").replace(",", "%2C")
