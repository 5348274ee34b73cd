"""Rows as CSV that a spreadsheet shows and does not execute."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime

from lakeproof.model.canonical import readable_key
from lakeproof.model.outcome import CheckResult
from lakeproof.model.printable import printable
from lakeproof.reporting.document import moment_text, result_document
from lakeproof.reporting.log_commands import COMMAND_MARK
from lakeproof.reporting.run_report import RunReport

COLUMNS = tuple(item.name for item in fields(CheckResult))

# The wide forms count in some locales. After a semicolon too, quoted or not: where that separates
# cells, a spreadsheet looks for formulas inside of ours.
_FORMULA = re.compile(r"(^|;)(?=[\s\"]*[=+\-@＝＋－＠])")  # noqa: RUF001 (meant as they are)


def render_csv(report: RunReport) -> str:
    """A line per result with every field of it; keys are written for people."""
    return csv_text(COLUMNS, (readable_result(result) for result in report.results))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A head line and the rows, all quoted; a text that would be a formula begins with `'`."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue().removesuffix("\n")


def readable_result(result: CheckResult) -> dict[str, object]:
    measures = (f"{name}={value:.15g}" for name, value in sorted(result.measures.items()))
    return {
        **result_document(result),
        "tags": ", ".join(result.tags),
        "measures": ", ".join(measures),
        "sample_keys": " | ".join(readable_key(key) for key in result.sample_keys),
        "sample_values": " | ".join(result.sample_values),
    }


def _cell(value: object) -> object:
    """Numbers as they are; of a negative one the sign is no formula."""
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, datetime):
        return moment_text(value)
    return _FORMULA.sub(r"\1'", COMMAND_MARK.sub(r"#\\#", printable(value)))
