"""Every form that a run's report can take, in one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lakeproof.reporting.console import render_console
from lakeproof.reporting.csv_table import render_csv
from lakeproof.reporting.document import render_json, render_jsonl
from lakeproof.reporting.github import render_github
from lakeproof.reporting.junit import render_junit
from lakeproof.reporting.markdown import render_markdown
from lakeproof.reporting.observability import render_observability
from lakeproof.reporting.run_report import RunReport


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """One kind of report; its text comes without a last newline.

    A file with this `suffix` is of this kind unless said otherwise; `file_name` is its name in a
    folder of reports. Both are empty for a kind that is not meant for files.
    """

    kind: str
    render: Callable[[RunReport], str]
    suffix: str = ""
    file_name: str = ""


REPORT_FORMATS: Mapping[str, ReportFormat] = {
    known.kind: known
    for known in (
        ReportFormat("console", render_console, ".txt", "report.txt"),
        ReportFormat("json", render_json, ".json", "results.json"),
        ReportFormat("jsonl", render_jsonl, ".jsonl", "results.jsonl"),
        ReportFormat("junit", render_junit, ".xml", "junit.xml"),
        ReportFormat("markdown", render_markdown, ".md", "report.md"),
        ReportFormat("github", render_github),
        ReportFormat("csv", render_csv, ".csv", "results.csv"),
        ReportFormat("observability", render_observability),
    )
}
