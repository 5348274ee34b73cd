"""A run as JUnit XML: a test suite per table, a test case per rule.

A rule that only warned is a passed test with its findings as output: a warning does not turn a
build red, and JUnit has no word for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.printable import printable
from lakeproof.reporting.console import (
    BAD_DATA,
    allowed_text,
    news_text,
    observed_text,
    sample_text,
    target_of,
)
from lakeproof.reporting.log_commands import COMMAND_MARK
from lakeproof.reporting.run_report import RunReport

_OUTCOMES = {
    CheckStatus.PASSED: "",
    CheckStatus.WARNED: "system-out",
    CheckStatus.FAILED: "failure",
    CheckStatus.ERROR: "error",
    CheckStatus.SKIPPED: "skipped",
}
"""The element that says it; '' for none. A status that nobody knows counts as an error."""


def render_junit(report: RunReport) -> str:
    """One document. What XML cannot hold (control characters) is written as its escape."""
    root = Element("testsuites", _totals(f"lakeproof {report.run_id}", report.results))
    tables: dict[str, list[CheckResult]] = {}
    for result in report.results:
        tables.setdefault(result.table_fqn or result.table_name, []).append(result)
    for table, results in tables.items():
        moment = {"timestamp": printable(results[0].executed_at).replace(" ", "T")}
        suite = SubElement(root, "testsuite", {**_totals(table, results), **moment})
        for result in results:
            _add_case(suite, table, result)
    indent(root)
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")
    return COMMAND_MARK.sub("#&#35;", text)


def _totals(name: str, results: Sequence[CheckResult]) -> dict[str, str]:
    elements = [_element_of(result) for result in results]
    return {
        "name": printable(name),
        "tests": str(len(results)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "skipped": str(elements.count("skipped")),
        "time": f"{sum(result.duration for result in results):.3f}",
    }


def _add_case(suite: Element, table: str, result: CheckResult) -> None:
    case = SubElement(
        suite,
        "testcase",
        {
            "name": printable(result.rule_key or result.check_name),
            "classname": printable(table),
            "time": f"{result.duration:.3f}",
        },
    )
    name = _element_of(result)
    if not name:
        return
    said = SubElement(case, name)
    if name != "system-out":
        said.set("message", printable(result.details))
        said.set("type", printable(result.check_type))
    said.text = "\n".join(_lines(result))


def _element_of(result: CheckResult) -> str:
    return _OUTCOMES.get(result.status, "error")


def _lines(result: CheckResult) -> Iterable[str]:
    yield f"details: {printable(result.details)}"
    yield f"check: {printable(result.check_type)} on {target_of(result)}"
    if result.status in BAD_DATA:
        yield f"found: {observed_text(result)}"
        yield f"threshold: {allowed_text(result)}"
        facts = {"new": news_text(result), "rows": sample_text(result)}
        yield from (f"{name}: {fact}" for name, fact in facts.items() if fact)
    if result.source:
        yield f"source: {printable(result.source)}"
